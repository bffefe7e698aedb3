/*
 * test_placed.c - who starts first come, first served on the least delayed hosts, and what
 * the others are told, on random hosts of users who come and go; against what placed.h says,
 * counted host by host
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
#include "model/view.h"
#include "policy/kit/placed.h"

enum { HOSTS = 5, JOBS = 4, RANKS = 7, USERS = 3, ROUNDS = 3000, PASSES = 5 };

static struct view view;
static struct plan plan;
static int64_t next_id;
static struct placed placed;

/* ---- random hosts and jobs ---- */

static struct host draw_host(struct random_stream *r)
{
	int32_t owner = (int32_t)random_below(r, USERS);
	struct host h = {
		.speed = 1 + (double)random_below(r, 2),
		.cores = 1 + (uint32_t)random_below(r, 3),
		.slots = 1 + (uint32_t)random_below(r, 6),
		.up = random_below(r, 8) != 0,
		.drain = !random_below(r, 8),
		.owner_active = !random_below(r, 3),
		.open_until = random_below(r, 3) ? 0 : 100 * USEC_PER_SEC,
	};

	if (random_below(r, 2))
		h.closed = h.owner_active ? CLOSED_OWNER : CLOSED_QUIET;
	if (!random_below(r, 10))
		h.closed = CLOSED_DISK;
	host_set_owners(&h, &owner, random_below(r, 4) > 0);
	return h;
}

static void begin(struct random_stream *r)
{
	struct host hosts[HOSTS];

	for (int i = 0; i < HOSTS; i++)
		hosts[i] = draw_host(r);
	view_init_hosts(&view, hosts, HOSTS);
	plan = (struct plan)PLAN_INIT;
	next_id = 0;
	placed = (struct placed){
		.owners = random_below(r, 2),
		.oversubscribe = random_below(r, 2),
		.home = random_below(r, 2),
	};
}

static void end(void)
{
	plan_clear(&plan);
	view_clear(&view);
}

static void tell(struct event *e)
{
	e->at = view.now;
	model_apply(&view, e);
}

static void arrive(struct random_stream *r)
{
	struct job *j = view_job_create(&view);

	j->id = ++next_id;
	j->size = j->min_size = 1 + (uint32_t)random_below(r, RANKS);
	j->user = (int32_t)random_below(r, USERS);
	j->estimate = (usec_t)random_below(r, 3) * 99 * USEC_PER_SEC;
	tell(&(struct event){ .type = EVENT_ARRIVE, .job = j });
}

static void change_some(struct random_stream *r)
{
	struct job *j, *next;

	for (j = TAILQ_FIRST(&view.running); j; j = next) {
		next = TAILQ_NEXT(j, link);
		if (random_below(r, 2))
			tell(&(struct event){ .type = EVENT_END, .job = j });
	}
	for (uint32_t h = 0; h < HOSTS; h++) {
		struct host fresh = view.hosts[h];

		if (random_below(r, 3))
			continue;
		fresh.owner_active = random_below(r, 2);
		fresh.closed = random_below(r, 3) ? CLOSED_NOT : CLOSED_OWNER;
		tell(&(struct event){
			.type = EVENT_HOST, .host = h, .fresh = &fresh });
	}
}

/* ---- what should start ---- */

static uint32_t more[HOSTS]; /* ranks that the pass has started so far */

static bool takes(const struct host *h, const struct job *j)
{
	bool his = h->nr_owners && h->owner[0] == j->user;

	if (!h->up || h->drain || h->closed == CLOSED_DISK)
		return false;
	return !h->closed || (placed.home && his);
}

static bool too_short(const struct host *h, const struct job *j)
{
	return h->open_until && j->estimate &&
	       view.now + j->estimate > h->open_until;
}

/* Slots for the job's ranks. */
static int64_t room_for(const struct job *j)
{
	const struct host *h;
	int64_t n = 0;

	for_each_host (h, &view) {
		bool his = h->nr_owners && h->owner[0] == j->user;
		uint32_t there = h->nr_ranks + more[h->ix];

		if (!takes(h, j) || too_short(h, j) ||
		    (h->owner_active && !(placed.home && his) &&
		     !placed.owners))
			continue;
		n += h->slots > there ? h->slots - there : 0;
	}
	return n;
}

/* Cores for them: what is free, less who has started in the pass; at home they have more. */
static int64_t cores_for(const struct job *j)
{
	const struct host *h;
	int64_t n = view.nr_free;

	for_each_host (h, &view) {
		uint32_t there = h->nr_active + more[h->ix];

		n -= more[h->ix];
		if (h->closed && takes(h, j) && h->cores > there)
			n += h->cores - there;
	}
	return n;
}

