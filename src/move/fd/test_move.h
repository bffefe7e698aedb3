/*
 * test_move.h - moving the descriptors of one small process, for tests
 *
 * A case is two functions: one makes descriptors at fixed numbers, the other
 * says whether they behave.  The first runs in a child, which then stops; the
 * second either in a new process to which the descriptors were moved, or,
 * after a capture that was given up, in the child itself.
 */
#ifndef MOVE_FD_TEST_MOVE_H
#define MOVE_FD_TEST_MOVE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/types.h>

#include "core/error.h"
#include "move/fd/fds.h"

/* In either process: if cond does not hold, report it and end the process. */
#define CHECK(cond) fdt_check(cond, #cond, __FILE__, __LINE__)
void fdt_check(bool cond, const char *text, const char *file, int line);

struct fdt_case {
	void (*make)(void);
	void (*verify)(void);
	bool net;		   /* in network namespaces of their own */
	struct move_external *ext; /* made by the parent, before the fork */
	size_t nr_ext;
	const struct fds_restore_ops *ops;
	/*
	 * If set, the destination opens files early, as they are after make();
	 * then the child goes on with this function, and is captured after it.
	 */
	void (*change)(void);
};

/* In main(): make a directory that is moved with the process ... */
void fdt_scratch(void);
/* ... and the path of a name in it; two paths can be used at a time. */
const char *fdt_at(const char *name);

/* For make(): give fd that number, and no other. */
void fdt_put(int fd, int number);
/* The same for both ends of a pair of unix sockets. */
void fdt_pair(int type, int a, int b);

/* The child, stopped after it has made its descriptors. */
struct fdt_child {
	pid_t pid;
	int pidfd;
	int report; /* our end of the pipe for fdt_check() */
};
struct fdt_child fdt_start(const struct fdt_case *c);
void fdt_end(struct fdt_child *child);

/* Both functions fail the cmocka test, and tell what was reported. */
void fdt_move(const struct fdt_case *c);
void fdt_abort(const struct fdt_case *c);
/* Both of these, one after the other. */
void fdt_both(const struct fdt_case *c);

/* The capture must be refused with this code and with this in its text. */
void fdt_refused(const struct fdt_case *c, int code, const char *text);

/* Capture; *ret is malloc'd. */
void fdt_capture(const struct fdt_case *c, unsigned char **ret, size_t *ret_n);

/* Restore n bytes in a new process; returns its wait status. */
int fdt_restore(const struct fdt_case *c, const void *blob, size_t n,
		char *report, size_t size);

/* Options of sockets that are numbers. */
int fdt_get(int fd, int level, int name);
void fdt_set(int fd, int level, int name, int v);
/* An address of either family, with port 0. */
socklen_t fdt_address(const char *text, struct sockaddr_storage *ss);

/* Put the calling process into a new network namespace with loopback up. */
void fdt_new_net(void);

#endif
