/*
 * fdinfo.h - the descriptors of another process, seen through /proc and kcmp
 */
#ifndef MOVE_PROC_FDINFO_H
#define MOVE_PROC_FDINFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "core/error.h"
#include "move/proc/strangers.h"

/* The comm of a landing helper, and at first of L (land/land.h). */
#define LANDING_NAME "stint-lander"

/* One descriptor number.  text is malloc'd: all of /proc/PID/fdinfo/N. */
struct fdinfo {
	char *text;
	unsigned flags; /* F_GETFL, without O_CLOEXEC */
	bool cloexec;
	uint64_t pos;
};

/* The numbers in use, ascending; malloc'd.  proc is /proc/PID, open. */
int fdinfo_list(int proc, int **ret, size_t *ret_n,
		struct error *err) must_check;

int fdinfo_read(int proc, int fd, struct fdinfo *ret,
		struct error *err) must_check;
/*
 * The same from a text already read, whose ownership passes to *ret; it is
 * freed on failure.
 */
int fdinfo_parse(char *text, int fd, struct fdinfo *ret,
		 struct error *err) must_check;

/* The target of /proc/PID/fd/N ("/tmp/x", "anon_inode:[eventfd]"). */
int fdinfo_link(int proc, int fd, char *ret, size_t size,
		struct error *err) must_check;

/*
 * Find "key:" in text and parse the number behind it in that base.  Returns
 * where to continue searching for the next such line, or NULL if there is none.
 */
const char *fdinfo_field(const char *text, const char *key, int base,
			 uint64_t *ret);

/*
 * kcmp's order of two open file descriptions, each a descriptor of its process:
 * <0, 0 if they are the same, >0.  INT_MIN on failure: one is not open.
 */
int fdinfo_compare(pid_t pid_a, int a, pid_t pid_b, int b);

/*
 * Does epoll set efd, as its number tfd (the toff'th entry of that number), watch the
 * description behind fd? 1, 0 or negative errno.
 */
int fdinfo_watches(pid_t pid, int efd, int tfd, unsigned toff, int fd);

/* The pid (or tid) that a process has in its own pid namespace. */
int fdinfo_ns_pid(pid_t pid, pid_t *ret, struct error *err) must_check;

/*
 * The pid of another process that has the file open, or 0.  It examines all
 * processes, so do not call it during the freeze; those of other users may be
 * hidden, and have descriptors beyond what is left to look at.
 */
pid_t fdinfo_other_holder(pid_t pid, const struct stat *st,
			  struct strangers *strangers);

#endif
