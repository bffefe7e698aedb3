/*
 * make.h - making one description again, by its kind
 */
#ifndef MOVE_KIND_MAKE_H
#define MOVE_KIND_MAKE_H

#include "move/fdkit/restored.h"

/* Make file i, *ret is lifted. */
int fdmake_file(struct fds_restored *r, size_t i, int *ret,
		struct error *err) must_check;
/* What takes several, or comes before or after all files. */
int fdmake_memfds(struct fds_restored *r, struct error *err) must_check;
int fdmake_flags(struct fds_restored *r, struct error *err) must_check;
int fdmake_seal(struct fds_restored *r, struct error *err) must_check;
int fdmkpipe_all(struct fds_restored *r, struct error *err) must_check;
/* An end of a pipe, or of an external, for fdmake_file(). */
int fdmkpipe_end(struct fds_restored *r, size_t i, int *ret,
		 struct error *err) must_check;
int fdmkext_end(struct fds_restored *r, size_t i, int *ret,
		struct error *err) must_check;
/* See fds_restore_late(). */
int fdmake_late(struct fds_restored *r, struct error *err) must_check;

#endif
