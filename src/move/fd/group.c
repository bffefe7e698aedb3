/*
 * group.c - which numbers are one open file description?
 *
 * Only numbers of the same inode can be.  Among these kcmp() gives an order,
 * so each finds its place among those before it; in the order of the look
 * before, which is nearly always still right, that takes one question.
 */
#include <stdlib.h>
#include <string.h>

#include "core/xalloc.h"
#include "move/fd/scan.h"

static int compare_place(const void *a, const void *b)
{
	const struct fdscan_number *x = *(struct fdscan_number *const *)a;
	const struct fdscan_number *y = *(struct fdscan_number *const *)b;

	if (x->st.st_dev != y->st.st_dev)
		return x->st.st_dev < y->st.st_dev ? -1 : 1;
	if (x->st.st_ino != y->st.st_ino)
		return x->st.st_ino < y->st.st_ino ? -1 : 1;
	if (x->place != y->place)
		return x->place < y->place ? -1 : 1;
	return x->number - y->number;
}

static bool same_inode(const struct fdscan_number *a,
		       const struct fdscan_number *b)
{
	return a->st.st_dev == b->st.st_dev && a->st.st_ino == b->st.st_ino;
}

/*
 * Our copies are compared: they stay open, whatever the process closes
 * meanwhile.
 */
static int compare_files(const struct fdscan *sc, const struct fdscan_number *a,
			 const struct fdscan_number *b)
{
	return fdinfo_compare(sc->engine, a->copy, sc->engine, b->copy);
}

/*
 * Where num belongs among the n descriptions that first[] stand for, in kcmp's
 * order; *ret_known if it is the one that stands there.
 */
static size_t find_first(const struct fdscan *sc,
			 struct fdscan_number *const *first, size_t n,
			 const struct fdscan_number *num, bool *ret_known)
{
	size_t low = 0, high = n;
	int r;

	*ret_known = false;
	for (size_t at = n ? n - 1 : 0; low < high; at = (low + high) / 2) {
		r = compare_files(sc, num, first[at]);
		if (!r) {
			*ret_known = true;
			return at;
		}
		if (r > 0)
			low = at + 1;
		else
			high = at;
	}
	return low;
}

/*
 * Group the numbers of one inode, all[0..n), by description, each by its place
 * in first[].
 */
static void group_inode(struct fdscan *sc, struct fdscan_number **all, size_t n,
			struct fdscan_number **first)
{
	size_t nr = 0;

	for (size_t i = 0; i < n; i++) {
		bool known;
		size_t at = find_first(sc, first, nr, all[i], &known);

		if (known) {
			all[i]->file = first[at]->file;
			continue;
		}
		memmove(first + at + 1, first + at,
			(nr++ - at) * sizeof(*first));
		first[at] = all[i];
		all[i]->file = sc->nr_file++;
	}
	for (size_t i = 0; i < nr; i++)
		first[i]->place = i + 1;
}

/* Note where each number stood last time; both lists ascend by number. */
static void recall(struct fdscan *sc)
{
	const struct fds_source *s = sc->s;
	size_t at = 0;

	for (size_t i = 0; i < sc->nr_number; i++) {
		struct fdscan_number *num = &sc->number[i];

		while (at < s->nr_place && s->place[at].number < num->number)
			at++;
		num->place =
			at < s->nr_place && s->place[at].number == num->number
				? s->place[at].place
				: SIZE_MAX;
	}
}

static void remember(const struct fdscan *sc)
{
	struct fds_source *s = sc->s;

	s->place =
		xreallocarray(s->place, sc->nr_number + 1, sizeof(*s->place));
	s->nr_place = sc->nr_number;
	for (size_t i = 0; i < sc->nr_number; i++)
		s->place[i] = (struct fds_place){ sc->number[i].number,
						  sc->number[i].place };
}

void fdgroup_all(struct fdscan *sc)
{
	size_t n = sc->nr_number;
	struct fdscan_number **all = xcalloc(n + 1, sizeof(*all));
	struct fdscan_number **first = xcalloc(n + 1, sizeof(*first));

	recall(sc);
	for (size_t i = 0; i < n; i++)
		all[i] = &sc->number[i];
	if (n)
		qsort(all, n, sizeof(*all), compare_place);
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && same_inode(all[i], all[end]);)
			end++;
		group_inode(sc, all + i, end - i, first);
	}
	remember(sc);
	free(all);
	free(first);
}
