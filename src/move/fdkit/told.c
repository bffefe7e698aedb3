/* told.c - what the destination is told to look for; see source.h */
#include <stdlib.h>
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

static Fds__Need *clone_need(const Fds__Need *need)
{
	size_t n = fds__need__get_packed_size(need);
	uint8_t *buf = xmalloc(n + 1);
	Fds__Need *copy;

	fds__need__pack(need, buf);
	copy = fds__need__unpack(NULL, n, buf);
	free(buf);
	return copy;
}

static bool same_option(const Fds__SockOpt *a, const Fds__SockOpt *b)
{
	if (!a || !b)
		return !a && !b;
	return a->level == b->level && a->name == b->name &&
	       a->value.len == b->value.len &&
	       (!a->value.len ||
		!memcmp(a->value.data, b->value.data, a->value.len)) &&
	       !strcmp(a->interface, b->interface);
}

void fdtold_need(struct fds_source *s, const Fds__Need *need)
{
	Fds__Paths *told = s->told;
	Fds__Need *copy;

	for (size_t i = 0; i < told->n_need; i++) {
		const Fds__Need *n = told->need[i];

		if (n->family == need->family && n->type == need->type &&
		    n->protocol == need->protocol && n->port == need->port &&
		    n->repair == need->repair && same_option(n->opt, need->opt))
			return;
	}
	copy = clone_need(need);
	if (!copy) /* only without memory */
		abort();
	told->need = xreallocarray(told->need, told->n_need + 1,
				   sizeof(*told->need));
	told->need[told->n_need++] = copy;
}

void fdtold_forget_needs(struct fds_source *s)
{
	for (size_t i = 0; i < s->told->n_need; i++)
		fds__need__free_unpacked(s->told->need[i], NULL);
	free(s->told->need);
	s->told->need = NULL;
	s->told->n_need = s->nr_needed = 0;
}
