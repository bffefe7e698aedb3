/*
 * test_reservations.c - no policy runs jobs on what is reserved
 *
 * Random jobs, random reservations, every policy of the table, on processors,
 * on hosts of several cores, with jobs that are rigid, malleable, or without an
 * estimate.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/random.h"
#include "core/xalloc.h"
#include "policy/policies.h"
#include "sim/engine/sim.h"
#include "sim/workload/attach.h"
#include "sim/workload/machine.h"
#include "sim/workload/script.h"

#define PROCS  16
#define NR_MAX 40

struct booking {
	usec_t told, from, to;
	int64_t procs;
};

/* One who watches a run, and knows what was booked. */
struct watch {
	const struct booking *booking;
	int nr;
	unsigned flags; /* the policy's */
	usec_t at;	/* the instant looked at */
	char wrong[200];
	uint64_t refused, begun;
};

/* Active ranks of jobs that started at that time or later. */
static int64_t used_since(const struct view *view, usec_t start)
{
	const struct job *j;
	int64_t n = 0;

	for_each_running(j, view) if (j->state == JOB_RUNNING &&
				      j->start >= start) n += j->n;
	return n;
}

static int64_t booked_cores(const struct view *view)
{
	const struct host *h;
	int64_t n = 0;

	for_each_host (h, view)
		n += h->booked;
	return n;
}

/* Hosts that are shared are reserved as a whole, from the announcement on. */
static void check_shared(struct watch *w, const struct view *view,
			 const struct booking *b)
{
	const struct job *j;

	if (booked_cores(view) < b->procs)
		snprintf(w->wrong, sizeof(w->wrong), "%d cores are booked",
			 (int)booked_cores(view));
	for_each_running(j, view) for (uint32_t i = 0; i < j->n;
				       i++) if (j->start >= b->told &&
						view->hosts[j->hosts[i]].booked)
		snprintf(w->wrong, sizeof(w->wrong),
			 "job %d is on a booked host", (int)j->id);
}

/* Is what holds between instants so now? */
static void check(struct watch *w, const struct view *view)
{
	int64_t procs = 0; /* reserved now */
	const struct host *h;

	w->wrong[0] = '\0';
	for (int i = 0; i < w->nr; i++) {
		const struct booking *b = &w->booking[i];

		if (view->now < b->told || view->now >= b->to)
			continue;
		if (w->flags & POLICY_SHARES)
			check_shared(w, view, b);
		else if (view->now >= b->from &&
			 used_since(view, b->told) > PROCS - b->procs)
			snprintf(
				w->wrong, sizeof(w->wrong),
				"%d of %d processors are used, and %d reserved",
				(int)used_since(view, b->told), PROCS,
				(int)b->procs);
		w->begun += view->now >= b->from;
		procs += view->now >= b->from ? b->procs : 0;
	}
	if (w->flags & POLICY_SHARES)
		return;
	if (booked_cores(view) != procs)
		snprintf(w->wrong, sizeof(w->wrong), "%d cores for %d",
			 (int)booked_cores(view), (int)procs);
	if (w->flags & POLICY_SLICES)
		return;
	/* Where all ends are foreseen, they are there in full, core by core. */
	for_each_host (h, view)
		if (w->nr && !w->booking[0].told &&
		    h->nr_active > h->cores - h->booked)
			snprintf(w->wrong, sizeof(w->wrong),
				 "%u ranks on %u cores of which %u are booked",
				 h->nr_active, h->cores, h->booked);
}

static void on_event(void *data, const struct view *view,
		     const struct event *event)
{
	struct watch *w = data;

	if (event->at > w->at && w->wrong[0])
		fail_msg("after %.6f s: %s", usec_to_seconds(w->at), w->wrong);
	w->at = event->at;
	check(w, view);
}

static void on_plan(void *data, const struct view *view,
		    const struct plan *plan)
{
	struct watch *w = data;
	char text[200];

	for (size_t i = 0; i < plan->nr; i++) {
		if (plan->entry[i].type != PLAN_DEFER)
			continue;
		plan_print(view, &plan->entry[i], text, sizeof(text));
		assert_non_null(strstr(text, "when a reservation begins"));
		w->refused++;
	}
}

/* Reservations: of times in which jobs come, known at once or as they come. */
static int make_bookings(struct booking *b, uint64_t seed, bool at_once)
{
	struct random_stream r;
	usec_t t = 0;
	int n = 0;

	random_init(&r, seed, "bookings", 0);
	while (n < NR_MAX && t < 20000 * USEC_PER_SEC) {
		usec_t lead = (usec_t)random_below(&r, 500) * USEC_PER_SEC;
		usec_t length =
			(1 + (usec_t)random_below(&r, 800)) * USEC_PER_SEC;

		t += 100 * USEC_PER_SEC;
		b[n] = (struct booking){ .told = at_once ? 0 : t,
					 .from = t + lead,
					 .to = t + lead + length,
					 .procs = 1 + (int64_t)random_below(
							      &r, PROCS / 2) };
		t = b[n++].to;
	}
	return n;
}

