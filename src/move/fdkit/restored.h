/*
 * restored.h - making descriptors again, inside the new capsule
 *
 * Everything new is first lifted to a number at or above base, out of the way
 * of the numbers of the set, and placed at its own number with dup3().  What
 * one object gives several descriptions of (the ends of a pipe, a memfd) is
 * kept lifted until all are made.
 */
#ifndef MOVE_FDKIT_RESTORED_H
#define MOVE_FDKIT_RESTORED_H

#include <stdbool.h>
#include <stddef.h>

#include "core/error.h"
#include "move/fdkit/restore_ops.h"
#include "move/wire/fds.pb-c.h"

struct fds_restored {
	Fds__Set *set;
	const struct fds_restore_ops *ops;
	void *ctx;
	int base;
	int *at;	  /* file -> a number it is open at, or -1 */
	int *first;	  /* file -> the lowest number it is to have */
	int (*pipe)[2];	  /* pipe -> its two ends, lifted */
	bool (*begun)[2]; /* pipe -> has a description of that end been made? */
	int *memfd;	  /* memfd -> lifted */
	bool *given;	  /* memfd -> that description is the process's */
	size_t nr_late;
};

/* fd, closed, as a number >= base; or -errno, fd closed all the same. */
int fdkit_lift(struct fds_restored *r, int fd) must_check;

/* -EMFILE if the hard RLIMIT_NOFILE does not allow so many. */
int fdkit_check_limit(size_t room, struct error *err) must_check;
/* Have the soft RLIMIT_NOFILE allow so many, if the hard one does. */
void fdkit_raise_limit(size_t want);

/*
 * early_make.c, for fds_restore(); early may be NULL. Move descriptors below
 * base up, and return how many there are; list their numbers; take the one for
 * a number, if it is still the same file: it is the caller's from then on.
 */
size_t fdearly_rise(struct fds_early *all, int base);
void fdearly_numbers(const struct fds_early *all, int *ret);
int fdearly_take(struct fds_early *all, uint32_t number, const Fds__File *f);

/* Another description of what fd has open, by /proc/self/fd; or -errno. */
int fdkit_reopen(int fd, unsigned flags) must_check;

#endif
