/*
 * reserved.c - no job runs on what is reserved
 *
 * Random jobs and random reservations, on processors and on hosts of several
 * cores, with jobs that are rigid, malleable, or without an estimate.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/random.h"
#include "core/xalloc.h"
#include "policy/policies.h"
#include "sim/laws/priv.h"
#include "sim/workload/attach.h"
#include "sim/workload/machine.h"
#include "sim/workload/script.h"

#define NR_MAX 40

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
static void check_shared(struct law_booked *w, const struct view *view,
			 const struct law_booking *b)
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

void law_check_instant(struct law_booked *w, const struct view *view)
{
	int64_t procs = 0; /* reserved now */
	const struct host *h;

	w->wrong[0] = '\0';
	for (int i = 0; i < w->nr; i++) {
		const struct law_booking *b = &w->booking[i];

		if (view->now < b->told || view->now >= b->to)
			continue;
		if (w->flags & POLICY_SHARES)
			check_shared(w, view, b);
		else if (view->now >= b->from &&
			 used_since(view, b->told) > LAW_PROCS - b->procs)
			snprintf(
				w->wrong, sizeof(w->wrong),
				"%d of %d processors are used, and %d reserved",
				(int)used_since(view, b->told), LAW_PROCS,
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
	struct law_booked *w = data;

	if (event->at > w->at && w->wrong[0])
		finding_note(&w->found, view, "it was so before: %s", w->wrong);
	w->at = event->at;
	w->checks++;
	law_check_instant(w, view);
}

static void on_plan(void *data, const struct view *view,
		    const struct plan *plan)
{
	struct law_booked *w = data;
	char text[200];

	for (size_t i = 0; i < plan->nr; i++) {
		if (plan->entry[i].type != PLAN_DEFER)
			continue;
		plan_print(view, &plan->entry[i], text, sizeof(text));
		if (!strstr(text, "when a reservation begins"))
			finding_note(&w->found, view, "%s", text);
		w->refused++;
	}
}

/* Reservations: of times in which jobs come, known at once or as they come. */
static int make_bookings(struct law_booking *b, uint64_t seed, bool at_once)
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
		b[n] = (struct law_booking){
			.told = at_once ? 0 : t,
			.from = t + lead,
			.to = t + lead + length,
			.procs = 1 + (int64_t)random_below(&r, LAW_PROCS / 2)
		};
		t = b[n++].to;
	}
	return n;
}

static int make_script(const struct law_booking *b, int n,
		       struct sim_script *ret, struct error *err)
{
	char *text = NULL;
	size_t size;
	FILE *f = xmemstream(&text, &size);
	int r;

	for (int i = 0; i < n; i++)
		fprintf(f, "%ld reserve %ld %ld %ld\n",
			(long)(b[i].told / USEC_PER_SEC), (long)b[i].procs,
			(long)(b[i].from / USEC_PER_SEC),
			(long)(b[i].to / USEC_PER_SEC));
	if (fclose(f))
		abort(); /* out of memory */
	r = script_parse(text, size, "bookings", ret, err);
	free(text);
	return r;
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

static int make_workload(const char *speedup, uint64_t seed, uint32_t max_size,
			 struct workload **ret, struct error *err)
{
	char *spec = xasprintf("poisson:overestimate=2,max-size=%u", max_size);
	const struct workload_setup setup = { .procs = LAW_PROCS,
					      .load = 0.6,
					      .nr_jobs = LAW_JOBS / 2,
					      .seed = seed };
	int r = workload_create(spec, &setup, ret, err);

	if (!r && speedup)
		r = attach_speedup(ret, speedup, seed, 0, err);
	free(spec);
	return r;
}

struct setting {
	const char *speedup, *machine;
	bool at_once;
	int blind; /* every so many jobs have no estimate; 0: none */
};

/* What is known only when the run is over. */
static int check_run(const struct law_booked *w, const struct sim_result *r,
		     struct error *err)
{
	if (w->found.text[0])
		return error_set(err, -EPROTO, "%s", w->found.text);
	if (w->wrong[0])
		return error_set(err, -EPROTO, "at the end %s", w->wrong);
	if (w->begun <= 5)
		return error_set(err, -EPROTO,
				 "only %" PRId64 " reservations began",
				 w->begun);
	/* Those that foresee ends refuse; the others need not. */
	if ((w->flags & (POLICY_SHARES | POLICY_SLICES)) && w->refused)
		return error_set(err, -EPROTO,
				 "a policy that shares or slices was refused a "
				 "start");
	for (size_t i = 0; i < r->nr; i++)
		if (r->record[i].outcome != END_DONE)
			return error_set(err, -EPROTO,
					 "job %" PRId64 " did not end",
					 r->record[i].id);
	return 0;
}

static int64_t run(const char *policy, const struct setting *s, uint64_t seed,
		   struct error *err)
{
	struct law_booking booking[NR_MAX];
	struct law_booked w = { .booking = booking,
				.flags = law_flags(policy) };
	const struct sim_observer watch = { .event = on_event,
					    .plan = on_plan,
					    .data = &w };
	struct blind jobs = { .base = { .ops = &blind_ops, .procs = LAW_PROCS },
			      .every = s->blind };
	struct sim_script script = { 0 };
	struct sim_config c = { .workload = &jobs.base,
				.policy = policy,
				.observer = &watch,
				.script = &script };
	struct host *hosts = NULL;
	struct sim_result result;
	int r;

	w.nr = make_bookings(booking, seed, s->at_once);
	r = make_script(booking, w.nr, &script, err);
	if (!r)
		r = machine_parse(s->machine, &hosts, &c.nr_hosts, err);
	c.hosts = hosts;
	/* Some put one rank on a host, and half of them may be reserved. */
	if (!r)
		r = make_workload(s->speedup, seed,
				  w.flags & POLICY_HOSTS ? c.nr_hosts
							 : LAW_PROCS,
				  &jobs.of, err);
	if (!r)
		r = sim_run(&c, &result, err);
	if (!r) {
		r = check_run(&w, &result, err);
		sim_result_clear(&result);
	}
	script_clear(&script);
	workload_destroy(jobs.of);
	free(hosts);
	return r < 0 ? r : w.checks;
}

int64_t law_reserved(const char *policy, struct error *err)
{
	static const struct setting setting[] = {
		{ NULL, "16x1", true, 0 },  { "linear", "16x1", true, 0 },
		{ NULL, "16x1", false, 0 }, { "misp", "16x1", false, 0 },
		{ NULL, "4x1x4", true, 0 }, { "misp", "2x1x3,1x1x10", true, 0 },
		{ NULL, "16x1", true, 1 },  { "misp", "16x1", false, 3 },
	};
	int64_t checks = 0;

	for (size_t i = 0; i < 3 * sizeof(setting) / sizeof(*setting); i++) {
		int64_t n = run(policy, &setting[i / 3], 1 + i % 3, err);

		if (n < 0)
			return n;
		checks += n;
	}
	return checks;
}
