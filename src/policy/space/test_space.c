/*
 * test_space.c - Ismail's space-sharing policies on cases worked by hand, and
 * their laws on random ones
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "core/random.h"
#include "policy/test_play.h"

static void no_folding(void **state)
{
	play("ff", 8, "1:5 2:4 3:3;-1;", "1=5 3=3;2=4 3=3;");
	play("ffds", 8, "1:8;2:2 3:5 4:6;-1;", "1=8;1=8;2=2 4=6;");
	play("ffis", 8, "1:8;2:2 3:5 4:6;-1;", "1=8;1=8;2=2 3=5;");
	/* Demands 40, 10, 60. */
	play("ffitd", 8, "1:8;2:4:10 3:5:2 4:3:20;-1;", "1=8;1=8;3=5 4=3;");
	/* 10^19 is more than a number can hold. */
	play("ffitd", 16, "1:16;2:10:1000000000000 3:10:5;-1;",
	     "1=16;1=16;3=10;");
}

static void unlimited_folding(void **state)
{
	play("fcfsuf", 8, "1:6 2:5 3:4;-1;", "1=6 2=2;2=2 3=4;");
	play("ff+fifo", 8, "1:6;2:5 3:2;-1;", "1=6;1=6 3=2;2=5 3=2;");
	play("ff+fifo", 8, "1:6;2:5 3:4;", "1=6;1=6 2=2;");
	play("ffds+fifo", 8, "1:6;2:4 3:5;", "1=6;1=6 3=2;");
	play("ffds+fifo:head=arrival", 8, "1:6;2:4 3:5;", "1=6;1=6 2=2;");
	play("ffis+fifo", 8, "1:6;2:5 3:4;", "1=6;1=6 3=2;");
	play("epfp", 8, "1:8;2:8 3:8 4:8;-1;", "1=8;1=8;2=3 3=3 4=2;");
	play("epfp", 8, "1:8;2:1 3:8 4:8;-1;", "1=8;1=8;2=1 3=4 4=3;");
	play("epfp", 2, "1:2;2:2 3:2 4:2;-1;", "1=2;1=2;2=1 3=1;");
	/* Demands 60, 40, 2. */
	play("stdfuf", 8, "1:8;2:6:10 3:4:10 4:2:1;-1;",
	     "1=8;1=8;2=2 3=4 4=2;");
	play("shjfuf", 8, "1:8;2:6:5 3:4:10 4:3:1;-1;", "1=8;1=8;2=5 4=3;");
	play("lojfuf", 8, "1:8;2:6:5 3:4:10 4:3:1;-1;", "1=8;1=8;2=4 3=4;");
}

static void limited_folding(void **state)
{
	/* P_d = 6, 14, 16, 10, so f1 = 1, 2, 2, 2. */
	play("ffcfs", 8, "1:6;2:8;3:2;-1;", "1=6;1=6;1=6;2=8;");
	play("fff", 8, "1:6;2:8;3:2;-1;", "1=6;1=6;1=6 3=2;2=6 3=2;");
	play("fff", 8, "1:8;2:6 3:4;-1;", "1=8;1=8;2=6 3=2;");
	play("fsjf", 8, "1:8;2:6 3:4;-1;", "1=8;1=8;2=4 3=4;");
	play("fff:ffmax=1", 8, "1:6;2:8;3:2;-1;", "1=6;1=6;1=6 3=2;3=2;");
	/* At the end P_d = 14, f1 = 2, N_r/P_u = 2: f2 = 1.5, or 1. */
	play("fff:ffmax=f2,r=0.75", 8, "1:4 2:8;3:6;-1;",
	     "1=4 2=4;1=4 2=4;2=4 3=4;");
	play("fff:ffmax=f2,r=0.5", 8, "1:4 2:8;3:6;-1;",
	     "1=4 2=4;1=4 2=4;2=4;");
}

static void multifolding(void **state)
{
	/* P_d = 15, f1 = 2, x = 15: 3.2, 2.1, 2.7 processors. */
	static const char *const steps = "1:8;2:6 3:4 4:5;-1;";

	play("mfff", 8, steps, "1=8;1=8;2=4 3=2 4=2;");
	play("mfff:round=down", 8, steps, "1=8;1=8;2=3 3=2 4=2;");
	play("mfff:round=nearest", 8, steps, "1=8;1=8;2=3 3=2 4=3;");
	/* x = 10 of at most 12: 4.8, 3.2. */
	play("mfff:ffmax=1.5", 8, steps, "1=8;1=8;2=5 3=3;");
	/* x = 9 of at most 9: 3.6, 4.4. */
	play("mfsjf:ffmax=1.2", 8, steps, "1=8;1=8;3=4 4=4;");
	/* Demands 45, 70, 120; times 15, 10, 20. */
	play("mfstdf:ffmax=1", 8, "1:8;2:3:15 3:7:10 4:6:20;-1;",
	     "1=8;1=8;2=3;");
	play("mfshjf:ffmax=1", 8, "1:8;2:3:15 3:7:10 4:6:20;-1;",
	     "1=8;1=8;3=7;");
	play("mflojf:ffmax=1", 8, "1:8;2:3:15 3:7:10 4:6:20;-1;",
	     "1=8;1=8;4=6;");
	/*
	 * There are fewer processors than jobs could be selected: the third job
	 * waits.
	 */
	play("mfff:ffmax=9", 2, "1:2;2:2 3:2 4:2;-1;", "1=2;1=2;2=1 3=1;");
}

