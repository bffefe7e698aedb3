/*
 * sed.c - SED1 and SED2 as policies (Schnor 1997 chapter 4)
 *
 * The rules are in sed_state.c; this file applies them to a view and makes a plan of
 * the result.  A pass costs O(hosts x classes) for every job it starts and, when a job
 * has ended and none waits, for every running job.  Waiting jobs behind the head cost
 * nothing.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/xalloc.h"
#include "policy/hosts/sed_state.h"
#include "policy/kit/policy.h"

struct policy_sed {
	struct policy base;
	struct sed sed;
	struct sed_rules rules;
	bool ended; /* has a job ended since the last pass? */
};

REASON(why_start,
       "delay class {class} has {nodes} {nodes:node|nodes}, the least "
       "expected delay",
       class, nodes);
REASON(why_migrate,
       "delay class {class}, better than {before}, has room for the whole "
       "job, and no job waits",
       class, before);
REASON(why_wait,
       "no delay class has the {least} {least:node|nodes} it needs at least",
       least);

static const struct param params[] = {
	{ .name = "upgrade",
	  .type = PARAM_BOOL,
	  .def = 1,
	  .summary = "a job alone on its hosts gets the better delay class "
		     "(no: variant -NU)" },
	{ .name = "migrate",
	  .type = PARAM_BOOL,
	  .def = 1,
	  .summary = "move whole jobs to a faster class with room (no: "
		     "variant -NM)" },
	{ .name = "eager",
	  .type = PARAM_BOOL,
	  .def = 0,
	  .summary = "upgrade at every end, before those that wait are mapped; "
		     "else only when nobody is left waiting" },
	{ .name = NULL }
};

/* A host that takes nothing new counts as one with endless load. */
static double external_load(const struct host *h)
{
	return host_usable(h) ? h->load : 1e9;
}

static int sed_create(const struct policy_setup *setup, struct policy **ret,
		      struct error *err)
{
	const struct view *view = setup->view;
	double *alpha = xcalloc(view->nr_hosts, sizeof(*alpha));
	struct policy_sed *p;

	(void)err;
	for (uint32_t i = 0; i < view->nr_hosts; i++)
		alpha[i] = view->hosts[i].speed;
	p = xcalloc(1, sizeof(*p));
	sed_init(&p->sed, (enum sed_kind)setup->ops->variant, alpha,
		 (int)view->nr_hosts);
	free(alpha);
	for (uint32_t i = 0; i < view->nr_hosts; i++)
		p->sed.hosts[i].external = external_load(&view->hosts[i]);
	p->rules = (struct sed_rules){
		.upgrade = params_bool(setup->params, "upgrade"),
		.migrate = params_bool(setup->params, "migrate"),
		.eager = params_bool(setup->params, "eager"),
	};
	*ret = &p->base;
	return 0;
}

/*
 * Take over the hosts of a job that ran before this policy was made (policy_adopt()),
 * or whose ranks are elsewhere than this policy planned.
 */
static void adopt(struct policy_sed *p, const struct job *job)
{
	int *hosts = xcalloc(job->n, sizeof(int));

	for (uint32_t r = 0; r < job->n; r++)
		hosts[r] = (int)job->hosts[r];
	sed_adopt(&p->sed, (uint64_t)job->id, hosts, (int)job->n);
	free(hosts);
}

static void sed_event(struct policy *policy, const struct view *view,
		      const struct event *event)
{
	struct policy_sed *p = (struct policy_sed *)policy;

	switch (event->type) {
	case EVENT_END:
	case EVENT_REQUEUE:
		sed_end(&p->sed, (uint64_t)event->job->id);
		p->ended = true;
		break;
	case EVENT_START:
		adopt(p, event->job);
		break;
	case EVENT_HOST:
		p->sed.hosts[event->host].external =
			external_load(&view->hosts[event->host]);
		break;
	case EVENT_MIGRATE:
		sed_end(&p->sed, (uint64_t)event->job->id);
		adopt(p, event->job);
		break;
	default:
		break;
	}
}

static uint32_t *hosts_of(struct plan *plan, const struct sed_job *job)
{
	uint32_t *hosts = plan_hosts(plan, (uint32_t)job->size);

	for (int i = 0; i < job->size; i++)
		hosts[i] = (uint32_t)job->hosts[i];
	return hosts;
}

static int map(const struct policy_sed *p, const struct job *job, int *size)
{
	uint32_t min = job->kind == JOB_RIGID ? job->size : job->min_size;

	return sed_map(&p->sed, min ? (int)min : 1, (int)job->size, size);
}

/* The arguments of start_waiting(). */
struct pass {
	struct policy_sed *p;
	const struct view *view;
	struct plan *plan;
};

