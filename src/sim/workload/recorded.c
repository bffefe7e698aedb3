/* recorded.c - jobs, hosts and what happened to them, see recorded.h */
#include "sim/workload/recorded.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "core/names.h"
#include "core/xalloc.h"
#include "model/playback.h"

struct rec_job {
	struct workload_job asked;
	uint32_t n;  /* processors it had */
	double work; /* usec at speed 1 on n, since it began (anew) */
	double lost; /* the same times n, the most before it had to begin anew */
	usec_t since; /* reckoned up to then; -1: it never ran */
	bool ended;
};

struct rec_workload {
	struct workload base;
	struct rec_job *job;
	size_t nr, cap, next;
};

/* Where the job of that id is among the workload's. */
struct rec_place {
	int64_t id;
	size_t at;
	UT_hash_handle hh;
};

struct builder {
	struct rec_workload *w;
	struct rec_place *places; /* by id */
	struct recorded out;
	size_t cap_hosts, cap_events, cap_fresh, nr_fresh;
	struct host **fresh; /* of the script's events */
	struct names host_names;
	uint32_t *map; /* the view's hosts to ours */
	bool begun;
	usec_t origin, last; /* first and latest instant */
};

/* ---- hosts ---- */

static uint32_t our_host(struct builder *b, const struct host *h)
{
	struct recorded *o = &b->out;
	uint32_t ix = names_add(&b->host_names, h->name);

	if (ix < o->nr_hosts)
		return ix;
	array_room(o->hosts, o->nr_hosts, &b->cap_hosts);
	o->hosts[o->nr_hosts] = *h;
	o->hosts[o->nr_hosts].name = xstrdup(h->name);
	o->hosts[o->nr_hosts].drain |= !h->up || b->begun;
	o->hosts[o->nr_hosts].up = true;
	o->nr_hosts++;
	return ix;
}

/* From `at` on our host is as h; one that does not answer takes nothing. */
static void host_is(struct builder *b, usec_t at, uint32_t ix,
		    const struct host *h)
{
	struct sim_script *s = &b->out.script;
	struct host *fresh = xmalloc(sizeof(*fresh));

	*fresh = *h;
	fresh->drain |= !h->up;
	fresh->up = true;
	array_room(b->fresh, b->nr_fresh, &b->cap_fresh);
	b->fresh[b->nr_fresh++] = fresh;
	array_room(s->event, s->nr, &b->cap_events);
	s->event[s->nr++] = (struct script_event){ .at = at - b->origin,
						   .type = SCRIPT_HOST,
						   .target = ix,
						   .fresh = fresh };
}

static int on_begin(void *ctx, const struct view *view, const char *policy,
		    uint64_t seed, struct error *err)
{
	struct builder *b = ctx;
	const struct host *h;

	(void)policy;
	(void)seed;
	(void)err;
	if (!b->begun)
		b->origin = b->last = view->now;
	free(b->map);
	b->map = xcalloc(view->nr_hosts + 1, sizeof(*b->map));
	for_each_host (h, view) {
		b->map[h->ix] = our_host(b, h);
		if (b->begun)
			host_is(b, b->last, b->map[h->ix], h);
	}
	b->begun = true;
	return 0;
}

/* ---- jobs ---- */

static struct rec_job *find_job(struct builder *b, int64_t id)
{
	struct rec_place *place;

	HASH_FIND(hh, b->places, &id, sizeof(id), place);
	return place ? &b->w->job[place->at] : NULL;
}

static void note_place(struct builder *b, int64_t id)
{
	struct rec_place *place = xmalloc(sizeof(*place));

	*place = (struct rec_place){ .id = id, .at = b->w->nr };
	HASH_ADD(hh, b->places, id, sizeof(place->id), place);
}

static void clear_places(struct builder *b)
{
	struct rec_place *place, *next;

	HASH_ITER (hh, b->places, place, next) {
		HASH_DEL(b->places, place);
		free(place);
	}
}

static void enter_job(struct builder *b, const struct job *job)
{
	struct rec_job *j = find_job(b, job->id);

	if (j) /* known, and the view is new */
		return;
	array_room(b->w->job, b->w->nr, &b->w->cap);
	note_place(b, job->id);
	b->w->job[b->w->nr++] = (struct rec_job){
		.since = -1,
		.asked = { .id = job->id,
			   .submit = job->submit,
			   .estimate = job->estimate,
			   .size = job->size,
			   .min_size = job->min_size,
			   .kind = job->kind,
			   .user = job->user,
			   .group = -1,
			   .app = -1,
			   .queue = -1,
			   .partition = -1 },
	};
}

/* What the running jobs have got done by now. */
static void reckon(struct builder *b, const struct view *view, usec_t now)
{
	const struct job *job;

	for_each_running(job, view)
	{
		struct rec_job *j = find_job(b, job->id);

		if (!j || j->since < 0 || j->since >= now)
			continue;
		j->work += (double)(now - j->since) * view_rate(view, job);
		j->since = now;
	}
}

