/*
 * early.c - which files the destination has open before the freeze
 *
 * To open a file takes longer than all else that an ordinary one costs.  So in
 * each round the destination is told which descriptors are open to which
 * files, as far as that has changed, and opens these (early_make.c).  At the
 * freeze such a file goes by its inode, whatever it is called by then.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "core/xalloc.h"
#include "move/fdkit/path.h"
#include "move/fdkit/source.h"
#include "move/wire/append.h"

/*
 * May the file be opened early?  Only if opening has no effect and waits for
 * nobody.
 */
static bool may_open(const struct fdscan_file *f)
{
	const Fds__Path *p = f->msg->path;

	return f->msg->kind_case == FDS__FILE__KIND_PATH && !p->synthetic &&
	       !p->own && !p->carried && !(f->info.flags & O_PATH) &&
	       (S_ISREG(p->mode) || S_ISDIR(p->mode) || S_ISCHR(p->mode));
}

static bool is_same(const struct fds_early *e, const struct fdscan_file *f)
{
	const Fds__Path *p = f->msg->path;

	return e->flags == f->info.flags && e->dev == f->st.st_dev &&
	       e->path->ino == p->ino && e->path->btime == p->btime &&
	       !strcmp(e->path->path, p->path);
}

static struct fds_early make(const struct fdscan_file *f)
{
	return (struct fds_early){
		.number = f->number,
		.flags = f->info.flags,
		.dev = f->st.st_dev,
		.path = fdpath_clone(f->msg->path),
	};
}

/*
 * Both lists ascend: *at is the first of the old list with a number not below
 * this one.
 */
static void pass_closed(struct fds_source *s, size_t *at, int number)
{
	for (; *at < s->nr_early && s->early[*at].number < number; (*at)++) {
		array_room(s->gone, s->nr_gone, &s->cap_gone);
		s->gone[s->nr_gone++] = s->early[*at].number;
		fds__path__free_unpacked(s->early[*at].path, NULL);
	}
}

static struct fds_early take_file(struct fds_source *s, size_t *at,
				  const struct fdscan_file *f)
{
	struct fds_early *was = &s->early[*at];

	if (*at == s->nr_early || was->number != f->number)
		return make(f);
	(*at)++;
	if (is_same(was, f))
		return *was;
	fds__path__free_unpacked(was->path, NULL);
	return make(f);
}

bool fdearly_look(struct fds_source *s, const struct fdscan *sc)
{
	struct fds_early *now = xcalloc(sc->nr_file + 1, sizeof(*now));
	int room = sc->nr_number ? sc->number[sc->nr_number - 1].number + 1 : 0;
	bool news = room > s->room;
	size_t n = 0, at = 0;

	for (size_t i = 0; i < sc->nr_number; i++) {
		const struct fdscan_file *f = &sc->file[sc->number[i].file];

		if (f->number != sc->number[i].number || !may_open(f))
			continue;
		pass_closed(s, &at, f->number);
		now[n] = take_file(s, &at, f);
		news |= now[n++].state == FDS_EARLY_NEW;
	}
	pass_closed(s, &at, INT32_MAX);
	free(s->early);
	s->early = now;
	s->nr_early = n;
	s->room = room > s->room ? room : s->room;
	return news || s->nr_gone;
}

static Fds__Early *message(int number, unsigned flags, Fds__Path *path)
{
	Fds__Early *m = append_new(&fds__early__descriptor);

	m->number = (uint32_t)number;
	m->flags = flags;
	m->path = path;
	return m;
}

void fdearly_tell(struct fds_source *s, Fds__Paths *ret)
{
	ret->early = xcalloc(s->nr_early + s->nr_gone + 1, sizeof(*ret->early));
	for (size_t i = 0; i < s->nr_gone; i++)
		ret->early[ret->n_early++] = message(s->gone[i], 0, NULL);
	s->nr_gone = 0;
	for (size_t i = 0; i < s->nr_early; i++) {
		struct fds_early *e = &s->early[i];

		if (e->state != FDS_EARLY_NEW)
			continue;
		e->state = FDS_EARLY_TOLD;
		ret->early[ret->n_early++] =
			message(e->number, e->flags, e->path);
	}
	ret->room = (uint32_t)s->room;
}

void fdearly_told(Fds__Paths *m)
{
	for (size_t i = 0; i < m->n_early; i++)
		free(m->early[i]); /* the path leads to another file */
	free(m->early);
}

void fdearly_confirm(struct fds_source *s, bool there)
{
	if (there)
		s->room_there = s->room;
	else
		s->room = s->room_there;
	for (size_t i = 0; i < s->nr_early; i++)
		if (s->early[i].state == FDS_EARLY_TOLD)
			s->early[i].state =
				there ? FDS_EARLY_OPEN : FDS_EARLY_NEW;
}

static int compare_early(const void *key, const void *e)
{
	int number = *(const int *)key;
	const struct fds_early *x = e;

	return (number > x->number) - (number < x->number);
}

const Fds__Path *fdearly_find(const struct fds_source *s,
			      const struct fdscan_file *f)
{
	const struct fds_early *e =
		s->nr_early ? bsearch(&f->number, s->early, s->nr_early,
				      sizeof(*e), compare_early)
			    : NULL;

	return e && e->state == FDS_EARLY_OPEN && e->flags == f->info.flags &&
			       e->dev == f->st.st_dev &&
			       e->path->ino == f->st.st_ino &&
			       e->path->mode == f->st.st_mode && f->st.st_nlink
		       ? e->path
		       : NULL;
}

void fdearly_clear(struct fds_source *s)
{
	for (size_t i = 0; i < s->nr_early; i++)
		fds__path__free_unpacked(s->early[i].path, NULL);
	free(s->early);
	free(s->gone);
}
