/*
 * engine.c - the event core: what happens when, and in which order
 *
 * Four sources of events: ends (a heap), arrivals (the workload, one job
 * ahead), timers (what the policy asked for) and the script.  All that falls
 * on one instant is applied in the order the policy wants (enum policy_order).
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/xalloc.h"
#include "model/activity.h"
#include "sim/engine/engine.h"

/* As many passes at one instant mean that time does not get on. */
#define MAX_PASSES 1000000

static void need_truth(struct engine *g, uint32_t ix)
{
	if (ix < g->nr_truth)
		return;
	g->nr_truth = g->nr_truth ? 2 * g->nr_truth : 256;
	g->truth = xreallocarray(g->truth, g->nr_truth, sizeof(*g->truth));
}

static struct job *make_job(struct engine *g, const struct workload_job *w)
{
	struct job *job = view_job_create(&g->view);

	job->id = w->id;
	job->submit = w->submit;
	job->size = w->size;
	job->min_size = w->min_size ? w->min_size : w->size;
	job->kind = w->kind;
	job->estimate = g->config->exact_estimates ? w->run : w->estimate;
	job->memory = w->memory ? w->memory : g->config->rank_memory;
	job->requeue = g->config->requeue;
	job->user = w->user;
	job->group = w->group;
	job->app = w->app;
	job->queue = w->queue;
	job->partition = w->partition;
	job->home = w->home;
	job->speedup = w->speedup;
	return job;
}

static void make_record(struct engine *g, const struct workload_job *w)
{
	struct sim_result *r = &g->result;

	array_room(r->record, r->nr, &r->cap);
	if (r->split) {
		array_room(r->split, r->nr, &r->cap_split);
		r->split[r->nr] = (struct sim_split){ 0 };
	}
	r->record[r->nr++] = (struct sim_record){
		.id = w->id,
		.submit = w->submit,
		.start = -1,
		.end = -1,
		.run = w->run,
		.size = w->size,
	};
}

static void find_arrival(struct engine *g)
{
	usec_t follower =
		g->followers ? followers_next(g->followers) : USEC_MAX;

	g->arrival = g->more && g->next.submit < follower ? g->next.submit
							  : follower;
}

static int look_ahead(struct engine *g, struct error *err)
{
	const usec_t far = INT64_MAX / 4; /* what cannot be counted is beyond */
	usec_t last = g->next.submit, *at = &g->next.submit;
	int r = workload_next(g->config->workload, &g->next, err);

	if (r < 0)
		return r;
	g->more = r > 0;
	find_arrival(g);
	if (g->more && (*at > far || *at < -far))
		return error_set(err, -ERANGE,
				 "workload: job %" PRId64
				 " arrives in more than 70000 years: at a "
				 "greater load it comes sooner",
				 g->next.id);
	if (g->more && g->result.nr && *at < last)
		return error_set(err, -EPROTO,
				 "workload: job %" PRId64
				 " arrives before the one before it",
				 g->next.id);
	return 0;
}

static void job_over(struct engine *g, int64_t id, usec_t at)
{
	followers_over(g->followers, id, at);
	find_arrival(g);
}

static const struct engine_part part_followers = {
	.over = job_over,
};

/* Is it one that could never start? */
static bool reject(struct engine *g, const struct workload_job *w)
{
	struct error err;

	if (w->size <= g->most ||
	    !policy_check_size(g->policy, &g->view, w->size,
			       w->min_size ? w->min_size : w->size, &err))
		return false;
	if (!g->result.nr_rejected++)
		g->result.why_rejected =
			xasprintf("job %" PRId64 ": %s", w->id, err.text);
	return true;
}

static void arrive(struct engine *g, const struct workload_job *w)
{
	struct event e = { .type = EVENT_ARRIVE, .at = w->submit };
	bool rejected = reject(g, w);

	if (!rejected) {
		e.job = make_job(g, w);
		need_truth(g, e.job->ix);
		g->truth[e.job->ix] = (struct truth){
			.record = (uint32_t)g->result.nr,
			.since = w->submit,
			.pair_bytes = w->pair_bytes,
			.pair_segments = w->pair_segments,
		};
	}
	make_record(g, w);
	if (rejected) {
		g->result.record[g->result.nr - 1].outcome = END_REJECTED;
		for_each_part (p, g)
			if ((*p)->over)
				(*p)->over(g, w->id, w->submit);
	} else {
		for_each_part (p, g)
			if ((*p)->arrive)
				(*p)->arrive(g, e.job, w);
		engine_event(g, &e, true);
	}
	if (g->result.nr == g->result.nr_warmup + 1) {
		g->result.busy = g->area.allocated;
		g->area = (struct areas){ 0 };
	}
	g->area_at_arrival = g->area;
}

