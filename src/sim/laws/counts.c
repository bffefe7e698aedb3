/* counts.c - jobs and processors, recounted at each event */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "core/random.h"
#include "core/xalloc.h"
#include "policy/policies.h"
#include "sim/laws/priv.h"
#include "sim/workload/machine.h"
#include "sim/workload/script.h"

/* Nobody shares a core. */
static void check_cores(struct law_watch *w, const struct view *view)
{
	const struct host *h;

	for_each_host (h, view)
		if (host_usable(h) && h->nr_active > h->cores)
			finding_note(&w->wrong, view,
				     "host %u of %u cores runs %u ranks", h->ix,
				     h->cores, h->nr_active);
	if (!view->nr_hosts && view->nr_free < 0)
		finding_note(&w->wrong, view,
			     "%" PRId64 " processors too many are in use",
			     -view->nr_free);
}

/* What one job that runs has; adds its ranks to those of its hosts. */
static void check_job(struct law_watch *w, const struct view *view,
		      const struct job *j, uint32_t *ranks)
{
	if (j->n < j->min_size || j->n > j->size)
		finding_note(&w->wrong, view,
			     "job %" PRId64 " of %u to %u processors has %u",
			     j->id, j->min_size, j->size, j->n);
	for (uint32_t i = 0; view->nr_hosts && i < j->n; i++)
		ranks[j->hosts[i]]++;
}

/* The view's counts against a recount. */
void law_recount(void *data, const struct view *view, const struct event *event)
{
	uint32_t *ranks = xcalloc(view->nr_hosts + 1, sizeof(*ranks));
	int64_t used = 0, demand = 0;
	const struct job *j;
	const struct host *h;
	struct law_watch *w = data;

	for_each_waiting(j, view) demand += j->size;
	for_each_running(j, view)
	{
		demand += j->size;
		used += j->state == JOB_RUNNING ? j->n : 0;
		check_job(w, view, j, ranks);
	}
	if (demand != view->demand)
		finding_note(&w->wrong, view, "the demand is miscounted");
	if (!view->nr_hosts && view->nr_free != view->nr_procs - used)
		finding_note(&w->wrong, view, "processors are lost");
	for_each_host (h, view)
		if (h->nr_ranks != ranks[h->ix])
			finding_note(&w->wrong, view,
				     "ranks of host %u are miscounted", h->ix);
	free(ranks);
	if (!(w->flags & POLICY_SHARES))
		check_cores(w, view);
	w->checks++;
}

int law_check_ended(const struct sim_result *r, struct error *err)
{
	for (size_t i = 0; i < r->nr; i++) {
		const struct sim_record *j = &r->record[i];

		if (j->submit > j->start || j->start > j->end ||
		    j->outcome != END_DONE)
			return error_set(
				err, -EPROTO,
				"job %" PRId64 " did not start and end", j->id);
	}
	return r->nr == LAW_JOBS ? 0
				 : error_set(err, -EPROTO, "%zu of %d jobs",
					     r->nr, LAW_JOBS);
}

/* Linear speedup and no costs: the work done is the work there was; who shares a core has
 * it longer. */
int law_check_work(const struct sim_result *r, bool shared, struct error *err)
{
	for (size_t i = 0; i < r->nr; i++) {
		const struct sim_record *j = &r->record[i];
		double work = j->size * usec_to_seconds(j->run);
		double off = shared ? fmax(0, work - (double)j->proc_secs)
				    : fabs((double)j->proc_secs - work);

		if (off > 1e-4 * work + 1e-3)
			return error_set(err, -EPROTO,
					 "job %" PRId64
					 " had %g processor seconds of %g",
					 j->id, (double)j->proc_secs, work);
	}
	return 0;
}

/* L = lambda W over the window, with jobs counted only while within it. */
int law_check_little(const struct sim_result *r, struct error *err)
{
	usec_t from = r->record[0].submit, to = r->record[r->nr - 1].submit;
	double inside = 0;

	for (size_t i = 0; i < r->nr; i++) {
		usec_t end = r->record[i].end;

		inside += (double)((end < to ? end : to) - r->record[i].submit);
	}
	inside /= (double)(to - from);
	if (fabs(r->averages.jobs - inside) < 1e-6 * inside + 1e-9)
		return 0;
	return error_set(err, -EPROTO,
			 "%g jobs are there on average, by their times %g",
			 r->averages.jobs, inside);
}

