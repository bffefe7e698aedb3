/* test_laws.c - what holds for every policy on random jobs: doc/design/50 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/random.h"
#include "core/xalloc.h"
#include "policy/policies.h"
#include "sim/engine/testing.h"
#include "sim/workload/machine.h"
#include "sim/workload/script.h"

/* One who recounts; of which policy. */
struct watch {
	uint64_t checks;
	unsigned flags;
};

/* Nobody shares a core. */
static void check_cores(const struct view *view)
{
	const struct host *h;

	for_each_host (h, view)
		if (host_usable(h))
			assert_true(h->nr_active <= h->cores);
	if (!view->nr_hosts)
		assert_true(view->nr_free >= 0);
}

/* No processor twice, none lost: the view's counts against a recount. */
static void recount(void *data, const struct view *view,
		    const struct event *event)
{
	uint32_t *ranks = xcalloc(view->nr_hosts + 1, sizeof(*ranks));
	int64_t used = 0, demand = 0;
	const struct job *j;
	const struct host *h;
	struct watch *w = data;

	for_each_waiting(j, view) demand += j->size;
	for_each_running(j, view)
	{
		demand += j->size;
		assert_in_range(j->n, j->min_size, j->size);
		if (j->state == JOB_RUNNING)
			used += j->n;
		for (uint32_t i = 0; view->nr_hosts && i < j->n; i++)
			ranks[j->hosts[i]]++;
	}
	assert_true(demand == view->demand);
	if (!view->nr_hosts)
		assert_true(view->nr_free == view->nr_procs - used);
	for_each_host (h, view)
		assert_int_equal(h->nr_ranks, ranks[h->ix]);
	free(ranks);
	if (!(w->flags & POLICY_SHARES))
		check_cores(view);
	w->checks++;
}

/* Linear speedup and no costs: the work done is the work there was. */
static void check_work(const struct sim_result *r, const char *policy,
		       bool shared)
{
	for (size_t i = 0; i < r->nr; i++) {
		const struct sim_record *j = &r->record[i];
		double work = j->size * usec_to_seconds(j->run);

		/* Who shares a core has it longer. */
		if (shared ? j->proc_secs < work - 1e-4 * work - 1e-3
			   : fabs(j->proc_secs - work) > 1e-4 * work + 1e-3)
			fail_msg("%s: job %ld had %g of %g", policy,
				 (long)j->id, (double)j->proc_secs, work);
	}
}

static void check_all_ended(const struct sim_result *r)
{
	for (size_t i = 0; i < r->nr; i++) {
		const struct sim_record *j = &r->record[i];

		assert_true(j->submit <= j->start && j->start <= j->end);
		assert_int_equal(j->outcome, END_DONE);
	}
}

/* L = lambda W over the window, with jobs counted only while within it. */
static void check_little(const struct sim_result *r)
{
	usec_t from = r->record[0].submit, to = r->record[r->nr - 1].submit;
	double inside = 0;

	for (size_t i = 0; i < r->nr; i++) {
		usec_t end = r->record[i].end;

		inside += (double)((end < to ? end : to) - r->record[i].submit);
	}
	inside /= (double)(to - from);
	assert_true(fabs(r->averages.jobs - inside) < 1e-6 * inside + 1e-9);
}

/* Random jobs on 16 processors: counted, or of hosts. */
static void check_laws(const struct policy_ops *p, const char *speedup,
		       const char *machine, uint64_t *checks)
{
	struct watch w = { .flags = p->flags };
	const struct sim_observer watch = { .event = recount, .data = &w };
	struct workload *jobs =
		make_workload("poisson:overestimate=2", 16, 0.8, 300, speedup);
	struct sim_config c = { .workload = jobs,
				.policy = p->name,
				.observer = &watch };
	struct host *hosts = NULL;
	struct sim_result r;

	if (machine)
		assert_int_equal(
			machine_parse(machine, &hosts, &c.nr_hosts, NULL), 0);
	c.hosts = hosts;
	simulate(&c, &r);
	assert_int_equal(r.nr, 300);
	check_all_ended(&r);
	if (!speedup || !strcmp(speedup, "linear"))
		check_work(&r, p->name, p->flags & POLICY_SHARES);
	check_little(&r);
	*checks += w.checks;
	sim_result_clear(&r);
	workload_destroy(jobs);
	free(hosts);
}