/* Of those that arrive now, one. */
static int arrive_next(struct engine *g, struct error *err)
{
	struct workload_job follower;

	if (g->more && g->next.submit <= g->view.now) {
		arrive(g, &g->next);
		return look_ahead(g, err);
	}
	follower = followers_take(g->followers);
	find_arrival(g);
	arrive(g, &follower);
	return 0;
}

static void end(struct engine *g, uint32_t ix)
{
	struct job *job = view_job(&g->view, ix);
	struct truth *t = &g->truth[ix];
	struct event e = { .type = EVENT_END,
			   .at = g->view.now,
			   .job = job,
			   .outcome = t->killed ? END_KILLED : END_DONE };

	engine_finish(g, &e);
}

static int pass_if(struct engine *g, bool each, struct error *err)
{
	return each ? engine_pass(g, err) : 0;
}

static int do_ends(struct engine *g, bool each, struct error *err)
{
	int r = 0;

	while (!r && heap_first_key(&g->ends) == g->view.now) {
		end(g, heap_pop(&g->ends));
		engine_pace_all(g);
		r = pass_if(g, each, err);
	}
	return r;
}

static int do_arrivals(struct engine *g, bool each, struct error *err)
{
	int r = 0;

	while (!r && g->arrival <= g->view.now) {
		r = arrive_next(g, err);
		if (!r)
			r = pass_if(g, each, err);
	}
	return r;
}

static void do_timers(struct engine *g)
{
	if (!g->nr_timers || g->timer[g->nr_timers - 1] > g->view.now)
		return;
	while (g->nr_timers && g->timer[g->nr_timers - 1] <= g->view.now)
		g->nr_timers--;
	engine_event(g,
		     &(struct event){ .type = EVENT_TIMER, .at = g->view.now },
		     true);
}

/* What neither users nor the policy do. */
static void happen(struct engine *g)
{
	bool any = false;

	for_each_part (p, g)
		if ((*p)->happen)
			any |= (*p)->happen(g);
	if (any)
		engine_pace_all(g);
	for_each_part (p, g)
		if ((*p)->settle)
			(*p)->settle(g);
}

/* All of one instant, in the order the policy wants. */
static int instant(struct engine *g, struct error *err)
{
	enum policy_order order = g->policy->order;
	bool each = order != ORDER_ENDS_ARRIVALS_PASS;
	int r = 0;

	if (order == ORDER_ARRIVALS_FIRST_PASS_EACH)
		r = do_arrivals(g, each, err);
	if (!r)
		r = do_ends(g, each, err);
	if (!r && g->part[0])
		happen(g);
	if (!r)
		r = do_arrivals(g, each, err);
	if (r)
		return r;
	do_timers(g);
	return each && !g->view.nr_waiting ? 0 : engine_pass(g, err);
}

static usec_t min_usec(usec_t a, usec_t b)
{
	return a < b ? a : b;
}

static usec_t next_instant(const struct engine *g)
{
	usec_t t = min_usec(heap_first_key(&g->ends), g->arrival);
	bool jobs = g->arrival != USEC_MAX ||
		    g->view.nr_waiting + g->view.nr_running;

	/* With no job in sight a timer has nothing to do. */
	if (g->nr_timers && jobs)
		t = min_usec(t, g->timer[g->nr_timers - 1]);
	for_each_part (p, g)
		if ((*p)->next)
			t = min_usec(t, (*p)->next(g, jobs));
	return t;
}

static int stuck(const struct engine *g, struct error *err)
{
	const struct job *j = TAILQ_FIRST(&g->view.waiting);
	const struct host *h;
	uint32_t lost = 0;

	for_each_host (h, &g->view)
		lost += !host_usable(h);
	if (lost)
		return error_set(err, -EDEADLK,
				 "%" PRIu32 " of %" PRIu32
				 " hosts stay down, drained or their owners': "
				 "%" PRIu32 " jobs are waiting for ever, first "
				 "of them job %" PRId64 " of size %" PRIu32
				 ", with %" PRId64 " of %" PRId64
				 " processors free under policy '%s'",
				 lost, g->view.nr_hosts, g->view.nr_waiting,
				 j ? j->id : 0, j ? j->size : 0,
				 g->view.nr_free, g->view.nr_procs,
				 g->policy->ops->name);
	return error_set(err, -EDEADLK,
			 "policy '%s' leaves %" PRIu32
			 " jobs waiting for ever, first of them job %" PRId64
			 " of size %" PRIu32 ", with %" PRId64 " of %" PRId64
			 " processors free",
			 g->policy->ops->name, g->view.nr_waiting,
			 j ? j->id : 0, j ? j->size : 0, g->view.nr_free,
			 g->view.nr_procs);
}

