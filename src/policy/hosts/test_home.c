/*
 * test_home.c - jobs on hosts of their own users, under policies that slice time: random
 * hosts, owners, jobs and instants
 *
 * Where a host takes no guests it has only jobs of its users, and these stay as its owner
 * comes.  Within a slice nobody is put out for one who has to leave another host.  For a
 * user all hosts of whom are closed nothing differs from a machine without owners.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/random.h"
#include "policy/policies.h"

#define SLICE (100 * USEC_PER_SEC)

enum { HOSTS = 6, JOBS = 8, USERS = 3, STATES = 300, STEPS = 40 };

struct world {
	const char *spec;
	uint64_t seed;
	struct view view;
	struct policy *policy;
	struct plan plan;
	struct job *job[JOBS]; /* NULL: not there */
	uint32_t size[JOBS];
	int32_t user[JOBS];
};

static void fails(const struct world *w, const char *what, const struct job *j)
{
	fail_msg("%s, state %u at %d s: %s: job %d", w->spec, (unsigned)w->seed,
		 (int)(w->view.now / USEC_PER_SEC), what, (int)j->id);
}

/* users: so many; each host is that of one of them, or of nobody. */
static void world_begin(struct world *w, const char *spec, uint64_t seed,
			uint64_t users)
{
	struct host hosts[HOSTS];
	struct random_stream r;
	struct error err;

	memset(w, 0, sizeof(*w));
	w->spec = spec;
	w->seed = seed;
	random_init(&r, seed, "home", 0);
	for (int i = 0; i < HOSTS; i++) {
		int32_t owner = (int32_t)random_below(&r, users);

		hosts[i] = (struct host){ .name = "h",
					  .speed = 1,
					  .cores = 1,
					  .slots = 1 + JOBS,
					  .up = true };
		host_set_owners(&hosts[i], &owner,
				users == 1 || random_below(&r, 4));
	}
	for (int i = 0; i < JOBS; i++) {
		w->size[i] = 1 + (uint32_t)random_below(&r, HOSTS);
		w->user[i] = (int32_t)random_below(&r, users);
	}
	view_init_hosts(&w->view, hosts, HOSTS);
	assert_int_equal(policy_create(spec, 1, &w->view, &w->policy, &err), 0);
}

static void world_end(struct world *w)
{
	policy_destroy(w->policy);
	plan_clear(&w->plan);
	view_clear(&w->view);
}

static void tell(struct world *w, struct event *e)
{
	e->at = w->view.now;
	model_apply(&w->view, e);
	policy_event(w->policy, &w->view, e);
}

static void arrive(struct world *w, int i)
{
	struct job *j = view_job_create(&w->view);

	j->id = i + 1;
	j->submit = w->view.now;
	j->user = w->user[i];
	j->size = j->min_size = w->size[i];
	j->kind = JOB_RIGID;
	w->job[i] = j;
	tell(w, &(struct event){ .type = EVENT_ARRIVE, .job = j });
}

static void end(struct world *w, int i)
{
	tell(w, &(struct event){ .type = EVENT_END, .job = w->job[i] });
	view_job_destroy(&w->view, w->job[i]);
	w->job[i] = NULL;
}

/* Its owner comes or leaves, or it takes no guests for another reason. */
static void change_host(struct world *w, uint32_t h, uint64_t to)
{
	struct host fresh = w->view.hosts[h];

	fresh.owner_active = to == 1;
	fresh.closed = to == 1 ? CLOSED_OWNER : to == 2 ? CLOSED_QUIET : 0;
	tell(w,
	     &(struct event){ .type = EVENT_HOST, .host = h, .fresh = &fresh });
}

/* ---- passes ---- */

static void check_places(const struct world *w, const struct plan_entry *e)
{
	for (uint32_t i = 0; e->hosts && i < e->n; i++) {
		bool stays = e->job->hosts && e->type != PLAN_MIGRATE &&
			     e->job->hosts[i] == e->hosts[i];

		if (!stays && !host_takes(&w->view.hosts[e->hosts[i]], e->job))
			fails(w, "to a host that does not take it", e->job);
	}
}

static void carry_out(struct world *w, const struct plan_entry *e)
{
	struct event event = {
		.at = w->view.now, .job = e->job, .n = e->n, .hosts = e->hosts
	};

	check_places(w, e);
	switch (e->type) {
	case PLAN_START:
		event.type = EVENT_START;
		break;
	case PLAN_SUSPEND:
		event.type = EVENT_SUSPEND;
		break;
	case PLAN_RESUME:
		event.type = EVENT_RESUME;
		break;
	case PLAN_MIGRATE:
		for (uint32_t k = 0; k < e->n; k++)
			tell(w, &(struct event){ .type = EVENT_MIGRATE,
						 .job = e->job,
						 .rank = e->ranks[k],
						 .host = e->hosts[k] });
		return;
	default:
		return;
	}
	model_apply(&w->view, &event);
}

