/*
 * restore.h - the set of descriptors that came over the wire
 */
#ifndef MOVE_FD_RESTORE_H
#define MOVE_FD_RESTORE_H

#include "move/fd/fds.h"
#include "move/fdkit/restored.h"

/* The set in n bytes, checked; fds__set__free_unpacked() it. */
int fdvalid_unpack(const void *blob, size_t n, Fds__Set **ret,
		   struct error *err) must_check;
int fdvalid_base(const Fds__Set *set);

/* The locks by fcntl(F_SETLK) in that list; *ret is malloc'd, NULL for none. */
size_t fds_restored_locks(const Fds__Set *set, struct fds_lock **ret);

int fdowner_set(int fd, const Fds__File *f);

#endif