/* Run it, and what the watch has found; *ret is cleared if that is something. */
static int run_watched(struct sim_config *c, struct law_watch *w,
		       struct sim_result *ret, struct error *err)
{
	const struct sim_observer watch = { .event = law_recount, .data = w };
	int r;

	c->observer = &watch;
	r = sim_run(c, ret, err);
	if (!r && w->wrong.text[0]) {
		sim_result_clear(ret);
		r = error_set(err, -EPROTO, "%s", w->wrong.text);
	}
	return r;
}

/* On 16 processors, counted, or of machine's hosts. */
static int64_t count_on(const char *policy, const char *speedup,
			const char *machine, struct error *err)
{
	struct law_watch w = { .flags = law_flags(policy) };
	struct sim_config c = { .policy = policy };
	struct host *hosts = NULL;
	struct sim_result result;
	int r = machine ? machine_parse(machine, &hosts, &c.nr_hosts, err) : 0;

	c.hosts = hosts;
	if (!r)
		r = law_workload("poisson:overestimate=2", 0.8, speedup,
				 &c.workload, err);
	if (!r)
		r = run_watched(&c, &w, &result, err);
	if (!r) {
		r = law_check_ended(&result, err);
		if (!r && (!speedup || machine || speedup[0] == 'l'))
			r = law_check_work(&result, w.flags & POLICY_SHARES,
					   err);
		if (!r)
			r = law_check_little(&result, err);
		sim_result_clear(&result);
	}
	workload_destroy(c.workload);
	free(hosts);
	return r < 0 ? r : w.checks;
}

int64_t law_counts(const char *policy, struct error *err)
{
	static const char *const setting[][2] = {
		{ NULL, NULL },
		{ "linear", NULL },
		{ "misp", NULL },
		{ "linear", "3x1x4,4x1" },
	};
	/* Who chooses hosts puts one rank on each, and the last has seven. */
	size_t nr = law_flags(policy) & POLICY_HOSTS ? 3 : 4;
	int64_t checks = 0;

	for (size_t i = 0; i < nr; i++) {
		int64_t n = count_on(policy, setting[i][0], setting[i][1], err);

		if (n < 0)
			return n;
		checks += n;
	}
	return checks;
}

/* Hosts that fail and are drained, all of which come back, and cancellations. */
static int make_script(struct sim_script *ret, struct error *err)
{
	struct random_stream s;
	char *text = NULL;
	size_t size;
	FILE *f = xmemstream(&text, &size);
	int r;

	random_init(&s, 5, "script", 0);
	for (int t = 100; t < 20000; t += 150) {
		unsigned host = (unsigned)random_below(&s, LAW_PROCS);
		int back = t + 1 + (int)random_below(&s, 700);
		bool down = random_below(&s, 2);

		fprintf(f, "%d %s %u\n%d %s %u\n", t, down ? "down" : "drain",
			host, back, down ? "up" : "undrain", host);
		fprintf(f, "%d cancel %u\n", t,
			(unsigned)random_below(&s, LAW_JOBS));
	}
	if (fclose(f))
		abort(); /* out of memory */
	r = script_parse(text, size, "failures", ret, err);
	free(text);
	return r;
}

int law_check_times(const struct sim_result *r, struct error *err)
{
	for (size_t i = 0; i < r->nr; i++)
		if (r->record[i].end < r->record[i].submit)
			return error_set(err, -EPROTO,
					 "job %" PRId64 " never ended",
					 r->record[i].id);
	return 0;
}

int64_t law_failures(const char *policy, struct error *err)
{
	/* A host that comes back may be full: cores are not looked at. */
	struct law_watch w = { .flags = POLICY_SHARES };
	struct sim_config c = { .policy = policy };
	struct sim_script script = { 0 };
	struct sim_result result;
	int r = make_script(&script, err);

	c.script = &script;
	if (!r)
		r = law_workload("poisson:overestimate=2", 0.8, "misp",
				 &c.workload, err);
	if (!r)
		r = run_watched(&c, &w, &result, err);
	if (!r) {
		r = law_check_times(&result, err);
		sim_result_clear(&result);
	}
	workload_destroy(c.workload);
	script_clear(&script);
	return r < 0 ? r : w.checks;
}
