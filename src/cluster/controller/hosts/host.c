/*
 * host.c - hosts: their agents, and what they report
 *
 * A host whose agent does not answer keeps its ranks (the keepers outlive the agent)
 * for lost_after; then they are given up.  A host that comes back with another boot id
 * has lost them for certain.
 */
#include <errno.h>
#include <limits.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>

#include "cluster/conn/keys.h"
#include "cluster/conn/loop.h"
#include "cluster/controller/hear/hear.h"
#include "cluster/controller/hosts/hosts.h"
#include "cluster/controller/job/job.h"
#include "cluster/controller/rank_move/rank_move.h"
#include "cluster/controller/sched/sched.h"
#include "cluster/controller/state/find.h"
#include "cluster/controller/state/host.h"
#include "cluster/controller/state/rank.h"
#include "cluster/controller/state/say.h"
#include "cluster/controller/state/state.h"
#include "cluster/controller/state/waiters.h"
#include "cluster/owner/owner.h"
#include "core/log.h"
#include "core/xalloc.h"
#include "model/record.h"
#include "net/net.h"

/* The largest values that a host may report. */
#define LOAD_MAX   1e6
#define FAULTS_MAX 1e9
#define CPU_MAX	   (1ull << 60)	     /* microseconds */
#define SENT_MAX   (1ull << 50)	     /* from one report to the next */
#define LINK_MAX   1000000000000000u /* bits a second */
#define SCORE_MAX  1e9		     /* as for the agent's setting */
#define SINCE	   USEC_PER_SEC	     /* closer instants count as the same */

static struct ctl_host *host_get(struct ctl *ctl, const char *name)
{
	struct ctl_host *h = ctl_host_find(ctl, name);

	return h ? h : ctl_host_create(ctl, name);
}

static struct ctl_move *first_due(const struct ctl *ctl)
{
	struct ctl_move *m;

	TAILQ_FOREACH (m, &ctl->moves, link)
		if (m->due)
			return m;
	return NULL;
}

/*
 * Call fn() for each move from the host.  A call may end other moves as well: those of
 * a job that begins anew.
 */
static void each_move_from(struct ctl_host *h, void (*fn)(struct ctl_move *m))
{
	struct ctl_move *m;

	TAILQ_FOREACH (m, &h->ctl->moves, link)
		m->due = m->from == h;
	while ((m = first_due(h->ctl))) {
		m->due = false;
		fn(m);
	}
}

/* ---- patience ---- */

static int on_lost(sd_event_source *src, uint64_t usec, void *arg)
{
	struct ctl_host *h = arg;
	struct ctl_job *job;

	h->lost = sd_event_source_disable_unref(h->lost);
	TAILQ_FOREACH (job, &h->ctl->jobs.list, link)
		for (uint32_t i = 0; i < job->nr; i++)
			if (job->ranks[i].host == h &&
			    ctl_rank_active(&job->ranks[i]) &&
			    !ctl_rank_elsewhere(&job->ranks[i]))
				ctl_rank_lost(&job->ranks[i],
					      "its host does not answer");
	each_move_from(h, ctl_move_source_lost);
	return 0;
}

/* The host's agent is gone: give its ranks up unless it comes back in time. */
static void wait_for_return(struct ctl_host *h)
{
	h->lost_since = ctl_now();
	sd_event_source_disable_unref(h->lost);
	h->lost = NULL;
	loop_after(h->ctl->event, &h->lost, h->ctl->conf->lost_after, on_lost,
		   h);
}

/* ---- from the store ---- */

static void load_host(void *arg, const struct store_host *row)
{
	struct ctl_host *h = host_get(arg, row->name);

	h->drain = row->drain;
	ctl_host_set_drained(h, row->drain_who, row->drain_reason,
			     row->drain_at, row->drain_by);
	free(h->boot_id);
	h->boot_id = xstrdup(row->boot_id);
}

static void load_key(void *arg, const struct tls_key *key)
{
	const char *name;

	if (role_of(key->identity, &name) == ROLE_HOST)
		host_get(arg, name);
}

