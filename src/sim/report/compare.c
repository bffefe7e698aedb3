/* compare.c - see compare.h */
#include "sim/report/compare.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "core/xalloc.h"
#include "sim/report/plot.h"

const char *const compare_metrics[] = { "wait", "response", "bounded_slowdown",
					NULL };

static double (*const value_of[])(const struct sim_record *) = {
	[COMPARE_WAIT] = summary_wait,
	[COMPARE_RESPONSE] = summary_response,
	[COMPARE_SLOWDOWN] = summary_bounded_slowdown,
};

/* ---- pairing ---- */

struct place {
	int64_t id;
	size_t ix;
};

static int by_id(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

/* The jobs of a run by their numbers, for the caller to free. */
static int order(const struct compare_run *run, struct place **ret,
		 struct error *err)
{
	size_t nr = run->result.nr;
	struct place *place = xcalloc(nr, sizeof(*place));

	for (size_t i = 0; i < nr; i++)
		place[i] = (struct place){ run->result.record[i].id, i };
	qsort(place, nr, sizeof(*place), by_id);
	for (size_t i = 1; i < nr; i++) {
		int64_t id = place[i].id;

		if (id != place[i - 1].id)
			continue;
		free(place);
		return error_set(err, -EINVAL,
				 "%s: two jobs have the number %" PRId64
				 ", so that pairs cannot be told",
				 run->name, id);
	}
	*ret = place;
	return 0;
}

static int check_same(const struct compare_run *first,
		      const struct compare_run *run, const struct sim_record *x,
		      const struct sim_record *y, struct error *err)
{
	if (x->size == y->size && x->run == y->run)
		return 0;
	return error_set(err, -EINVAL,
			 "job %" PRId64 " is of %" PRIu32
			 " processors and %.6g s in %s, and of %" PRIu32
			 " and %.6g s in %s: these are not runs of the same "
			 "jobs",
			 x->id, x->size, usec_to_seconds(x->run), first->name,
			 y->size, usec_to_seconds(y->run), run->name);
}

static int match(const struct compare_run *first, struct compare_run *run,
		 const struct place *place, struct error *err)
{
	size_t pairs = 0;

	for (size_t i = 0; i < first->result.nr; i++) {
		const struct sim_record *x = &first->result.record[i];
		const struct place key = { .id = x->id };
		const struct place *at = bsearch(&key, place, run->result.nr,
						 sizeof(*place), by_id);
		int r;

		run->match[i] = at ? at->ix : SIZE_MAX;
		if (!at)
			continue;
		r = check_same(first, run, x, &run->result.record[at->ix], err);
		if (r < 0)
			return r;
		pairs++;
	}
	return pairs ? 0
		     : error_set(err, -EINVAL,
				 "%s and %s have no job in common", first->name,
				 run->name);
}

int compare_pair(struct compare_run *run, size_t nr, struct error *err)
{
	int r = 0;

	for (size_t k = 0; k < nr && !r; k++) {
		struct place *place = NULL;

		r = order(&run[k], &place, err);
		if (r < 0)
			break;
		run[k].match = xcalloc(run[0].result.nr, sizeof(size_t));
		r = match(&run[0], &run[k], place, err);
		free(place);
	}
	return r;
}

/* ---- the table ---- */

enum { NR_CLASSES = 33 };

/* Upper bounds of the classes of run times but the last. */
static const struct {
	usec_t to;
	const char *name;
} run_class[] = {
	{ 60 * USEC_PER_SEC, "up to 1 min" },
	{ 600 * USEC_PER_SEC, "up to 10 min" },
	{ 3600 * USEC_PER_SEC, "up to 1 h" },
	{ 36000 * USEC_PER_SEC, "up to 10 h" },
	{ USEC_MAX, "above 10 h" },
};

static int class_of(const struct sim_record *r, enum compare_by by)
{
	int c = 0;

	if (by == COMPARE_BY_SIZE)
		return (int)summary_size_class(r->size);
	while (r->run > run_class[c].to)
		c++;
	return c;
}

static void name_class(int c, enum compare_by by, char *ret, size_t size)
{
	if (c < 0)
		snprintf(ret, size, "all");
	else if (by == COMPARE_BY_RUN)
		snprintf(ret, size, "%s", run_class[c].name);
	else if (c < 2)
		snprintf(ret, size, "%d", c + 1);
	else
		snprintf(ret, size, "%" PRIu64 "-%" PRIu64,
			 (UINT64_C(1) << (c - 1)) + 1, UINT64_C(1) << c);
}

/* Is it one of class c, or of all (-1), that ran to an end? */
static bool wanted(const struct sim_record *r, enum compare_by by, int c)
{
	return summary_ended(r) && (c < 0 || class_of(r, by) == c);
}

/* x has room for all. */
static void fill_own(const struct compare_run *run, enum compare_by by, int c,
		     double *x, struct compare_row *row)
{
	row->jobs = 0;
	for (size_t i = 0; i < run->result.nr; i++)
		if (wanted(&run->result.record[i], by, c))
			x[row->jobs++] =
				value_of[row->metric](&run->result.record[i]);
	summary_stat_make(x, row->jobs, &row->stat);
}

static void fill_difference(const struct compare_run *first,
			    const struct compare_run *run, enum compare_by by,
			    int c, double *x, struct compare_row *row)
{
	double sum = 0;

	row->pairs = 0;
	row->difference = row->half = NAN;
	if (run == first)
		return;
	for (size_t i = 0; i < first->result.nr; i++) {
		const struct sim_record *a = &first->result.record[i], *b;

		if (run->match[i] == SIZE_MAX || !wanted(a, by, c))
			continue;
		b = &run->result.record[run->match[i]];
		if (!summary_ended(b))
			continue;
		x[row->pairs] =
			value_of[row->metric](b) - value_of[row->metric](a);
		sum += x[row->pairs++];
	}
	if (row->pairs) {
		row->difference = sum / (double)row->pairs;
		row->half = summary_half(x, row->pairs);
	}
}

static bool has_any(const struct compare_run *run, size_t nr,
		    enum compare_by by, int c)
{
	for (size_t k = 0; k < nr; k++)
		for (size_t i = 0; i < run[k].result.nr; i++)
			if (wanted(&run[k].result.record[i], by, c))
				return true;
	return false;
}

static size_t most_jobs(const struct compare_run *run, size_t nr)
{
	size_t most = 0;

	for (size_t k = 0; k < nr; k++)
		if (run[k].result.nr > most)
			most = run[k].result.nr;
	return most;
}

static void class_rows(const struct compare_run *run, size_t nr,
		       enum compare_by by, int c, double *x, compare_take *take,
		       void *arg)
{
	struct compare_row row;

	name_class(c, by, row.class, sizeof(row.class));
	for (int m = 0; m < NR_COMPARE_METRICS; m++)
		for (size_t k = 0; k < nr; k++) {
			row.metric = (enum compare_metric)m;
			row.run = k;
			fill_own(&run[k], by, c, x, &row);
			fill_difference(&run[0], &run[k], by, c, x, &row);
			take(arg, &row);
		}
}

void compare_rows(const struct compare_run *run, size_t nr, enum compare_by by,
		  compare_take *take, void *arg)
{
	int classes = by == COMPARE_BY_SIZE
			      ? NR_CLASSES
			      : (int)(sizeof(run_class) / sizeof(*run_class));
	double *x = xcalloc(most_jobs(run, nr) + 1, sizeof(*x));

	for (int c = -1; c < classes; c++)
		if (c < 0 || has_any(run, nr, by, c))
			class_rows(run, nr, by, c, x, take, arg);
	free(x);
}

double compare_busy(const struct compare_run *run)
{
	double span = usec_to_seconds(run->result.end - run->result.begin);

	return span > 0 ? run->result.busy / span : 0;
}

/* ---- the plot ---- */

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

enum { POINTS = 200 };

/* The values that so many percent of the jobs do not exceed, for the caller to free. */
static struct plot_point *curve(const struct compare_run *run,
				enum compare_metric metric)
{
	struct plot_point *point = xcalloc(POINTS, sizeof(*point));
	double *x = xcalloc(run->result.nr + 1, sizeof(*x));
	size_t n = 0;

	for (size_t i = 0; i < run->result.nr; i++)
		if (summary_ended(&run->result.record[i]))
			x[n++] = value_of[metric](&run->result.record[i]);
	qsort(x, n, sizeof(*x), by_value);
	for (size_t p = 0; p < POINTS; p++) {
		double share = (double)(p + 1) / POINTS;
		double v = n ? x[(size_t)ceil(share * (double)n) - 1] : NAN;

		point[p] = (struct plot_point){ 100 * share, v, v, v };
	}
	free(x);
	return point;
}

/* The runs and their seeds, for the caller to free. */
static char *tell_seeds(const struct compare_run *run, size_t nr)
{
	char *text, *all = xstrdup("");

	for (size_t k = 0; k < nr; k++) {
		if (run[k].result.seed < 0)
			continue;
		text = xasprintf("%s%s%s: seed %" PRId64, all, *all ? ", " : "",
				 run[k].name, run[k].result.seed);
		free(all);
		all = text;
	}
	return all;
}

void compare_plot(const struct compare_run *run, size_t nr,
		  enum compare_metric metric, FILE *to)
{
	static const char *const label[] = { "wait, s", "response, s",
					     "bounded slowdown" };
	struct plot_line *line = xcalloc(nr, sizeof(*line));
	struct plot_point **point = xcalloc(nr, sizeof(*point));
	char *seeds = tell_seeds(run, nr);
	struct plot plot = { .note = *seeds ? seeds : NULL,
			     .x_label = "% of the jobs that have no more",
			     .y_label = label[metric],
			     .line = line,
			     .nr = nr,
			     .log_y = true,
			     .tight_x = true };

	for (size_t k = 0; k < nr; k++) {
		point[k] = curve(&run[k], metric);
		line[k] = (struct plot_line){ run[k].name, point[k], POINTS };
	}
	plot_write(&plot, to);
	for (size_t k = 0; k < nr; k++)
		free(point[k]);
	free(point);
	free(line);
	free(seeds);
}
