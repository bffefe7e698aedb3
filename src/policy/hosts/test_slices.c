/* test_slices.c - see test_slices.h */
#include "policy/hosts/test_slices.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ROUNDS = 600, STEPS = 60, LINES = 64 };

struct world w;
bool alternate;
usec_t ends;
struct mine mine[JOBS];
int order[JOBS], nr;
bool busy[HOSTS];

static char spec[100];
static const struct second *what;

/* ---- what is planned, a line each, in any order ---- */

static char want[LINES][200], got[LINES][200];
static size_t nr_want, nr_got;

void slices_expect(const char *fmt, ...)
{
	va_list ap;

	assert_true(nr_want < LINES);
	va_start(ap, fmt);
	vsnprintf(want[nr_want++], sizeof(*want), fmt, ap);
	va_end(ap);
}

const char *slices_names(const uint32_t *hosts, uint32_t n)
{
	static char text[2 * HOSTS + 1];

	for (uint32_t i = 0; i < n; i++)
		snprintf(text + 2 * i, 3, "%c,", 'a' + (int)hosts[i]);
	return text;
}

int slices_id(const struct mine *m)
{
	return (int)m->job->id;
}

const char *slices_of(uint32_t n, const char *one, const char *many)
{
	static char text[40];

	snprintf(text, sizeof(text), "%u %s", n, n == 1 ? one : many);
	return text;
}

static void note_plan(void)
{
	nr_got = 0;
	for (size_t i = 0; i < w.plan.nr; i++) {
		const struct plan_entry *e = &w.plan.entry[i];

		if (e->type == PLAN_WAKE)
			continue;
		assert_true(nr_got < LINES);
		plan_print(&w.view, e, got[nr_got++], sizeof(*got));
	}
}

static int compare_lines(const void *a, const void *b)
{
	return strcmp(a, b);
}

static void check_plan(int step)
{
	qsort(want, nr_want, sizeof(*want), compare_lines);
	qsort(got, nr_got, sizeof(*got), compare_lines);
	for (size_t i = 0; i < nr_want || i < nr_got; i++) {
		const char *a = i < nr_want ? want[i] : "nothing";
		const char *b = i < nr_got ? got[i] : "nothing";

		if (strcmp(a, b))
			fail_msg("%s, state %u, step %d: \"%s\" and not \"%s\"",
				 spec, (unsigned)w.seed, step, b, a);
	}
}

/* The policy asks to be woken at the end of a slice that has begun, and nothing else. */
static void check_wakes(bool asks, int step)
{
	bool found = false;

	for (size_t i = 0; i < w.plan.nr; i++)
		if (w.plan.entry[i].type == PLAN_WAKE) {
			found |= w.plan.entry[i].at == ends;
			assert_true(asks);
		}
	if (found != asks)
		fail_msg("%s, state %u, step %d: not woken", spec,
			 (unsigned)w.seed, step);
}

/* ---- hosts ---- */

static bool is_home(const struct host *h, const struct job *job)
{
	return h->nr_owners && h->owner[0] == job->user;
}

static bool serves(const struct host *h)
{
	return h->up && !h->drain;
}

/* May one of its ranks be placed there? */
bool slices_takes(const struct host *h, const struct job *job)
{
	bool all = h->closed == CLOSED_DISK || h->closed == CLOSED_PROLOG;

	return serves(h) && (!h->closed || (!all && is_home(h, job)));
}

bool slices_may_stay(const struct mine *m, uint32_t i)
{
	const struct host *h = &w.view.hosts[m->job->hosts[i]];

	return serves(h) &&
	       (!h->owner_active || !h->closed || is_home(h, m->job));
}

/* Its first rank that is in an owner's way; -1: none */
int slices_in_the_way(const struct mine *m)
{
	for (uint32_t i = 0; i < m->job->n; i++) {
		const struct host *h = &w.view.hosts[m->job->hosts[i]];

		if (h->owner_active && h->closed && !is_home(h, m->job))
			return (int)i;
	}
	return -1;
}

/* May a rank be borrowed there, with its owner away? */
bool slices_opens(const struct host *h, const struct job *job)
{
	return slices_takes(h, job) && !(h->owner_active && !is_home(h, job));
}

bool slices_lends(void)
{
	return alternate && 10 * (ends - w.view.now) >= SLICE;
}

/* ---- both ---- */

