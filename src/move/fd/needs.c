/* needs.c - ask whether the destination has what the process's sockets need */
#include <errno.h>

#include "move/fd/fds.h"
#include "move/sock/needs.h"

int fds_check_needs(const void *paths, size_t n, struct error *err)
{
	Fds__Paths *m = fds__paths__unpack(NULL, n, paths);
	int r = 0;

	if (!m)
		return error_set(err, -EPROTO,
				 "list of files: cannot be parsed");
	for (size_t i = 0; i < m->n_need && !r; i++)
		r = sock_need_check(m->need[i], err);
	fds__paths__free_unpacked(m, NULL);
	return r;
}
