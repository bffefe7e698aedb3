/*
 * valid.c - is what came over the wire a set of descriptors?
 *
 * A set that passes can at worst make a wrong program; it never reaches outside of its
 * arrays, and never does more than the program's own system calls could.
 */
#include <errno.h>
#include <stdlib.h>

#include "core/xalloc.h"
#include "move/fd/restore.h"
#include "move/kind/kinds.h"

static int check_numbers(const Fds__Set *set, bool *used, struct error *err)
{
	for (size_t i = 0; i < set->n_number; i++) {
		const Fds__Number *n = set->number[i];

		if (n->number >= FD_NUMBER_MAX || n->file >= set->n_file)
			return fdkind_bad(err, "number out of range");
		if (i && n->number <= set->number[i - 1]->number)
			return fdkind_bad(err, "numbers not ascending");
		used[n->file] = true;
	}
	for (size_t i = 0; i < set->n_file; i++) {
		if (!used[i])
			return fdkind_bad(err, "file without a number");
	}
	return 0;
}

static int check_file(const Fds__Set *set, size_t i, struct error *err)
{
	const Fds__File *f = set->file[i];
	/* All members of the union are pointers to messages. */
	const struct fd_kind *k = f->path ? fdkinds_find(f->kind_case) : NULL;

	if (!k)
		return fdkind_bad(err, "file of no kind");
	return k->check ? k->check(set, i, err) : 0;
}

/*
 * Is the message one that a scan (scan.h) could have made? Nothing is trusted.
 */
static int check_set(const Fds__Set *set, struct error *err)
{
	bool *used;
	int r;

	if (set->version != 1)
		return error_set(err, -EPROTO,
				 "descriptor set of version %u, this end "
				 "knows 1",
				 set->version);
	used = xcalloc(set->n_file + 1, sizeof(*used));
	r = check_numbers(set, used, err);
	free(used);
	for (const struct fd_kind *const *k = fd_kinds; *k && !r; k++)
		if ((*k)->check_all)
			r = (*k)->check_all(set, err);
	for (size_t i = 0; i < set->n_file && !r; i++)
		r = check_file(set, i, err);
	return r;
}

int fdvalid_unpack(const void *blob, size_t n, Fds__Set **ret,
		   struct error *err)
{
	Fds__Set *set = fds__set__unpack(NULL, n, blob);
	int r;

	if (!set)
		return fdkind_bad(err, "cannot be parsed");
	r = check_set(set, err);
	if (r < 0) {
		fds__set__free_unpacked(set, NULL);
		return r;
	}
	*ret = set;
	return 0;
}

int fdvalid_base(const Fds__Set *set)
{
	return set->n_number ? (int)set->number[set->n_number - 1]->number + 1
			     : 0;
}
