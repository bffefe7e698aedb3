/* test_laws.c - what holds for every policy on random jobs: doc/design/50 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "policy/policies.h"
#include "sim/engine/testing.h"
#include "sim/laws/laws.h"

/* How often it was checked, with every policy. */
static int64_t try_law(const char *name)
{
	const struct law *law = law_find(name);
	const struct policy_ops *p;
	struct error err;
	int64_t all = 0;

	for (size_t i = 0; (p = policy_nth(i)); i++) {
		int64_t n = law->check(p->name, &err);

		if (n < 0)
			fail_msg("%s: %s", p->name, err.text);
		all += n;
	}
	return all;
}

static void every_policy_keeps_the_laws(void **state)
{
	(void)state;
	assert_true(try_law("counts") > 100000);
}

static void every_policy_bears_failures(void **state)
{
	(void)state;
	assert_true(try_law("failures") > 30000);
}

static void same_seed_same_records(void **state)
{
	(void)state;
	assert_true(try_law("repeats") > 10000);
}

/* Is each job's address above that of the job before it? */
struct order {
	const struct job *last;
	uint64_t addresses, plans; /* digests */
};

static void note_address(void *data, const struct view *view,
			 const struct event *event)
{
	struct order *o = data;

	if (event->type != EVENT_ARRIVE)
		return;
	o->addresses = o->addresses * 0x100000001b3 + (event->job > o->last);
	o->last = event->job;
}

static void note_plan(void *data, const struct view *view,
		      const struct plan *plan)
{
	struct order *o = data;
	char text[300];

	for (size_t i = 0; i < plan->nr; i++) {
		plan_print(view, &plan->entry[i], text, sizeof(text));
		for (const char *c = text; *c; c++)
			o->plans =
				(o->plans ^ (unsigned char)*c) * 0x100000001b3;
	}
}

/*
 * Blocks for a view's jobs, each placed before or behind the one before: the
 * linker puts these functions in the places of xmalloc() and free().
 */
#define BLOCK_JOBS 256
#define NR_BLOCKS  16

static struct job blocks[NR_BLOCKS][BLOCK_JOBS];
static int blocks_taken = NR_BLOCKS; /* all taken: xmalloc() is used */
static bool blocks_down;

void *__real_xmalloc(size_t size);
void *__wrap_xmalloc(size_t size);
void __real_free(void *p);
void __wrap_free(void *p);

void *__wrap_xmalloc(size_t size)
{
	int i = blocks_taken;

	if (size != sizeof(blocks[0]) || i == NR_BLOCKS)
		return __real_xmalloc(size);
	blocks_taken++;
	i = blocks_down ? NR_BLOCKS - 1 - i : i;
	return blocks[i];
}

void __wrap_free(void *p)
{
	if (p < (void *)blocks || p >= (void *)(blocks + NR_BLOCKS))
		__real_free(p);
}

/* The same jobs at other addresses must give the same plans, word for word. */
static void plans_do_not_know_addresses(void **state)
{
	const struct policy_ops *p;
	uint64_t differ = 0;

	(void)state;
	for (size_t i = 0; (p = policy_nth(i)); i++) {
		struct order o[2] = { { NULL, 0, 0 }, { NULL, 0, 0 } };

		for (int k = 0; k < 2; k++) {
			const struct sim_observer watch = { note_address,
							    note_plan, &o[k] };
			struct sim_config c = { .policy = p->name,
						.observer = &watch };
			struct sim_result r;

			blocks_taken = 0;
			blocks_down = k;
			c.workload = make_workload("poisson", 16, 4, 900, NULL);
			simulate(&c, &r);
			sim_result_clear(&r);
			workload_destroy(c.workload);
		}
		differ += o[0].addresses != o[1].addresses;
		if (o[0].plans != o[1].plans)
			fail_msg("%s: plans depend on addresses", p->name);
	}
	blocks_taken = NR_BLOCKS;
	assert_true(differ > 20); /* or nothing was tried */
}

/*
 * A job that needs the whole machine comes into a stream of small ones that
 * never leaves the machine idle: a policy without starvation starts it before
 * the stream ends.
 */
struct stream {
	struct workload base;
	int64_t at;
};

#define STREAM 1000

static int stream_next(struct workload *workload, struct workload_job *ret,
		       struct error *err)
{
	struct stream *s = (struct stream *)workload;
	bool large = s->at == 100;

	if (s->at == STREAM)
		return 0;
	*ret = (struct workload_job){ .id = s->at,
				      .submit = s->at * 10 * USEC_PER_SEC,
				      .run = (large ? 300 : 100) * USEC_PER_SEC,
				      .size = large ? 16 : 1,
				      .user = 1 };
	ret->estimate = ret->run;
	ret->min_size = ret->size;
	s->at++;
	return 1;
}

static usec_t start_of_large(const char *policy)
{
	static const struct workload_ops ops = { .name = "stream",
						 .next = stream_next };
	struct stream s = { .base = { .ops = &ops, .procs = 16 } };
	struct sim_config c = { .workload = &s.base, .policy = policy };
	struct sim_result r;
	usec_t start;

	simulate(&c, &r);
	start = r.record[100].start;
	sim_result_clear(&r);
	return start;
}

static void nobody_starves(void **state)
{
	static const char *const fair[] = {
		"fcfs",
		"easy",
		"backfill",
		"backfill:depth=4",
		"conservative",
		"conservative:slots=kinds",
		"lxf",
		"wfp",
		"multifactor",
		"nqs", /* all in one queue */
		"nqs:short=200,age=100",
		"dqs",
		"pvm",
		"fcfsuf",
		"ffcfs",
		"deqp",
		"dprop",
		"dprop-sm",
		"dprop-sh",
		"dfcfs",
		"fifo-v",
		"ls",
		"ls:maxprio=16",
		"lst",
		"lst:slice=200",
		"lst:migrate=no",
		"matrix",
		"matrix:slice=200",
		"sed1",
		"sed2",
		"spread:oversubscribe=no",
		"spread",
	};
	/*
	 * The test must be able to fail: these policies are known to starve the
	 * job.
	 */
	static const char *const unfair[] = { "ff", "ffis", "sjf:fit=skip",
					      "nqs:short=200,age=0",
					      "ls:maxprio=9999" };

	(void)state;
	for (size_t i = 0; i < sizeof(fair) / sizeof(*fair); i++)
		if (start_of_large(fair[i]) >= STREAM * 5 * USEC_PER_SEC)
			fail_msg("%s lets a large job starve", fair[i]);
	for (size_t i = 0; i < sizeof(unfair) / sizeof(*unfair); i++)
		if (start_of_large(unfair[i]) < STREAM * 10 * USEC_PER_SEC)
			fail_msg("%s is fair?", unfair[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_policy_keeps_the_laws),
		cmocka_unit_test(every_policy_bears_failures),
		cmocka_unit_test(same_seed_same_records),
		cmocka_unit_test(plans_do_not_know_addresses),
		cmocka_unit_test(nobody_starves),
	};

	return cmocka_run_group_tests_name("laws", tests, NULL, NULL);
}