static void job_comes(int i)
{
	struct mine *m = &mine[i];

	world_arrive(&w, i);
	*m = (struct mine){ .job = w.job[i], .size = w.size[i], .row = -1 };
	order[nr++] = i;
	if (what->came)
		what->came(m);
}

static void job_ends(int k)
{
	int i = order[k], row = mine[i].row;

	world_end_job(&w, i);
	mine[i] = (struct mine){ .row = -1 };
	memmove(order + k, order + k + 1, (size_t)(--nr - k) * sizeof(*order));
	if (what->went)
		what->went(row);
}

static void job_changes(struct random_stream *r)
{
	int i = (int)random_below(r, JOBS);

	if (!mine[i].job) {
		job_comes(i);
		return;
	}
	for (int k = 0; k < nr; k++)
		if (order[k] == i)
			job_ends(k);
}

static void host_changes(struct random_stream *r)
{
	static const uint8_t why[] = {
		CLOSED_NOT,   CLOSED_NOT,  CLOSED_NOT,
		CLOSED_QUIET, CLOSED_DISK, CLOSED_OWNER
	};
	struct event e = { .type = EVENT_HOST };
	struct host fresh;

	e.host = (uint32_t)random_below(r, HOSTS);
	fresh = w.view.hosts[e.host];
	fresh.closed = why[random_below(r, sizeof(why))];
	fresh.owner_active =
		fresh.closed == CLOSED_OWNER || !random_below(r, 6);
	fresh.drain = !random_below(r, 10);
	fresh.idle_since = (usec_t)random_below(r, 5) * SLICE;
	fresh.leave_by = random_below(r, 2)
				 ? w.view.now + (usec_t)random_below(r, 90) *
							USEC_PER_SEC
				 : 0;
	e.fresh = &fresh;
	world_tell(&w, &e);
}

/* As by a restart: it remembers what it has saved. */
static void renew(void)
{
	struct error err;
	char *text = policy_save(w.policy, &w.view);

	policy_destroy(w.policy);
	if (policy_create(spec, 1, &w.view, &w.policy, &err) < 0)
		fail_msg("%s", err.text);
	policy_adopt(w.policy, &w.view);
	if (policy_load(w.policy, &w.view, text, &err) < 0)
		fail_msg("%s", err.text);
	free(text);
}

/* What who waits is told. */
static void check_told(int step)
{
	nr_want = nr_got = 0;
	plan_reset(&w.plan, &w.view);
	for (int k = 0; k < nr; k++) {
		const struct mine *m = &mine[order[k]];

		if (m->turn || m->job->state != JOB_WAITING)
			continue;
		policy_explain(w.policy, &w.view, m->job, &w.plan);
		what->told(m, k);
	}
	note_plan();
	check_plan(step);
}

/*
 * renewed: it may ask to be woken at the end of the old slice, too.  True if it may still do so in
 * the next pass.
 */
static bool one_pass(bool renewed, int step)
{
	bool asks;

	nr_want = 0;
	asks = what->pass();
	/* Before the pass is carried out: it changes what is printed. */
	plan_reset(&w.plan, &w.view);
	policy_decide(w.policy, &w.view, &w.plan);
	note_plan();
	check_plan(step);
	if (!renewed || !nr)
		check_wakes(asks, step);
	world_carry_out(&w);
	check_told(step);
	return renewed && !nr;
}

static void one_round(uint64_t seed)
{
	struct random_stream r;
	bool renewed = false;

	random_init(&r, seed, "slices", 0);
	alternate = random_below(&r, 4);
	what->draw(&r, spec, sizeof(spec));
	world_begin(&w, spec, seed, USERS);
	what->begin(&r);
	nr = 0;
	ends = 0;
	memset(mine, 0, sizeof(mine));
	for (int step = 0; step < STEPS; step++) {
		usec_t to = w.view.now +
			    (usec_t)random_below(&r, 50) * USEC_PER_SEC;

		w.view.now = w.view.now < ends && to > ends ? ends : to;
		if (random_below(&r, 3))
			job_changes(&r);
		if (!random_below(&r, 3))
			host_changes(&r);
		renewed = one_pass(renewed, step);
		if (random_below(&r, 8))
			continue;
		renew();
		renewed = true;
	}
	world_end(&w);
}

void slices_play(const struct second *second)
{
	what = second;
	for (uint64_t seed = 0; seed < ROUNDS; seed++)
		one_round(seed);
}
