/*
 * kinds.h - all kinds of open file descriptions
 */
#ifndef MOVE_KIND_KINDS_H
#define MOVE_KIND_KINDS_H

#include "move/kind/kind.h"

/* In the order of kinds.def; the last is NULL. */
extern const struct fd_kind *const fd_kinds[];

/* The kind of f, or NULL: see fd_kind.link. */
const struct fd_kind *fdkinds_of(const struct fdscan *sc,
				 const struct fdscan_file *f, const char *link);

/* The kind that has a message of that case, or NULL. */
const struct fd_kind *fdkinds_find(Fds__File__KindCase message);

/*
 * The name of the kind with that case in fds.proto, and the kind of that name,
 * or NULL.
 */
const char *fdkinds_name(const struct fd_kind *k);
const struct fd_kind *fdkinds_named(const char *name);

#endif