void ctl_hosts_load(struct ctl *ctl)
{
	struct error err;

	store_each_host(ctl->store, load_host, ctl);
	if (keys_each(ctl->keys_path, load_key, ctl, &err) < 0)
		log_warnx("error=\"%s\"", err.text);
	/*
	 * After a restart no host has come back yet; do not wait for ever for
	 * one that never does.
	 */
	for (size_t i = 0; i < ctl->hosts.nr; i++) {
		wait_for_return(ctl->hosts.at[i]);
		ctl->hosts.at[i]->early = true;
	}
}

void ctl_host_lacks(struct ctl_host *h, const Control__KeeperName *n)
{
	uint64_t id = strtoull(n->job, NULL, 10);
	struct klink *k = klink_at(h, id, n->rank, n->epoch);
	struct ctl_rank *r = ctl_rank_find(h->ctl, id, n->rank);

	if (k)
		klink_gone(k);
	else if (r && r->host == h && r->epoch == n->epoch &&
		 ctl_rank_active(r))
		ctl_rank_keeper_died(r);
}

/* ---- the agent comes and goes ---- */

struct keeper_name {
	uint64_t job, rank, epoch;
};

/* The keepers that an agent names, sorted, so that each known one can be looked up. */
struct named {
	size_t nr;
	struct keeper_name *name;
};

static int compare_names(const void *x, const void *y)
{
	const struct keeper_name *a = x, *b = y;

	if (a->job != b->job)
		return a->job < b->job ? -1 : 1;
	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	return (a->epoch > b->epoch) - (a->epoch < b->epoch);
}

static void named_init(struct named *n, const Control__AgentInfo *info)
{
	n->nr = info->n_keepers;
	n->name = xcalloc(n->nr + 1, sizeof(*n->name));
	for (size_t i = 0; i < n->nr; i++)
		n->name[i] = (struct keeper_name){
			strtoull(info->keepers[i]->job, NULL, 10),
			info->keepers[i]->rank, info->keepers[i]->epoch
		};
	qsort(n->name, n->nr, sizeof(*n->name), compare_names);
}

static bool is_named(const struct named *n, uint64_t job, uint32_t rank,
		     uint64_t epoch)
{
	const struct keeper_name key = { job, rank, epoch };

	return bsearch(&key, n->name, n->nr, sizeof(*n->name), compare_names);
}

/* Keepers that the controller knows and the agent does not name have ended. */
static void drop_missing_keepers(struct ctl_host *h, const struct named *named)
{
	uint64_t last = h->ctl->last_request;
	struct klink *k, *next;

	for (k = TAILQ_FIRST(&h->klinks); k; k = next) {
		next = TAILQ_NEXT(k, link);
		/* Not the keepers of ranks that this starts again. */
		if (k->number > last)
			continue;
		k->heard = false;
		if (is_named(named, k->job_id, k->rank, k->epoch))
			continue;
		klink_gone(k);
		/* Dropping one may have ended others as well. */
		next = TAILQ_FIRST(&h->klinks);
	}
}

/* Deal with ranks that should be at the host but have no keeper there at all. */
static void drop_missing_ranks(struct ctl_host *h, const struct named *named)
{
	struct ctl_job *job;

	TAILQ_FOREACH (job, &h->ctl->jobs.list, link) {
		for (uint32_t i = 0; i < job->nr; i++) {
			struct ctl_rank *r = &job->ranks[i];

			if (r->host != h || !ctl_rank_active(r) ||
			    klink_of(r) ||
			    is_named(named, job->id, i, r->epoch))
				continue;
			if (r->move && r->move->from == h)
				ctl_move_source_missing(r->move);
			else
				ctl_rank_keeper_died(r);
		}
	}
}

static void set_text(char **to, const char *text)
{
	free(*to);
	*to = xstrdup(text);
}

static void agent_replaces(struct ctl_host *h)
{
	struct ctl_peer *old = h->agent;

	if (!old)
		return;
	h->agent = NULL;
	ctl_asked_gone(h);
	LIST_REMOVE(old, link);
	conn_destroy(old->conn);
	free(old);
}

/* An invalid load counts as the highest: the host is occupied. */
static double number_or_most(double x, double most)
{
	return x >= 0 && x <= most ? x : most;
}

/*
 * Agents send how long ago something was, so the computed instant is slightly different
 * each time.  If nothing else has changed, the old instant stays, and the policy is
 * told of no change.
 */