static bool evicts_any(const struct world *w, const struct job *j)
{
	for (uint32_t i = 0; i < j->n; i++)
		if (host_evicts(&w->view.hosts[j->hosts[i]], j))
			return true;
	return false;
}

/*
 * No host has two jobs that run, or more ranks than slots, and no owner one who is a guest.
 */
static void check_running(const struct world *w)
{
	int64_t on[HOSTS] = { 0 };
	const struct job *j;
	const struct host *h;

	for_each_host (h, &w->view)
		if (h->nr_ranks > h->slots)
			fail_msg("%s, state %u: more ranks than slots", w->spec,
				 (unsigned)w->seed);
	for_each_running(j, &w->view)
	{
		if (j->state != JOB_RUNNING)
			continue;
		if (evicts_any(w, j))
			fails(w, "in an owner's way", j);
		for (uint32_t i = 0; i < j->n; i++) {
			if (on[j->hosts[i]])
				fails(w, "two jobs on a host", j);
			on[j->hosts[i]] = j->id;
		}
	}
}

static void pass(struct world *w)
{
	plan_reset(&w->plan, &w->view);
	policy_decide(w->policy, &w->view, &w->plan);
	for (size_t i = 0; i < w->plan.nr; i++)
		carry_out(w, &w->plan.entry[i]);
	check_running(w);
}

/* ---- what holds on random states ---- */

/* Will the next pass choose anew who runs?  The saved state begins with the slice's end,
 * that of the matrix with the row before it. */
static bool slice_is_over(const struct world *w)
{
	char *text;
	size_t n;
	FILE *f = open_memstream(&text, &n);
	long long first, second = 0;

	w->policy->ops->save(w->policy, &w->view, f);
	fclose(f);
	assert_true(sscanf(text, "%lld %lld", &first, &second) >= 1);
	free(text);
	return w->view.now >= (strncmp(w->spec, "matrix", 6) ? first : second);
}

/* Owners come and go within a slice: who runs, and is in nobody's way, runs on. */
static void owners_come(struct world *w, struct random_stream *r)
{
	bool ran[JOBS], over;

	for (int i = 0; i < JOBS; i++)
		ran[i] = w->job[i] && w->job[i]->state == JOB_RUNNING;
	for (int n = 0; n < 3; n++)
		change_host(w, (uint32_t)random_below(r, HOSTS),
			    random_below(r, 3));
	for (int i = 0; i < JOBS; i++)
		ran[i] = ran[i] && !evicts_any(w, w->job[i]);
	w->view.now += 1;
	over = slice_is_over(w);
	pass(w);
	for (int i = 0; i < JOBS && !over; i++)
		if (ran[i] && w->job[i]->state != JOB_RUNNING)
			fails(w, "in nobody's way, and put out", w->job[i]);
}

static void jobs_change(struct world *w, struct random_stream *r)
{
	int i = (int)random_below(r, JOBS);

	if (w->job[i])
		end(w, i);
	else
		arrive(w, i);
	pass(w);
}

/* How often a job ran on a host that takes no guests. */
static unsigned play(const char *spec, uint64_t seed)
{
	unsigned home = 0;
	struct random_stream r;
	const struct job *j;
	struct world w;

	world_begin(&w, spec, seed, USERS);
	random_init(&r, seed, "script", 0);
	for (int i = 0; i < STEPS; i++) {
		w.view.now += SLICE / 5;
		pass(&w);
		jobs_change(&w, &r);
		owners_come(&w, &r);
		for_each_running(j, &w.view) for (uint32_t k = 0; k < j->n; k++)
			home += j->state == JOB_RUNNING &&
				w.view.hosts[j->hosts[k]].closed;
	}
	world_end(&w);
	return home;
}

static void at_home_a_job_is_no_guest(void **state)
{
	static const char *const specs[] = { "lst:slice=100",
					     "lst:slice=100,migrate=no",
					     "lst:slice=100,alternate=no",
					     "matrix:slice=100",
					     "borrow:slice=100" };

	(void)state;
	for (size_t s = 0; s < sizeof(specs) / sizeof(*specs); s++) {
		unsigned home = 0;

		for (uint64_t seed = 0; seed < STATES; seed++)
			home += play(specs[s], seed);
		/* Or nothing would have been tried. */
		if (home < STATES)
			fail_msg("%s: only %u times at home", specs[s], home);
	}
}

