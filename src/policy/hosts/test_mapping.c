/*
 * test_mapping.c - dqs and pvm deal processes out as their texts say, on random hosts, against
 * a second implementation
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/random.h"
#include "model/event.h"
#include "policy/policies.h"

enum { HOSTS = 6, JOBS = 5, RANKS = 9, ROUNDS = 3000, PASSES = 6 };

static struct view view;
static struct plan plan;
static struct policy *policy;
static int64_t next_id;

/* ---- random hosts and jobs ---- */

static struct host draw_host(struct random_stream *r)
{
	return (struct host){
		.speed = 1,
		.cores = 2,
		.slots = (uint32_t)random_below(r, 5),
		.load = (double)random_below(r, 3),
		.up = random_below(r, 8) != 0,
		.drain = !random_below(r, 8),
	};
}

static void begin(struct random_stream *r, const char *spec)
{
	struct host hosts[HOSTS];
	struct error err;

	for (int i = 0; i < HOSTS; i++)
		hosts[i] = draw_host(r);
	view_init_hosts(&view, hosts, HOSTS);
	plan = (struct plan)PLAN_INIT;
	next_id = 0;
	if (policy_create(spec, 1, &view, &policy, &err) < 0)
		fail_msg("%s", err.text);
}

static void end(void)
{
	policy_destroy(policy);
	plan_clear(&plan);
	view_clear(&view);
}

static void arrive(struct random_stream *r)
{
	struct job *j = view_job_create(&view);

	j->id = ++next_id;
	j->size = j->min_size = 1 + (uint32_t)random_below(r, RANKS);
	model_apply(&view, &(struct event){ .type = EVENT_ARRIVE,
					    .at = view.now,
					    .job = j });
}

/* Some of the running jobs end. */
static void end_some(struct random_stream *r)
{
	struct job *j, *next;

	for (j = TAILQ_FIRST(&view.running); j; j = next) {
		struct event e = { .type = EVENT_END,
				   .at = view.now,
				   .job = j };

		next = TAILQ_NEXT(j, link);
		if (random_below(r, 3))
			continue;
		policy_event(policy, &view, &e);
		model_apply(&view, &e);
	}
}

static void pass(void)
{
	plan_reset(&plan, &view);
	policy_decide(policy, &view, &plan);
}

/* Jobs start as planned. */
static void carry_out(void)
{
	for (size_t i = 0; i < plan.nr; i++) {
		const struct plan_entry *e = &plan.entry[i];

		if (e->type == PLAN_START)
			model_apply(&view,
				    &(struct event){ .type = EVENT_START,
						     .at = view.now,
						     .job = e->job,
						     .n = e->n,
						     .hosts = e->hosts });
	}
}

/* ---- what a pass should plan ---- */

static uint32_t ranks[HOSTS]; /* that are there, those of the pass, too */

static void count_ranks(void)
{
	for (int h = 0; h < HOSTS; h++)
		ranks[h] = view.hosts[h].nr_ranks;
}

static bool usable(int h)
{
	return view.hosts[h].up && !view.hosts[h].drain;
}

static uint32_t left(int h, uint32_t slots)
{
	uint32_t most =
		slots < view.hosts[h].slots ? slots : view.hosts[h].slots;

	return usable(h) && most > ranks[h] ? most - ranks[h] : 0;
}

static int64_t all_left(uint32_t slots)
{
	int64_t n = 0;

	for (int h = 0; h < HOSTS; h++)
		n += left(h, slots);
	return n;
}

static const struct plan_entry *start_of(const struct job *job)
{
	for (size_t i = 0; i < plan.nr; i++)
		if (plan.entry[i].type == PLAN_START &&
		    plan.entry[i].job == job)
			return &plan.entry[i];
	return NULL;
}

/* The hosts in their order: the least loaded first, as the pass begins, or as they stand. */
static void order_hosts(bool by_load, int order[HOSTS])
{
	double load[HOSTS];

	for (int h = 0; h < HOSTS; h++) {
		load[h] = by_load ? view.hosts[h].load + view.hosts[h].nr_active
				  : 0;
		order[h] = h;
	}
	for (int i = 1; i < HOSTS; i++)
		for (int k = i; k > 0 && load[order[k]] < load[order[k - 1]];
		     k--) {
			int t = order[k];

			order[k] = order[k - 1];
			order[k - 1] = t;
		}
}

