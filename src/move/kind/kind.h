/*
 * kind.h - a kind of open file description
 *
 * One file and one line in kinds.def each.  All else walks that list (kinds.h)
 * and knows no kind by its name.  What is NULL or false need not be said.
 */
#ifndef MOVE_KIND_KIND_H
#define MOVE_KIND_KIND_H

#include "move/fdkit/restored.h"
#include "move/fdkit/source.h"

#define FD_NUMBER_MAX (1 << 20) /* fs.nr_open's default */

struct fd_kind {
	Fds__File__KindCase message; /* in fds.proto; none: it cannot move */

	/*
	 * Descriptors are of this kind if /proc/PID/fd/NUMBER has this name, or
	 * if is() says so. is() is asked with link NULL first, because reading
	 * the link takes a call, and again with the link if no kind has said
	 * yes.
	 */
	const char *link;
	bool (*is)(const struct fdscan *sc, const struct fdscan_file *f,
		   const char *link);

	/* ---- source ---- */

	/*
	 * Fill in f->msg->KIND, or refuse. link may be changed, and is NULL if
	 * it was not needed. Without sc->content only find out whether that
	 * would work (fdkit/source.h).
	 */
	int (*capture)(struct fdscan *sc, struct fdscan_file *f, char *link,
		       struct error *err);
	/* Called when all are captured, for what concerns several of them. */
	int (*capture_all)(struct fdscan *sc, struct error *err);
	/* How many bytes it would take along if it were captured now. */
	size_t (*size)(const struct fdscan_file *f);
	/* Call fdtold_path() with what the destination must have for it. */
	void (*tell)(struct fds_source *s, const struct fdscan *sc, size_t i);
	/*
	 * The process has moved: end whatever the copy that is left here would
	 * do.
	 */
	int (*end)(const struct fdscan_file *f);

	/* ---- destination ---- */

	/*
	 * What came over the wire may be a lie: could capture() have made what
	 * is in file i? NULL if no lie can do harm, because make() does no more
	 * than the program itself could. check_set is for what belongs to no
	 * single file of the set.
	 */
	int (*check)(const Fds__Set *set, size_t i, struct error *err);
	int (*check_all)(const Fds__Set *set, struct error *err);

	/*
	 * In this order: make what several files share; make file i, and return
	 * its descriptor; when all are made, what takes several; let go of what
	 * make_first() made, also after an error; every number is placed; the
	 * process's threads are there (r->nr_late); it comes alive.
	 */
	int (*make_first)(struct fds_restored *r, struct error *err);
	int (*make)(struct fds_restored *r, size_t i, struct error *err);
	int (*make_last)(struct fds_restored *r, struct error *err);
	void (*drop)(struct fds_restored *r);
	int (*placed)(struct fds_restored *r, struct error *err);
	int (*late)(struct fds_restored *r, struct error *err);
	int (*activate)(struct fds_restored *r, struct error *err);

	/*
	 * Once it is made, F_SETFL sets the flags that any file may have, and
	 * these; nothing if make() has set all flags itself.
	 */
	unsigned flags;
	bool opened;
};

/* ---- for those who write a kind ---- */

/* Returns -EPROTO: what the kernel says about f is not understood. */
int fdkind_odd(const struct fdscan_file *f, struct error *err);

/* Returns -EPROTO: what came over the wire is not a set of descriptors. */
int fdkind_bad(struct error *err, const char *what);
int fdkind_check_messages(Fds__Message *const *m, size_t n, uint64_t max,
			  struct error *err) must_check;

#endif
