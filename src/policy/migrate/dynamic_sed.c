/*
 * dynamic_sed.c - Dynamic-SED: load balancing among interactive users (Schnor
 * 1997 chapter 5)
 *
 * SED2 (policy/hosts/sed_state.h) promises a job a delay class when it starts.  Here
 * load and memory are held back for interactive users, and processes are looked at
 * again at regular intervals: one whose promise is broken, or whose host is short of
 * memory or has too many users, is a candidate; one that was a candidate at several
 * looks moves, if the location rules find a place.  Hosts that owners' terms want back
 * are left at once, before all this (leave.h).
 *
 * Choices where the text is silent: of several hosts that a rule allows, the least
 * delayed one is taken, then the first; a process for which no place was found keeps
 * its counter; one that has moved begins at 0 again; a long job that needs more nodes
 * than the limit for long jobs allows runs while no other long one does; how many users
 * a host may have is one number for all hosts.  Unlike under SED2, whole jobs do not
 * move to faster classes.
 *
 * A pass looks at the hosts and the running ranks, and costs O(hosts x classes) for
 * each job started; a look costs O(hosts) for each candidate.
 */
#include "policy/migrate/dynamic_sed.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/xalloc.h"

#define DYNAMIC_PARAMS(mem_min, mem_reserv, users, every, d_max)            \
	{ "load-reserv",                                                    \
	  PARAM_REAL,                                                       \
	  0.5,                                                              \
	  0,                                                                \
	  1000,                                                             \
	  NULL,                                                             \
	  "load held back on a host with users" },                          \
		{ "mem-min",                                                \
		  PARAM_REAL,                                               \
		  mem_min,                                                  \
		  0,                                                        \
		  1e9,                                                      \
		  NULL,                                                     \
		  "KB: a host with less free memory offers nothing" },      \
		{ "mem-reserv",                                             \
		  PARAM_REAL,                                               \
		  mem_reserv,                                               \
		  0,                                                        \
		  1e9,                                                      \
		  NULL,                                                     \
		  "KB held back on a host with users" },                    \
		{ "users",                                                  \
		  PARAM_INT,                                                \
		  users,                                                    \
		  0,                                                        \
		  100000,                                                   \
		  NULL,                                                     \
		  "more users than these want a host's processes to go" },  \
		{ "every",                                                  \
		  PARAM_TIME,                                               \
		  every,                                                    \
		  0.1,                                                      \
		  1e6,                                                      \
		  NULL,                                                     \
		  "time between two looks (delta T)" },                     \
		{ "c1",                                                     \
		  PARAM_INT,                                                \
		  6,                                                        \
		  1,                                                        \
		  100000,                                                   \
		  NULL,                                                     \
		  "looks until a process moves, without users there" },     \
		{ "c2",                                                     \
		  PARAM_INT,                                                \
		  4,                                                        \
		  1,                                                        \
		  100000,                                                   \
		  NULL,                                                     \
		  "the same with users there" },                            \
		{ "d-max",                                                  \
		  PARAM_REAL,                                               \
		  d_max,                                                    \
		  1,                                                        \
		  1e6,                                                      \
		  NULL,                                                     \
		  "nothing flees from users to a delay as great as this" }, \
		{ "share",                                                  \
		  PARAM_REAL,                                               \
		  0.7,                                                      \
		  0.01,                                                     \
		  1,                                                        \
		  NULL,                                                     \
		  "of the idle cluster's nodes that long jobs may have" },  \
		{ "long",                                                   \
		  PARAM_TIME,                                               \
		  86400,                                                    \
		  0,                                                        \
		  1e9,                                                      \
		  NULL,                                                     \
		  "a job whose estimate is at least this is a long one" },  \
		FLIGHTS_PARAMS,                                             \
	{                                                                   \
		.name = NULL                                                \
	}

static const struct param params[] = { DYNAMIC_PARAMS(256 << 10, 512 << 10, 0,
						      15, 12) };
static const struct param paper_params[] = { DYNAMIC_PARAMS(500, 1024, 3, 180,
							    12) };

REASON(why_wait,
       "no delay class has the {least} {least:node|nodes} it needs at least",
       least);
static int dynamic_create(const struct policy_setup *setup, struct policy **ret,
			  struct error *err)
{
	const struct params *p = setup->params;
	const struct view *view = setup->view;
	struct dynamic *d = xcalloc(1, sizeof(*d));

