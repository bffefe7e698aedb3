/*
 * told.c - what the destination was told to look for: files, and the kinds of
 * descriptors that it has to know
 *
 * HELLO tells of all that are open then, and each round of those that have been opened
 * since.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/io.h"
#include "core/xalloc.h"
#include "move/fd/fds.h"
#include "move/fd/scan.h"
#include "move/fdkit/path.h"
#include "move/kind/kinds.h"
#include "move/wire/append.h"

int fdtold_cwd(struct fdscan *sc, struct error *err)
{
	fd_auto fd = openat(sc->s->proc, "cwd", O_PATH | O_CLOEXEC);
	char link[PATH_MAX] = "";
	struct stat st;
	int r;

	if (fd < 0 || fstat(fd, &st) < 0 ||
	    readlinkat(sc->s->proc, "cwd", link, sizeof(link) - 1) < 0)
		return error_sys(err, -errno, "working directory");
	if (tree_holds(sc->s->trees, st.st_dev))
		return 0; /* it is in a directory that moves with the process */
	r = fdpath_capture(sc->s->root, fd, link, false, "working directory",
			   &sc->set->cwd, err);
	if (!r && sc->set->cwd->synthetic) {
		fds__path__free_unpacked(sc->set->cwd, NULL);
		sc->set->cwd = NULL;
	}
	return r;
}

static void add_kind(Fds__Paths *told, const char *name)
{
	for (size_t i = 0; i < told->n_kind; i++)
		if (!strcmp(told->kind[i], name))
			return;
	told->kind = xreallocarray(told->kind, told->n_kind + 1,
				   sizeof(*told->kind));
	told->kind[told->n_kind++] = xstrdup(name);
}

size_t fdtold_add(struct fds_source *s, const struct fdscan *sc)
{
	const Fds__Set *set = sc->set;
	size_t had;

	if (!s->told) {
		s->told = append_new(&fds__paths__descriptor);
	}
	had = s->told->n_path + s->told->n_kind;
	for (size_t i = 0; i < set->n_file; i++) {
		const struct fd_kind *k = fdkinds_find(set->file[i]->kind_case);

		add_kind(s->told, fdkinds_name(k));
		if (k->tell)
			k->tell(s, sc, i);
	}
	if (set->cwd)
		fdtold_path(s, set->cwd);
	return s->told->n_path + s->told->n_kind - had;
}

void fdtold_pack(struct fds_source *s, bool all, uint8_t **ret, size_t *ret_n)
{
	const Fds__Paths *told = s->told;
	size_t path = all ? 0 : s->nr_found, kind = all ? 0 : s->nr_known;
	Fds__Paths part = FDS__PATHS__INIT;

	fdearly_tell(s, &part);
	part.version = 1;
	part.n_path = told->n_path - path;
	if (part.n_path)
		part.path = told->path + path;
	/* HELLO comes before there is anybody who could try. */
	part.n_need = all ? 0 : told->n_need - s->nr_needed;
	if (part.n_need)
		part.need = told->need + s->nr_needed;
	part.n_kind = told->n_kind - kind;
	if (part.n_kind)
		part.kind = told->kind + kind;
	*ret = xmalloc(fds__paths__get_packed_size(&part) + 1);
	*ret_n = fds__paths__pack(&part, *ret);
	fdearly_told(&part);
}

void fds_confirm(struct fds_source *s, bool there)
{
	Fds__Paths *told = s->told;

	while (!there && told->n_path > s->nr_found)
		fdtold_drop_last_path(s);
	while (!there && told->n_kind > s->nr_known)
		free(told->kind[--told->n_kind]);
	s->nr_found = told->n_path;
	s->nr_known = told->n_kind;
	while (!there && told->n_need > s->nr_needed)
		fds__need__free_unpacked(told->need[--told->n_need], NULL);
	s->nr_needed = told->n_need;
	fdearly_confirm(s, there);
}