/* Round after round, a process on each host that has a slot. */
static void check_dealt(const struct plan_entry *e, const int order[HOSTS],
			uint32_t slots)
{
	uint32_t i = 0;

	assert_int_equal(e->n, e->job->size);
	while (i < e->n)
		for (int k = 0; k < HOSTS && i < e->n; k++)
			if (left(order[k], slots)) {
				assert_int_equal(e->hosts[i++], order[k]);
				ranks[order[k]]++;
			}
}

/* How many slots the policy says are free for who must wait. */
static void check_reason(const struct job *job, int64_t is)
{
	char line[300], wanted[100];

	policy_explain(policy, &view, job, &plan);
	plan_print(&view, &plan.entry[plan.nr - 1], line, sizeof(line));
	snprintf(wanted, sizeof(wanted), " and %" PRId64 " %s free", is,
		 is == 1 ? "is" : "are");
	if (!strstr(line, wanted))
		fail_msg("'%s' does not say '%s'", line, wanted);
}

static void dqs_pass(bool by_load, uint32_t slots, unsigned *starts)
{
	const struct job *j;
	bool blocked = false;
	int order[HOSTS];

	pass();
	count_ranks();
	order_hosts(by_load, order);
	for_each_waiting(j, &view)
	{
		const struct plan_entry *e = start_of(j);

		blocked |= j->size > all_left(slots);
		assert_true(blocked == !e);
		if (e)
			check_dealt(e, order, slots);
		*starts += e != NULL;
	}
	for_each_waiting(j, &view) if (!start_of(j))
		check_reason(j, all_left(slots));
	carry_out();
}

static void dqs_fills_slots_in_turn(void **state)
{
	struct random_stream r;
	unsigned starts = 0;

	(void)state;
	random_init(&r, 1, "mapping", 0);
	for (int round = 0; round < ROUNDS; round++) {
		bool by_load = random_below(&r, 2);
		uint32_t slots = 1 + (uint32_t)random_below(&r, 4);
		int64_t most = 0;
		char spec[60];

		snprintf(spec, sizeof(spec), "dqs:by=%s,slots=%u",
			 by_load ? "load" : "sequence", slots);
		begin(&r, spec);
		for (int h = 0; h < HOSTS; h++)
			most += slots < view.hosts[h].slots
					? slots
					: view.hosts[h].slots;
		assert_int_equal(policy_most(policy, &view), most);
		for (int i = 0; i < PASSES; i++) {
			for (uint64_t k = random_below(&r, JOBS); k; k--)
				arrive(&r);
			dqs_pass(by_load, slots, &starts);
			end_some(&r);
			view.now += USEC_PER_SEC;
		}
		end();
	}
	assert_true(starts > ROUNDS);
}

/* ---- pvm ---- */

/* It is made anew from what it saved, as by a restart. */
static void renew(const char *spec)
{
	struct error err;
	size_t size;
	char *text;
	FILE *f = open_memstream(&text, &size);

	policy->ops->save(policy, &view, f);
	fclose(f);
	policy_destroy(policy);
	if (policy_create(spec, 1, &view, &policy, &err) < 0 ||
	    policy_load(policy, &view, text, &err) < 0)
		fail_msg("%s", err.text);
	free(text);
}

static void pvm_pass(bool behind, int *at)
{
	const struct job *j;
	int nr = 0;

	for (int h = 0; h < HOSTS; h++)
		nr += usable(h);
	pass();
	for_each_waiting(j, &view)
	{
		const struct plan_entry *e = start_of(j);

		assert_int_equal(e != NULL, nr > 0);
		*at = behind ? *at : 0;
		for (uint32_t i = 0; e && i < j->size; *at = (*at + 1) % HOSTS)
			if (usable(*at))
				assert_int_equal(e->hosts[i++], *at);
	}
	carry_out();
}

static void pvm_goes_on_where_it_was(void **state)
{
	struct random_stream r;

	(void)state;
	random_init(&r, 2, "mapping", 0);
	for (int round = 0; round < ROUNDS; round++) {
		bool behind = random_below(&r, 2);
		const char *spec = behind ? "pvm:start=next" : "pvm";
		int at = 0;

		begin(&r, spec);
		for (int i = 0; i < PASSES; i++) {
			for (uint64_t k = random_below(&r, JOBS); k; k--)
				arrive(&r);
			pvm_pass(behind, &at);
			end_some(&r);
			if (random_below(&r, 3) == 0)
				renew(spec);
		}
		end();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(dqs_fills_slots_in_turn),
		cmocka_unit_test(pvm_goes_on_where_it_was),
	};

	return cmocka_run_group_tests_name("mapping", tests, NULL, NULL);
}
