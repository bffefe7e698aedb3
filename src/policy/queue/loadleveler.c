/*
 * loadleveler.c - temporary reservation with a deferred queue, as IBM
 * LoadLeveler had it (Schnor 1997 §1.6.5)
 *
 * The first job that does not fit holds all processors that are or become idle, for a
 * limited time.  If these are not enough by then, it releases them and is deferred for
 * a while; then it is back at its old place in the queue.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <uthash.h>

#include "core/xalloc.h"
#include "policy/kit/policy.h"

struct deferred {
	int64_t id;
	usec_t until;
	UT_hash_handle hh;
};

struct loadleveler {
	struct policy base;
	usec_t reserve, defer; /* for how long */
	/* the job that holds idle processors; NULL: none */
	const struct job *holder;
	usec_t held_since;
	bool loaded; /* timers are not set yet */
	struct deferred *deferred;
};

REASON(why_fits,
       "{free} {free:processor is|processors are} idle, and it gets {size}",
       free, size);
REASON(why_held,
       "its reservation holds {free} {free:processor|processors} by now, and "
       "it gets {size}",
       free, size);
REASON(wake_release, "a reservation runs out");
REASON(wake_return, "a deferred job is back in the queue");
REASON(why_deferred,
       "it is deferred until {until:time}: its reservation ran out", until);
REASON(why_waits,
       "it needs {size} {size:processor|processors}, and {free} {free:is|are} "
       "idle or reserved for job {holder}",
       size, free, holder);

static const struct param params[] = {
	{ "reserve", PARAM_TIME, 300, 0.001, 1e9, NULL,
	  "how long idle processors are held for a job" },
	{ "defer", PARAM_TIME, 300, 0.001, 1e9, NULL,
	  "how long a job is deferred after that" },
	{ .name = NULL },
};

static int loadleveler_create(const struct policy_setup *setup,
			      struct policy **ret, struct error *err)
{
	struct loadleveler *p = xcalloc(1, sizeof(*p));

	(void)err;
	p->reserve = params_usec(setup->params, "reserve");
	p->defer = params_usec(setup->params, "defer");
	*ret = &p->base;
	return 0;
}

static struct deferred *find_deferred(const struct loadleveler *p, int64_t id)
{
	struct deferred *d;

	HASH_FIND(hh, p->deferred, &id, sizeof(id), d);
	return d;
}

static void forget(struct loadleveler *p, const struct job *job)
{
	struct deferred *d = find_deferred(p, job->id);

	if (d) {
		HASH_DEL(p->deferred, d);
		free(d);
	}
	if (p->holder == job)
		p->holder = NULL;
}

static void loadleveler_event(struct policy *policy, const struct view *view,
			      const struct event *event)
{
	(void)view;
	if (event->type == EVENT_END)
		forget((struct loadleveler *)policy, event->job);
}

/* How many processors the job would start on; 0: there are too few. */
static uint32_t takes(const struct job *job, struct plan *plan)
{
	uint32_t least = job->kind == JOB_RIGID ? job->size : job->min_size;
	int64_t idle = plan_free(plan);

	if (idle < 1)
		return 0;
	return plan_allows(plan, job,
			   idle < job->size ? (uint32_t)idle : job->size,
			   least);
}

static struct deferred *add_deferred(struct loadleveler *p, int64_t id,
				     usec_t until)
{
	struct deferred *d = xcalloc(1, sizeof(*d));

	d->id = id;
	d->until = until;
	HASH_ADD(hh, p->deferred, id, sizeof(d->id), d);
	return d;
}

static void defer(struct loadleveler *p, const struct view *view,
		  struct plan *plan)
{
	struct deferred *d =
		add_deferred(p, p->holder->id, view->now + p->defer);

	p->holder = NULL;
	plan_wake(plan, d->until, BECAUSE(wake_return));
}

static bool is_deferred(struct loadleveler *p, const struct view *view,
			const struct job *job)
{
	const struct deferred *d = find_deferred(p, job->id);

	if (!d || d->until > view->now)
		return d;
	forget(p, job);
	return false;
}

static void hold_processors(struct loadleveler *p, const struct view *view,
			    const struct job *job, struct plan *plan)
{
	p->holder = job;
	p->held_since = view->now;
	plan_wake(plan, view->now + p->reserve, BECAUSE(wake_release));
}

/* Start it if it fits. */
static bool start_job(const struct loadleveler *p, const struct job *job,
		      struct plan *plan)
{
	uint32_t n = takes(job, plan);
	int64_t left = plan_free(plan);

