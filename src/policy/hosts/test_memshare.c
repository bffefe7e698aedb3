/*
 * test_memshare.c - G-Loadsharing and V-Reconfiguration (Chen 2002) against a second
 * implementation, on random hosts
 *
 * Pass by pass the whole plan is compared; between passes jobs end, and hosts come to
 * have other memory and other faults.
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

#include "policy/migrate/test_pass.h"

enum { PASSES = 12, ROUNDS = 1500, SLOTS = 2, FAULTS = 10 };

#define SETTLE	 (30 * SEC)
#define PATIENCE (50 * SEC)

static struct policy *policy;
static bool reconfigures, fits;

/* ---- what a pass should do ---- */

static struct {
	usec_t since; /* it is held back; 0: it is not */
	bool used;
} held[HOSTS];

/* What hosts have left in this pass. */
static int64_t slots[HOSTS];
static uint64_t memory[HOSTS];
static int64_t begun[HOSTS]; /* slots as the pass begins */

static usec_t settles; /* the first who has yet to settle */
static FILE *out;

static bool pages(uint32_t h)
{
	return host[h].faults > FAULTS;
}

static bool takes(uint32_t h, uint64_t bytes)
{
	return !host[h].reserved && slots[h] > 0 && memory[h] &&
	       memory[h] >= bytes && !pages(h);
}

static bool better(uint32_t a, uint32_t b)
{
	return slots[a] != slots[b] ? slots[a] > slots[b]
				    : memory[a] > memory[b];
}

static int place_for(uint64_t bytes)
{
	int best = -1;

	for (uint32_t h = 0; h < HOSTS; h++)
		if (takes(h, bytes) && (best < 0 || better(h, (uint32_t)best)))
			best = (int)h;
	return best;
}

static void give(uint32_t h, uint64_t bytes)
{
	slots[h]--;
	if (memory[h] != UINT64_MAX)
		memory[h] -= bytes < memory[h] ? bytes : memory[h];
}

static bool is_empty(uint32_t h)
{
	return !host[h].nr_ranks && slots[h] == begun[h];
}

struct chosen {
	const struct job *job;
	uint32_t rank;
};

/* The largest settled process of the host that needs no more than `most`. */
static struct chosen largest(uint32_t h, uint64_t most)
{
	struct chosen c = { .job = NULL };
	const struct job *j;

	for_each_running(j, &view) for (uint32_t i = 0; i < j->n; i++)
	{
		if (j->hosts[i] != h || !j->demand || j->demand > most)
			continue;
		if (j->since + SETTLE > view.now)
			settles = j->since + SETTLE < settles
					  ? j->since + SETTLE
					  : settles;
		else if (!c.job || j->demand > c.job->demand)
			c = (struct chosen){ j, i };
	}
	return c;
}

static void move(struct chosen c, uint32_t to)
{
	fprintf(out, "migrate job %d rank %u to %u;", (int)c.job->id, c.rank,
		to);
	give(to, c.job->demand);
}

static void hold(void)
{
	uint64_t idle = 0, all = 0, n = 0;
	int best = -1;

	for (uint32_t h = 0; h < HOSTS; h++) {
		if (held[h].since && !held[h].used)
			return;
		if (!host_usable(&host[h]))
			continue;
		n++;
		all += host[h].memory;
		idle += host[h].memory ? memory[h] : 0;
		if (!host[h].reserved && !pages(h) &&
		    (best < 0 || better(h, (uint32_t)best)))
			best = (int)h;
	}
	if (best < 0 || idle * n <= all)
		return;
	held[best].since = view.now;
	held[best].used = false;
	slots[best] = 0;
	fprintf(out, "reserve %d;", best);
}

static void reconfigure(uint32_t from)
{
	struct chosen c = largest(from, UINT64_MAX);

	for (uint32_t h = 0; c.job && h < HOSTS; h++)
		if (held[h].since && slots[h] > 0 &&
		    (is_empty(h) ||
		     (memory[h] >= c.job->demand && (held[h].used || fits)))) {
			move(c, h);
			held[h].used = true;
			return;
		}
	if (c.job)
		hold();
}

/* True if a host pages of which nobody can leave. */
static bool relieve(void)
{
	bool blocked = false;

	for (uint32_t h = 0; h < HOSTS; h++) {
		struct chosen c;
		uint64_t most = 0;

		if (!pages(h) || held[h].since)
			continue;
		for (uint32_t k = 0; k < HOSTS; k++)
			if (takes(k, 0) && memory[k] > most)
				most = memory[k];
		(void)largest(h, UINT64_MAX);
		c = largest(h, most);
		if (c.job) {
			move(c, (uint32_t)place_for(c.job->demand));
			continue;
		}
		blocked = true;
		if (reconfigures)
			reconfigure(h);
	}
	return blocked;
}