static void make_script(const struct booking *b, int n, struct sim_script *ret)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);
	struct error err;

	for (int i = 0; f && i < n; i++)
		fprintf(f, "%ld reserve %ld %ld %ld\n",
			(long)(b[i].told / USEC_PER_SEC), (long)b[i].procs,
			(long)(b[i].from / USEC_PER_SEC),
			(long)(b[i].to / USEC_PER_SEC));
	if (!f || fclose(f))
		abort(); /* out of memory */
	if (script_parse(text, size, "bookings", ret, &err) < 0)
		fail_msg("%s", err.text);
	free(text);
}

/* Jobs whose users gave no estimate, all of them or every other. */
struct blind {
	struct workload base;
	struct workload *of;
	int every;
};

static int blind_next(struct workload *workload, struct workload_job *ret,
		      struct error *err)
{
	struct blind *b = (struct blind *)workload;
	int r = workload_next(b->of, ret, err);

	if (r > 0 && b->every && ret->id % b->every == 0)
		ret->estimate = 0;
	return r;
}

static const struct workload_ops blind_ops = { .name = "blind",
					       .next = blind_next };

static struct workload *make_workload(const char *speedup, uint64_t seed,
				      uint32_t max_size)
{
	char *spec = xasprintf("poisson:overestimate=2,max-size=%u", max_size);
	const struct workload_setup setup = {
		.procs = PROCS, .load = 0.6, .nr_jobs = 150, .seed = seed
	};
	struct workload *w;
	struct error err;

	if (workload_create(spec, &setup, &w, &err) < 0 ||
	    (speedup && attach_speedup(&w, speedup, seed, 0, &err) < 0))
		fail_msg("%s", err.text);
	free(spec);
	return w;
}

struct setting {
	const char *speedup, *machine;
	bool at_once;
	int blind; /* every so many jobs have no estimate; 0: none */
};

/* Returns how many starts were refused. */
static uint64_t run(const char *policy, const struct setting *s, uint64_t seed)
{
	struct booking booking[NR_MAX];
	struct watch w = { .booking = booking };
	const struct sim_observer watch = { .event = on_event,
					    .plan = on_plan,
					    .data = &w };
	struct blind jobs = { .base = { .ops = &blind_ops, .procs = PROCS },
			      .every = s->blind };
	struct sim_script script;
	struct sim_config c = { .workload = &jobs.base,
				.policy = policy,
				.observer = &watch,
				.script = &script };
	struct host *hosts;
	struct sim_result r;
	struct error err;

	w.nr = make_bookings(booking, seed, s->at_once);
	w.flags = policy_find(policy, NULL)->flags;
	make_script(booking, w.nr, &script);
	assert_int_equal(machine_parse(s->machine, &hosts, &c.nr_hosts, &err),
			 0);
	c.hosts = hosts;
	/* Some put one rank on a host, and half of them may be reserved. */
	jobs.of = make_workload(s->speedup, seed,
				w.flags & POLICY_HOSTS ? c.nr_hosts : PROCS);
	if (sim_run(&c, &r, &err) < 0)
		fail_msg("%s: %s", policy, err.text);
	assert_string_equal(w.wrong, "");
	assert_true(w.begun > 5);
	for (size_t i = 0; i < r.nr; i++)
		assert_int_equal(r.record[i].outcome, END_DONE);
	sim_result_clear(&r);
	script_clear(&script);
	workload_destroy(jobs.of);
	free(hosts);
	return w.refused;
}

/* Those that foresee ends refuse; the others need not. */
static void every_policy(const struct setting *s)
{
	const struct policy_ops *p;

	for (size_t i = 0; (p = policy_nth(i)); i++) {
		uint64_t refused = 0;

		print_message("%s\n", p->name);
		for (uint64_t seed = 1; seed <= 3; seed++)
			refused += run(p->name, s, seed);
		if (p->flags & (POLICY_SHARES | POLICY_SLICES))
			assert_true(refused == 0);
	}
}

static void known_at_once(void **state)
{
	every_policy(&(struct setting){ NULL, "16x1", true, 0 });
	every_policy(&(struct setting){ "linear", "16x1", true, 0 });
}

static void known_later(void **state)
{
	every_policy(&(struct setting){ NULL, "16x1", false, 0 });
	every_policy(&(struct setting){ "misp", "16x1", false, 0 });
}

static void hosts_of_several_cores(void **state)
{
	every_policy(&(struct setting){ NULL, "4x1x4", true, 0 });
	every_policy(&(struct setting){ "misp", "2x1x3,1x1x10", true, 0 });
}

static void jobs_without_estimates(void **state)
{
	every_policy(&(struct setting){ NULL, "16x1", true, 1 });
	every_policy(&(struct setting){ "misp", "16x1", false, 3 });
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_at_once),
		cmocka_unit_test(known_later),
		cmocka_unit_test(hosts_of_several_cores),
		cmocka_unit_test(jobs_without_estimates),
	};

	return cmocka_run_group_tests_name("reservations", tests, NULL, NULL);
}