static void take_presence(struct ctl_host *h, const Control__Presence *m)
{
	struct presence fresh, *was = &h->owner;

	owner_parse(m, ctl_now(), &fresh);
	if (fresh.here == was->here && llabs(fresh.since - was->since) < SINCE)
		fresh.since = was->since;
	if (!fresh.here && !was->here &&
	    llabs(fresh.idle_since - was->idle_since) < SINCE)
		fresh.idle_since = was->idle_since;
	if (fresh.going_by && llabs(fresh.going_by - was->going_by) < SINCE)
		fresh.going_by = was->going_by;
	*was = fresh;
}

static void take_sent(struct ctl_rank *r, const Control__Sent *s)
{
	const struct ctl_rank *to =
		ctl_rank_at(r->job->ctl, (struct in_addr){ htonl(s->address) });
	struct rank_sent more = { .bytes = s->bytes, .segments = s->segments };

	if (!to || to->job != r->job || to == r || s->bytes > SENT_MAX ||
	    s->segments > SENT_MAX)
		return;
	more.rank = to->rank;
	ctl_rank_sent(r, &more);
}

/*
 * Take what a host reports of a rank.  It is believed for its own ranks; while a rank
 * is being moved, its source is believed.
 */
static void take_guest(struct ctl_host *h, const Control__GuestReport *g)
{
	struct ctl_rank *r = ctl_rank_find(h->ctl, g->job, g->rank);
	struct rank_use use = {
		.share = number_or_most(g->share, RECORD_CORES_MAX),
		.waits = number_or_most(g->waits, LOAD_MAX),
		.faults = number_or_most(g->faults, FAULTS_MAX),
		.memory = g->memory,
		.cpu_usec = g->cpu_usec < CPU_MAX ? g->cpu_usec : 0,
	};

	if (!r || r->host != h || !ctl_rank_active(r))
		return;
	ctl_rank_uses(r, &use);
	for (size_t i = 0; i < g->n_sent && i < r->job->nr; i++)
		take_sent(r, g->sent[i]);
}

/* Once for each job, if the report names its ranks one after the other. */
static void tell_jobs(struct ctl_host *h, const Control__HostReport *r)
{
	for (size_t i = 0; i < r->n_guests; i++) {
		const Control__GuestReport *g = r->guests[i];
		struct ctl_rank *rank = ctl_rank_find(h->ctl, g->job, g->rank);

		if (!rank || (i && g->job == r->guests[i - 1]->job))
			continue;
		ctl_sched_demand(rank->job);
		ctl_sched_talk(rank->job);
	}
}

static void take_report(struct ctl_host *h, const Control__HostReport *r)
{
	take_presence(h, r->presence);
	ctl_host_lends(h, r->lending);
	skew_told(&h->skew, ctl_now(), (usec_t)r->now_usec);
	h->report.runnable = number_or_most(r->runnable, LOAD_MAX);
	h->report.load = number_or_most(r->load, LOAD_MAX);
	h->report.memory_free =
		r->memory_free < h->memory ? r->memory_free : h->memory;
	h->report.pressure = number_or_most(r->pressure, 100);
	h->report.pressure_cpu = number_or_most(r->pressure_cpu, 100);
	h->report.pressure_io = number_or_most(r->pressure_io, 100);
	h->report.faults = number_or_most(r->faults, FAULTS_MAX);
	h->report.refaults = number_or_most(r->refaults, FAULTS_MAX);
	h->report.users = r->users;
	for (size_t i = 0; i < r->n_guests; i++)
		take_guest(h, r->guests[i]);
	tell_jobs(h, r);
}

/* Check how an agent describes its host. */
static int check_info(const Control__AgentInfo *info, struct error *err)
{
	const char *net = info->net;

	if (!info->cores || info->cores > RECORD_CORES_MAX)
		return error_set(err, -EINVAL, "invalid number of cores: %u",
				 info->cores);
	if (strcmp(net, "routed") && strcmp(net, "bridge") &&
	    strcmp(net, "none"))
		return error_set(err, -EINVAL, "unknown network '%s'", net);
	if (strlen(info->boot_id) > NAME_MAX ||
	    strlen(info->uplink) >= IFNAMSIZ || strchr(info->address, '/'))
		return error_set(err, -EINVAL,
				 "invalid boot id, uplink or address");
	if (!(info->score >= 0 && info->score <= SCORE_MAX))
		return error_set(err, -EINVAL, "invalid speed %g", info->score);
	return 0;
}