	(void)err;
	d->load_reserv = params_real(p, "load-reserv");
	d->mem_min = (uint64_t)(params_real(p, "mem-min") * 1024);
	d->mem_reserv = (uint64_t)(params_real(p, "mem-reserv") * 1024);
	d->users = (uint32_t)params_int(p, "users");
	d->every = params_usec(p, "every");
	d->c1_max = (uint32_t)params_int(p, "c1");
	d->c2_max = (uint32_t)params_int(p, "c2");
	d->d_max = params_real(p, "d-max");
	d->share = params_real(p, "share");
	d->longest = params_usec(p, "long");
	flights_init(&d->flights, p);
	d->alpha = xcalloc(view->nr_hosts + 1, sizeof(*d->alpha));
	for (uint32_t i = 0; i < view->nr_hosts; i++)
		d->alpha[i] = view->hosts[i].speed;
	sed_init(&d->sed, SED2, d->alpha, (int)view->nr_hosts);
	*ret = &d->base;
	return 0;
}

static void dynamic_destroy(struct policy *policy)
{
	struct dynamic *d = (struct dynamic *)policy;

	for (size_t i = 0; i < d->nr_minds; i++)
		free(d->mind[i].count);
	free(d->mind);
	free(d->alpha);
	flights_clear(&d->flights);
	targets_clear(&d->targets);
	sed_clear(&d->sed);
	free(d);
}

static void dynamic_event(struct policy *policy, const struct view *view,
			  const struct event *e)
{
	struct dynamic *d = (struct dynamic *)policy;

	flights_event(&d->flights, view, e);
	if (e->type != EVENT_END && e->type != EVENT_REQUEUE)
		return;
	d->ended = true;
	if (e->job->ix < d->nr_minds)
		d->mind[e->job->ix].id = 0;
}

/* ---- what hosts are like ---- */

/* (5.1) to (5.3): the load on a host as SED2 is to see it. */
static double reserved_load(const struct dynamic *d, const struct plan *plan,
			    const struct host *h)
{
	uint64_t least = d->mem_min + (h->users ? d->mem_reserv : 0);

	if (!plan_room(plan, h) || h->owner_active || dynamic_crowded(d, h) ||
	    dynamic_memory(h) <= least)
		return DYNAMIC_CLOSED;
	return h->load + (h->users ? d->load_reserv : 0);
}

/* Enter a running job, its ranks that are under way at their destinations. */
static void adopt_job(struct dynamic *d, const struct job *job)
{
	int *hosts = xcalloc(job->n + 1, sizeof(*hosts));
	const struct flight *f;

	for (uint32_t i = 0; i < job->n; i++)
		hosts[i] = (int)job->hosts[i];
	for_each_flight (f, &d->flights)
		if (f->job == job->id)
			hosts[f->rank] = (int)f->to;
	sed_adopt(&d->sed, (uint64_t)job->id, hosts, (int)job->n);
	sed_promise(&d->sed, (uint64_t)job->id, dynamic_mind(d, job)->class);
	free(hosts);
}

static void survey_hosts(struct dynamic *d, const struct view *view,
			 const struct plan *plan)
{
	const struct host *h;
	const struct job *j;

	sed_clear(&d->sed);
	sed_init(&d->sed, SED2, d->alpha, (int)view->nr_hosts);
	for_each_host (h, view)
		d->sed.hosts[h->ix].external = reserved_load(d, plan, h);
	for_each_running(j, view) adopt_job(d, j);
}

static void dynamic_decide(struct policy *policy, const struct view *view,
			   struct plan *plan)
{
	struct dynamic *d = (struct dynamic *)policy;
	size_t first;

	leave_first(LEAVE_MOVES | LEAVE_FREEZES, &d->flights, view, plan,
		    &d->targets);
	survey_hosts(d, view, plan);
	first = plan->nr;
	dynamic_look(d, view, plan);
	flights_note(&d->flights, plan, first);
	dynamic_start(d, view, plan);
}

static void dynamic_explain(const struct policy *policy,
			    const struct view *view, const struct job *job,
			    struct plan *plan)
{
	(void)policy;
	(void)view;
	plan_defer(plan, job, BECAUSE(why_wait, .least = job->min_size));
}

static int64_t dynamic_most(const struct policy *policy,
			    const struct view *view)
{
	return dynamic_nodes((const struct dynamic *)policy, view);
}

