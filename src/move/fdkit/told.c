/* told.c - what the destination is told to look for; see source.h */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/xalloc.h"
#include "move/fdkit/path.h"
#include "move/fdkit/source.h"

/* Do the two agree in everything by which the destination compares (path.c)? */
static bool same(const Fds__Path *a, const Fds__Path *b)
{
	if (a->ino != b->ino || a->btime != b->btime || a->mode != b->mode ||
	    a->writable != b->writable || strcmp(a->path, b->path))
		return false;
	if (S_ISDIR(a->mode)) /* is the directory being read? */
		return !a->pos == !b->pos;
	if (!S_ISREG(a->mode) || a->writable || a->synthetic || a->carried)
		return true;
	return a->size == b->size && a->mtime == b->mtime;
}

/* Index plus 1 in s->told->path of the last file told with that name, or 0. */
static size_t last_told(const struct fds_source *s, const char *path)
{
	uint32_t name = names_find(&s->told_path.name, path);

	return name == UINT32_MAX ? 0 : s->told_path.last[name];
}

static void append_path(struct fds_source *s, const Fds__Path *p)
{
	struct fds_told *t = &s->told_path;
	Fds__Paths *told = s->told;
	uint32_t name;

	array_room(t->last, names_count(&t->name), &t->cap_last);
	array_room(t->before, told->n_path, &t->cap_before);
	t->before[told->n_path] = last_told(s, p->path);
	name = names_add(&t->name, p->path);
	told->path = xreallocarray(told->path, told->n_path + 1,
				   sizeof(*told->path));
	told->path[told->n_path++] = fdpath_clone(p);
	t->last[name] = told->n_path;
}

void fdtold_path(struct fds_source *s, const Fds__Path *p)
{
	size_t at;

	for (at = last_told(s, p->path); at; at = s->told_path.before[at - 1])
		if (same(s->told->path[at - 1], p))
			return;
	append_path(s, p);
}

const Fds__Path *fdtold_find(const struct fds_source *s, const char *path,
			     const struct stat *st)
{
	size_t at;

	for (at = last_told(s, path); at; at = s->told_path.before[at - 1]) {
		const Fds__Path *p = s->told->path[at - 1];

		if (p->ino == st->st_ino && p->mode == st->st_mode)
			return p;
	}
	return NULL;
}

void fdtold_drop_last_path(struct fds_source *s)
{
	size_t at = --s->told->n_path;
	Fds__Path *p = s->told->path[at];
	uint32_t name = names_find(&s->told_path.name, p->path);

	s->told_path.last[name] = s->told_path.before[at];
	fds__path__free_unpacked(p, NULL);
}

void fdtold_clear(struct fds_source *s)
{
	fds__paths__free_unpacked(s->told, NULL);
	names_clear(&s->told_path.name);
	free(s->told_path.last);
	free(s->told_path.before);
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
