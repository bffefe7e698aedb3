/*
 * summary.c - means, percentiles and intervals of a run
 */
#include "sim/report/summary.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/json.h"
#include "core/xalloc.h"

#define BATCHES	   30
#define T_QUANTILE 2.0452296 /* Student's t, 29 degrees, 97.5 % */

/*
 * Bring those of x[from..to) that are below pivot, or with `equal` not above
 * it, to the front; where the others begin.  Without a branch that depends on
 * a value, since none could be foretold.
 */
static size_t partition(double *x, size_t from, size_t to, double pivot,
			bool equal)
{
	for (size_t i = from; i < to; i++) {
		double v = x[i];

		x[i] = x[from];
		x[from] = v;
		from += equal ? v <= pivot : v < pivot;
	}
	return from;
}

/*
 * The k-th smallest of x[from..n), which is at k afterwards, with none larger
 * before and none smaller behind it.
 */
static double select_kth(double *x, size_t from, size_t n, size_t k)
{
	for (;;) {
		double pivot = x[k];
		size_t equal = partition(x, from, n, pivot, false);
		size_t above;

		if (k < equal) {
			n = equal;
			continue;
		}
		above = partition(x, equal, n, pivot, true);
		if (k < above)
			return pivot;
		from = above;
	}
}

/* Means of equal runs of successive jobs are nearly independent. */
double summary_half(const double *x, size_t n)
{
	double mean[BATCHES], all = 0, var = 0;
	size_t size = n / BATCHES;

	if (size < 2)
		return NAN;
	for (size_t b = 0; b < BATCHES; b++) {
		mean[b] = 0;
		for (size_t i = 0; i < size; i++)
			mean[b] += x[b * size + i];
		mean[b] /= (double)size;
		all += mean[b] / BATCHES;
	}
	for (size_t b = 0; b < BATCHES; b++)
		var += (mean[b] - all) * (mean[b] - all) / (BATCHES - 1);
	return T_QUANTILE * sqrt(var / BATCHES);
}

/* Nearest rank: the smallest value that at least q of all do not exceed. */
static size_t rank_of(double q, size_t n)
{
	size_t k = (size_t)ceil(q * (double)n);

	return k ? k - 1 : 0;
}

/*
 * Classes of values in ascending order: the bits of numbers that are not
 * negative, taken as integers, stand in the order of the numbers.
 */
#define CLASSES 2048

struct classes {
	uint64_t low; /* the bits of the smallest */
	unsigned shift;
	size_t nr[CLASSES];
	bool wanted[CLASSES];
};

static uint64_t bits_of(double v)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof(bits));
	return bits;
}

static size_t class_of_value(const struct classes *c, double v)
{
	return (bits_of(v) - c->low) >> c->shift;
}

static void count_classes(struct classes *c, const double *x, size_t n,
			  double min, double max)
{
	*c = (struct classes){ .low = bits_of(min) };
	while ((bits_of(max) - c->low) >> c->shift >= CLASSES)
		c->shift++;
	for (size_t i = 0; i < n; i++)
		c->nr[class_of_value(c, x[i])]++;
}

/* Want the class of the k-th smallest; how many there are in classes below
 * that are not wanted. */
static size_t want_class(struct classes *c, size_t k)
{
	size_t below = 0, skipped = 0;

	for (size_t i = 0;; i++) {
		if (k - below < c->nr[i]) {
			c->wanted[i] = true;
			return skipped;
		}
		below += c->nr[i];
		if (!c->wanted[i])
			skipped += c->nr[i];
	}
}

/* Bring those of the classes that are wanted to the front; how many. */
static size_t gather_classes(const struct classes *c, double *x, size_t n)
{
	size_t m = 0;

	for (size_t i = 0; i < n; i++) {
		double v = x[i];

		x[i] = x[m];
		x[m] = v;
		m += c->wanted[class_of_value(c, v)];
	}
	return m;
}

static void find_percentiles(double *x, size_t n, struct summary_stat *s)
{
	const double q[] = { 0.5, 0.9, 0.95, 0.99 };
	double *const to[] = { &s->p50, &s->p90, &s->p95, &s->p99 };
	size_t k[sizeof(q) / sizeof(*q)], from = 0;
	struct classes c;

	count_classes(&c, x, n, s->min, s->max);
	for (size_t i = 0; i < sizeof(q) / sizeof(*q); i++) {
		k[i] = rank_of(q[i], n);
		k[i] -= want_class(&c, k[i]);
	}
	n = gather_classes(&c, x, n);
	for (size_t i = 0; i < sizeof(q) / sizeof(*q); i++) {
		*to[i] = select_kth(x, from, n, k[i]);
		from = k[i]; /* below it all is smaller */
	}
}

