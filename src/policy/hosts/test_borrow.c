/*
 * test_borrow.c - gang slices on hosts that are lent (Arpaci 1995 section 4) against a second
 * implementation
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "policy/hosts/test_slices.h"

enum { INDEX, QUIET, LONGEST };

static int choice;
static uint32_t ranks[HOSTS]; /* there, or to come */

static bool is_better(const struct host *a, const struct host *b)
{
	if (choice != LONGEST && ranks[a->ix] != ranks[b->ix])
		return ranks[a->ix] < ranks[b->ix];
	return choice != INDEX && a->idle_since < b->idle_since;
}

/* The best open host for one more rank of it; -1: none */
static int find_host(const struct mine *m, const bool *own, bool idle)
{
	int best = -1;

	for (int i = 0; i < HOSTS; i++) {
		const struct host *h = &w.view.hosts[i];

		if (!slices_opens(h, m->job) || own[i] ||
		    ranks[i] >= h->slots || (idle && busy[i]))
			continue;
		if (best < 0 || is_better(h, &w.view.hosts[best]))
			best = i;
	}
	return best;
}

/* Does every rank get a host?  Those that may stay do, each on its own. */
static bool gets_slice(struct mine *m)
{
	bool own[HOSTS] = { false }, there = m->job->hosts;

	for (uint32_t i = 0; there && i < m->size; i++) {
		own[m->job->hosts[i]] = true;
		if (slices_may_stay(m, i) && busy[m->job->hosts[i]])
			return false;
	}
	for (uint32_t i = 0; i < m->size; i++) {
		int to = there && slices_may_stay(m, i)
				 ? (int)m->job->hosts[i]
				 : find_host(m, own, true);

		if (to < 0)
			return false;
		own[to] = true;
		m->at[i] = (uint32_t)to;
	}
	for (uint32_t i = 0; i < m->size; i++) {
		busy[m->at[i]] = true;
		ranks[m->at[i]] += !there || m->at[i] != m->job->hosts[i];
	}
	return m->turn = true;
}

static void expect_moves(const struct mine *m)
{
	uint32_t to[HOSTS], n = 0, from = 0;
	char which[2 * HOSTS + 1] = "", by[40] = "";

	for (uint32_t i = 0; i < m->size; i++) {
		if (m->at[i] == m->job->hosts[i])
			continue;
		from = n ? from : m->job->hosts[i];
		snprintf(which + 2 * n, 3, "%u,", i);
		to[n++] = m->at[i];
	}
	if (!n)
		return;
	if (w.view.hosts[from].leave_by > w.view.now)
		snprintf(by, sizeof(by), " within %d s",
			 (int)((w.view.hosts[from].leave_by - w.view.now) /
			       USEC_PER_SEC));
	else if (w.view.hosts[from].leave_by)
		snprintf(by, sizeof(by), " at once");
	slices_expect(
		"migrate job %d rank%s %.*s to %.*s%s: the owner of %c needs it",
		slices_id(m), n > 1 ? "s" : "", 2 * (int)n - 1, which,
		2 * (int)n - 1, slices_names(to, n), by, 'a' + (int)from);
}

/* Without a turn it leaves, too, rank by rank while there are open hosts. */
static void leaves(struct mine *m)
{
	bool own[HOSTS] = { false };

	for (uint32_t i = 0; i < m->size; i++)
		own[m->at[i] = m->job->hosts[i]] = true;
	for (uint32_t i = 0; i < m->size; i++) {
		int to = slices_may_stay(m, i) ? -1 : find_host(m, own, false);

		if (slices_may_stay(m, i))
			continue;
		if (to < 0)
			break;
		m->at[i] = (uint32_t)to;
		own[to] = true;
		ranks[to]++;
	}
	expect_moves(m);
}

static uint32_t homeless(const struct mine *m)
{
	uint32_t n = m->job->hosts ? 0 : m->size;

	for (uint32_t i = 0; m->job->hosts && i < m->size; i++)
		n += !slices_may_stay(m, i);
	return n;
}

static uint32_t count_open(const struct mine *m)
{
	uint32_t n = 0;

	for (int h = 0; h < HOSTS; h++)
		n += slices_opens(&w.view.hosts[h], m->job);
	return n;
}

/* Whose hosts are taken waits for a turn; who lacks open hosts at all does not. */
static bool waits_for_turn(const struct mine *m)
{
	return !m->turn && homeless(m) <= count_open(m);
}

