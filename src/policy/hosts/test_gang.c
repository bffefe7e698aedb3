/*
 * test_gang.c - the worked examples of Schnor 1997 §2.1.4 (S-2a), slot by slot,
 * and the rules of LST and the matrix algorithm one by one
 *
 * Jobs run on 8 hosts; the test plays the driver: it carries each plan out and
 * lets a slot pass, or a part of one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "policy/policies.h"

#define NR   6
#define SLOT (1800 * USEC_PER_SEC)

struct world {
	struct view view;
	struct policy *policy;
	struct plan plan;
	struct job *job[NR]; /* NULL: done */
	int left[NR];	     /* slots of demand that are left */
	int migrated;	     /* processes */
};

static const uint32_t sizes[NR] = { 6, 4, 3, 4, 2, 5 };

static void init_world(struct world *w, const char *spec)
{
	struct host hosts[8];
	struct error err;

	memset(w, 0, sizeof(*w));
	memset(hosts, 0, sizeof(hosts));
	for (int i = 0; i < 8; i++)
		hosts[i] = (struct host){ .name = "h",
					  .speed = 1,
					  .cores = 1,
					  .slots = 100,
					  .up = true };
	view_init_hosts(&w->view, hosts, 8);
	assert_int_equal(policy_create(spec, 1, &w->view, &w->policy, &err), 0);
}

/* The job arrives with so many slots of demand; jobs are numbered from 1. */
static void arrive(struct world *w, int id, uint32_t size, int left)
{
	struct job *job = view_job_create(&w->view);
	struct event e = { .type = EVENT_ARRIVE,
			   .at = w->view.now,
			   .job = job };

	job->id = id;
	job->size = job->min_size = size;
	job->kind = JOB_RIGID;
	model_apply(&w->view, &e);
	policy_event(w->policy, &w->view, &e);
	w->job[id - 1] = job;
	w->left[id - 1] = left;
}

/* Table 2.1: six jobs of demand 2 slots, all at once. */
static void setup_world(struct world *w, const char *spec)
{
	init_world(w, spec);
	for (int i = 0; i < NR; i++)
		arrive(w, i + 1, sizes[i], 2);
}

static void teardown_world(struct world *w)
{
	policy_destroy(w->policy);
	plan_clear(&w->plan);
	view_clear(&w->view);
}

static void carry_out(struct world *w, const struct plan_entry *entry)
{
	struct event e = { .at = w->view.now,
			   .job = entry->job,
			   .n = entry->n,
			   .hosts = entry->hosts };

	switch (entry->type) {
	case PLAN_START:
		e.type = EVENT_START;
		break;
	case PLAN_SUSPEND:
		e.type = EVENT_SUSPEND;
		break;
	case PLAN_RESUME:
		e.type = EVENT_RESUME;
		for (uint32_t r = 0; e.hosts && r < e.job->n; r++)
			w->migrated += e.hosts[r] != e.job->hosts[r];
		break;
	default:
		return;
	}
	model_apply(&w->view, &e);
}

static void pass(struct world *w)
{
	plan_reset(&w->plan, &w->view);
	policy_decide(w->policy, &w->view, &w->plan);
	for (size_t i = 0; i < w->plan.nr; i++)
		carry_out(w, &w->plan.entry[i]);
}

static void end(struct world *w, int id)
{
	struct event e = { .type = EVENT_END,
			   .at = w->view.now,
			   .job = w->job[id - 1] };

	model_apply(&w->view, &e);
	policy_event(w->policy, &w->view, &e);
	view_job_destroy(&w->view, w->job[id - 1]);
	w->job[id - 1] = NULL;
}

static bool runs(const struct world *w, int id)
{
	return w->job[id - 1] && w->job[id - 1]->state == JOB_RUNNING;
}

/* One pass, then a slot in which what is planned runs; returns it as "J1 J5". */
static void slot(struct world *w, char *ran)
{
	pass(w);
	*ran = 0;
	for (int i = 0; i < NR; i++)
		if (runs(w, i + 1)) {
			snprintf(ran + strlen(ran), 8, "J%d ", i + 1);
			w->left[i]--;
		}
	w->view.now += SLOT;
	for (int i = 0; i < NR; i++)
		if (w->job[i] && !w->left[i])
			end(w, i + 1);
}