static void let_go(bool blocked)
{
	usec_t wake = USEC_MAX;

	for (uint32_t h = 0; h < HOSTS; h++) {
		usec_t until = held[h].since + PATIENCE;
		bool done = held[h].used ? is_empty(h)
					 : !blocked || !host_usable(&host[h]) ||
						   (until <= view.now &&
						    host[h].nr_ranks);

		if (!held[h].since)
			continue;
		if (done) {
			held[h].since = 0;
			fprintf(out, "release %u;", h);
		} else if (!held[h].used && host[h].nr_ranks && until < wake) {
			wake = until;
		}
	}
	if (wake < USEC_MAX)
		fprintf(out, "wake %d;", (int)(wake / SEC));
}

static bool start(const struct job *j)
{
	char text[100] = "";
	int home = (int)j->home - 1;

	for (uint32_t i = 0; i < j->size; i++) {
		size_t n = strlen(text);
		int h = home >= 0 && takes((uint32_t)home, 0) ? home
							      : place_for(0);

		if (h < 0)
			return false;
		snprintf(text + n, sizeof(text) - n, "%s%d", i ? "," : "", h);
		give((uint32_t)h, 0);
	}
	fprintf(out, "start job %d with %u on %s;", (int)j->id, j->size, text);
	return true;
}

static void expect_pass(void)
{
	const struct job *j;
	bool blocked;

	for (uint32_t h = 0; h < HOSTS; h++) {
		int64_t most = SLOTS * (int64_t)host_cores(&host[h]);

		most = most < host[h].slots ? most : host[h].slots;
		slots[h] = begun[h] = most - host[h].nr_ranks;
		memory[h] = host[h].memory ? host[h].memory_free : UINT64_MAX;
	}
	settles = USEC_MAX;
	blocked = relieve();
	if (settles < USEC_MAX)
		fprintf(out, "wake %d;", (int)(settles / SEC));
	let_go(blocked);
	for_each_waiting(j, &view) if (!start(j)) break;
}

/* ---- random hosts, jobs and what happens to them ---- */

static void draw_host(struct random_stream *r, struct host *h)
{
	h->memory = random_below(r, 6) ? 1000 : 0;
	h->memory_free = random_below(r, 3) ? random_below(r, 900) : 0;
	h->faults = random_below(r, 3) ? (double)random_below(r, 11) : 20;
	h->drain = !random_below(r, 10);
}

static void arrive(struct random_stream *r, int64_t id)
{
	struct job *j = pass_arrive(id, 1 + (uint32_t)random_below(r, 2));

	j->home = (uint32_t)random_below(r, HOSTS + 1);
}

static void happens(enum event_type type, struct job *j, uint32_t h)
{
	model_apply(&view, &(struct event){ .type = type,
					    .at = view.now,
					    .job = j,
					    .host = h });
}

static void end_some(struct random_stream *r)
{
	struct job *j = TAILQ_FIRST(&view.running), *next;

	for (; j; j = next) {
		next = TAILQ_NEXT(j, link);
		j->demand = random_below(r, 5) ? random_below(r, 1200) : 0;
		if (random_below(r, 4))
			continue;
		happens(EVENT_END, j, 0);
		view_job_destroy(&view, j);
	}
}

static void carry_out(const struct plan_entry *e)
{
	struct event event = { .at = view.now, .job = e->job };

	switch (e->type) {
	case PLAN_START:
		event.type = EVENT_START;
		event.n = e->n;
		event.hosts = e->hosts;
		model_apply(&view, &event);
		break;
	case PLAN_MIGRATE:
		event.type = EVENT_MIGRATE;
		event.rank = e->ranks[0];
		event.host = e->hosts[0];
		model_apply(&view, &event);
		break;
	case PLAN_RESERVE:
		happens(EVENT_RESERVE, NULL, e->host);
		break;
	case PLAN_RELEASE:
		happens(EVENT_RELEASE, NULL, e->host);
		break;
	default:
		break;
	}
}

/* Half of the time the policy is made anew from what it saved. */
static void renew(const char *spec)
{
	char *text = policy_save(policy, &view);

	policy_destroy(policy);
	assert_int_equal(policy_create(spec, 1, &view, &policy, NULL), 0);
	policy_adopt(policy, &view);
	if (text)
		assert_int_equal(policy_load(policy, &view, text, NULL), 0);
	free(text);
}

static unsigned count[PLAN_WAKE + 1];