void summary_stat_make(double *x, size_t n, struct summary_stat *s)
{
	*s = (struct summary_stat){ .half = NAN };
	if (!n)
		return;
	s->half = summary_half(x, n);
	s->min = s->max = x[0];
	for (size_t i = 0; i < n; i++) {
		s->mean += x[i];
		if (x[i] < s->min)
			s->min = x[i];
		if (x[i] > s->max)
			s->max = x[i];
	}
	s->mean /= (double)n;
	find_percentiles(x, n, s);
}

bool summary_ended(const struct sim_record *r)
{
	return r->start >= 0 && r->end >= 0;
}

double summary_wait(const struct sim_record *r)
{
	return usec_to_seconds(r->start - r->submit);
}

double summary_response(const struct sim_record *r)
{
	return usec_to_seconds(r->end - r->submit);
}

static double slowdown_of(const struct sim_record *r)
{
	double s =
		r->run > 0 ? summary_response(r) / usec_to_seconds(r->run) : 1;

	return s > 1 ? s : 1;
}

double summary_bounded_slowdown(const struct sim_record *r)
{
	double run = usec_to_seconds(r->run);
	double s = summary_response(r) / (run > 10 ? run : 10);

	return s > 1 ? s : 1;
}

static void stat_of(const struct sim_result *result,
		    double (*value)(const struct sim_record *), double *x,
		    struct summary_stat *ret)
{
	size_t n = 0;

	for (size_t i = result->nr_warmup; i < result->nr; i++)
		if (summary_ended(&result->record[i]))
			x[n++] = value(&result->record[i]);
	summary_stat_make(x, n, ret);
}

size_t summary_size_class(uint32_t size)
{
	return size <= 1 ? 0 : 32 - (size_t)__builtin_clz(size - 1);
}

static void count_job(struct summary *s, const struct sim_record *r)
{
	struct summary_class *c = &s->size_class[summary_size_class(r->size)];

	s->killed += r->outcome == END_KILLED;
	s->failed += r->outcome == END_FAILED;
	s->cancelled += r->outcome == END_CANCELLED;
	s->rejected += r->outcome == END_REJECTED;
	if (!summary_ended(r))
		return;
	s->ended++;
	s->folding += r->procs ? (double)r->size / r->procs : 1;
	s->resizes += r->resizes;
	s->moves += r->moves;
	c->jobs++;
	c->response += summary_response(r);
	c->slowdown += summary_bounded_slowdown(r);
}

static void finish_classes(struct summary *s)
{
	for (size_t i = 0; i < sizeof(s->size_class) / sizeof(*s->size_class);
	     i++) {
		struct summary_class *c = &s->size_class[i];

		c->min = i < 2 ? (uint32_t)i + 1 : (1u << (i - 1)) + 1;
		c->max = i < 32 ? 1u << i : UINT32_MAX;
		if (!c->jobs)
			continue;
		c->response /= (double)c->jobs;
		c->slowdown /= (double)c->jobs;
		s->nr_classes = i + 1;
	}
}

void summary_make(const struct sim_result *result, struct summary *ret)
{
	struct summary s = { .procs = result->procs,
			     .averages = result->averages,
			     .warmup = result->nr_warmup < result->nr
					       ? result->nr_warmup
					       : result->nr,
			     .migrations = result->migrations,
			     .migration_events = result->migration_events,
			     .passes = result->nr_passes,
			     .events = result->nr_events };
	double *x = xmalloc((result->nr + 1) * sizeof(*x));

	for (size_t i = s.warmup; i < result->nr; i++)
		count_job(&s, &result->record[i]);
	s.jobs = result->nr - s.warmup;
	if (s.ended) {
		s.folding /= (double)s.ended;
		s.resizes /= (double)s.ended;
		s.moves /= (double)s.ended;
	}
	finish_classes(&s);
	stat_of(result, summary_wait, x, &s.wait);
	stat_of(result, summary_response, x, &s.response);
	stat_of(result, slowdown_of, x, &s.slowdown);
	stat_of(result, summary_bounded_slowdown, x, &s.bounded_slowdown);
	free(x);
	s.makespan = usec_to_seconds(result->end - result->begin);
	if (s.makespan > 0 && result->procs)
		s.utilization = result->busy / s.makespan / result->procs;
	if (result->starts_of_ranks)
		s.moved_share = (double)result->migrations /
				(double)result->starts_of_ranks;
	*ret = s;
}

static void print_stat(const char *name, const struct summary_stat *s, FILE *to)
{
	fprintf(to, "%-18s %12.2f", name, s->mean);
	if (isnan(s->half))
		fprintf(to, " %10s", "-");
	else
		fprintf(to, " %10.2f", s->half);
	fprintf(to, " %11.2f %11.2f %11.2f %11.2f\n", s->p50, s->p90, s->p99,
		s->max);
}

static void print_classes(const struct summary *s, FILE *to)
{
	fprintf(to, "\n%-15s %8s %16s %18s\n", "size", "jobs", "mean response",
		"bounded slowdown");
	for (size_t i = 0; i < s->nr_classes; i++) {
		const struct summary_class *c = &s->size_class[i];

		if (c->jobs)
			fprintf(to,
				"%6" PRIu32 " -%7" PRIu32 " %8" PRIu64
				" %16.2f %18.2f\n",
				c->min, c->max, c->jobs, c->response,
				c->slowdown);
	}
}

