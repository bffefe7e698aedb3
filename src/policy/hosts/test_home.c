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

#include "policy/hosts/test_world.h"

enum { STATES = 300, STEPS = 40 };

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
		world_change_host(w, (uint32_t)random_below(r, HOSTS),
				  random_below(r, 3));
	for (int i = 0; i < JOBS; i++)
		ran[i] = ran[i] && !world_evicts(w, w->job[i]);
	w->view.now += 1;
	over = slice_is_over(w);
	world_pass(w);
	for (int i = 0; i < JOBS && !over; i++)
		if (ran[i] && w->job[i]->state != JOB_RUNNING)
			world_fails(w, "in nobody's way, and put out",
				    w->job[i]);
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
		world_pass(&w);
		world_jobs_change(&w, &r);
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
			world_pass(&w);
			world_jobs_change(&w, &r);
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
			world_fails(b, "not as without owners", y);
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
			world_change_host(&b, h, random_below(&owners, 3));
		a.view.now = b.view.now += SLICE / 5;
		world_pass(&a);
		world_pass(&b);
		same_jobs_run(&a, &b);
		same = r;
		world_jobs_change(&a, &r);
		world_jobs_change(&b, &same);
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
		world_arrive(&w, 0);
		for (int i = 0; i < STEPS; i++) {
			const struct host *h;
			uint32_t n = 0;

			for (uint32_t k = 0; k < HOSTS; k++)
				world_change_host(&w, k, random_below(&r, 3));
			w.view.now += SLICE;
			world_pass(&w);
			for_each_host (h, &w.view)
				n += host_takes(h, w.job[0]);
			if ((w.job[0]->state == JOB_RUNNING) !=
			    (n >= w.job[0]->size))
				world_fails(&w, "it does not run, or must not",
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
		world_change_host(&w, h, 1);
	w.size[0] = 4;
	w.size[1] = 3;
	w.size[2] = 2;
	for (int i = 0; i < 3; i++)
		world_arrive(&w, i);
	world_pass(&w);
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
