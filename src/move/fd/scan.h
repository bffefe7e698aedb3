/*
 * scan.h - one look at all descriptors; see fdkit/source.h
 */
#ifndef MOVE_FD_SCAN_H
#define MOVE_FD_SCAN_H

#include "move/fdkit/source.h"

/*
 * *ret is the caller's; with content, s must have been prepared.  Without,
 * -ESTALE: there was an error, but what it was about may have been closed
 * since. Look again: the next look leaves out what was open just for a moment.
 * A program that opens and closes all the time could not be looked at
 * otherwise.
 */
int fdscan_run(struct fds_source *s, bool content, struct fdscan **ret,
	       struct error *err) must_check;
void fdscan_destroy(struct fdscan *sc); /* NULL is allowed */

/* group.c: set nr_file, and note for each number which of these files it is. */
void fdgroup_all(struct fdscan *sc);

/*
 * kept.c: read the fdinfo of a number. The file is kept open, which reads in a
 * quarter of the time; it tells of what has the number then.
 */
void fdkept_numbers(struct fds_source *s, const int *list, size_t n);
int fdkept_read(struct fds_source *s, int number, struct fdinfo *ret,
		struct error *err) must_check;
void fdkept_clear(struct fds_source *s);

/*
 * told.c: put the working directory, a path like those of its files, in
 * sc->set; append to s->told the files and kinds of a scan that are not in it, and
 * return how many; pack those that were not found yet, or all, *ret is malloc'd.
 */
int fdtold_cwd(struct fdscan *sc, struct error *err) must_check;
size_t fdtold_add(struct fds_source *s, const struct fdscan *sc);
void fdtold_pack(struct fds_source *s, bool all, uint8_t **ret, size_t *ret_n);

/*
 * lock.c. -ENOLCK while the process runs: a lock that cannot move is held just
 * now.
 */
int fdlock_all(struct fdscan *sc, struct fdscan_file *f,
	       struct error *err) must_check;

/* owner.c; fdowner_set() is in restore.h */
int fdowner_capture(struct fdscan_file *f, struct error *err) must_check;

#endif
