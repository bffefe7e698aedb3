/* evacuate.c - see evacuate.h */
#include "policy/kit/evacuate.h"

#include <stdlib.h>

#include "core/xalloc.h"

double evacuate_work(const struct view *view, const struct job *job)
{
	double work = job->used - job->lost;

	if (job->state == JOB_RUNNING)
		work += job->n * usec_to_seconds(view->now - job->since);
	return work;
}

static int by_job(const struct evacuee *x, const struct evacuee *y)
{
	return job_before(x->job, y->job) ? -1 : job_before(y->job, x->job);
}

/* For qsort(): the greater worth first. */
static int by_worth(double x, double y, const struct evacuee *a,
		    const struct evacuee *b)
{
	return x != y ? (x > y ? -1 : 1) : by_job(a, b);
}

static int by_work(const void *a, const void *b)
{
	const struct evacuee *x = a, *y = b;

	return by_worth(x->work, y->work, x, y);
}

static int by_rate(const void *a, const void *b)
{
	const struct evacuee *x = a, *y = b;

	return by_worth(x->work / x->seconds, y->work / y->seconds, x, y);
}

static int saved_first(const void *a, const void *b)
{
	const struct evacuee *x = a, *y = b;

	return x->saved != y->saved ? (x->saved ? -1 : 1) : by_rate(a, b);
}

/* Save what fits, in the order of e; returns the work that is saved. */
static double fill(struct evacuee *e, size_t n, double left)
{
	double work = 0;

	for (size_t i = 0; i < n; i++) {
		e[i].saved = e[i].seconds <= left;
		if (!e[i].saved)
			continue;
		left -= e[i].seconds;
		work += e[i].work;
	}
	return work;
}

void evacuate_order(struct evacuee *e, size_t n, double left)
{
	double work;

	if (!n)
		return;
	qsort(e, n, sizeof(*e), by_work);
	work = fill(e, n, left);
	qsort(e, n, sizeof(*e), by_rate);
	if (fill(e, n, left) < work) {
		qsort(e, n, sizeof(*e), by_work);
		fill(e, n, left);
	}
	qsort(e, n, sizeof(*e), saved_first);
}

size_t evacuate_now(const struct evacuee *e, size_t n, double left,
		    double doubt, double under_way)
{
	double need = under_way;

	for (size_t i = 0; i < n; i++)
		need += e[i].seconds;
	if (need * doubt <= left)
		return n;
	return n && under_way <= 0;
}

/* ---- of a view ---- */

/*
 * Add the job if it has ranks on that host that are not on their way yet.  Returns the
 * seconds that those on their way need.
 */
static double gather_ranks(const struct view *view,
			   const struct evacuation *how, void *ctx,
			   const struct job *job, uint32_t host,
			   struct evacuee **end)
{
	struct evacuee one = { .job = job };
	double under_way = 0;
	bool stuck = false;

	for (uint32_t i = 0; i < job->n; i++) {
		if (job->hosts[i] != host)
			continue;
		if (how->under_way && how->under_way(ctx, job, i))
			under_way += how->seconds(ctx, job, host);
		else
			one.seconds += how->seconds(ctx, job, host);
		stuck |= job_rank_stuck(job, i);
	}
	if (one.seconds > 0) {
		/* If one rank cannot leave, the whole job is lost. */
		one.work = stuck ? 0 : evacuate_work(view, job);
		*(*end)++ = one;
	}
	return under_way;
}

struct pass {
	const struct view *view;
	const struct evacuation *how;
	void *ctx;
	struct evacuee *e; /* room for all running jobs */
	/*
	 * By the job's ix: a job with ranks on several hosts that go comes up
	 * for each of them.
	 */
	bool *looked, *leaves;
};

/* True if a move of the job is planned, for this host or for one before it. */
static bool evacuate_job(const struct pass *p, const struct job *job, bool turn)
{
	if (!p->looked[job->ix]) {
		p->looked[job->ix] = true;
		p->leaves[job->ix] = p->how->look(p->ctx, job, turn) && turn;
	}
	return p->leaves[job->ix];
}

static void evacuate_one(const struct pass *p, const struct host *h)
{
	double left = usec_to_seconds(h->leave_by - p->view->now);
	struct evacuee *end = p->e;
	double under_way = 0;
	const struct job *j;
	size_t n, now;

	for_each_running(j, p->view) if (j->state == JOB_RUNNING && j->hosts)
		under_way +=
		gather_ranks(p->view, p->how, p->ctx, j, h->ix, &end);
	n = (size_t)(end - p->e);
	evacuate_order(p->e, n, left);
	now = evacuate_now(p->e, n, left, p->how->doubt(p->ctx, h->ix),
			   under_way);
	for (size_t i = 0; i < n; i++)
		if (evacuate_job(p, p->e[i].job, now > 0) && now)
			now--;
}

static bool goes_with_ranks(const struct host *h)
{
	return host_goes(h) && h->nr_ranks;
}

static bool any_goes(const struct view *view)
{
	const struct host *h;

	for_each_host (h, view)
		if (goes_with_ranks(h))
			return true;
	return false;
}

bool *evacuate(const struct view *view, const struct evacuation *how, void *ctx)
{
	struct pass p = { view, how, ctx, NULL, NULL, NULL };
	const struct host *h;

	if (!any_goes(view))
		return NULL;
	p.e = xcalloc(view->nr_running + 1, sizeof(*p.e));
	p.looked = xcalloc(view->nr_slots + 1, sizeof(*p.looked));
	p.leaves = xcalloc(view->nr_slots + 1, sizeof(*p.leaves));
	for_each_host (h, view)
		if (goes_with_ranks(h))
			evacuate_one(&p, h);
	free(p.e);
	free(p.leaves);
	return p.looked;
}
