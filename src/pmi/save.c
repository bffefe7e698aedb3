/*
 * save.c - a PMI server as bytes, to go where its rank goes
 *
 * What comes in is as little trusted as what a rank sends: every limit is
 * checked again.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/xalloc.h"
#include "pmi/server.h"
#include "state.pb-c.h"

void pmi_server_save(const struct pmi_server *s, void **ret, size_t *ret_n)
{
	size_t n = HASH_COUNT(s->kvs), i = 0;
	Pmi__State st = PMI__STATE__INIT;
	Pmi__Pair *pairs = xcalloc(n + 1, sizeof(*pairs));
	Pmi__Pair **kvs = xcalloc(n + 1, sizeof(*kvs));
	Pmi__Pair **puts = xcalloc(s->nr_puts + 1, sizeof(*puts));
	struct pmi_entry *e, *next;

	HASH_ITER (hh, s->kvs, e, next) {
		pmi__pair__init(&pairs[i]);
		pairs[i].key = e->key;
		pairs[i].value = e->value;
		if (e->put == 1 + s->generation)
			puts[st.n_puts++] = &pairs[i];
		else
			kvs[st.n_kvs++] = &pairs[i];
		i++;
	}
	st.rank = s->rank;
	st.size = s->size;
	st.kvsname = (char *)s->kvsname;
	st.phase = s->phase;
	st.generation = s->generation;
	st.waits = s->waits;
	st.wants_blobs = s->wants_blobs;
	st.kvs = kvs;
	st.puts = puts;
	st.input.data = (uint8_t *)s->in;
	st.input.len = s->nr_in;
	st.output.data = (uint8_t *)s->out;
	st.output.len = s->nr_out;
	st.in_mcmd = s->in_mcmd;
	*ret_n = pmi__state__get_packed_size(&st);
	*ret = xmalloc(*ret_n);
	pmi__state__pack(&st, *ret);
	free(pairs);
	free(kvs);
	free(puts);
}

static int load_pairs(struct pmi_server *s, Pmi__Pair **pairs, size_t n,
		      uint64_t put, struct error *err)
{
	int r = 0;

	for (size_t i = 0; i < n && !r; i++)
		r = pmi_kvs_set(s, pairs[i]->key, pairs[i]->value, put, err);
	return r;
}

static int load_state(struct pmi_server *s, const Pmi__State *st,
		      struct error *err)
{
	int r;

	if (st->phase > PMI_OVER || st->input.len >= sizeof(s->in) ||
	    st->n_puts > PMI_PUTS_MAX || (st->waits && st->size == 1) ||
	    (st->wants_blobs && !st->waits))
		return error_set(err, -EPROTO, "PMI: impossible state");
	s->phase = st->phase;
	s->generation = st->generation;
	s->waits = st->waits;
	s->wants_blobs = st->wants_blobs;
	s->in_mcmd = st->in_mcmd;
	s->nr_in = st->input.len;
	if (st->input.len)
		memcpy(s->in, st->input.data, st->input.len);
	if (st->output.len)
		pmi_out_append(s, st->output.data, st->output.len);
	r = load_pairs(s, st->kvs, st->n_kvs, 0, err);
	return r < 0 ? r
		     : load_pairs(s, st->puts, st->n_puts, 1 + s->generation,
				  err);
}

int pmi_server_load(const void *p, size_t n,
		    const struct pmi_exchange *exchange, void *ctx,
		    struct pmi_server **ret, struct error *err)
{
	Pmi__State *st = pmi__state__unpack(NULL, n, p);
	struct pmi_server *s = NULL;
	int r;

	if (!st)
		return error_set(err, -EPROTO, "PMI: malformed state");
	r = pmi_server_create(st->rank, st->size, st->kvsname, exchange, ctx,
			      &s, err);
	if (!r)
		r = load_state(s, st, err);
	if (!r)
		*ret = s;
	else
		pmi_server_destroy(s);
	pmi__state__free_unpacked(st, NULL);
	return r;
}
