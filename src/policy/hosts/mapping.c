/*
 * mapping.c - how DQS and PVM map processes onto hosts (Schnor 1997 §1.6.2,
 * §1.6.3)
 *
 * Both take jobs in the order of arrival.  PVM does not look at load at all: it deals
 * processes out host by host, separately for each user's virtual machine.  DQS gives a
 * host as many processes as it has slots, either in the hosts' order (the queue
 * sequence number) or the least loaded first.
 */
#include <stdlib.h>

#include "core/xalloc.h"
#include "policy/kit/policy.h"

enum { BY_LOAD, BY_SEQUENCE };

struct mapping {
	struct policy base;
	unsigned by;
	uint32_t slots; /* DQS: of each host */
	bool on;	/* PVM: begin behind the last host used */
	uint32_t next;	/* PVM: the host to begin with */
	struct order {
		double load;
		uint32_t host, room;
	} * order; /* scratch of a pass, by host */
};

static const char *const keys[] = { "load", "sequence", NULL };

static const struct param dqs_params[] = {
	{ "by", PARAM_CHOICE, BY_LOAD, 0, 0, keys,
	  "least loaded hosts first, or the hosts' order" },
	{ "slots", PARAM_INT, 1, 1, 65536, NULL, "processes a host takes" },
	{ .name = NULL },
};

static const char *const starts[] = { "first", "next", NULL };

static const struct param pvm_params[] = {
	{ "start", PARAM_CHOICE, 0, 0, 0, starts,
	  "where a job's first process goes: to the first host, as when every "
	  "user has a virtual machine of her own, or behind the last one used" },
	{ .name = NULL },
};

REASON(dealt,
       "its {processes} {processes:process is|processes are} dealt out round "
       "robin, from host {first:host} on",
       processes, first);
REASON(mapped,
       "it takes {size} of {free} free {free:slot|slots}, from host "
       "{first:host} on",
       free, size, first);
REASON(no_slots,
       "it needs {size} {size:slot|slots} and {free} {free:is|are} free", size,
       free);

static struct mapping *mapping_create(const struct policy_setup *setup)
{
	struct mapping *p = xcalloc(1, sizeof(*p));

	p->order = xcalloc(setup->view->nr_hosts, sizeof(*p->order));
	return p;
}

static int dqs_create(const struct policy_setup *setup, struct policy **ret,
		      struct error *err)
{
	struct mapping *p = mapping_create(setup);

	(void)err;
	p->by = params_choice(setup->params, "by");
	p->slots = (uint32_t)params_int(setup->params, "slots");
	*ret = &p->base;
	return 0;
}

static int pvm_create(const struct policy_setup *setup, struct policy **ret,
		      struct error *err)
{
	struct mapping *p = mapping_create(setup);

	(void)err;
	p->on = params_choice(setup->params, "start");
	*ret = &p->base;
	return 0;
}

static int by_load(const void *a, const void *b)
{
	const struct order *x = a, *y = b;

	if (x->load != y->load)
		return x->load < y->load ? -1 : 1;
	return x->host < y->host ? -1 : 1;
}

/* Slots of the host that are free, once so many ranks of the plan have come. */
static uint32_t free_slots(const struct mapping *p, const struct host *h,
			   int64_t coming)
{
	uint32_t slots = p->slots < h->slots ? p->slots : h->slots;
	int64_t room = (int64_t)slots - h->nr_ranks - coming;

	return host_usable(h) && room > 0 ? (uint32_t)room : 0;
}

/*
 * Put the hosts into DQS's order, with the room that each has; returns all their free
 * slots.
 */
static int64_t order_hosts(struct mapping *p, const struct view *view)
{
	int64_t slots = 0;

	for (uint32_t i = 0; i < view->nr_hosts; i++) {
		const struct host *h = &view->hosts[i];
		uint32_t room = free_slots(p, h, 0);

		slots += room;
		p->order[i] = (struct order){
			.load = p->by == BY_LOAD ? h->load + h->nr_active : 0,
			.host = i,
			.room = room,
		};
	}
	qsort(p->order, view->nr_hosts, sizeof(*p->order), by_load);
	return slots;
}

/* One process per host in turn, until all are placed. */
static void dqs_place(struct mapping *p, const struct view *view,
		      const struct job *job, uint32_t *hosts)
{
	for (uint32_t r = 0, i = 0; r < job->size; i = (i + 1) % view->nr_hosts)
		if (p->order[i].room) {
			p->order[i].room--;
			hosts[r++] = p->order[i].host;
		}
}

