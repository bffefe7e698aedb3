/*
 * path.h - is a file at the destination the file that was open here?
 *
 * For descriptors and for mapped files.
 */
#ifndef MOVE_FDKIT_PATH_H
#define MOVE_FDKIT_PATH_H

#include <stdbool.h>

#include "core/error.h"
#include "move/wire/fds.pb-c.h"

/*
 * Describe the file that fd (any kind of descriptor, O_PATH too) has open
 * and that is called path below the directory root.  Refuses (-ENOTSUP)
 * files that path does not lead to, being deleted, replaced or hidden, and
 * what is not a file, a directory or one of the memory devices.  The message
 * is fresh, to be freed with fds__path__free_unpacked(); what names the
 * descriptor in errors.
 */
int fdpath_capture(int root, int fd, const char *path, bool writable,
		   const char *what, Fds__Path **ret,
		   struct error *err) must_check;

Fds__Path *fdpath_clone(const Fds__Path *p);

/*
 * Find the file at the destination, below the directory root; *ret is an
 * O_PATH descriptor of it.  -ENOTSUP if it is missing or another file.
 */
int fdpath_find(int root, const Fds__Path *p, int *ret,
		struct error *err) must_check;

/* Does that descriptor, of whatever kind, lead to the file as well? */
bool fdpath_is(int fd, const Fds__Path *p);

#endif
