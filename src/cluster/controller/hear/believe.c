/*
 * believe.c - which statements of a host, and of a keeper there, are believed
 *
 * A host that an attacker has taken over can say anything.  It is believed about its
 * own ranks and the moves that it takes part in, and about nothing else
 * (doc/design/42-who-says-what.md).
 */
#include "cluster/controller/state/state.h"

#include "cluster/controller/hear/hear.h"
#include "cluster/controller/state/find.h"

/* most keepers without a job of ours that one host may claim */
enum { UNKNOWN_MAX = 1024 };

/*
 * Can the keeper's rank be at that host, by what the controller knows?  A host speaks
 * for its own ranks alone: any other keeper that it claims to have belongs to no job,
 * and is ended.
 */
bool klink_can_be_there(const struct klink *k)
{
	const struct ctl_rank *r = klink_rank(k);

	if (k->epoch == r->epoch)
		return k->host == r->host;
	if (r->move && k->epoch == r->move->epoch)
		return k->host == r->move->to;
	/*
	 * Output that is still to be read may be at hosts where the rank was
	 * before, or was to go.
	 */
	return k->epoch < r->epoch &&
	       store_was_there(k->host->ctl->store, k->job_id, k->rank,
			       k->epoch, k->host->name);
}

/*
 * A host may claim only a limited number of keepers that the controller did not start.
 */
bool ctl_host_has_room(const struct ctl_host *h)
{
	return h->nr_strangers < UNKNOWN_MAX;
}

/* The exit code as a shell would give it, whatever number the host has sent. */
int klink_exit_code(const Keeper__Exited *e)
{
	if (!e->signaled)
		return e->code & 255;
	return e->code > 0 && e->code <= 64 ? 128 + e->code : 128;
}
