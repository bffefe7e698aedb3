/*
 * memshare.c - sharing the load of processors and memory (Chen 2002)
 *
 * G-Loadsharing: how much memory a job will need is not known.  It starts at its home
 * host if that has idle memory and fewer processes than a threshold, else on the host
 * that has both and the fewest processes.  From a host with many page faults, the
 * largest process that fits into the idle memory of another host moves there.
 *
 * V-Reconfiguration: if no process of such a host fits anywhere (the host is
 * "blocked"), and all idle memory together is more than one host has, the host with the
 * fewest processes is held back until it is empty.  Then the largest process of a
 * blocked host moves there, and further ones as far as they fit.  A host is no longer
 * held back when these have ended, or if no host is blocked any more before it was
 * used.
 *
 * A pass looks at all hosts for each job that starts, and for each host with many page
 * faults at all hosts for each of its processes, and at all running ranks.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/xalloc.h"
#include "policy/hosts/memshare.h"

enum variant { G_LOADSHARING, V_RECONFIGURATION };

static const char *const untils[] = { "empty", "fits", NULL };

/* clang-format off: one table, whose beginning is common to both policies. */
#define COMMON_PARAMS                                                          \
	{ "slots",                                                             \
	  PARAM_INT,                                                           \
	  4,                                                                   \
	  1,                                                                   \
	  1e6,                                                                 \
	  NULL,                                                                \
	  "processes a core takes at most (the CPU threshold)" },              \
		{ "faults",                                                    \
		  PARAM_REAL,                                                  \
		  10,                                                          \
		  0,                                                           \
		  1e9,                                                         \
		  NULL,                                                        \
		  "page faults a second from which on a host is overloaded" }, \
	{                                                                      \
		"settle", PARAM_TIME, 30, 0, 1e9, NULL,                        \
			"a process that started or moved stays for so long"    \
	}

static const struct param g_params[] = { COMMON_PARAMS, { .name = NULL } };

static const struct param v_params[] = {
	COMMON_PARAMS,
	{ "until", PARAM_CHOICE, 0, 0, 0, untils,
	  "a host held back is ready when it is empty, or when the process "
	  "that is to move there fits" },
	{ "patience", PARAM_TIME, 600, 0, 1e9, NULL,
	  "a host that is not ready after so long is let go" },
	{ .name = NULL }
};
/* clang-format on */

REASON(at_home, "its home, host {host:host}, has a free slot and idle memory",
       host);
REASON(away,
       "host {host:host} has a free slot, idle memory and the fewest "
       "processes ({ranks})",
       host, ranks);
REASON(no_slot,
       "no host has both a free slot and idle memory: of {hosts}, {full} have "
       "no slot and {tight} no memory",
       hosts, full, tight);
REASON(behind, "job {job} is before it in the queue and has to start first",
       job);
REASON(settled, "a process has settled by then, and may move");
REASON(overdue, "a host that is held back should be ready by then");

static int memshare_create(const struct policy_setup *setup,
			   struct policy **ret, struct error *err)
{
	const struct params *p = setup->params;
	struct memshare *s = xcalloc(1, sizeof(*s));

	(void)err;
	s->slots = params_int(p, "slots");
	s->faults = params_real(p, "faults");
	s->settle = params_usec(p, "settle");
	s->reconfigures = setup->ops->variant == V_RECONFIGURATION;
	if (s->reconfigures) {
		s->until = params_choice(p, "until");
		s->patience = params_usec(p, "patience");
	}
	s->nr_hosts = setup->view->nr_hosts;
	s->held = xcalloc(s->nr_hosts + 1, sizeof(*s->held));
	s->spare = xcalloc(s->nr_hosts + 1, sizeof(*s->spare));
	s->on.first = xcalloc(s->nr_hosts + 1, sizeof(*s->on.first));
	s->on.last = xcalloc(s->nr_hosts + 1, sizeof(*s->on.last));
	*ret = &s->base;
	return 0;
}

static void memshare_destroy(struct policy *policy)
{
	struct memshare *s = (struct memshare *)policy;

	free(s->held);
	free(s->spare);
	free(s->on.all);
	free(s->on.first);
	free(s->on.last);
	free(s);
}

static void count_spare(struct memshare *s, const struct view *view)
{
	const struct host *h;

	for_each_host (h, view)
		s->spare[h->ix] = (struct spare){
			.slots = memshare_slots(s, h),
			.memory = h->memory ? h->memory_free : UINT64_MAX,
		};
}

/* ---- jobs that start ---- */

static const struct host *find_place(const struct memshare *s,
				     const struct view *view,
				     const struct job *j)
{
	const struct host *home = j->home && j->home <= view->nr_hosts
					  ? &view->hosts[j->home - 1]
					  : NULL;

	return home && memshare_takes(s, home, 0) ? home
						  : memshare_place(s, view, 0);
}

/* Processes that are or will be on a host, computed from the slots that it has left. */
static int64_t ranks_on(const struct memshare *s, const struct host *h)
{
	return h->nr_ranks + memshare_slots(s, h) - s->spare[h->ix].slots;
}

static struct because why_there(const struct memshare *s, const struct job *j,
				const struct host *h)
{
	return j->home == h->ix + 1
		       ? BECAUSE(at_home, .host = h->ix)
		       : BECAUSE(away, .host = h->ix, .ranks = ranks_on(s, h));
}

