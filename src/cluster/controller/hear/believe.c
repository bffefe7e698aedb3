/*
 * believe.c - what a host, and a keeper at it, may say
 *
 * A host that is taken over says what it likes; it is believed about what it has
 * and where it takes part, and no further (doc/design/42-who-says-what.md).
 */
#include "cluster/controller/state/state.h"

#include "cluster/controller/hear/hear.h"
#include "cluster/controller/state/find.h"

enum { UNKNOWN_MAX = 1024 }; /* keepers of no job of ours, of one host */

/*
 * Can its rank be there, for all we know? A host speaks for its own ranks
 * alone: any other keeper that it claims to have belongs to no job, and is
 * ended.
 */
bool klink_can_be_there(const struct klink *k)
{
	const struct ctl_rank *r = klink_rank(k);

	if (k->epoch == r->epoch)
		return k->host == r->host;
	if (r->move && k->epoch == r->move->epoch)
		return k->host == r->move->to;
	/*
	 * Its unread output may still be at hosts where the rank has been or
	 * was to be.
	 */
	return k->epoch < r->epoch &&
	       store_was_there(k->host->ctl->store, k->job_id, k->rank,
			       k->epoch, k->host->name);
}

/* A host may claim only so many keepers that we did not start. */
bool ctl_host_has_room(const struct ctl_host *h)
{
	return h->nr_strangers < UNKNOWN_MAX;
}

/* The exit code as a shell would give it; a host may say any number. */
int klink_exit_code(const Keeper__Exited *e)
{
	if (!e->signaled)
		return e->code & 255;
	return e->code > 0 && e->code <= 64 ? 128 + e->code : 128;
}
