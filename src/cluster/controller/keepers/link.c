/* link.c - the controller's side of a keeper (klink), from its start to its end */
#include <stdarg.h>
#include <stdlib.h>
#include <time.h>

#include "cluster/controller/keepers/keepers.h"
#include "cluster/controller/state/find.h"
#include "cluster/controller/state/say.h"
#include "cluster/controller/state/state.h"
#include "cluster/controller/state/waiters.h"
#include "core/xalloc.h"

/*
 * The list that k is in: the klinks of its rank, or those without a rank at its host.
 */
static struct klinks *kin_of(const struct klink *k)
{
	return k->job ? &klink_rank(k)->klinks : &k->host->strangers;
}

static void join_kin(struct klink *k)
{
	k->host->nr_strangers += !k->job;
	TAILQ_INSERT_TAIL(kin_of(k), k, kin);
}

static void leave_kin(struct klink *k)
{
	k->host->nr_strangers -= !k->job;
	TAILQ_REMOVE(kin_of(k), k, kin);
}

struct klink *klink_create(struct ctl_host *h, uint64_t job, uint32_t rank,
			   uint64_t epoch)
{
	struct klink *k = xcalloc(1, sizeof(*k));

	k->host = h;
	k->job_id = job;
	k->rank = rank;
	k->epoch = epoch;
	k->number = ctl_request_number(h->ctl);
	k->job = ctl_job_find(h->ctl, job);
	if (k->job && rank >= k->job->nr)
		k->job = NULL;
	if (k->job && !k->job->client)
		h->ctl->happen->job_unheard(k->job);
	TAILQ_INSERT_TAIL(&h->klinks, k, link);
	join_kin(k);
	return k;
}

void klink_disown(struct klink *k)
{
	leave_kin(k);
	k->job = NULL;
	join_kin(k);
}

void klink_free(struct klink *k)
{
	TAILQ_REMOVE(&k->host->klinks, k, link);
	klink_clear_output(k);
	if (k->out.waits)
		TAILQ_REMOVE(&k->job->turns, k, turn);
	leave_kin(k);
	ctl_waiter_destroy(k->starting);
	sd_event_source_disable_unref(k->hears_started);
	if (k->started)
		keeper__event__free_unpacked(k->started, NULL);
	free(k->out.pending);
	free(k);
}

struct klink *klink_start(struct ctl_rank *r, struct ctl_host *h,
			  uint64_t epoch)
{
	struct klink *k = klink_create(h, r->job->id, r->rank, epoch);
	Control__KeeperStart start = CONTROL__KEEPER_START__INIT;
	struct klink_name named;

	if (!h->agent)
		/*
		 * what becomes of it is decided when the host returns, or after
		 * lost_after
		 */
		return k;
	klink_name(k, &named);
	start.name = &named.name;
	start.user = r->job->spec->user;
	start.uid = r->job->spec->uid;
	ctl_ask_start(k, &start);
	return k;
}