static void dynamic(void **state)
{
	play("deqp", 8, "1:8;2:8;3:1;-1;", "1=8;1=4 2=4;1=4 2=3 3=1;2=7 3=1;");
	/* Of two processors that are left the smallest job gets the first. */
	play("deqp", 8, "1:8;2:8;3:4;", "1=8;1=4 2=4;1=3 2=2 3=3;");
	play("deqp", 2, "1:2 2:2 3:2;-2;", "1=1 2=1;1=1 3=1;");
	play("dprop", 8, "1:8;2:8;3:4;-2;", "1=8;1=4 2=4;1=4 2=3 3=1;1=6 3=2;");
	/* max(1, .) for three small jobs: the large one gets one less. */
	play("dprop", 4, "1:64 2:2 3:2 4:2;", "1=1 2=1 3=1 4=1;");
	play("dprop-sm:x=2", 8, "1:8;2:4;", "1=8;1=4 2=4;");
	play("dprop-sh:x=4,long=50", 8, "1:8:100;2:8:10;", "1=8;1=3 2=5;");
	play("dfcfs", 8, "1:6;2:4;3:8;-1;", "1=6;1=6 2=2;1=6 2=2;2=4 3=4;");
	play("dsmjf", 8, "1:8;2:6 3:4;-1;4:2;-3;",
	     "1=8;1=8;2=4 3=4;2=4 3=4;2=6 4=2;");
	/* Job 2 has 4 of 7 and lacks 3; job 4 asks for 5. */
	play("dsmjf", 8, "1:8;2:7 3:4;-1;4:5;-3;",
	     "1=8;1=8;2=4 3=4;2=4 3=4;2=7 4=1;");
	play("dsmjf:by=size", 8, "1:8;2:7 3:4;-1;4:5;-3;",
	     "1=8;1=8;2=4 3=4;2=4 3=4;2=4 4=4;");
	play("dsmjf:by=lack", 8, "1:8;2:7 3:4;-1;4:5;-3;",
	     "1=8;1=8;2=4 3=4;2=4 3=4;2=7 4=1;");
	/* If job 4 asks for 2, it lacks less than job 2 does. */
	play("dsmjf", 8, "1:8;2:7 3:4;-1;4:2;-3;",
	     "1=8;1=8;2=4 3=4;2=4 3=4;2=7 4=1;");
	play("dsmjf:by=lack", 8, "1:8;2:7 3:4;-1;4:2;-3;",
	     "1=8;1=8;2=4 3=4;2=4 3=4;2=6 4=2;");
}

static void rigid_jobs_are_not_folded(void **state)
{
	play("fcfsuf", 8, "1:6 !2:5 3:1;-1;", "1=6;2=5 3=1;");
	play("fff", 8, "1:6;!2:8 3:2;-1;-3;", "1=6;1=6 3=2;3=2;2=8;");
	play("mfff", 8, "1:8;!2:6 3:4;-1;", "1=8;1=8;2=6 3=2;");
	play("deqp", 8, "!1:6;2:8;3:8;", "1=6;1=6 2=2;1=6 2=1 3=1;");
	play("dfcfs", 8, "1:6 !2:4;-1;", "1=6;2=4;");
}

static const char *const all[] = {
	"ff",	   "ffds",	    "ffis",	     "ffitd",	 "fcfsuf",
	"ff+fifo", "ffds+fifo",	    "ffis+fifo",     "epfp",	 "stdfuf",
	"shjfuf",  "lojfuf",	    "ffcfs",	     "fff",	 "fsjf",
	"mfff",	   "mfsjf",	    "mfstdf",	     "mfshjf",	 "mflojf",
	"deqp",	   "dprop",	    "dprop-sm",	     "dprop-sh", "dfcfs",
	"dsmjf",   "dsmjf:by=size", "dsmjf:by=lack", NULL
};

/* Does the policy promise that no processor is free while somebody waits? */
static bool eager(const struct policy_ops *ops)
{
	return (ops->flags & POLICY_FOLDS) && !strstr(ops->name, "fff") &&
	       !strstr(ops->name, "fsjf") && !strstr(ops->name, "ffcfs") &&
	       strncmp(ops->name, "mf", 2) != 0;
}