static void check_slot(struct world *w, const char *want)
{
	char ran[64];

	slot(w, ran);
	assert_string_equal(ran, want);
}

/* The job's ranks are on hosts first, first + 1, ... */
static void check_hosts(const struct world *w, int id, uint32_t first)
{
	const struct job *job = w->job[id - 1];

	for (uint32_t r = 0; r < job->n; r++)
		assert_int_equal(job->hosts[r], first + r);
}

/* The saved state has a line "id priority ..." for each job. */
static int priority(const struct world *w, int job)
{
	char *text;
	size_t n;
	FILE *f = open_memstream(&text, &n);
	int prio = 0;

	w->policy->ops->save(w->policy, &w->view, f);
	fclose(f);
	for (char *c = strchr(text, '\n') + 1; *c; c = strchr(c, '\n') + 1) {
		int id, p;

		if (sscanf(c, "%d %d", &id, &p) == 2 && id == job)
			prio = p;
	}
	free(text);
	return prio;
}

/* Table 2.2: priority and remaining slots of J1 J6 J2 J4 J3 J5. */
static void lst_is_table_2_2(void **state)
{
	static const int order[NR] = { 1, 6, 2, 4, 3, 5 };
	static const struct {
		int prio[NR], left[NR];
		const char *ran;
	} rows[] = {
		{ { 6, 5, 4, 4, 3, 2 }, { 2, 2, 2, 2, 2, 2 }, "J1 J5 " },
		{ { 6, 6, 5, 5, 4, 2 }, { 1, 2, 2, 2, 2, 1 }, "J3 J6 " },
		{ { 7, 6, 6, 6, 4, 3 }, { 1, 1, 2, 2, 1, 1 }, "J1 J5 " },
		{ { 0, 7, 7, 7, 5, 0 }, { 0, 1, 2, 2, 1, 0 }, "J2 J4 " },
		{ { 0, 8, 7, 7, 6, 0 }, { 0, 1, 1, 1, 1, 0 }, "J3 J6 " },
		{ { 0, 0, 8, 8, 0, 0 }, { 0, 0, 1, 1, 0, 0 }, "J2 J4 " },
	};
	struct world w;
	char ran[64];

	(void)state;
	setup_world(&w, "lst:slice=1800");
	for (size_t t = 0; t < sizeof(rows) / sizeof(*rows); t++) {
		for (int i = 0; i < NR; i++) {
			assert_int_equal(priority(&w, order[i]),
					 rows[t].prio[i]);
			assert_int_equal(w.left[order[i] - 1], rows[t].left[i]);
		}
		slot(&w, ran);
		assert_string_equal(ran, rows[t].ran);
	}
	assert_int_equal(w.view.nr_running + w.view.nr_waiting, 0);
	teardown_world(&w);
}

/*
 * Figure 2.1: four rows (J1 J5 / J2 J3 / J4 / J6), J5 an alternate selection
 * in the third.
 */
static void matrix_is_figure_2_1(void **state)
{
	static const char *const ran_in[] = {
		"J1 J5 ", "J2 J3 ", "J4 J5 ", "J6 ",
		"J1 ",	  "J2 J3 ", "J4 ",    "J6 ",
	};
	struct world w;
	char ran[64];

	(void)state;
	setup_world(&w, "matrix:slice=1800");
	for (size_t t = 0; t < sizeof(ran_in) / sizeof(*ran_in); t++) {
		slot(&w, ran);
		assert_string_equal(ran, ran_in[t]);
	}
	assert_int_equal(w.view.nr_running + w.view.nr_waiting, 0);
	assert_int_equal(w.migrated, 0);
	teardown_world(&w);
}

/*
 * The text's example of a mapping conflict: J1 on hosts 0-3, J2 on 4-5; J3 of
 * size 4 comes and gets 4-7 in the next slot; when J1 is gone, J2 finds its
 * hosts taken and its two processes migrate to 0 and 1.
 */