static int loop(struct engine *g, struct error *err)
{
	unsigned again = 0;
	usec_t t;
	int r;

	while ((t = next_instant(g)) != USEC_MAX) {
		if (t > g->view.now)
			again = 0;
		else if (++again > MAX_PASSES)
			return error_set(err, -EPROTO,
					 "policy '%s' makes time stand still "
					 "at %.6f s; this is a bug of it",
					 g->policy->ops->name,
					 usec_to_seconds(t));
		engine_measure(g, t);
		g->view.now = t;
		r = instant(g, err);
		if (r < 0)
			return r;
	}
	return g->view.nr_waiting + g->view.nr_running ? stuck(g, err) : 0;
}

static void make_hosts(struct engine *g, uint32_t procs)
{
	struct host *h = xcalloc(procs, sizeof(*h));

	for (uint32_t i = 0; i < procs; i++)
		h[i] = (struct host){ .name = "",
				      .speed = 1,
				      .cores = 1,
				      .slots = UINT32_MAX / 2,
				      .up = true };
	view_init_hosts(&g->view, h, procs);
	free(h);
}

/* Of hosts that do not say. */
static void set_memory(struct engine *g)
{
	uint64_t memory = g->config->host_memory;
	struct host *h;

	for_each_host (h, &g->view)
		if (!h->memory)
			h->memory = h->memory_free = memory;
}

static int make_machine(struct engine *g, struct error *err)
{
	const struct sim_config *c = g->config;
	uint32_t procs = c->procs ? c->procs : c->workload->procs;
	const char *params;
	const struct policy_ops *ops = policy_of(c->policy, &params, err);

	if (!ops)
		return -EINVAL;
	if (!procs && !c->nr_hosts && !(c->activity && c->activity->nr_hosts))
		return error_set(err, -EINVAL,
				 "how many processors are there? --procs P");
	if (c->nr_hosts)
		view_init_hosts(&g->view, c->hosts, c->nr_hosts);
	else if (c->activity && !c->procs)
		make_hosts(g, c->activity->nr_hosts);
	else if ((ops->flags & POLICY_HOSTS) || c->script || c->activity)
		make_hosts(g, procs);
	else
		view_init(&g->view, procs);
	set_memory(g);
	/* Also those that are down at first, as in a record. */
	g->result.procs = (uint32_t)view_cores(&g->view);
	return engine_check_script(g, err);
}

/* Room for the records of all jobs, where their number is known. */
static void reserve_records(struct engine *g)
{
	struct sim_result *r = &g->result;

	r->cap = g->config->workload->nr_jobs;
	if (r->cap)
		r->record = xreallocarray(NULL, r->cap, sizeof(*r->record));
	r->memory = g->config->paging;
	if (g->config->activity || g->config->costs.link || r->memory)
		array_room(r->split, 0, &r->cap_split);
}

/* Those this run has; what happens at one instant does so in this order. */
static void use_parts(struct engine *g)
{
	if (g->config->script)
		engine_use(g, &engine_part_script);
	if (g->moves)
		engine_use(g, &engine_part_moves);
	if (g->owners)
		engine_use(g, &engine_part_owners);
	if (g->memory)
		engine_use(g, &engine_part_memory);
	if (g->followers)
		engine_use(g, &part_followers);
}

static int prepare_engine(struct engine *g, struct error *err)
{
	int r = make_machine(g, err);

	if (r < 0)
		return r;
	reserve_records(g);
	g->result.nr_warmup = g->config->workload->nr_warmup;
	g->followers = followers_create(g->config->workload);
	r = look_ahead(g, err);
	if (r < 0)
		return r;
	if (g->config->paging && g->view.nr_hosts)
		g->memory = engine_memory_create(g);
	if (g->more) {
		g->view.now = g->measured = g->next.submit;
		g->result.begin = g->result.end = g->next.submit;
	}
	r = owners_create(g, &g->owners, err);
	if (!r && g->config->costs.link)
		g->moves = moves_create(g);
	if (!r)
		r = policy_create(g->config->policy, g->config->seed, &g->view,
				  &g->policy, err);
	if (!r)
		g->most = policy_most(g->policy, &g->view);
	use_parts(g);
	return r;
}

int sim_run(const struct sim_config *config, struct sim_result *ret,
	    struct error *err)
{
	struct engine g = { .config = config };
	int r = prepare_engine(&g, err);

	g.result.seed = (int64_t)config->seed;
	if (!r)
		r = loop(&g, err);
	if (!r)
		engine_averages(&g);
	if (!r && g.owners)
		owners_sum(&g, &g.result);
	followers_destroy(g.followers);
	owners_destroy(g.owners);
	moves_destroy(g.moves);
	policy_destroy(g.policy);
	plan_clear(&g.plan);
	engine_memory_destroy(g.memory);
	heap_clear(&g.ends);
	free(g.truth);
	free(g.timer);
	free(g.booked);
	free(g.holding);
	free(g.drain_by);
	view_clear(&g.view);
	if (r < 0)
		sim_result_clear(&g.result);
	else
		*ret = g.result;
	return r;
}