static void every_policy_keeps_the_laws(void **state)
{
	const struct policy_ops *p;
	uint64_t checks = 0;

	(void)state;
	for (size_t i = 0; (p = policy_nth(i)); i++) {
		check_laws(p, NULL, NULL, &checks);
		check_laws(p, "linear", NULL, &checks);
		check_laws(p, "misp", NULL, &checks);
		if (!(p->flags & POLICY_HOSTS))
			check_laws(p, "linear", "3x1x4,4x1", &checks);
	}
	assert_true(checks > 100000);
}

/* Hosts that fail and are drained, all of which come back, and cancellations.
 */
static char *make_script(size_t *ret_size)
{
	struct random_stream r;
	char *text = NULL;
	FILE *f = open_memstream(&text, ret_size);

	random_init(&r, 5, "script", 0);
	for (int t = 100; f && t < 20000; t += 150) {
		unsigned host = (unsigned)random_below(&r, 16);
		int back = t + 1 + (int)random_below(&r, 700);
		bool down = random_below(&r, 2);

		fprintf(f, "%d %s %u\n%d %s %u\n", t, down ? "down" : "drain",
			host, back, down ? "up" : "undrain", host);
		fprintf(f, "%d cancel %u\n", t,
			(unsigned)random_below(&r, 300));
	}
	if (!f || fclose(f))
		abort(); /* out of memory */
	return text;
}

static void every_policy_bears_failures(void **state)
{
	struct watch all = { .flags = POLICY_SHARES };
	const struct sim_observer watch = { .event = recount, .data = &all };
	const struct policy_ops *p;
	struct sim_script script;
	struct error err;
	size_t size;
	char *text = make_script(&size);

	(void)state;
	assert_int_equal(script_parse(text, size, "test", &script, &err), 0);
	for (size_t i = 0; (p = policy_nth(i)); i++) {
		struct workload *w = make_workload("poisson:overestimate=2", 16,
						   0.8, 300, "misp");
		struct sim_config c = { .workload = w,
					.policy = p->name,
					.observer = &watch,
					.script = &script };
		struct sim_result r;

		simulate(&c, &r);
		for (size_t k = 0; k < r.nr; k++)
			assert_true(r.record[k].end >= r.record[k].submit);
		sim_result_clear(&r);
		workload_destroy(w);
	}
	assert_true(all.checks > 30000);
	script_clear(&script);
	free(text);
}

static void same_seed_same_records(void **state)
{
	const struct policy_ops *p;

	(void)state;
	for (size_t i = 0; (p = policy_nth(i)); i++) {
		struct sim_result r[2];

		for (int k = 0; k < 2; k++) {
			struct workload *w = make_workload("poisson", 16, 0.9,
							   300, "linear");
			struct sim_config c = { .workload = w,
						.policy = p->name,
						.seed = 3 };

			simulate(&c, &r[k]);
			workload_destroy(w);
		}
		check_same_records(&r[0], &r[1], p->name);
		sim_result_clear(&r[0]);
		sim_result_clear(&r[1]);
	}
}

/* Was each job's address above that of the job before it? */
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
 * Blocks of a view's jobs, one behind or before the other: the linker puts
 * these in the places of xcalloc() and free().
 */
#define BLOCK_JOBS 256
#define NR_BLOCKS  16

static struct job blocks[NR_BLOCKS][BLOCK_JOBS];
static int blocks_taken = NR_BLOCKS; /* all: it is left to xcalloc() */
static bool blocks_down;

void *__real_xcalloc(size_t n, size_t size);
void *__wrap_xcalloc(size_t n, size_t size);
void __real_free(void *p);
void __wrap_free(void *p);

void *__wrap_xcalloc(size_t n, size_t size)
{
	int i = blocks_taken;

	if (n != BLOCK_JOBS || size != sizeof(struct job) || i == NR_BLOCKS)
		return __real_xcalloc(n, size);
	blocks_taken++;
	i = blocks_down ? NR_BLOCKS - 1 - i : i;
	return memset(blocks[i], 0, sizeof(blocks[i]));
}

void __wrap_free(void *p)
{
	if (p < (void *)blocks || p >= (void *)(blocks + NR_BLOCKS))
		__real_free(p);
}

/* The same jobs at other addresses: the same plans, word for word. */
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
 * A job that needs the whole machine, in a stream of small ones that never
 * leaves it idle: who is free of starvation starts it before the stream ends.
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
	/* The test can fail: these are known to starve it. */
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
