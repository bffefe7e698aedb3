/*
 * test_contract.c - what holds for every policy among owners who come and go at
 * random: what it is told of owners is consistent, and no owner is disturbed
 * more often than the terms allow
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "core/random.h"
#include "model/activity.h"
#include "model/terms.h"
#include "policy/policies.h"
#include "sim/engine/testing.h"

static struct activity random_script(uint64_t seed, int nr_hosts)
{
	struct activity a = ACTIVITY_INIT;
	struct random_stream r;
	char name[8];
	usec_t at = 0;

	random_init(&r, seed, "owners", 0);
	for (int i = 0; i < nr_hosts; i++) {
		snprintf(name, sizeof(name), "h%d", i + 1);
		activity_add_host(&a, name);
	}
	for (int i = 0; i < 1500; i++) {
		uint32_t h = (uint32_t)random_below(&r, (uint64_t)nr_hosts);
		enum activity_what w = random_below(&r, ACTIVITY_MEMORY);

		at += (usec_t)random_below(&r, 8 * USEC_PER_SEC);
		activity_add(&a, at, h, w,
			     w == ACTIVITY_LOAD ? random_uniform(&r, 0, 3)
						: (double)random_below(&r, 2));
	}
	/* At the end all owners leave, so no job waits for ever. */
	for (int i = 0; i < nr_hosts; i++)
		for (enum activity_what w = 0; w < ACTIVITY_MEMORY; w++)
			activity_add(&a, at, (uint32_t)i, w, 0);
	return a;
}

struct watch {
	const char *policy;
	uint64_t starts, closed, plans;
	bool begun;
	struct {
		usec_t leave_by;
		bool leave;
	} host[16];
};

/*
 * What a policy is told of an owner is consistent, and for each return it is
 * told once by when guests must be gone.
 */
static void see_host(struct watch *w, const struct view *view,
		     const struct host *h)
{
	if (h->closed == CLOSED_OWNER)
		assert_int_equal(h->idle_since, USEC_MAX);
	else
		assert_true(h->idle_since <= view->now);
	if (h->closed != CLOSED_OWNER)
		assert_true(!h->leave_by && !h->freeze_until);
	else if (!w->begun)
		assert_in_range(h->leave_by, test_terms.give_back,
				view->now + test_terms.give_back);
	else if (w->host[h->ix].leave && w->host[h->ix].leave_by)
		assert_int_equal(h->leave_by, w->host[h->ix].leave_by);
	else
		assert_int_equal(h->leave_by, view->now + test_terms.give_back);
	w->host[h->ix].leave = h->owner_active;
	w->host[h->ix].leave_by = h->leave_by;
	w->closed += h->closed != CLOSED_NOT;
}

static void see(void *data, const struct view *view, const struct event *e)
{
	struct watch *w = data;
	const struct host *h;

	for_each_host (h, view)
		see_host(w, view, h);
	w->begun = true;
	if (e->type != EVENT_START)
		return;
	for (uint32_t i = 0; i < e->n; i++)
		assert_true(host_takes(&view->hosts[e->hosts[i]], e->job));
	w->starts++;
}

/* Who is sent to a host: not who stays there in the next slice, or with more processors. */
static bool is_new(const struct plan_entry *e, uint32_t rank)
{
	const struct job *j = e->job;

	if (e->type == PLAN_START || e->type == PLAN_MIGRATE)
		return true;
	if (e->type == PLAN_RESUME)
		return e->hosts[rank] != j->hosts[rank];
	for (uint32_t i = 0; i < j->n; i++)
		if (j->hosts[i] == e->hosts[rank])
			return false;
	return true;
}

/* Where a rank of the job of entry k is once those before it are carried out. */
static uint32_t host_then(const struct plan *plan, size_t k, uint32_t rank)
{
	const struct job *j = plan->entry[k].job;
	uint32_t host = j->hosts[rank];

	for (const struct plan_entry *e = plan->entry; e < plan->entry + k; e++)
		for (uint32_t i = 0;
		     e->type == PLAN_MIGRATE && e->job == j && i < e->n; i++)
			if (e->ranks[i] == rank)
				host = e->hosts[i];
	return host;
}

/*
 * No plan sends anybody to a host that does not take him, or lets a job go on where an
 * owner is.
 */