/* First come, first served; the head blocks the rest. */
static bool start_waiting(void *arg)
{
	const struct pass *pass = arg;
	struct policy_sed *p = pass->p;
	const struct sed_job *s;
	const struct job *job;
	int class, size;

	for_each_waiting(job, pass->view)
	{
		class = map(p, job, &size);
		if (!class)
			return false;
		s = sed_start(&p->sed, (uint64_t)job->id, class, size);
		plan_start_on(
			pass->plan, job, (uint32_t)size,
			hosts_of(pass->plan, s),
			BECAUSE(why_start, .class = class, .nodes = size));
	}
	return true;
}

static void migrated(void *arg, size_t i, int from)
{
	const struct pass *pass = arg;
	const struct sed_job *s = &pass->p->sed.jobs[i];
	const struct job *job = view_find_job(pass->view, (int64_t)s->id);

	if (job)
		plan_resize(pass->plan, job, job->n, hosts_of(pass->plan, s),
			    BECAUSE(why_migrate, .class = s->class,
				    .before = from));
}

static void sed_decide(struct policy *policy, const struct view *view,
		       struct plan *plan)
{
	struct policy_sed *p = (struct policy_sed *)policy;
	struct pass pass = { p, view, plan };

	sed_pass(&p->sed, &p->rules, p->ended, start_waiting, migrated, &pass);
	p->ended = false;
}

static void sed_explain(const struct policy *policy, const struct view *view,
			const struct job *job, struct plan *plan)
{
	(void)policy;
	(void)view;
	plan_defer(plan, job, BECAUSE(why_wait, .least = job->min_size));
}

/*
 * How many nodes the slowest class has when all hosts are idle: the largest job that
 * can run.
 */
static int64_t most(const struct policy *policy, const struct view *view)
{
	const struct policy_sed *p = (const struct policy_sed *)policy;
	double *alpha = xcalloc(view->nr_hosts, sizeof(*alpha));
	struct sed idle;
	int *avail, n;

	for (uint32_t i = 0; i < view->nr_hosts; i++)
		alpha[i] = p->sed.hosts[i].alpha;
	sed_init(&idle, p->sed.kind, alpha, (int)view->nr_hosts);
	avail = xcalloc((size_t)idle.nr_classes + 1, sizeof(*avail));
	sed_availability(&idle, avail);
	n = avail[idle.nr_classes];
	free(avail);
	free(alpha);
	sed_clear(&idle);
	return n;
}

/* Saved: has a job ended, then one line per job: id, class. */
static void sed_save(const struct policy *policy, const struct view *view,
		     FILE *to)
{
	const struct policy_sed *p = (const struct policy_sed *)policy;

	fprintf(to, "%d\n", p->ended);
	for (size_t i = 0; i < p->sed.nr_jobs; i++)
		fprintf(to, "%" PRIu64 " %d\n", p->sed.jobs[i].id,
			p->sed.jobs[i].class);
}

static int sed_load(struct policy *policy, const struct view *view,
		    const char *text, struct error *err)
{
	struct policy_sed *p = (struct policy_sed *)policy;
	int ended, class, n;
	uint64_t id;

	if (sscanf(text, "%d\n%n", &ended, &n) != 1)
		return policy_damaged(policy, text, err);
	for (text += n; *text; text += n) {
		if (sscanf(text, "%" SCNu64 " %d\n%n", &id, &class, &n) != 2)
			return policy_damaged(policy, text, err);
		sed_promise(&p->sed, id, class);
	}
	p->ended |= ended;
	return 0;
}

static void sed_destroy(struct policy *policy)
{
	struct policy_sed *p = (struct policy_sed *)policy;

	sed_clear(&p->sed);
	free(p);
}

#define SED_DETAILS                                                          \
	"First come, first served. The head of the queue gets the delay "    \
	"class k with the least k / min(a_k, maxsize) among those with "     \
	"minsize nodes; ties go to the faster class. When a job has ended "  \
	"and no job waits, jobs that are left alone on their hosts are "     \
	"upgraded, and whole jobs move to a faster class with room. A pass " \
	"costs O(hosts x classes) for each job started or running; the "     \
	"queue's length does not matter."

/* What SED1 and SED2 have in common. */
#define SED_OPS                                                         \
	.params = params,                                               \
	.flags = POLICY_HOSTS | POLICY_FOLDS | POLICY_SHARES,           \
	.create = sed_create, .event = sed_event, .decide = sed_decide, \
	.explain = sed_explain, .most = most, .save = sed_save,         \
	.load = sed_load, .destroy = sed_destroy

const struct policy_ops policy_sed1 = {
	.name = "sed1",
	.summary = "shortest expected delay, one process a host",
	.source = "Schnor 1997 section 4.1",
	.details = "A host is available in every class not below its delay, "
		   "once. " SED_DETAILS,
	.variant = SED1,
	SED_OPS,
};

const struct policy_ops policy_sed2 = {
	.name = "sed2",
	.summary = "shortest expected delay, fast hosts as several nodes",
	.source = "Schnor 1997 section 4.1",
	.details = "A host offers as many virtual nodes in a class as it can "
		   "carry within the class's delay; fast hosts are filled "
		   "first. " SED_DETAILS,
	.variant = SED2,
	SED_OPS,
};
