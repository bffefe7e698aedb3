/* trace_stats.c - what traces are like, see trace_stats.h */
#include "sim/report/trace_stats.h"

#include <math.h>
#include <stdlib.h>

#include "core/json.h"
#include "core/xalloc.h"
#include "sim/report/stats.h"

enum {
	SHORT = 180,
	LONG = 5400,
	BRIEF = 180,
	QUIET = 600,
	MINUTE = 60,
	QUARTER = 900
};

static const double idle_load = 0.2;

static int compare_numbers(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Sorts them. */
static double median_of(double *v, size_t n)
{
	qsort(v, n, sizeof(*v), compare_numbers);
	return !n ? 0 : n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

static double ratio(double part, double whole)
{
	return whole > 0 ? part / whole : 0;
}

static double variation(const struct stats *s)
{
	return ratio(sqrt(stats_variance(s)), s->mean);
}

/* ---- jobs ---- */

static void add_job(struct trace_stats *s, const struct swf_job *j,
		    double *work, double *work_long)
{
	double run = usec_to_seconds(j->run);

	s->size_mean += j->size;
	s->serial += j->size == 1;
	s->short_jobs += run <= SHORT;
	s->estimates += j->estimate > 0;
	s->estimate += usec_to_seconds(j->estimate) / run;
	*work += run * j->size;
	*work_long += run >= LONG ? run * j->size : 0;
}

void trace_stats_make(const struct swf_trace *trace, struct trace_stats *ret)
{
	double *run = xcalloc(trace->nr + 1, sizeof(*run));
	struct trace_stats s = { .jobs = trace->nr };
	double work = 0, work_long = 0, n = (double)trace->nr;
	struct stats runs = { 0 }, gaps = { 0 };

	for (size_t i = 0; i < trace->nr; i++) {
		const struct swf_job *j = &trace->job[i];

		run[i] = usec_to_seconds(j->run);
		stats_add(&runs, run[i]);
		if (i)
			stats_add(&gaps,
				  usec_to_seconds(j->submit - j[-1].submit));
		add_job(&s, j, &work, &work_long);
	}
	if (trace->nr)
		s.span = usec_to_seconds(trace->job[trace->nr - 1].submit -
					 trace->job[0].submit);
	s.load = ratio(work, s.span * trace->procs);
	s.gap = gaps.mean;
	s.gap_cv = variation(&gaps);
	s.run_mean = runs.mean;
	s.run_cv = variation(&runs);
	s.run_median = median_of(run, trace->nr);
	s.size_mean = ratio(s.size_mean, n);
	s.serial = ratio(s.serial, n);
	s.short_jobs = ratio(s.short_jobs, n);
	s.long_work = ratio(work_long, work);
	s.estimate = s.estimates ? s.estimate / (double)s.estimates : NAN;
	free(run);
	*ret = s;
}

json_t *trace_stats_json(const struct trace_stats *s)
{
	return json_pack(
		"{s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, "
		"s:o}",
		"jobs", (json_int_t)s->jobs, "span_s", json_number(s->span),
		"load", json_number(s->load), "gap_s", json_number(s->gap),
		"gap_cv", json_number(s->gap_cv), "run_s",
		json_number(s->run_mean), "run_median_s",
		json_number(s->run_median), "run_cv", json_number(s->run_cv),
		"size", json_number(s->size_mean), "serial",
		json_number(s->serial), "short", json_number(s->short_jobs),
		"long_work", json_number(s->long_work), "overestimate",
		json_number(s->estimate));
}

/* ---- owners ---- */

/* Seconds: all that there were, and those in which a host was idle, for so long by then. */
enum { ALL, IDLE, IDLE_1, IDLE_15, TIMES };

struct times {
	double sum[TIMES];
};

/* Idle periods, in seconds. */
struct periods {
	struct times hour[24], by_day;
	double *length;
	size_t nr, cap;
	double sum, quiet;
	double after_1,
		after_15; /* what is left of each after so many minutes */
	uint64_t brief;
};

/* Add the time from one instant to another to the hours that it is in. */
static void add_time(struct periods *p, usec_t from, usec_t to, int kind,
		     double times)
{
	const usec_t hour = 3600 * USEC_PER_SEC;

	for (usec_t next; from < to; from = next) {
		int h = (int)(from / hour % 24),
		    day = (int)(from / hour / 24 % 7);
		double s;

		next = (from / hour + 1) * hour;
		next = next < to ? next : to;
		s = usec_to_seconds(next - from) * times;
		p->hour[h].sum[kind] += s;
		if (day < 5 && h >= 9 && h < 19)
			p->by_day.sum[kind] += s;
	}
}

static void add_period(struct periods *p, usec_t from, usec_t to)
{
	double length = usec_to_seconds(to - from);

	add_time(p, from, to, IDLE, 1);
	add_time(p, from + MINUTE * USEC_PER_SEC, to, IDLE_1, 1);
	add_time(p, from + QUARTER * USEC_PER_SEC, to, IDLE_15, 1);
	if (to <= from)
		return;
	array_room(p->length, p->nr, &p->cap);
	p->length[p->nr++] = length;
	p->sum += length;
	p->brief += length <= BRIEF;
	p->quiet += length >= QUIET ? length : 0;
	p->after_1 += fmax(0, length - MINUTE);
	p->after_15 += fmax(0, length - QUARTER);
}

static bool is_idle(const struct activity_host *h)
{
	return h->keyboard != USEC_MAX && h->value[ACTIVITY_LOAD] < idle_load;
}

/* How one host was, by all changes; those of an instant count together. */
static void walk_host(const struct activity *a, uint32_t host,
		      struct periods *p)
{
	usec_t begin = a->change[0].at, end = a->change[a->nr - 1].at;
	struct activity_host h = { .name = a->host[host].name };
	usec_t since = begin, last = begin;
	bool idle = false, began = false;

	activity_host_init(&h);
	for (size_t i = 0; i <= a->nr; i++) {
		usec_t at = i < a->nr ? a->change[i].at : end;

		if (at > last || i == a->nr) {
			/* What held from last on is settled now. */
			if (!began || is_idle(&h) != idle) {
				if (began && idle)
					add_period(p, since, last);
				since = last;
				idle = is_idle(&h);
				began = true;
			}
			last = at;
		}
		if (i < a->nr && a->change[i].host == host)
			activity_apply(&a->change[i], &h);
	}
	if (idle)
		add_period(p, since, end);
}

static struct activity_shares shares_of(const struct times *t)
{
	const double *s = t->sum;

	return s[ALL] > 0 ? (struct activity_shares){ s[IDLE] / s[ALL],
						      s[IDLE_1] / s[ALL],
						      s[IDLE_15] / s[ALL] }
			  : (struct activity_shares){ NAN, NAN, NAN };
}

static json_t *shares_json(const struct activity_shares *s)
{
	return json_pack("{s:o, s:o, s:o}", "idle", json_number(s->idle),
			 "idle_for_1_min", json_number(s->idle_1),
			 "idle_for_15_min", json_number(s->idle_15));
}

void activity_stats_make(const struct activity *a, struct activity_stats *ret)
{
	struct activity_stats s = { .hosts = a->nr_hosts };
	struct periods p = { 0 };

	if (a->nr)
		s.span = usec_to_seconds(a->change[a->nr - 1].at -
					 a->change[0].at);
	for (uint32_t i = 0; a->nr && i < a->nr_hosts; i++)
		walk_host(a, i, &p);
	if (a->nr)
		add_time(&p, a->change[0].at, a->change[a->nr - 1].at, ALL,
			 a->nr_hosts);
	for (int h = 0; h < 24; h++)
		s.hour[h] = shares_of(&p.hour[h]);
	s.by_day = shares_of(&p.by_day);
	s.periods = p.nr;
	s.idle = ratio(p.sum, s.span * a->nr_hosts);
	s.idle_1 = ratio(p.after_1, s.span * a->nr_hosts);
	s.idle_15 = ratio(p.after_15, s.span * a->nr_hosts);
	s.brief = ratio((double)p.brief, (double)p.nr);
	s.long_share = ratio(p.quiet, p.sum);
	s.median = median_of(p.length, p.nr);
	free(p.length);
	*ret = s;
}

json_t *activity_stats_json(const struct activity_stats *s)
{
	json_t *hours = json_array();

	for (int h = 0; h < 24; h++)
		json_array_append_new(hours, shares_json(&s->hour[h]));
	return json_pack(
		"{s:o, s:o, s:i, s:o, s:o, s:o, s:o, s:I, s:o, s:o, s:o}",
		"by_hour", hours, "by_day", shares_json(&s->by_day), "hosts",
		(int)s->hosts, "span_s", json_number(s->span), "idle",
		json_number(s->idle), "idle_for_1_min", json_number(s->idle_1),
		"idle_for_15_min", json_number(s->idle_15), "idle_periods",
		(json_int_t)s->periods, "idle_median_s", json_number(s->median),
		"idle_brief", json_number(s->brief), "idle_time_in_long",
		json_number(s->long_share));
}