static bool fits(const struct job *j)
{
	return room_for(j) >= j->size &&
	       (placed.oversubscribe || cores_for(j) >= j->size);
}

static const struct plan_entry *start_of(const struct job *job)
{
	for (size_t i = 0; i < plan.nr; i++)
		if (plan.entry[i].type == PLAN_START &&
		    plan.entry[i].job == job)
			return &plan.entry[i];
	return NULL;
}

static void check_start(const struct plan_entry *e)
{
	assert_int_equal(e->n, e->job->size);
	for (uint32_t i = 0; i < e->n; i++) {
		const struct host *h = &view.hosts[e->hosts[i]];

		assert_true(takes(h, e->job) && !too_short(h, e->job));
		assert_true(h->nr_ranks + ++more[h->ix] <= h->slots);
	}
}

/* The head is told how much room there is: as much as it would have got. */
static void check_told(const struct job *job)
{
	int64_t room = room_for(job), cores = cores_for(job);
	char line[300], wanted[60];

	placed_explain(&placed, &view, job, &plan);
	plan_print(&view, &plan.entry[plan.nr - 1], line, sizeof(line));
	if (!placed.oversubscribe && room > cores)
		room = cores;
	snprintf(wanted, sizeof(wanted), "the usable hosts have %" PRId64,
		 room);
	if (!strstr(line, wanted))
		fail_msg("'%s' does not say '%s'", line, wanted);
}

static void pass(unsigned *starts, unsigned *told)
{
	const struct job *j;
	bool blocked = false;

	memset(more, 0, sizeof(more));
	plan_reset(&plan, &view);
	placed_start(&placed, &view, &plan);
	for_each_waiting(j, &view)
	{
		const struct plan_entry *e = start_of(j);

		blocked |= !fits(j);
		assert_true(blocked == !e);
		if (e)
			check_start(e);
		*starts += e != NULL;
		if (e || j != TAILQ_FIRST(&view.waiting))
			continue;
		check_told(j);
		++*told;
	}
	for (size_t i = 0; i < plan.nr; i++)
		if (plan.entry[i].type == PLAN_START)
			tell(&(struct event){ .type = EVENT_START,
					      .job = plan.entry[i].job,
					      .n = plan.entry[i].n,
					      .hosts = plan.entry[i].hosts });
}

static void who_fits_starts(void **state)
{
	struct random_stream r;
	unsigned starts = 0, told = 0;

	(void)state;
	random_init(&r, 1, "placed", 0);
	for (int round = 0; round < ROUNDS; round++) {
		begin(&r);
		for (int i = 0; i < PASSES; i++) {
			for (uint64_t k = random_below(&r, JOBS); k; k--)
				arrive(&r);
			pass(&starts, &told);
			view.now += USEC_PER_SEC;
			change_some(&r);
		}
		end();
	}
	assert_true(starts > ROUNDS && told > ROUNDS);
}

/* All open and idle: does a job of so many ranks start? */
static bool starts_alone(const struct host *hosts, int64_t size)
{
	struct job *j;
	bool starts;

	view_init_hosts(&view, hosts, HOSTS);
	plan = (struct plan)PLAN_INIT;
	j = view_job_create(&view);
	j->id = 1;
	j->size = j->min_size = (uint32_t)size;
	tell(&(struct event){ .type = EVENT_ARRIVE, .job = j });
	plan_reset(&plan, &view);
	placed_start(&placed, &view, &plan);
	starts = start_of(j) != NULL;
	end();
	return starts;
}

/* The largest job that may ever start is what is told when one is submitted. */
static void the_most_is_what_just_starts(void **state)
{
	struct random_stream r;

	(void)state;
	random_init(&r, 2, "placed", 0);
	for (int round = 0; round < ROUNDS / 10; round++) {
		struct host hosts[HOSTS];
		int64_t most;

		for (int i = 0; i < HOSTS; i++)
			hosts[i] = (struct host){
				.speed = 1,
				.cores = 1 + (uint32_t)random_below(&r, 3),
				.slots = 1 + (uint32_t)random_below(&r, 3),
				.up = true,
			};
		placed = (struct placed){ .oversubscribe = round % 2 };
		view_init_hosts(&view, hosts, HOSTS);
		most = placed_most(&placed, &view);
		view_clear(&view);
		assert_true(starts_alone(hosts, most));
		assert_false(starts_alone(hosts, most + 1));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_fits_starts),
		cmocka_unit_test(the_most_is_what_just_starts),
	};

	return cmocka_run_group_tests_name("placed", tests, NULL, NULL);
}
