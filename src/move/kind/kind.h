/*
 * kind.h - capture of one description, by its kind
 *
 * Each fills in f->msg, or refuses.
 */
#ifndef MOVE_KIND_KIND_H
#define MOVE_KIND_KIND_H

#include "move/fdkit/source.h"

int fdkind_path(struct fdscan *sc, struct fdscan_file *f, char *link,
		struct error *err) must_check;
int fdkind_early(struct fdscan *sc, struct fdscan_file *f,
		 struct error *err) must_check;
/* Where it is: a path like those of its files. */
int fdkind_cwd(struct fdscan *sc, struct error *err) must_check;
int fdkind_anon(struct fdscan *sc, struct fdscan_file *f, const char *link,
		struct error *err) must_check;
int fdcontent_file(struct fdscan *sc, struct fdscan_file *f, const char *link,
		   struct error *err) must_check;
int fdkind_owner(struct fdscan *sc, struct fdscan_file *f,
		 struct error *err) must_check;
int fdpipe_end(struct fdscan *sc, struct fdscan_file *f,
	       struct error *err) must_check;
int fdepoll_set(struct fdscan *sc, struct fdscan_file *f,
		struct error *err) must_check;
int fdext_end(struct fdscan *sc, struct fdscan_file *f,
	      const struct move_external *ext, struct error *err) must_check;

/* When all are there: pipes find their other ends. */
int fdpipe_finish(struct fdscan *sc, struct error *err) must_check;
/*
 * All that can be read from the end fd of a pipe, not consuming it; a message a
 * packet, appended to the list.
 */
int fdpipe_peek(int fd, Fds__Message ***ret, size_t *ret_n,
		struct error *err) must_check;

#endif
