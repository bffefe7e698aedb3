/*
 * gather.c - the union of what all ranks put before a barrier
 */
#include "pmi/gather.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "core/xalloc.h"

struct item {
	char *key, *value;
	UT_hash_handle hh;
};

struct pmi_gather {
	uint32_t size, nr_here;
	uint32_t nr_missed;   /* ranks that are gone, and not here */
	uint64_t generation;  /* being gathered */
	bool *here;	      /* by rank: its fence is whole */
	bool *gone;	      /* by rank: it has ended */
	struct item *now;     /* what came for it so far */
	size_t bytes;	      /* ... its keys and values */
	struct pmi_put *last; /* union of the generation before; own strings */
	size_t nr_last;
};

struct pmi_gather *pmi_gather_create(uint32_t size)
{
	struct pmi_gather *g = xcalloc(1, sizeof(*g));

	g->size = size;
	g->here = xcalloc(size, sizeof(*g->here));
	g->gone = xcalloc(size, sizeof(*g->gone));
	return g;
}

static void drop_now(struct pmi_gather *g)
{
	struct item *it, *next;

	HASH_ITER (hh, g->now, it, next) {
		HASH_DEL(g->now, it);
		free(it->key);
		free(it->value);
		free(it);
	}
	for (uint32_t i = 0; i < g->size; i++)
		g->nr_missed += g->here[i] && g->gone[i];
	g->nr_here = 0;
	g->bytes = 0;
	memset(g->here, 0, g->size * sizeof(*g->here));
}

static void drop_last(struct pmi_gather *g)
{
	for (size_t i = 0; i < g->nr_last; i++) {
		free((char *)g->last[i].key);
		free((char *)g->last[i].value);
	}
	free(g->last);
	g->last = NULL;
	g->nr_last = 0;
}

void pmi_gather_destroy(struct pmi_gather *g)
{
	if (!g)
		return;
	drop_now(g);
	drop_last(g);
	free(g->here);
	free(g->gone);
	free(g);
}

void pmi_gather_resume(struct pmi_gather *g, uint64_t generation)
{
	drop_now(g);
	drop_last(g);
	g->generation = generation;
}

/* The strings of `now` become those of `last`. */
static void complete(struct pmi_gather *g)
{
	struct item *it, *next;

	drop_last(g);
	g->last = xcalloc(HASH_COUNT(g->now) + 1, sizeof(*g->last));
	HASH_ITER (hh, g->now, it, next) {
		g->last[g->nr_last++] = (struct pmi_put){ it->key, it->value };
		HASH_DEL(g->now, it);
		free(it);
	}
	drop_now(g);
	g->generation++;
}

static void add_put(struct pmi_gather *g, const struct pmi_put *put)
{
	size_t n = strlen(put->key);
	struct item *it;

	HASH_FIND(hh, g->now, put->key, n, it);
	if (!it) {
		it = xcalloc(1, sizeof(*it));
		it->key = xstrdup(put->key);
		HASH_ADD_KEYPTR(hh, g->now, it->key, n, it);
		g->bytes += n;
	} else {
		g->bytes -= strlen(it->value);
	}
	g->bytes += strlen(put->value);
	free(it->value);
	it->value = xstrdup(put->value);
}

int pmi_gather_add(struct pmi_gather *g, uint32_t rank, uint64_t generation,
		   const struct pmi_put *puts, size_t n, bool more,
		   struct error *err)
{
	if (rank >= g->size)
		return error_set(err, -EPROTO, "PMI: no rank %u of %u", rank,
				 g->size);
	if (n > PMI_PUTS_MAX)
		return error_set(
			err, -EPROTO,
			"PMI: rank %u puts %zu keys at once, the most is %d",
			rank, n, PMI_PUTS_MAX);
	if (generation + 1 == g->generation)
		return more ? PMI_GATHER_WAIT : PMI_GATHER_AGAIN;
	if (generation != g->generation)
		return error_set(err, -EPROTO,
				 "PMI: rank %u is in barrier %" PRIu64
				 ", the job in %" PRIu64,
				 rank, generation, g->generation);
	/* Its keeper keeps to these; a host that lies may not. */
	for (size_t i = 0; i < n; i++) {
		if (strlen(puts[i].key) >= PMI_KEY_MAX ||
		    strlen(puts[i].value) >= PMI_VALUE_MAX ||
		    HASH_COUNT(g->now) >= (size_t)g->size * PMI_PUTS_MAX)
			return error_set(err, -EPROTO,
					 "PMI: rank %u puts more than it may",
					 rank);
		add_put(g, &puts[i]);
		/* The union is sent to each rank and kept in the store. */
		if (g->bytes > PMI_UNION_MAX)
			return error_set(err, -EPROTO,
					 "PMI: the ranks put more than %d MiB "
					 "for one barrier",
					 PMI_UNION_MAX >> 20);
	}
	if (more || g->here[rank])
		return PMI_GATHER_WAIT;
	g->here[rank] = true;
	g->nr_missed -= g->gone[rank];
	if (++g->nr_here == g->size) {
		complete(g);
		return PMI_GATHER_ALL;
	}
	return g->nr_here == 1 && g->nr_missed ? PMI_GATHER_STUCK
					       : PMI_GATHER_WAIT;
}

bool pmi_gather_gone(struct pmi_gather *g, uint32_t rank)
{
	if (rank >= g->size || g->gone[rank])
		return false;
	g->gone[rank] = true;
	return !g->here[rank] && ++g->nr_missed == 1 && g->nr_here;
}

uint32_t pmi_gather_missed(const struct pmi_gather *g)
{
	uint32_t i = 0;

	while (i < g->size && (g->here[i] || !g->gone[i]))
		i++;
	return i;
}

const struct pmi_put *pmi_gather_union(const struct pmi_gather *g,
				       size_t *ret_n)
{
	*ret_n = g->nr_last;
	return g->last;
}