static void dqs_decide(struct policy *policy, const struct view *view,
		       struct plan *plan)
{
	struct mapping *p = (struct mapping *)policy;
	int64_t slots = order_hosts(p, view);
	const struct job *job;

	for_each_waiting(job, view)
	{
		uint32_t *hosts;

		if (job->size > slots)
			break;
		hosts = plan_hosts(plan, job->size);
		dqs_place(p, view, job, hosts);
		plan_start_on(plan, job, job->size, hosts,
			      BECAUSE(mapped, .free = slots, .size = job->size,
				      .first = hosts[0]));
		slots -= job->size;
	}
}

static void dqs_explain(const struct policy *policy, const struct view *view,
			const struct job *job, struct plan *plan)
{
	const struct mapping *p = (const struct mapping *)policy;
	int64_t slots = 0;

	for (uint32_t i = 0; i < view->nr_hosts; i++)
		slots += free_slots(p, &view->hosts[i], plan->ranks[i]);
	plan_defer(plan, job,
		   BECAUSE(no_slots, .size = job->size, .free = slots));
}

static int64_t dqs_most(const struct policy *policy, const struct view *view)
{
	const struct mapping *p = (const struct mapping *)policy;
	const struct host *h;
	int64_t n = 0;

	for_each_host (h, view)
		n += p->slots < h->slots ? p->slots : h->slots;
	return n;
}

/* As many processes as hosts have slots for. */
static int64_t pvm_most(const struct policy *policy, const struct view *view)
{
	return view->nr_hosts ? INT64_MAX : 0;
}

static void pvm_decide(struct policy *policy, const struct view *view,
		       struct plan *plan)
{
	struct mapping *p = (struct mapping *)policy;
	uint32_t usable = 0;
	const struct job *job;

	for (uint32_t i = 0; i < view->nr_hosts; i++)
		usable += host_usable(&view->hosts[i]);
	if (!usable)
		return;
	for_each_waiting(job, view)
	{
		uint32_t *hosts = plan_hosts(plan, job->size);
		uint32_t at = p->on ? p->next : 0;

		for (uint32_t r = 0; r < job->size;
		     at = (at + 1) % view->nr_hosts)
			if (host_usable(&view->hosts[at]))
				hosts[r++] = at;
		p->next = at;
		plan_start_on(plan, job, job->size, hosts,
			      BECAUSE(dealt, .processes = job->size,
				      .first = hosts[0]));
	}
}

static void pvm_save(const struct policy *policy, const struct view *view,
		     FILE *to)
{
	fprintf(to, "%u\n", ((const struct mapping *)policy)->next);
}

static int pvm_load(struct policy *policy, const struct view *view,
		    const char *text, struct error *err)
{
	struct mapping *p = (struct mapping *)policy;
	unsigned next;

	if (sscanf(text, "%u", &next) != 1)
		return policy_damaged(policy, text, err);
	p->next = next < view->nr_hosts ? next : 0;
	return 0;
}

static void mapping_destroy(struct policy *policy)
{
	struct mapping *p = (struct mapping *)policy;

	free(p->order);
	free(p);
}

const struct policy_ops policy_dqs = {
	.name = "dqs",
	.summary = "first come, first served onto hosts with free slots",
	.source = "Schnor 1997 section 1.6.3",
	.details =
		"The head of the queue starts when the hosts have a slot for "
		"each of its processes. These are dealt out one per host in "
		"turn, to the least loaded hosts first or in the hosts' "
		"order. A pass costs O(hosts log hosts + processes started).",
	.params = dqs_params,
	.flags = POLICY_HOSTS | POLICY_SHARES,
	.create = dqs_create,
	.decide = dqs_decide,
	.explain = dqs_explain,
	.most = dqs_most,
	.destroy = mapping_destroy,
};

const struct policy_ops policy_pvm = {
	.name = "pvm",
	.summary = "every job at once, its processes dealt out round robin",
	.source = "Schnor 1997 section 1.6.2",
	.details = "There is no queue, and load does not matter: a job starts "
		   "when it arrives, its processes dealt out one per host in "
		   "turn. A pass costs O(hosts + processes started).",
	.params = pvm_params,
	.flags = POLICY_HOSTS | POLICY_SHARES,
	.create = pvm_create,
	.decide = pvm_decide,
	.most = pvm_most,
	.save = pvm_save,
	.load = pvm_load,
	.destroy = mapping_destroy,
};