static void a_conflict_migrates_who_is_later(void **state)
{
	struct world w;

	(void)state;
	init_world(&w, "lst:slice=1800");
	arrive(&w, 1, 4, 2);
	arrive(&w, 2, 2, 9);
	check_slot(&w, "J1 J2 ");
	check_hosts(&w, 1, 0);
	check_hosts(&w, 2, 4);
	arrive(&w, 3, 4, 9);
	check_slot(&w, "J1 J3 ");
	check_hosts(&w, 3, 4);
	assert_int_equal(w.migrated, 0);
	/* A new job takes what the other ones leave. */
	arrive(&w, 4, 2, 9);
	check_slot(&w, "J2 J3 J4 ");
	check_hosts(&w, 3, 4);
	check_hosts(&w, 2, 0);
	check_hosts(&w, 4, 2);
	assert_int_equal(w.migrated, 2);
	teardown_world(&w);

	/* LST_NM: J2 waits until its hosts are free. */
	init_world(&w, "lst:slice=1800,migrate=no");
	arrive(&w, 1, 4, 2);
	arrive(&w, 2, 2, 9);
	check_slot(&w, "J1 J2 ");
	arrive(&w, 3, 4, 2);
	check_slot(&w, "J1 J3 ");
	check_slot(&w, "J3 ");
	check_slot(&w, "J2 ");
	check_hosts(&w, 2, 4);
	assert_int_equal(w.migrated, 0);
	teardown_world(&w);
}

/*
 * The text's example of delayed mapping: J3 has the first place in the third
 * slot, but J1, who ran on 0-3, takes hosts before it.
 */
static void new_jobs_take_hosts_last(void **state)
{
	struct world w;

	(void)state;
	init_world(&w, "lst:slice=1800");
	arrive(&w, 1, 4, 9);
	arrive(&w, 2, 4, 9);
	arrive(&w, 3, 2, 9);
	check_slot(&w, "J1 J2 ");
	check_slot(&w, "J1 J2 ");
	assert_int_equal(priority(&w, 3), 4);
	check_slot(&w, "J1 J3 ");
	check_hosts(&w, 1, 0);
	check_hosts(&w, 3, 4);
	assert_int_equal(w.migrated, 0);
	teardown_world(&w);
}

/* Those left out gain 1 up to maxprio. */
static void aging_stops_at_maxprio(void **state)
{
	struct world w;

	(void)state;
	init_world(&w, "lst:slice=1800,maxprio=9");
	arrive(&w, 1, 8, 9);
	arrive(&w, 2, 7, 9);
	for (int t = 0; t < 8; t++) {
		char ran[64];

		slot(&w, ran);
		assert_true(priority(&w, 1) <= 9 && priority(&w, 2) <= 9);
	}
	assert_int_equal(priority(&w, 1), 9);
	assert_int_equal(priority(&w, 2), 9);
	teardown_world(&w);
}

/*
 * J1 ends with `rest` of the slice left: does J2, which needs half the hosts,
 * start?
 */
static bool is_replaced(const char *spec, usec_t rest)
{
	struct world w;
	bool starts;

	init_world(&w, spec);
	arrive(&w, 1, 8, 9);
	arrive(&w, 2, 4, 9);
	pass(&w);
	assert_true(runs(&w, 1) && !runs(&w, 2));
	w.view.now += SLOT - rest;
	end(&w, 1);
	pass(&w);
	starts = runs(&w, 2);
	teardown_world(&w);
	return starts;
}

/*
 * A tenth of the slice must be left; 30 minutes where a slice is as long as by
 * default.
 */
static void alternate_selection_wants_a_tenth(void **state)
{
	static const char *const with[] = { "lst", "lst:migrate=no" };

	(void)state;
	for (int i = 0; i < 2; i++) {
		assert_true(is_replaced(with[i], SLOT / 2));
		assert_true(is_replaced(with[i], SLOT / 10));
		assert_false(is_replaced(with[i], SLOT / 10 - 1));
	}
	assert_false(is_replaced("lst:alternate=no", SLOT / 2));
	assert_true(is_replaced("lst:rest=0.5", SLOT / 2));
	assert_false(is_replaced("lst:rest=0.5", SLOT / 2 - 1));
	assert_true(is_replaced("matrix", SLOT / 10));
	assert_false(is_replaced("matrix", SLOT / 10 - 1));
	assert_false(is_replaced("matrix:alternate=no", SLOT / 2));
}

/* A job that runs on lent hosts keeps its priority as if it had waited. */
static void alternate_selection_leaves_priorities(void **state)
{
	struct world w;

	(void)state;
	init_world(&w, "lst");
	arrive(&w, 1, 8, 9);
	arrive(&w, 2, 4, 9);
	arrive(&w, 3, 6, 9);
	pass(&w);
	assert_int_equal(priority(&w, 2), 5);
	assert_int_equal(priority(&w, 3), 7);
	w.view.now += SLOT / 3;
	end(&w, 1);
	pass(&w);
	assert_true(runs(&w, 3) && !runs(&w, 2));
	assert_int_equal(priority(&w, 2), 5);
	assert_int_equal(priority(&w, 3), 7);
	teardown_world(&w);
}