static void hold(const struct mine *m, bool as)
{
	for (uint32_t i = 0; i < m->size; i++)
		if (slices_may_stay(m, i))
			busy[m->job->hosts[i]] = as;
}

static void go_on(const bool *ran)
{
	for (int k = 0; k < nr; k++)
		if (ran[order[k]])
			hold(&mine[order[k]], true);
	for (int k = 0; k < nr; k++)
		if (ran[order[k]]) {
			hold(&mine[order[k]], false);
			gets_slice(&mine[order[k]]);
		}
}

/* Those that ran go to the end of the ring. */
static void turn_ring(const bool *ran)
{
	int was[JOBS], n = 0;

	memcpy(was, order, sizeof(was));
	for (int end = 0; end < 2; end++)
		for (int k = 0; k < nr; k++)
			if (ran[was[k]] == end)
				order[n++] = was[k];
}

static void borrow_stops(const struct mine *m)
{
	uint32_t i = 0;

	if (!homeless(m)) {
		slices_expect("suspend job %d: the slice is over",
			      slices_id(m));
		return;
	}
	while (slices_may_stay(m, i))
		i++;
	slices_expect(
		"suspend job %d: the owner of %c needs it, and no open host is "
		"free for its rank",
		slices_id(m), 'a' + (int)m->job->hosts[i]);
}

static void borrow_goes(const struct mine *m, bool first)
{
	char why[100] = "the hosts that it needs are free in this slice";

	if (first)
		snprintf(why, sizeof(why), "it is first in the ring of %s",
			 slices_of((uint32_t)nr, "job", "jobs"));
	if (m->job->state == JOB_WAITING) {
		slices_expect("start job %d with %u on %.*s: %s", slices_id(m),
			      m->size, 2 * (int)m->size - 1,
			      slices_names(m->at, m->size), why);
		return;
	}
	expect_moves(m);
	if (m->job->state == JOB_SUSPENDED)
		slices_expect("resume job %d: %s", slices_id(m), why);
}

/* Does a slice begin, of which somebody waits for the end? */
static bool borrow_pass(void)
{
	bool ran[JOBS] = { false }, fresh = w.view.now >= ends, waits = false;

	for (int h = 0; h < HOSTS; h++)
		ranks[h] = w.view.hosts[h].nr_ranks;
	memset(busy, 0, sizeof(busy));
	for (int k = 0; k < nr; k++) {
		ran[order[k]] = mine[order[k]].turn;
		mine[order[k]].turn = false;
	}
	if (fresh)
		turn_ring(ran);
	else
		go_on(ran);
	for (int k = 0; k < nr && (fresh || slices_lends()); k++)
		if (fresh || !ran[order[k]])
			gets_slice(&mine[order[k]]);
	for (int k = 0; k < nr; k++) {
		struct mine *m = &mine[order[k]];

		if (ran[order[k]] && !m->turn)
			borrow_stops(m);
		if (m->turn)
			borrow_goes(m, !k);
		else if (m->job->state != JOB_WAITING)
			leaves(m);
		waits |= waits_for_turn(m);
	}
	if (fresh || !waits)
		ends = w.view.now + (waits ? SLICE : 0);
	return fresh && waits;
}

static void draw(struct random_stream *r, char *spec, size_t size)
{
	static const char *const choices[] = { "index", "quiet", "longest" };

	choice = (int)random_below(r, 3);
	snprintf(spec, size, "borrow:slice=100,alternate=%d,choose=%s",
		 alternate, choices[choice]);
}

/* Room for one, two or three ranks. */
static void begin(struct random_stream *r)
{
	for (int h = 0; h < HOSTS; h++)
		w.view.hosts[h].slots = 1 + (uint32_t)random_below(r, 3);
}

static void told(const struct mine *m, int k)
{
	uint32_t open = count_open(m);

	if (open >= m->size)
		slices_expect("defer job %d: %s before it in the ring",
			      slices_id(m),
			      slices_of((uint32_t)k, "job is", "jobs are"));
	else
		slices_expect(
			"defer job %d: it needs %u open %s, and there %s %u",
			slices_id(m), m->size, m->size == 1 ? "host" : "hosts",
			open == 1 ? "is" : "are", open);
}

static void jobs_take_turns(void **state)
{
	static const struct second second = { draw, begin,	 NULL,
					      NULL, borrow_pass, told };

	(void)state;
	slices_play(&second);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(jobs_take_turns),
	};

	return cmocka_run_group_tests_name("borrow", tests, NULL, NULL);
}
