/*
 * test_chen.c - what holds in whole runs of hosts that page, and of the policies
 * that mind it (doc/design/54)
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "core/xalloc.h"
#include "sim/engine/paging.h"
#include "sim/engine/testing.h"
#include "sim/workload/machine.h"

/* Counts again what must hold at every plan. */
struct watch {
	uint64_t slots, holds, releases, moves, unfit;
};

static bool is_planned(const struct plan *plan, size_t before,
		       enum plan_type type, uint32_t host)
{
	for (size_t i = 0; i < before; i++)
		if (plan->entry[i].type == type && plan->entry[i].host == host)
			return true;
	return false;
}

static void check_entry(struct watch *w, const struct view *view,
			const struct plan *plan, size_t i)
{
	const struct plan_entry *e = &plan->entry[i];
	const struct host *h =
		&view->hosts[e->type == PLAN_MIGRATE ? e->hosts[0] : e->host];

	switch (e->type) {
	case PLAN_START:
		for (uint32_t k = 0; k < e->n; k++)
			if (view->hosts[e->hosts[k]].reserved &&
			    !is_planned(plan, i, PLAN_RELEASE, e->hosts[k]))
				fail_msg("a start on a host held back");
		break;
	case PLAN_MIGRATE:
		w->moves++;
		w->unfit += h->memory_free < e->job->demand;
		if (h->memory_free < e->job->demand &&
		    !(h->reserved && !h->nr_ranks))
			fail_msg("a move to where there is no memory");
		break;
	case PLAN_RESERVE:
		assert_int_equal(h->reserved, 0);
		w->holds++;
		break;
	case PLAN_RELEASE:
		assert_int_equal(h->reserved, 1);
		w->releases++;
		break;
	default:
		break;
	}
}

static void check_plan(void *data, const struct view *view,
		       const struct plan *plan)
{
	for (size_t i = 0; i < plan->nr; i++)
		check_entry(data, view, plan, i);
}

static void check_slots(void *data, const struct view *view,
			const struct event *e)
{
	const struct watch *w = data;
	const struct host *h;

	(void)e;
	for_each_host (h, view)
		assert_in_range(h->nr_ranks, 0, w->slots);
}

static void run_chen(const char *workload, const char *policy, uint64_t renew,
		     const struct sim_observer *observer, struct sim_result *r)
{
	struct workload *w = make_workload(workload, 0, 0, 0, NULL);
	struct paging p = make_paging("");
	struct sim_config c = { .workload = w,
				.policy = policy,
				.paging = &p,
				.observer = observer,
				.renew = renew };
	struct host *hosts;

	assert_int_equal(machine_parse(w->hosts, &hosts, &c.nr_hosts, NULL), 0);
	c.hosts = hosts;
	simulate(&c, r);
	free(hosts);
	workload_destroy(w);
}

static const char *const both[] = { "g-loadsharing", "v-reconfiguration",
				    "v-reconfiguration:until=fits,slots=6" };

/* Every microsecond of every job belongs to exactly one part of its time. */
static void time_is_split_exactly(void **state)
{
	(void)state;
	for (size_t k = 0; k < 6; k++) {
		const char *w =
			k & 1 ? "chen:group=1,trace=2" : "chen:group=2,trace=5";
		usec_t page = 0, way = 0;
		struct sim_result r;

		run_chen(w, both[k / 2], 0, NULL, &r);
		for (size_t i = 0; i < r.nr; i++) {
			const struct sim_split *s = &r.split[i];
			const struct sim_record *j = &r.record[i];

			assert_int_equal(sum_of(s), j->end - j->submit);
			assert_true(s->cpu + s->page <= s->run);
			/* Shares are cut at whole microseconds. */
			assert_in_range(s->cpu, j->run - 2, j->run + 2);
			page += s->page;
			way += s->still;
		}
		assert_true(page > 1000 * USEC_PER_SEC);
		assert_true(way > 1000 * USEC_PER_SEC);
		sim_result_clear(&r);
	}
}

