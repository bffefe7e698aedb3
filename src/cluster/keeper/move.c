/*
 * move.c - what both ends of a move share: doubt, verdict, outcome
 */
#include <errno.h>

#include "cluster/keeper/priv.h"

void keeper_on_verdict(struct keeper *k, const Keeper__Request *req)
{
	const Keeper__Verdict *v = req->verdict;
	struct error err;

	if (k->rank.state != KEEPER__STATE__DOUBT ||
	    v->epoch != k->move.epoch) {
		keeper_answer_failed(
			k, req->id,
			error_set(
				&err, -EINVAL,
				"this keeper is not in doubt about that move"),
			&err);
		return;
	}
	keeper_answer_ok(k, req->id);
	if (k->move.out)
		keeper_out_verdict(k, v->at_destination);
	else
		keeper_in_verdict(k, v->at_destination);
	keeper_maybe_exited(&k->rank);
	keeper_maybe_end(k);
}

void keeper_end_doubt(struct keeper *k)
{
	if (k->move.out)
		keeper_out_verdict(k, true);
	else
		keeper_in_verdict(k, false);
}
