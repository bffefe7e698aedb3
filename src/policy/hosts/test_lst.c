/*
 * test_lst.c - LST on equal hosts (Schnor 1997 section 2.1.4) against a second implementation:
 * who has which hosts after each pass, with and without migration
 *
 * Jobs come and end at random instants, within slices and at their ends.
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

enum { HOSTS = 7, JOBS = 40, STEPS = 90, ROUNDS = 600 };

#define SEC    USEC_PER_SEC
#define LENGTH (100 * SEC)

static struct view view;
static struct plan plan;
static struct policy *policy;

/* ---- what should be ---- */

struct mine {
	struct job *job; /* NULL: it has ended, or is still to come */
	uint32_t size;
	int prio, served;
	bool placed, runs;
	uint32_t at[HOSTS];
};

static struct mine mine[JOBS];
static int order[JOBS], nr, slices; /* those that are there */
static int maxprio;
static bool migrate, alternate;
static usec_t ends;    /* the slice; 0: there is none */
static int has[HOSTS]; /* job + 1 that has it in this slice */

static bool is_before(const struct mine *a, const struct mine *b)
{
	if (a->prio != b->prio)
		return a->prio > b->prio;
	if (a->served != b->served)
		return a->served < b->served;
	return a < b; /* they came in this order */
}

static void sort_jobs(void)
{
	for (int i = 1; i < nr; i++)
		for (int k = i;
		     k > 0 && is_before(&mine[order[k]], &mine[order[k - 1]]);
		     k--) {
			int t = order[k];

			order[k] = order[k - 1];
			order[k - 1] = t;
		}
}

static bool hosts_free(const struct mine *m)
{
	for (uint32_t i = 0; i < m->size; i++)
		if (has[m->at[i]])
			return false;
	return true;
}

static void take_hosts(int j)
{
	for (uint32_t i = 0; i < mine[j].size; i++)
		has[mine[j].at[i]] = j + 1;
}

static uint32_t free_hosts(void)
{
	uint32_t n = 0;

	for (int h = 0; h < HOSTS; h++)
		n += !has[h];
	return n;
}

/* Its processes from number i on that have no host take the lowest that are free. */
static void place(int j, const bool *lacks)
{
	struct mine *m = &mine[j];

	for (uint32_t i = 0; i < m->size; i++)
		for (uint32_t h = 0; lacks[i] && h < HOSTS; h++)
			if (!has[h]) {
				has[h] = j + 1;
				m->at[i] = h;
				break;
			}
	m->placed = true;
}

/* By priority as many as fit; who cannot move needs the very hosts that it had. */
static void choose(bool chosen[JOBS])
{
	uint32_t room = HOSTS;

	memset(has, 0, sizeof(has));
	for (int k = 0; k < nr; k++) {
		struct mine *m = &mine[order[k]];
		bool fixed = !migrate && m->placed;

		chosen[order[k]] = m->size <= room && (!fixed || hosts_free(m));
		if (chosen[order[k]]) {
			room -= m->size;
			if (fixed)
				take_hosts(order[k]);
		} else if (m->prio < maxprio) {
			m->prio++;
		}
	}
}

static void begin_slice(void)
{
	bool chosen[JOBS] = { false }, lacks[JOBS][HOSTS] = { { false } };

	sort_jobs();
	choose(chosen);
	memset(has, 0, sizeof(has));
	for (int k = 0; k < nr; k++) {
		struct mine *m = &mine[order[k]];

		m->runs = chosen[order[k]];
		for (uint32_t i = 0; m->runs && i < m->size; i++) {
			bool *lack = &lacks[order[k]][i];

			*lack = !m->placed || has[m->at[i]];
			if (!*lack)
				has[m->at[i]] = order[k] + 1;
		}
	}
	for (int fresh = 0; fresh < 2; fresh++)
		for (int k = 0; k < nr; k++) {
			const struct mine *m = &mine[order[k]];

			if (m->runs && (m->job->state == JOB_WAITING) == fresh)
				place(order[k], lacks[order[k]]);
		}
	for (int k = 0; k < nr; k++)
		if (mine[order[k]].runs)
			mine[order[k]].served = slices;
	slices++;
	ends = view.now + LENGTH;
}

/* Whoever fits now runs until the slice ends; nobody moves, and nobody's priority changes. */
static void fill_gaps(void)
{
	static const bool all[HOSTS] = { true, true, true, true,
					 true, true, true };

	memset(has, 0, sizeof(has));
	for (int k = 0; k < nr; k++)
		if (mine[order[k]].runs)
			take_hosts(order[k]);
	sort_jobs();
	for (int k = 0; k < nr; k++) {
		struct mine *m = &mine[order[k]];

		if (m->runs)
			continue;
		if (m->placed && hosts_free(m)) {
			take_hosts(order[k]);
			m->runs = true;
		} else if (!m->placed && m->size <= free_hosts()) {
			place(order[k], all);
			m->runs = true;
		}
	}
}