	return n &&
	       plan_start(plan, job, n,
			  job == p->holder
				  ? BECAUSE(why_held, .free = left, .size = n)
				  : BECAUSE(why_fits, .free = left, .size = n));
}

static void set_timers(struct loadleveler *p, struct plan *plan)
{
	if (p->holder)
		plan_wake(plan, p->held_since + p->reserve,
			  BECAUSE(wake_release));
	for (const struct deferred *d = p->deferred; d; d = d->hh.next)
		plan_wake(plan, d->until, BECAUSE(wake_return));
	p->loaded = false;
}

static void loadleveler_decide(struct policy *policy, const struct view *view,
			       struct plan *plan)
{
	struct loadleveler *p = (struct loadleveler *)policy;
	const struct job *job;

	if (p->loaded)
		set_timers(p, plan);
	if (p->holder) {
		if (start_job(p, p->holder, plan))
			p->holder = NULL;
		else if (view->now >= p->held_since + p->reserve)
			defer(p, view, plan);
		else
			return;
	}
	for_each_waiting(job, view)
	{
		if (plan_size(plan, job) || is_deferred(p, view, job) ||
		    start_job(p, job, plan))
			continue;
		hold_processors(p, view, job, plan);
		break;
	}
}

static void loadleveler_explain(const struct policy *policy,
				const struct view *view, const struct job *job,
				struct plan *plan)
{
	const struct loadleveler *p = (const struct loadleveler *)policy;
	const struct deferred *d = find_deferred(p, job->id);

	if (d)
		plan_defer(plan, job, BECAUSE(why_deferred, .until = d->until));
	else
		plan_defer(
			plan, job,
			BECAUSE(why_waits, .size = job->size,
				.free = view->nr_free,
				.holder = p->holder ? p->holder->id : job->id));
}

/* "hold JOB SINCE", and "defer JOB UNTIL" for each. */
static void loadleveler_save(const struct policy *policy,
			     const struct view *view, FILE *to)
{
	const struct loadleveler *p = (const struct loadleveler *)policy;

	if (p->holder)
		fprintf(to, "hold %" PRId64 " %" PRId64 "\n", p->holder->id,
			p->held_since);
	for (const struct deferred *d = p->deferred; d; d = d->hh.next)
		fprintf(to, "defer %" PRId64 " %" PRId64 "\n", d->id, d->until);
}

static int loadleveler_load(struct policy *policy, const struct view *view,
			    const char *text, struct error *err)
{
	struct loadleveler *p = (struct loadleveler *)policy;
	char word[8];
	int64_t id;
	usec_t at;
	int n;

	for (; *text; text += n) {
		const struct job *job;

		if (sscanf(text, "%7s %" SCNd64 " %" SCNd64 "\n%n", word, &id,
			   &at, &n) != 3 ||
		    at < 0 || at > USEC_MAX / 2)
			return policy_damaged(policy, text, err);
		job = view_find_job(view, id);
		if (!job || job->state != JOB_WAITING)
			continue; /* it has gone meanwhile */
		if (!strcmp(word, "hold")) {
			p->holder = job;
			p->held_since = at;
		} else if (!find_deferred(p, id)) {
			add_deferred(p, id, at);
		}
	}
	p->loaded = true;
	return 0;
}

static void loadleveler_destroy(struct policy *policy)
{
	struct loadleveler *p = (struct loadleveler *)policy;
	struct deferred *d, *tmp;

	HASH_ITER (hh, p->deferred, d, tmp) {
		HASH_DEL(p->deferred, d);
		free(d);
	}
	free(p);
}

const struct policy_ops policy_loadleveler = {
	.name = "loadleveler",
	.summary = "reservation for a limited time, then a deferred queue",
	.source = "Schnor 1997 section 1.6.5",
	.details =
		"In the order of arrival each job that fits starts. The first "
		"one that does not fit holds all idle processors for "
		"`reserve`, and is then deferred for `defer`; after that it "
		"is at its old place in the queue. While a job holds "
		"processors no other job starts. Moldable jobs start on "
		"min(maxsize, idle processors). As the text says, jobs may "
		"starve. A pass costs O(deferred jobs + jobs started).",
	.params = params,
	.flags = POLICY_FOLDS,
	.create = loadleveler_create,
	.event = loadleveler_event,
	.decide = loadleveler_decide,
	.explain = loadleveler_explain,
	.save = loadleveler_save,
	.load = loadleveler_load,
	.destroy = loadleveler_destroy,
};
