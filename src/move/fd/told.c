/*
 * told.c - the files that the destination was told to look for
 *
 * In HELLO it is told all that are open then, in each round those that have
 * been opened since.  A file that is told once more differs in what the
 * destination goes by (fdkit/path.c).
 */
#include <string.h>
#include <sys/stat.h>

#include "core/xalloc.h"
#include "move/fd/fds.h"
#include "move/fd/scan.h"
#include "move/fdkit/path.h"

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

static void add(Fds__Paths *told, const Fds__Path *p)
{
	for (size_t i = 0; i < told->n_path; i++)
		if (same(told->path[i], p))
			return;
	told->path = xreallocarray(told->path, told->n_path + 1,
				   sizeof(*told->path));
	told->path[told->n_path++] = fdpath_clone(p);
}

/* Where deleted files are to be made again; any directory will do. */
static void add_directory(Fds__Paths *told, char *path)
{
	Fds__Path p = FDS__PATH__INIT;

	p.path = path;
	p.mode = S_IFDIR;
	add(told, &p);
}

size_t fdtold_add(struct fds_source *s, const struct fdscan *sc)
{
	const Fds__Set *set = sc->set;
	size_t had;

	if (!s->told) {
		s->told = xmalloc(sizeof(*s->told));
		fds__paths__init(s->told);
	}
	had = s->told->n_path;
	for (size_t i = 0; i < set->n_file; i++)
		if (set->file[i]->kind_case == FDS__FILE__KIND_PATH &&
		    !sc->file[i].early)
			add(s->told, set->file[i]->path);
	if (set->cwd)
		add(s->told, set->cwd);
	for (size_t i = 0; i < set->n_pipe; i++)
		if (set->pipe[i]->fifo)
			add(s->told, set->pipe[i]->fifo);
	for (size_t i = 0; i < set->n_memfd; i++)
		if (*set->memfd[i]->dir &&
		    !tree_holds(s->trees, set->memfd[i]->dev))
			add_directory(s->told, set->memfd[i]->dir);
	return s->told->n_path - had;
}

void fdtold_pack(struct fds_source *s, size_t from, uint8_t **ret,
		 size_t *ret_n)
{
	Fds__Paths part = FDS__PATHS__INIT;

	fdearly_tell(s, &part);
	part.version = 1;
	part.n_path = s->told->n_path - from;
	if (part.n_path)
		part.path = s->told->path + from;
	*ret = xmalloc(fds__paths__get_packed_size(&part) + 1);
	*ret_n = fds__paths__pack(&part, *ret);
	fdearly_told(&part);
}

void fds_confirm(struct fds_source *s, bool there)
{
	Fds__Paths *told = s->told;

	while (!there && told->n_path > s->nr_found)
		fds__path__free_unpacked(told->path[--told->n_path], NULL);
	s->nr_found = told->n_path;
	fdearly_confirm(s, there);
}