static void check_laws(const struct machine *m)
{
	const struct policy_ops *ops = m->policy->ops;
	int64_t used = 0, demand = 0, procs = m->view.nr_procs;
	const struct job *job;

	for_each_running(job, &m->view)
	{
		assert_true(job->n >= job->min_size && job->n <= job->size);
		used += job->n;
		demand += job->size;
	}
	for_each_waiting(job, &m->view) demand += job->size;
	assert_true(used <= procs);
	assert_int_equal(m->view.nr_free, procs - used);
	if (ops->flags & POLICY_RESIZES) /* S_e = 1 */
		assert_int_equal(used, demand < procs ? demand : procs);
	if (eager(ops) && m->view.nr_waiting)
		assert_int_equal(used, procs);
}

/* Random arrivals and ends; returns a hash of all decisions. */
static uint64_t storm(const char *policy, uint64_t seed, uint32_t procs)
{
	struct random_stream r;
	struct machine m;
	uint64_t digest = 0;
	char word[64];
	int64_t next_id = 1;

	random_init(&r, seed, "storm", 0);
	machine_init(&m, policy, procs);
	for (int step = 0; step < 1500; step++) {
		uint64_t target = random_below(&r, 80) < 40 ? 3 : 40;
		struct job *job = TAILQ_FIRST(&m.view.running);

		m.view.now += (usec_t)random_below(&r, 3);
		if (job && m.view.nr_waiting + m.view.nr_running > target) {
			for (uint64_t k = random_below(&r, m.view.nr_running);
			     k > 0; k--)
				job = TAILQ_NEXT(job, link);
			snprintf(word, sizeof(word), "-%ld", (long)job->id);
		} else {
			snprintf(word, sizeof(word), "%ld:%d:%d",
				 (long)next_id++,
				 1 + (int)random_below(&r, procs),
				 1 + (int)random_below(&r, 300));
		}
		obey(&m, word);
		pass(&m);
		check_laws(&m);
		for (size_t i = 0; i < m.plan.nr; i++)
			digest = (digest ^
				  (uint64_t)m.plan.entry[i].job->id * 1000 ^
				  m.plan.entry[i].n) *
				 0x100000001b3;
	}
	/* No job is forgotten: with no more arrivals every job gets to run. */
	while (m.view.nr_running) {
		snprintf(word, sizeof(word), "-%ld",
			 (long)TAILQ_FIRST(&m.view.running)->id);
		obey(&m, word);
		pass(&m);
		check_laws(&m);
	}
	assert_int_equal(m.view.nr_waiting, 0);
	machine_clear(&m);
	return digest;
}

static void laws(void **state)
{
	for (int i = 0; all[i]; i++)
		for (uint32_t procs = 1; procs <= 64; procs = procs * 4 + 3) {
			uint64_t a = storm(all[i], 7, procs);

			assert_true(a == storm(all[i], 7, procs));
			if (procs > 1)
				assert_true(a != storm(all[i], 8, procs));
		}
}

/* A policy that adopts a view goes on like the one that was there before. */
static void adoption(void **state)
{
	for (int i = 0; all[i]; i++) {
		struct machine m;
		char before[200], after[200];

		if (!strcmp(all[i], "dprop-sh"))
			continue; /* its mean of t(n) has no jobs that left */
		machine_init(&m, all[i], 8);
		obey(&m, "1:6:50");
		obey(&m, "2:8:20");
		obey(&m, "3:3:10");
		pass(&m);
		policy_destroy(m.policy);
		assert_int_equal(
			policy_create(all[i], 1, &m.view, &m.policy, NULL), 0);
		policy_adopt(m.policy, &m.view);
		show(&m, before, sizeof(before));
		pass(&m);
		show(&m, after, sizeof(after));
		assert_string_equal(before, after);
		while (TAILQ_FIRST(&m.view.running)) {
			char word[32];

			snprintf(word, sizeof(word), "-%ld",
				 (long)TAILQ_FIRST(&m.view.running)->id);
			obey(&m, word);
			pass(&m);
			check_laws(&m);
		}
		assert_int_equal(m.view.nr_waiting, 0);
		machine_clear(&m);
	}
}

static void wrong_parameters(void **state)
{
	static const char *const bad[] = {
		"fff:ffmax=0.5",  "fff:ffmax=f3",  "fff:ffmax=2x",
		"mfff:ffmax=nan", "mfff:round=up", "dprop-sm:x=0",
		"ff:ffmax=f1",
	};
	struct policy *p = NULL;
	struct view v;
	struct error err;

	view_init(&v, 8);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		err.text[0] = '\0';
		assert_true(policy_create(bad[i], 1, &v, &p, &err) < 0);
		assert_true(err.text[0]);
	}
	view_clear(&v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_folding),
		cmocka_unit_test(unlimited_folding),
		cmocka_unit_test(limited_folding),
		cmocka_unit_test(multifolding),
		cmocka_unit_test(dynamic),
		cmocka_unit_test(rigid_jobs_are_not_folded),
		cmocka_unit_test(laws),
		cmocka_unit_test(adoption),
		cmocka_unit_test(wrong_parameters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