void summary_print(const struct summary *s, FILE *to)
{
	fprintf(to,
		"%" PRIu64 " jobs (%" PRIu64 " warm-up not counted), %" PRIu64
		" ended on %" PRIu32 " processors in %.0f s\n\n",
		s->jobs, s->warmup, s->ended, s->procs, s->makespan);
	fprintf(to, "%-18s %12s %10s %11s %11s %11s %11s\n", "seconds", "mean",
		"+- (95 %)", "median", "90 %", "99 %", "max");
	print_stat("wait", &s->wait, to);
	print_stat("response", &s->response, to);
	print_stat("slowdown", &s->slowdown, to);
	print_stat("bounded slowdown", &s->bounded_slowdown, to);
	fprintf(to,
		"\nutilization %.4f (%.4f between arrivals), scheduling "
		"effectiveness %.4f\nmean queue %.2f jobs, folding %.3f, "
		"fragmentation by folding %.4f\n",
		s->utilization, s->averages.utilization,
		s->averages.effectiveness, s->averages.queue_length, s->folding,
		s->averages.fragmentation);
	if (s->killed || s->failed || s->cancelled || s->rejected)
		fprintf(to,
			"%" PRIu64 " killed, %" PRIu64 " failed, %" PRIu64
			" cancelled, %" PRIu64 " rejected\n",
			s->killed, s->failed, s->cancelled, s->rejected);
	if (s->resizes > 0 || s->migrations)
		fprintf(to,
			"%.3f allocation changes a job, %" PRIu64
			" rank migrations at %" PRIu64 " instants\n",
			s->resizes, s->migrations, s->migration_events);
	print_classes(s, to);
}

static json_t *json_stat(const struct summary_stat *s)
{
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "mean",
			 json_number(s->mean), "half95", json_number(s->half),
			 "min", json_number(s->min), "p50", json_number(s->p50),
			 "p90", json_number(s->p90), "p95", json_number(s->p95),
			 "p99", json_number(s->p99), "max",
			 json_number(s->max));
}

static json_t *json_classes(const struct summary *s)
{
	json_t *classes = json_array();

	for (size_t i = 0; i < s->nr_classes; i++) {
		const struct summary_class *c = &s->size_class[i];

		if (c->jobs)
			json_array_append_new(
				classes,
				json_pack("{s:I, s:I, s:I, s:o, s:o}", "min",
					  (json_int_t)c->min, "max",
					  (json_int_t)c->max, "jobs",
					  (json_int_t)c->jobs, "response",
					  json_number(c->response),
					  "bounded_slowdown",
					  json_number(c->slowdown)));
	}
	return classes;
}

static void add_counts(const struct summary *s, json_t *to)
{
	const struct {
		const char *name;
		uint64_t v;
	} n[] = {
		{ "processors", s->procs },
		{ "jobs", s->jobs },
		{ "ended", s->ended },
		{ "warmup", s->warmup },
		{ "killed", s->killed },
		{ "failed", s->failed },
		{ "cancelled", s->cancelled },
		{ "rejected", s->rejected },
		{ "migrations", s->migrations },
		{ "migration_events", s->migration_events },
		{ "passes", s->passes },
		{ "events", s->events },
	};

	for (size_t i = 0; i < sizeof(n) / sizeof(*n); i++)
		json_object_set_new(to, n[i].name,
				    json_integer((json_int_t)n[i].v));
}

static void add_measures(const struct summary *s, json_t *to)
{
	const struct {
		const char *name;
		double v;
	} m[] = {
		{ "makespan", s->makespan },
		{ "utilization", s->utilization },
		{ "utilization_between_arrivals", s->averages.utilization },
		{ "effectiveness", s->averages.effectiveness },
		{ "fragmentation", s->averages.fragmentation },
		{ "queue_length", s->averages.queue_length },
		{ "jobs_in_system", s->averages.jobs },
		{ "folding", s->folding },
		{ "resizes_per_job", s->resizes },
		{ "moves_per_job", s->moves },
		{ "moved_share", s->moved_share },
	};

	for (size_t i = 0; i < sizeof(m) / sizeof(*m); i++)
		json_object_set_new(to, m[i].name, json_number(m[i].v));
}

json_t *summary_json(const struct summary *s)
{
	json_t *j = json_object();

	add_counts(s, j);
	json_object_set_new(j, "wait", json_stat(&s->wait));
	json_object_set_new(j, "response", json_stat(&s->response));
	json_object_set_new(j, "slowdown", json_stat(&s->slowdown));
	json_object_set_new(j, "bounded_slowdown",
			    json_stat(&s->bounded_slowdown));
	add_measures(s, j);
	json_object_set_new(j, "by_size", json_classes(s));
	return j;
}