/* The columns of a job that has ended are filled; its row stays. */
static void the_columns_of_who_ends_are_free(void **state)
{
	struct world w;

	(void)state;
	init_world(&w, "matrix:alternate=no");
	arrive(&w, 1, 5, 9);
	arrive(&w, 2, 3, 1);
	check_slot(&w, "J1 J2 ");
	arrive(&w, 3, 3, 2);
	check_slot(&w, "J1 J3 ");
	check_slot(&w, "J1 J3 ");
	teardown_world(&w);
}

/* First fit into a row, lowest columns first; a row that is empty goes. */
static void rows_are_filled_first_fit(void **state)
{
	struct world w;

	(void)state;
	init_world(&w, "matrix:alternate=no");
	arrive(&w, 1, 5, 9);
	arrive(&w, 2, 4, 2);
	arrive(&w, 3, 3, 9);
	arrive(&w, 4, 4, 2);
	check_slot(&w, "J1 J3 ");
	check_hosts(&w, 3, 5);
	check_slot(&w, "J2 J4 ");
	check_hosts(&w, 4, 4);
	check_slot(&w, "J1 J3 ");
	check_slot(&w, "J2 J4 ");
	check_slot(&w, "J1 J3 ");
	check_slot(&w, "J1 J3 ");
	teardown_world(&w);
}

/*
 * The owner of J1's last host wants it back when `rest` of the slice is left;
 * J2, which needs half the hosts, waits. Returns which job runs then, "J2".
 */
static const char *owner_comes(const char *spec, usec_t rest)
{
	struct world w;
	const char *ran;

	init_world(&w, spec);
	arrive(&w, 1, 8, 9);
	arrive(&w, 2, 4, 9);
	pass(&w);
	w.view.now += SLOT - rest;
	w.view.hosts[7].closed = CLOSED_OWNER;
	pass(&w);
	assert_true(runs(&w, 1) && !runs(&w, 2)); /* the terms let it stay */
	w.view.hosts[7].owner_active = true;
	pass(&w);
	ran = runs(&w, 1) ? "J1" : runs(&w, 2) ? "J2" : "";
	assert_int_equal(w.migrated, 0);
	teardown_world(&w);
	return ran;
}

/* Owners get their hosts at once, not at the end of the slice. */
static void owners_do_not_wait_for_a_slice(void **state)
{
	static const char *const with[] = { "lst", "lst:migrate=no", "matrix" };

	(void)state;
	for (int i = 0; i < 3; i++) {
		assert_string_equal(owner_comes(with[i], SLOT / 2), "J2");
		assert_string_equal(owner_comes(with[i], SLOT / 20), "");
	}
}

/* Table 2.1 again, where idle columns stay idle. */
static void without_alternate_selection_rows_are_alone(void **state)
{
	static const char *const ran[] = { "J1 J5 ", "J2 J3 ", "J4 ", "J6 " };
	struct world w;

	(void)state;
	setup_world(&w, "matrix:alternate=no");
	for (size_t t = 0; t < 8; t++)
		check_slot(&w, ran[t % 4]);
	assert_int_equal(w.view.nr_running + w.view.nr_waiting, 0);
	teardown_world(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lst_is_table_2_2),
		cmocka_unit_test(matrix_is_figure_2_1),
		cmocka_unit_test(a_conflict_migrates_who_is_later),
		cmocka_unit_test(new_jobs_take_hosts_last),
		cmocka_unit_test(aging_stops_at_maxprio),
		cmocka_unit_test(alternate_selection_wants_a_tenth),
		cmocka_unit_test(alternate_selection_leaves_priorities),
		cmocka_unit_test(rows_are_filled_first_fit),
		cmocka_unit_test(the_columns_of_who_ends_are_free),
		cmocka_unit_test(owners_do_not_wait_for_a_slice),
		cmocka_unit_test(without_alternate_selection_rows_are_alone),
	};
	return cmocka_run_group_tests_name("gang", tests, NULL, NULL);
}
