/*
 * saved.c - the keeper's own knowledge of its rank, on its way with it
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cluster/keeper/priv.h"
#include "core/xalloc.h"

/*
 * The rank stands still and the keeper is quiet, so nothing of this changes
 * until the outcome is known.  Unread output of the rank stays in this keeper
 * and is handed out from here: the new keeper's offsets continue after it.
 */
void keeper_save(struct keeper_rank *rank, uint8_t **ret, size_t *ret_n)
{
	Keeper__Saved s = KEEPER__SAVED__INIT;
	struct limits_met met;
	void *pmi = NULL;

	s.job = (char *)rank->id.job;
	s.rank = rank->id.rank;
	s.stdin_offset = rank->io.in_offset;
	s.stdin_data.data = rank->io.in;
	s.stdin_data.len = rank->io.nr_in;
	s.stdin_eof = rank->io.in_eof;
	s.signals = rank->signals;
	met = keeper_met(rank);
	s.memory_kills = met.kills;
	s.own_memory = met.own_memory;
	s.pids_refused = met.refused;
	s.cpus_held_usec = met.held_usec;
	s.stdout_offset =
		rank->io.out_offset[0] + keeper_io_unread(rank, EXT_STDOUT);
	s.stderr_offset =
		rank->io.out_offset[1] + keeper_io_unread(rank, EXT_STDERR);
	if (rank->pmi)
		pmi_server_save(rank->pmi, &pmi, &s.pmi.len);
	s.pmi.data = pmi;
	*ret_n = keeper__saved__get_packed_size(&s);
	*ret = xmalloc(*ret_n);
	keeper__saved__pack(&s, *ret);
	free(pmi);
}

static int take_saved(struct keeper_rank *rank, const Keeper__Saved *s,
		      struct error *err)
{
	struct pmi_server *pmi = NULL;
	int r;

	if (strcmp(s->job, rank->id.job) || s->rank != rank->id.rank)
		return error_set(err, -EPROTO, "rank %s.%u came to %s.%u",
				 s->job, s->rank, rank->id.job, rank->id.rank);
	if (s->stdin_data.len > sizeof(rank->io.in))
		return error_set(err, -EPROTO,
				 "too much unread stdin came with the rank");
	if (s->pmi.len) {
		r = pmi_server_load(s->pmi.data, s->pmi.len,
				    &keeper_pmi_exchange, rank, &pmi, err);
		if (r < 0)
			return r;
	}
	rank->pmi = pmi;
	rank->io.in_offset = s->stdin_offset;
	rank->io.in_eof = s->stdin_eof;
	rank->io.nr_in = s->stdin_data.len;
	if (s->stdin_data.len)
		memcpy(rank->io.in, s->stdin_data.data, s->stdin_data.len);
	rank->signals = s->signals;
	rank->met = (struct limits_met){ .kills = s->memory_kills,
					 .own_memory = s->own_memory,
					 .refused = s->pids_refused,
					 .held_usec = s->cpus_held_usec };
	rank->io.out_offset[0] = s->stdout_offset;
	rank->io.out_offset[1] = s->stderr_offset;
	return 0;
}

int keeper_load(struct keeper_rank *rank, const void *p, size_t n,
		struct error *err)
{
	Keeper__Saved *s = keeper__saved__unpack(NULL, n, p);
	int r;

	if (!s)
		return error_set(err, -EPROTO,
				 "the old keeper's state is malformed");
	r = take_saved(rank, s, err);
	keeper__saved__free_unpacked(s, NULL);
	return r;
}