/*
 * Bridged capsules are on the hosts' own network, so their addresses must belong to
 * that network.
 */
static int check_bridged(const struct ctl *ctl, const Control__AgentInfo *info,
			 struct in_addr address, struct error *err)
{
	if (strcmp(info->net, "bridge"))
		return 0;
	if (info->prefix < 1 || info->prefix > 31)
		return error_set(err, -EINVAL,
				 "the bridge %s has no network: give it an "
				 "address",
				 info->uplink);
	if (!ctl_pool_within(ctl, address, info->prefix))
		return error_set(err, -EINVAL,
				 "the controller's pool %s is not part of the "
				 "network at the bridge %s (%s/%u)",
				 ctl->conf->pool, info->uplink, info->address,
				 info->prefix);
	return 0;
}

/* From here on the peer counts as the host, so nothing of this may fail. */
static void agent_comes(struct ctl_host *h, struct ctl_peer *p)
{
	agent_replaces(h);
	h->agent = p;
	h->early = false;
	p->host = h;
	h->lost_since = 0;
	h->lost = sd_event_source_disable_unref(h->lost);
}

static void take_info(struct ctl_host *h, const Control__AgentInfo *info)
{
	set_text(&h->address, info->address);
	set_text(&h->uplink, info->uplink);
	set_text(&h->net, info->net);
	h->prefix = info->prefix;
	h->score = info->score > 0 ? info->score : 1;
	h->cores = info->cores;
	h->memory = info->memory;
	h->link_bits = info->link_bits <= LINK_MAX ? info->link_bits : 0;
	h->most = (struct limits){ .memory = info->memory_max,
				   .pids = info->pids_max,
				   .cpus = info->cpus_max };
	h->no_cpus = !info->limits_cpus;
}

int ctl_host_hello(struct ctl_peer *p, const Control__AgentInfo *info,
		   struct error *err)
{
	struct ctl *ctl = p->ctl;
	size_t known = ctl->hosts.nr;
	struct in_addr address;
	struct ctl_host *h;
	unsigned prefix;

	if (net_parse_cidr(info->address, &address, &prefix, err) < 0 ||
	    check_info(info, err) < 0 ||
	    check_bridged(ctl, info, address, err) < 0)
		return -EINVAL;
	h = host_get(ctl, p->name);
	agent_comes(h, p);
	take_info(h, info);
	if (known != ctl->hosts.nr)
		ctl_sched_anew(ctl);
	ctl_closings_host(h);
	if (strcmp(h->boot_id, info->boot_id)) {
		set_text(&h->boot_id, info->boot_id);
		ctl_host_store(h);
	}
	if (info->report)
		take_report(h, info->report);
	log_info("host=%s agent=up keepers=%zu", h->name, info->n_keepers);
	return 0;
}

void ctl_host_compare(struct ctl_host *h, const Control__AgentInfo *info)
{
	struct named named;

	named_init(&named, info);
	drop_missing_keepers(h, &named);
	drop_missing_ranks(h, &named);
	free(named.name);
	ctl_sched_host(h);
}

/*
 * Have commit records removed whose moves ended while the agent was away.  Those of
 * moves under way are still needed, and removed when these end.
 */
static void forget_records(struct ctl_host *h, const Control__HostReport *r)
{
	for (size_t i = 0; i < r->n_records; i++) {
		Control__KeeperName *n = r->records[i];
		const struct ctl_rank *rank = ctl_rank_find(
			h->ctl, strtoull(n->job, NULL, 10), n->rank);
		const struct ctl_move *m = rank ? rank->move : NULL;

		if (!m || m->epoch != n->epoch)
			ctl_host_forget(h, n);
	}
}

void ctl_host_report(struct ctl_host *h, const Control__HostReport *r)
{
	take_report(h, r);
	forget_records(h, r);
	ctl_sched_host(h);
}

void ctl_host_gone(struct ctl_host *h)
{
	struct klink *k;

	h->agent = NULL;
	ctl_asked_gone(h);
	TAILQ_FOREACH (k, &h->klinks, link)
		k->heard = false;
	/* A report of a move that it has not sent by now may never come. */
	each_move_from(h, ctl_move_check);
	log_info("host=%s agent=down", h->name);
	wait_for_return(h);
	ctl_sched_host(h);
}