static bool start(struct memshare *s, const struct view *view,
		  const struct job *j, struct plan *plan)
{
	uint32_t *hosts = plan_hosts(plan, j->size);
	struct because why = BECAUSE(behind, .job = 0);

	for (uint32_t i = 0; i < j->size; i++) {
		const struct host *h = find_place(s, view, j);

		if (!h)
			return false; /* which ends the pass */
		if (!i)
			why = why_there(s, j, h);
		hosts[i] = h->ix;
		memshare_give(s, h->ix, 0);
	}
	plan_start_on(plan, j, j->size, hosts, why);
	return true;
}

static void memshare_decide(struct policy *policy, const struct view *view,
			    struct plan *plan)
{
	struct memshare *s = (struct memshare *)policy;
	const struct job *j;
	usec_t wake = USEC_MAX;
	bool blocked;

	count_spare(s, view);
	blocked = memshare_relieve(s, view, &wake, plan);
	if (wake != USEC_MAX)
		plan_wake(plan, wake, BECAUSE(settled));
	wake = USEC_MAX;
	memshare_let_go(s, view, blocked, &wake, plan);
	if (wake != USEC_MAX)
		plan_wake(plan, wake, BECAUSE(overdue));
	for_each_waiting(j, view) if (!start(s, view, j, plan)) break;
}

static void memshare_explain(const struct policy *policy,
			     const struct view *view, const struct job *job,
			     struct plan *plan)
{
	const struct memshare *s = (const struct memshare *)policy;
	const struct job *head = TAILQ_FIRST(&view->waiting);
	int64_t full = 0, tight = 0;
	const struct host *h;

	for_each_host (h, view) {
		full += memshare_slots(s, h) <= 0;
		tight += memshare_slots(s, h) > 0 && h->memory &&
			 (!h->memory_free || memshare_overloaded(s, h));
	}
	if (head == job)
		plan_defer(plan, job,
			   BECAUSE(no_slot, .hosts = view->nr_hosts,
				   .full = full, .tight = tight));
	else
		plan_defer(plan, job, BECAUSE(behind, .job = head->id));
}

static int64_t memshare_most(const struct policy *policy,
			     const struct view *view)
{
	const struct memshare *s = (const struct memshare *)policy;
	const struct host *h;
	int64_t n = 0;

	for_each_host (h, view) {
		int64_t slots = s->slots * h->cores;

		n += slots < h->slots ? slots : h->slots;
	}
	return n;
}

/* Saved: one line per host that is held back: HOST SINCE USED. */
static void memshare_save(const struct policy *policy, const struct view *view,
			  FILE *to)
{
	const struct memshare *s = (const struct memshare *)policy;

	(void)view;
	for (uint32_t i = 0; i < s->nr_hosts; i++)
		if (s->held[i].since)
			fprintf(to, "%" PRIu32 " %" PRId64 " %d\n", i,
				s->held[i].since, s->held[i].used);
}

static int memshare_load(struct policy *policy, const struct view *view,
			 const char *text, struct error *err)
{
	struct memshare *s = (struct memshare *)policy;

	while (*text) {
		int64_t since;
		uint32_t host;
		int used, n = 0;

		if (sscanf(text, "%9" SCNu32 " %18" SCNd64 " %1d%n", &host,
			   &since, &used, &n) != 3 ||
		    text[n] != '\n' || host >= s->nr_hosts || since < 1 ||
		    since > view->now || used < 0 || used > 1 ||
		    s->held[host].since || !view->hosts[host].reserved)
			return policy_damaged(policy, text, err);
		s->held[host] = (struct held){ since, used };
		text += n + 1;
	}
	return 0;
}

const struct policy_ops policy_gload = {
	.name = "g-loadsharing",
	.summary = "memory-aware load sharing: at home, or where there is "
		   "idle memory; processes leave hosts that page",
	.source = "Chen 2002 section 1",
	.details =
		"Jobs start in the order of submission. A job starts at its "
		"home host if that has fewer than `slots` processes per core "
		"and idle memory, else on the host that has both and the most "
		"slots left (then the most memory). From each host with more "
		"than `faults` page faults a second one process per pass "
		"moves: the largest that fits into the idle memory of another "
		"host. The paper leaves open what the threshold is, how many "
		"faults are too many, and which host is chosen. A pass costs "
		"the hosts for each start, and the running ranks for each "
		"host that pages.",
	.params = g_params,
	.flags = POLICY_HOSTS | POLICY_SHARES,
	.variant = G_LOADSHARING,
	.create = memshare_create,
	.decide = memshare_decide,
	.explain = memshare_explain,
	.most = memshare_most,
	.destroy = memshare_destroy,
};

const struct policy_ops policy_vreconf = {
	.name = "v-reconfiguration",
	.summary = "g-loadsharing that holds hosts back for the largest "
		   "processes when no other place is left",
	.source = "Chen 2002 section 2",
	.details =
		"As g-loadsharing. If no process of a host that pages fits "
		"anywhere, although all idle memory together is more than the "
		"mean memory of a host, the host with the most slots left "
		"(then the most memory) is held back: it takes no more jobs. "
		"When it is ready, the largest process of a host that still "
		"pages moves there, and others as far as they fit. One host "
		"is made ready at a time. It is released when all processes "
		"on it have ended or, if it was not used, when no host is "
		"blocked any more or `patience` is over.",
	.params = v_params,
	.flags = POLICY_HOSTS | POLICY_SHARES,
	.variant = V_RECONFIGURATION,
	.create = memshare_create,
	.decide = memshare_decide,
	.explain = memshare_explain,
	.most = memshare_most,
	.save = memshare_save,
	.load = memshare_load,
	.destroy = memshare_destroy,
};