static int recorded_before(void *ctx, const struct view *view,
			   const struct event *e, bool told, struct error *err)
{
	struct builder *b = ctx;

	(void)told;
	(void)err;
	if (e->at > b->last)
		b->last = e->at;
	reckon(b, view, e->at);
	return 0;
}

static int on_event(void *ctx, const struct view *view, const struct event *e,
		    bool told, struct error *err)
{
	struct builder *b = ctx;
	struct rec_job *j = e->job ? find_job(b, e->job->id) : NULL;

	(void)told;
	(void)err;
	switch (e->type) {
	case EVENT_ARRIVE:
		enter_job(b, e->job);
		break;
	case EVENT_START:
		j->n = e->n;
		j->since = e->at;
		break;
	case EVENT_REQUEUE:
		j->lost = fmax(j->lost, j->work * j->n);
		j->work = 0;
		break;
	case EVENT_MIGRATE:
		j->work -= (double)e->cost * view_rate(view, e->job);
		break;
	case EVENT_END:
		j->ended = true;
		break;
	case EVENT_HOST:
		host_is(b, e->at, b->map[e->host], &view->hosts[e->host]);
		break;
	default:
		break;
	}
	return 0;
}

static int by_submit(const void *a, const void *b)
{
	const struct rec_job *x = a, *y = b;

	if (x->asked.submit != y->asked.submit)
		return x->asked.submit < y->asked.submit ? -1 : 1;
	return x->asked.id < y->asked.id ? -1 : 1;
}

/* Those that ran, with their demand; submits count from the origin, and none
 * lies before it: such a job was there when the record began. */
static void settle_jobs(struct builder *b)
{
	struct rec_workload *w = b->w;
	size_t n = 0;

	for (size_t i = 0; i < w->nr; i++) {
		struct rec_job *j = &w->job[i];
		double run = fmax(j->work * j->n, j->lost) / j->asked.size;

		if (j->since < 0) {
			b->out.never_ran++;
			continue;
		}
		b->out.still_ran += !j->ended;
		j->asked.run = run >= 1 ? llround(run) : 1;
		j->asked.submit -= b->origin;
		if (j->asked.submit < 0)
			j->asked.submit = 0;
		w->job[n++] = *j;
	}
	w->nr = n;
	if (n)
		qsort(w->job, n, sizeof(*w->job), by_submit);
}

static int on_end(void *ctx, const struct view *view, struct error *err)
{
	struct builder *b = ctx;

	reckon(b, view, view->now);
	if (view->now > b->last)
		b->last = view->now;
	settle_jobs(b);
	if (!b->w->nr)
		return error_set(err, -EINVAL, "no job ran in it");
	for (uint32_t i = 0; i < b->out.nr_hosts; i++) {
		struct host h = b->out.hosts[i];

		h.up = true;
		h.drain = false;
		host_is(b, b->last, i, &h);
	}
	return 0;
}

/* ---- the workload ---- */

static int recorded_next(struct workload *workload, struct workload_job *ret,
			 struct error *err)
{
	struct rec_workload *w = (struct rec_workload *)workload;

	(void)err;
	if (w->next == w->nr)
		return 0;
	*ret = w->job[w->next++].asked;
	return 1;
}

static void recorded_destroy(struct workload *workload)
{
	struct rec_workload *w = (struct rec_workload *)workload;

	free(w->job);
	free(w);
}

static const struct workload_ops ops = {
	.name = "record",
	.summary = "the jobs of a live run",
	.next = recorded_next,
	.destroy = recorded_destroy,
};

int recorded_parse(char *text, size_t size, const char *name,
		   struct recorded *ret, struct error *err)
{
	static const struct playback_ops reader = { .begin = on_begin,
						    .before = recorded_before,
						    .event = on_event,
						    .end = on_end };
	struct builder b = { .w = xcalloc(1, sizeof(*b.w)) };
	struct playback play = { .ops = &reader, .ctx = &b, .name = name };
	int r;

	b.w->base.ops = &ops;
	r = playback_run(&play, text, size, err);
	b.w->base.nr_jobs = b.w->nr;
	b.out.workload = &b.w->base;
	b.out.script.nr_hosts = b.out.nr_hosts;
	b.out.fresh = b.fresh;
	b.out.nr_fresh = b.nr_fresh;
	clear_places(&b);
	free(b.map);
	names_clear(&b.host_names);
	if (r < 0)
		recorded_clear(&b.out);
	else
		*ret = b.out;
	return r;
}

void recorded_clear(struct recorded *r)
{
	workload_destroy(r->workload);
	for (uint32_t i = 0; i < r->nr_hosts; i++)
		free((char *)r->hosts[i].name);
	free(r->hosts);
	for (size_t i = 0; i < r->nr_fresh; i++)
		free(r->fresh[i]);
	free(r->fresh);
	script_clear(&r->script);
	*r = (struct recorded){ .workload = NULL };
}
