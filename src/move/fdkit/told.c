/* told.c - a file that the destination is told to look for; see source.h */
#include <string.h>
#include <sys/stat.h>

#include "core/xalloc.h"
#include "move/fdkit/path.h"
#include "move/fdkit/source.h"

/* In what the destination goes by (path.c). */
static bool same(const Fds__Path *a, const Fds__Path *b)
{
	if (a->ino != b->ino || a->btime != b->btime || a->mode != b->mode ||
	    a->writable != b->writable || strcmp(a->path, b->path))
		return false;
	if (S_ISDIR(a->mode)) /* is it being read? */
		return !a->pos == !b->pos;
	if (!S_ISREG(a->mode) || a->writable || a->synthetic || a->carried)
		return true;
	return a->size == b->size && a->mtime == b->mtime;
}

void fdtold_path(struct fds_source *s, const Fds__Path *p)
{
	Fds__Paths *told = s->told;

	for (size_t i = 0; i < told->n_path; i++)
		if (same(told->path[i], p))
			return;
	told->path = xreallocarray(told->path, told->n_path + 1,
				   sizeof(*told->path));
	told->path[told->n_path++] = fdpath_clone(p);
}