/* ---- kept over a restart ---- */

static void save_mind(const struct dynamic_mind *m, FILE *to)
{
	fprintf(to, "%" PRId64 " %d %" PRIu32, m->id, m->class, m->n);
	for (uint32_t i = 0; i < m->n; i++)
		fprintf(to, " %" PRIu32, m->count[i]);
	fputc('\n', to);
}

static void dynamic_save(const struct policy *policy, const struct view *view,
			 FILE *to)
{
	const struct dynamic *d = (const struct dynamic *)policy;
	const struct job *j;

	flights_save(&d->flights, to);
	fprintf(to, "%d %" PRId64 "\n", d->ended, d->next);
	for_each_running(j, view) if (j->ix < d->nr_minds &&
				      d->mind[j->ix].id == j->id)
		save_mind(&d->mind[j->ix], to);
}

/* Put the counters into m, if its job is still as it was. */
static int load_counters(const char **text, uint32_t n, struct dynamic_mind *m)
{
	for (uint32_t i = 0; i < n; i++) {
		uint32_t c;
		int len;

		if (sscanf(*text, " %" SCNu32 "%n", &c, &len) != 1)
			return -1;
		if (m && m->n == n)
			m->count[i] = c;
		*text += len;
	}
	*text += **text == '\n';
	return 0;
}

static int dynamic_load(struct policy *policy, const struct view *view,
			const char *text, struct error *err)
{
	struct dynamic *d = (struct dynamic *)policy;
	const struct job *job = NULL;
	int ended, len, class;
	int64_t id;
	uint32_t n;

	if (flights_load(&d->flights, view, &text) < 0 ||
	    sscanf(text, "%d %" SCNd64 "\n%n", &ended, &d->next, &len) != 2)
		return policy_damaged(policy, text, err);
	d->ended |= ended;
	for (text += len; *text;) {
		struct dynamic_mind *m = NULL;

		if (sscanf(text, "%" SCNd64 " %d %" SCNu32 "%n", &id, &class,
			   &n, &len) != 3 ||
		    class < 1 || class > d->sed.nr_classes)
			return policy_damaged(policy, text, err);
		text += len;
		job = view_find_next(view, job, id);
		if (job && job->state != JOB_WAITING) {
			m = dynamic_mind(d, job);
			m->class = class;
		}
		if (load_counters(&text, n, m) < 0)
			return policy_damaged(policy, text, err);
	}
	return 0;
}

#define DYNAMIC_DETAILS                                                      \
	"SED2 (see sed2) for hosts with interactive users, for whom it "     \
	"holds back load and memory. All processes are looked at at "        \
	"regular times. A process is a candidate if it is delayed beyond "   \
	"the class that it was promised, or if its host is short of memory " \
	"or has too many users. After c1 such looks (c2 if there are "       \
	"users) it moves: to a host of its class, or away from users to "    \
	"the least delayed host without any, or to a host that is faster "   \
	"by more than the factor of its own host. Long jobs together have "  \
	"at most a share of the nodes. A core is not a node by itself: a "   \
	"host has one speed, whatever its cores. A pass costs the hosts "    \
	"and the running ranks, a start or a move the hosts."

#define DYNAMIC_OPS                                                          \
	.flags = POLICY_HOSTS | POLICY_FOLDS | POLICY_SHARES | POLICY_LIVE | \
		 POLICY_OWNERS,                                              \
	.create = dynamic_create, .event = dynamic_event,                    \
	.decide = dynamic_decide, .explain = dynamic_explain,                \
	.most = dynamic_most, .save = dynamic_save, .load = dynamic_load,    \
	.destroy = dynamic_destroy

const struct policy_ops policy_dynamic_sed = {
	.name = "dynamic-sed",
	.summary = "live: SED2 among users, processes move when their promise "
		   "is broken",
	.source = "Schnor 1997 chapter 5",
	.details = DYNAMIC_DETAILS " Its defaults suit today's hosts; "
				   "dynamic-sed-1997 has those of the paper.",
	.params = params,
	DYNAMIC_OPS,
};

const struct policy_ops policy_dynamic_sed_1997 = {
	.name = "dynamic-sed-1997",
	.summary = "dynamic-sed with the paper's memory sizes and times",
	.source = "Schnor 1997 section 5.5.2",
	.details = DYNAMIC_DETAILS,
	.params = paper_params,
	DYNAMIC_OPS,
};