/* Slots for one, two or three ranks: a job without a turn keeps its own (check_running()). */
static void no_host_has_more_ranks_than_slots(void **state)
{
	unsigned full = 0;

	(void)state;
	for (uint64_t seed = 0; seed < STATES; seed++) {
		struct random_stream r;
		struct world w;

		world_begin(&w, "borrow:slice=100", seed, USERS);
		random_init(&r, seed, "slots", 0);
		for (uint32_t h = 0; h < HOSTS; h++)
			w.view.hosts[h].slots =
				1 + (uint32_t)random_below(&r, 3);
		for (int i = 0; i < STEPS; i++) {
			w.view.now += SLICE / 5;
			pass(&w);
			jobs_change(&w, &r);
			owners_come(&w, &r);
			for (uint32_t h = 0; h < HOSTS; h++)
				full += w.view.hosts[h].nr_ranks ==
					w.view.hosts[h].slots;
		}
		world_end(&w);
	}
	assert_true(full > STATES); /* or nothing would have been tried */
}

/* ---- as if there were no owners ---- */

static void same_jobs_run(const struct world *a, const struct world *b)
{
	for (int i = 0; i < JOBS; i++) {
		const struct job *x = a->job[i], *y = b->job[i];

		if (x && (x->state != y->state || x->n != y->n ||
			  (x->n && memcmp(x->hosts, y->hosts,
					  x->n * sizeof(*x->hosts)))))
			fails(b, "not as without owners", y);
	}
}

static void play_both(const char *spec, uint64_t seed)
{
	struct random_stream r, same, owners;
	struct world a, b;

	world_begin(&a, spec, seed, 1);
	world_begin(&b, spec, seed, 1);
	random_init(&r, seed, "jobs", 0);
	random_init(&owners, seed, "owners", 0);
	for (int i = 0; i < STEPS; i++) {
		for (uint32_t h = 0; h < HOSTS; h++)
			change_host(&b, h, random_below(&owners, 3));
		a.view.now = b.view.now += SLICE / 5;
		pass(&a);
		pass(&b);
		same_jobs_run(&a, &b);
		same = r;
		jobs_change(&a, &r);
		jobs_change(&b, &same);
		same_jobs_run(&a, &b);
	}
	world_end(&a);
	world_end(&b);
}

static void all_at_home_is_as_without_owners(void **state)
{
	static const char *const specs[] = { "matrix:slice=100",
					     "borrow:slice=100" };

	(void)state;
	for (size_t s = 0; s < sizeof(specs) / sizeof(*specs); s++)
		for (uint64_t seed = 0; seed < STATES; seed++)
			play_both(specs[s], seed);
}

/* A single job, and as many hosts for it as it needs: it runs. */
static void alone_it_always_has_its_hosts(void **state)
{
	struct random_stream r;

	(void)state;
	for (uint64_t seed = 0; seed < STATES; seed++) {
		struct world w;

		world_begin(&w, "lst:slice=100", seed, USERS);
		random_init(&r, seed, "alone", 0);
		arrive(&w, 0);
		for (int i = 0; i < STEPS; i++) {
			const struct host *h;
			uint32_t n = 0;

			for (uint32_t k = 0; k < HOSTS; k++)
				change_host(&w, k, random_below(&r, 3));
			w.view.now += SLICE;
			pass(&w);
			for_each_host (h, &w.view)
				n += host_takes(h, w.job[0]);
			if ((w.job[0]->state == JOB_RUNNING) !=
			    (n >= w.job[0]->size))
				fails(&w, "it does not run, or must not",
				      w.job[0]);
		}
		world_end(&w);
	}
}

/* What a job that does not fit had claimed is free for those after it. */
static void who_is_left_out_claims_nothing(void **state)
{
	struct world w;

	(void)state;
	world_begin(&w, "lst:slice=100", 1, 1);
	for (uint32_t h = 0; h < HOSTS; h++)
		change_host(&w, h, 1);
	w.size[0] = 4;
	w.size[1] = 3;
	w.size[2] = 2;
	for (int i = 0; i < 3; i++)
		arrive(&w, i);
	pass(&w);
	assert_int_equal(w.job[0]->state, JOB_RUNNING);
	assert_int_equal(w.job[1]->state, JOB_WAITING);
	assert_int_equal(w.job[2]->state, JOB_RUNNING);
	world_end(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(at_home_a_job_is_no_guest),
		cmocka_unit_test(no_host_has_more_ranks_than_slots),
		cmocka_unit_test(all_at_home_is_as_without_owners),
		cmocka_unit_test(alone_it_always_has_its_hosts),
		cmocka_unit_test(who_is_left_out_claims_nothing),
	};

	return cmocka_run_group_tests_name("home", tests, NULL, NULL);
}