static void see_plan(void *data, const struct view *view,
		     const struct plan *plan)
{
	struct watch *w = data;

	for (size_t k = 0; k < plan->nr; k++) {
		const struct plan_entry *e = &plan->entry[k];

		for (uint32_t i = 0; e->hosts && i < e->n; i++)
			if (is_new(e, i) &&
			    !host_takes(&view->hosts[e->hosts[i]], e->job))
				fail_msg("%s sends job %ld to a closed host",
					 w->policy, (long)e->job->id);
		for (uint32_t i = 0; e->type == PLAN_RESUME && i < e->n; i++) {
			uint32_t ix =
				e->hosts ? e->hosts[i] : host_then(plan, k, i);

			if (host_evicts(&view->hosts[ix], e->job))
				fail_msg("%s: job %ld goes on beside an owner",
					 w->policy, (long)e->job->id);
		}
	}
	w->plans += plan->nr > 0;
}

static void check_sums(const struct sim_result *r, const char *policy)
{
	for (size_t i = 0; i < r->nr; i++) {
		const struct sim_split *s = &r->split[i];
		usec_t sum = s->queue + s->run + s->still + s->frozen + s->lost;

		if (sum != r->record[i].end - r->record[i].submit)
			fail_msg(
				"%s: job %ld: %ld of %ld", policy,
				(long)r->record[i].id, (long)sum,
				(long)(r->record[i].end - r->record[i].submit));
	}
}

static void every_policy_among_owners(void **state)
{
	struct activity a = random_script(4, 16);
	const struct policy_ops *p;

	(void)state;
	set_term("disturb", "1000");
	set_term("give-back", "1d");
	for (size_t i = 0; (p = policy_nth(i)); i++) {
		struct watch w = { .policy = p->name };
		const struct sim_observer watch = { see, see_plan, &w };
		struct sim_config c = { .policy = p->name,
					.activity = &a,
					.terms = &test_terms,
					.requeue = true,
					.observer = &watch };
		struct sim_result r[2];

		c.costs.resize = USEC_PER_SEC / 2;
		c.costs.migrate_rank = USEC_PER_SEC / 4;
		c.rank_memory = 1 << 20;
		for (int k = 0; k < 2; k++) {
			c.costs.link = i % 2 ? 1 << 20 : 0;
			w.begun = false;
			c.workload = make_workload("poisson", 16, 0.6, 200,
						   "linear");
			simulate(&c, &r[k]);
			workload_destroy(c.workload);
		}
		check_sums(&r[0], p->name);
		check_same_records(&r[0], &r[1], p->name);
		assert_true(w.starts >= 400 && w.closed > 1000 &&
			    w.plans > 100);
		sim_result_clear(&r[0]);
		sim_result_clear(&r[1]);
	}
	activity_clear(&a);
}

/*
 * Far too few hosts: guests have nowhere to go, are found by their owners again
 * and again, and leave late. Even so no owner is disturbed more often than the
 * terms allow, however soon the next return is.
 */
static void play_contract(const struct policy_ops *p, uint64_t seed)
{
	static const char *const on_return[] = { "leave", "freeze", "share" };
	struct activity a = random_script(seed, 16);
	struct sim_config c = { .policy = p->name,
				.activity = &a,
				.terms = &test_terms,
				.requeue = seed % 2 };
	struct sim_result r;
	uint32_t most = 1 + (uint32_t)(seed % 3);

	test_terms.disturb = most;
	set_term("on-return", on_return[seed % 3]);
	c.costs.migrate = (usec_t)(seed % 7) * USEC_PER_SEC;
	c.rank_memory = 1 << 20;
	c.costs.link = seed % 4 ? 0 : 1 << 20;
	c.workload = make_workload("poisson", 16, 0.9, 200, "linear");
	simulate(&c, &r);
	workload_destroy(c.workload);
	if (r.owners.disturbed_most > most)
		fail_msg("%s, seed %d: %u disturbances of %u", p->name,
			 (int)seed, r.owners.disturbed_most, most);
	assert_true(r.owners.disturbed > 0);
	check_sums(&r, p->name);
	sim_result_clear(&r);
	activity_clear(&a);
}

static void every_policy_keeps_the_contract(void **state)
{
	const struct policy_ops *p;

	(void)state;
	set_term("give-back", "30");
	for (size_t i = 0; (p = policy_nth(i)); i++)
		for (uint64_t seed = 0; seed < 8; seed++)
			play_contract(p, seed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(every_policy_among_owners,
						begin_terms, end_terms),
		cmocka_unit_test_setup_teardown(every_policy_keeps_the_contract,
						begin_terms, end_terms),
	};

	return cmocka_run_group_tests_name("contract", tests, NULL, NULL);
}