static void plans_keep_what_the_policies_promise(void **state)
{
	(void)state;
	for (size_t k = 0; k < 3; k++) {
		struct watch w = { .slots = k == 2 ? 6 : 4 };
		const struct sim_observer watch = { .event = check_slots,
						    .plan = check_plan,
						    .data = &w };
		struct sim_result r;

		run_chen("chen:group=1,trace=2", both[k], 0, &watch, &r);
		assert_int_equal(w.moves, r.migrations);
		assert_true(w.moves > 100);
		assert_true(k ? w.holds > 5 : !w.holds);
		/*
		 * Hosts that are still held back when the last job ends have
		 * been used.
		 */
		assert_in_range(w.holds - w.releases, 0, 2);
		sim_result_clear(&r);
	}
}

/* A saved state is complete: hosts that are held back are in it, too. */
static void a_policy_made_anew_goes_on(void **state)
{
	(void)state;
	for (size_t k = 0; k < 3; k++) {
		struct sim_result r[2];

		for (int i = 0; i < 2; i++)
			run_chen("chen:group=1,trace=1", both[k], i ? 3 : 0,
				 NULL, &r[i]);
		check_same_records(&r[0], &r[1], both[k]);
		assert_memory_equal(r[0].split, r[1].split,
				    r[0].nr * sizeof(*r[0].split));
		sim_result_clear(&r[0]);
		sim_result_clear(&r[1]);
	}
}

/*
 * Section 5: nothing is gained if jobs need the same memory, or if there is
 * enough.
 */
static void nothing_is_held_back_without_need(void **state)
{
	static const char *const calm[] = { "chen:equal=60",
					    "chen:group=2,trace=1,equal=2" };

	(void)state;
	for (size_t k = 0; k < 2; k++) {
		struct sim_result r[2];

		for (int i = 0; i < 2; i++)
			run_chen(calm[k], both[i], 0, NULL, &r[i]);
		check_same_records(&r[0], &r[1], calm[k]);
		sim_result_clear(&r[0]);
		sim_result_clear(&r[1]);
	}
}

/* m-m of group 2: from half of 1.37 MB to that in half of its run, and on to 4.30. */
static void memory_grows_as_the_table_says(void **state)
{
	static const struct workload_phase wanted[] = { { 0, 685000 },
							{ 0.25, 1027500 },
							{ 0.5, 1370000 },
							{ 0.75, 2835000 } };
	struct workload *w = make_workload(
		"chen:group=2,growth=0.5,start=0.5,steps=2", 0, 0, 0, NULL);
	struct workload_job j = { .app = -1 };
	struct error err;

	(void)state;
	while (j.app != 4)
		assert_int_equal(workload_next(w, &j, &err), 1);
	assert_int_equal(j.phases->nr, 4);
	for (size_t i = 0; i < 4; i++) {
		assert_true(j.phases->phase[i].from == wanted[i].from);
		assert_int_equal(j.phases->phase[i].bytes, wanted[i].bytes);
	}
	workload_destroy(w);
}

/* Each of the 32 hosts is somebody's home, counted from 1, and no other. */
static void homes_are_the_hosts(void **state)
{
	struct workload *w = make_workload("chen:trace=5", 0, 0, 0, NULL);
	bool seen[33] = { false };
	struct workload_job j;
	struct error err;

	(void)state;
	while (workload_next(w, &j, &err) > 0) {
		assert_in_range(j.home, 1, 32);
		seen[j.home] = true;
	}
	for (int i = 1; i <= 32; i++)
		assert_true(seen[i]);
	workload_destroy(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(time_is_split_exactly),
		cmocka_unit_test(plans_keep_what_the_policies_promise),
		cmocka_unit_test(a_policy_made_anew_goes_on),
		cmocka_unit_test(nothing_is_held_back_without_need),
		cmocka_unit_test(memory_grows_as_the_table_says),
		cmocka_unit_test(homes_are_the_hosts),
	};

	return cmocka_run_group_tests_name("chen", tests, NULL, NULL);
}