static void expect_pass(void)
{
	if (!nr)
		ends = 0;
	else if (!ends || view.now >= ends)
		begin_slice();
	else if (alternate && ends - view.now >= LENGTH / 10)
		fill_gaps();
}

/* ---- what is ---- */

static void carry_out(void)
{
	for (size_t i = 0; i < plan.nr; i++) {
		const struct plan_entry *e = &plan.entry[i];
		struct event event = { .at = view.now,
				       .job = e->job,
				       .n = e->n,
				       .hosts = e->hosts };

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
		default:
			continue;
		}
		model_apply(&view, &event);
	}
}

static void check_jobs(uint64_t seed, int step)
{
	for (int k = 0; k < nr; k++) {
		const struct mine *m = &mine[order[k]];
		bool runs = m->job->state == JOB_RUNNING;

		if (runs != m->runs)
			fail_msg("state %u, step %d: job %d %s", (unsigned)seed,
				 step, order[k] + 1,
				 runs ? "runs" : "does not run");
		for (uint32_t i = 0; runs && i < m->size; i++)
			if (m->job->hosts[i] != m->at[i])
				fail_msg("state %u, step %d: process %u of job "
					 "%d is on %u, not %u",
					 (unsigned)seed, step, i, order[k] + 1,
					 m->job->hosts[i], m->at[i]);
	}
}

static void pass(uint64_t seed, int step)
{
	expect_pass();
	plan_reset(&plan, &view);
	policy_decide(policy, &view, &plan);
	carry_out();
	check_jobs(seed, step);
}

static void tell(struct event *e)
{
	e->at = view.now;
	model_apply(&view, e);
	policy_event(policy, &view, e);
}

static void arrive(struct random_stream *r, int j)
{
	struct mine *m = &mine[j];

	*m = (struct mine){ .job = view_job_create(&view),
			    .size = 1 + (uint32_t)random_below(r, HOSTS),
			    .served = -1 };
	m->prio = (int)m->size < maxprio ? (int)m->size : maxprio;
	m->job->id = j + 1;
	m->job->submit = view.now;
	m->job->size = m->job->min_size = m->size;
	order[nr++] = j;
	tell(&(struct event){ .type = EVENT_ARRIVE, .job = m->job });
}

/* One of those that run ends. */
static void end_one(struct random_stream *r)
{
	int k = (int)random_below(r, (uint64_t)nr);
	struct mine *m = &mine[order[k]];

	if (!m->runs)
		return;
	tell(&(struct event){ .type = EVENT_END, .job = m->job });
	view_job_destroy(&view, m->job);
	m->job = NULL;
	memmove(order + k, order + k + 1, (size_t)(--nr - k) * sizeof(*order));
}

/* As by a restart: it remembers what it has saved. */
static void renew(const char *spec)
{
	struct error err;
	char *text = policy_save(policy, &view);

	policy_destroy(policy);
	if (policy_create(spec, 1, &view, &policy, &err) < 0)
		fail_msg("%s", err.text);
	policy_adopt(policy, &view);
	if (policy_load(policy, &view, text, &err) < 0)
		fail_msg("%s", err.text);
	free(text);
}

static void one_round(uint64_t seed)
{
	struct host hosts[HOSTS];
	struct random_stream r;
	struct error err;
	char spec[100];
	int next = 0;

	random_init(&r, seed, "lst", 0);
	for (int h = 0; h < HOSTS; h++)
		hosts[h] = (struct host){
			.speed = 1, .cores = 1, .slots = JOBS, .up = true
		};
	maxprio = 3 + (int)random_below(&r, 12);
	migrate = random_below(&r, 2);
	alternate = random_below(&r, 4);
	nr = slices = 0;
	ends = 0;
	snprintf(spec, sizeof(spec),
		 "lst:slice=100,maxprio=%d,migrate=%d,alternate=%d", maxprio,
		 migrate, alternate);
	view_init_hosts(&view, hosts, HOSTS);
	plan = (struct plan)PLAN_INIT;
	if (policy_create(spec, 1, &view, &policy, &err) < 0)
		fail_msg("%s", err.text);
	for (int step = 0; step < STEPS; step++) {
		usec_t to = view.now + (usec_t)random_below(&r, 60) * SEC;

		if (ends && to >= ends) {
			view.now = ends;
		} else {
			view.now = to;
			if (next < JOBS && random_below(&r, 2))
				arrive(&r, next++);
			else if (nr)
				end_one(&r);
		}
		pass(seed, step);
		if (!random_below(&r, 5))
			renew(spec);
	}
	policy_destroy(policy);
	plan_clear(&plan);
	view_clear(&view);
}

static void slices_are_as_the_text_says(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < ROUNDS; seed++)
		one_round(seed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slices_are_as_the_text_says),
	};

	return cmocka_run_group_tests_name("lst", tests, NULL, NULL);
}
