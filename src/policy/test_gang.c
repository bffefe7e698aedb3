/*
 * test_gang.c - the worked example of Schnor 1997 §2.1.4 (S-2a), slot by slot
 *
 * Six jobs of demand 2 slots arrive at once on 8 hosts; the test plays the
 * driver: it carries each plan out and lets a slot pass.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "policy/policy.h"

#define NR   6
#define SLOT (1800 * USEC_PER_SEC)

struct world {
	struct view view;
	struct policy *policy;
	struct plan plan;
	struct job *job[NR]; /* NULL: done */
	int left[NR];	     /* slots of demand */
	int migrated;	     /* processes */
};

static const uint32_t sizes[NR] = { 6, 4, 3, 4, 2, 5 };

static void setup_world(struct world *w, const char *spec)
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
	for (int i = 0; i < NR; i++) {
		struct job *job = view_job_create(&w->view);
		struct event e = { .type = EVENT_ARRIVE, .job = job };

		job->id = i + 1;
		job->size = job->min_size = sizes[i];
		job->kind = JOB_RIGID;
		model_apply(&w->view, &e);
		policy_event(w->policy, &w->view, &e);
		w->job[i] = job;
		w->left[i] = 2;
	}
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

/* One pass, and a slot in which what runs does so; "J1 J5" is what ran. */
static void slot(struct world *w, char *ran)
{
	plan_reset(&w->plan, &w->view);
	policy_decide(w->policy, &w->view, &w->plan);
	for (size_t i = 0; i < w->plan.nr; i++)
		carry_out(w, &w->plan.entry[i]);
	*ran = 0;
	for (int i = 0; i < NR; i++)
		if (w->job[i] && w->job[i]->state == JOB_RUNNING) {
			snprintf(ran + strlen(ran), 8, "J%d ", i + 1);
			w->left[i]--;
		}
	w->view.now += SLOT;
	for (int i = 0; i < NR; i++)
		if (w->job[i] && !w->left[i]) {
			struct event e = { .type = EVENT_END,
					   .at = w->view.now,
					   .job = w->job[i] };

			model_apply(&w->view, &e);
			policy_event(w->policy, &w->view, &e);
			view_job_destroy(&w->view, w->job[i]);
			w->job[i] = NULL;
		}
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lst_is_table_2_2),
		cmocka_unit_test(matrix_is_figure_2_1),
	};
	return cmocka_run_group_tests_name("gang", tests, NULL, NULL);
}