static void one_pass(void)
{
	char *wanted;
	size_t size;

	out = open_memstream(&wanted, &size);
	expect_pass();
	fclose(out);
	plan_reset(&plan, &view);
	policy_decide(policy, &view, &plan);
	pass_check_plan(wanted);
	free(wanted);
	for (size_t i = 0; i < plan.nr; i++) {
		count[plan.entry[i].type]++;
		carry_out(&plan.entry[i]);
	}
}

/* The most that a job can have is what it gets while nothing else is there. */
static void check_most(void)
{
	int64_t most = policy_most(policy, &view);

	for (int more = 0; more < 2; more++) {
		struct job *j = pass_arrive(1, (uint32_t)most + (uint32_t)more);

		plan_reset(&plan, &view);
		policy_decide(policy, &view, &plan);
		assert_int_equal(plan.nr, !more);
		if (!more)
			assert_int_equal(plan.entry[0].n, most);
		happens(EVENT_END, j, 0);
		view_job_destroy(&view, j);
	}
}

/* Why the first who waits does: hosts without a slot, and those with one but no memory. */
static void expect_told(char *ret, size_t size)
{
	int full = 0, tight = 0;

	for (uint32_t h = 0; h < HOSTS; h++) {
		int64_t left = SLOTS * (int64_t)host_cores(&host[h]);

		left = left < host[h].slots ? left : host[h].slots;
		if (left <= host[h].nr_ranks)
			full++;
		else if (host[h].memory && (!host[h].memory_free || pages(h)))
			tight++;
	}
	snprintf(ret, size,
		 "no host has both a free slot and idle memory: of %d, %d have "
		 "no slot and %d no memory",
		 HOSTS, full, tight);
}

/* Who waits is told why: the first for want of hosts, the others for him. */
static void check_told(void)
{
	const struct job *head = TAILQ_FIRST(&view.waiting), *j;
	size_t k = 0;

	plan_reset(&plan, &view);
	for_each_waiting(j, &view) policy_explain(policy, &view, j, &plan);
	for_each_waiting(j, &view)
	{
		char wanted[200], told[200];

		if (j == head)
			expect_told(wanted, sizeof(wanted));
		else
			snprintf(wanted, sizeof(wanted),
				 "job %d is before it in the queue and has to "
				 "start first",
				 (int)head->id);
		assert_true(k < plan.nr && plan.entry[k].job == j &&
			    plan.entry[k].type == PLAN_DEFER);
		because_print(&view, &plan.entry[k++].why, told, sizeof(told));
		assert_string_equal(told, wanted);
	}
	assert_int_equal(plan.nr, k);
}

static void one_round(struct random_stream *r, const char *spec)
{
	int64_t id = 0;

	memset(held, 0, sizeof(held));
	for (int h = 0; h < HOSTS; h++) {
		host[h].slots = 2 + (uint32_t)random_below(r, 5);
		host[h].cores = 1 + (uint32_t)random_below(r, 3);
	}
	assert_int_equal(policy_create(spec, 1, &view, &policy, NULL), 0);
	check_most();
	for (int k = 0; k < PASSES; k++) {
		view.now += (usec_t)(1 + random_below(r, 40)) * SEC;
		for (int h = 0; h < HOSTS; h++)
			if (!k || !random_below(r, 3))
				draw_host(r, &host[h]);
		end_some(r);
		for (uint64_t n = random_below(r, 4); n; n--)
			arrive(r, ++id);
		if (random_below(r, 2))
			renew(spec);
		one_pass();
		check_told();
	}
	policy_destroy(policy);
}

static void check(void **state, const char *spec, bool v, bool until_fits)
{
	struct random_stream r;

	reconfigures = v;
	fits = until_fits;
	memset(count, 0, sizeof(count));
	random_init(&r, 6, "memshare", 0);
	for (int i = 0; i < ROUNDS; i++) {
		pass_end(state);
		pass_begin(state);
		one_round(&r, spec);
	}
	/* Or nothing was tried. */
	assert_true(count[PLAN_START] > ROUNDS && count[PLAN_MIGRATE] > ROUNDS);
	if (v)
		assert_true(count[PLAN_RESERVE] > ROUNDS / 10 &&
			    count[PLAN_RELEASE] > ROUNDS / 20);
}

static void g_loadsharing(void **state)
{
	check(state, "g-loadsharing:slots=2", false, false);
}

static void v_reconfiguration(void **state)
{
	check(state, "v-reconfiguration:slots=2,patience=50", true, false);
	check(state, "v-reconfiguration:slots=2,patience=50,until=fits", true,
	      true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PASS_TEST(g_loadsharing),
		PASS_TEST(v_reconfiguration),
	};

	return cmocka_run_group_tests_name("memshare", tests, NULL, NULL);
}
