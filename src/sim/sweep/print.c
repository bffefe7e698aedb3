/* print.c - what a sweep found: numbers, tables, curves; see sweep.h */
#include "sim/sweep/sweep.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "core/json.h"
#include "core/xalloc.h"
#include "sim/report/plot.h"

const struct sweep_metric_info sweep_metrics[NR_METRICS] = {
	[METRIC_RESPONSE] = { "response", "s", "mean response time" },
	[METRIC_WAIT] = { "wait", "s", "mean waiting time" },
	[METRIC_SLOWDOWN] = { "slowdown", "", "mean slowdown" },
	[METRIC_BOUNDED] = { "bounded_slowdown", "",
			     "mean bounded slowdown (10 s)" },
	[METRIC_UTILIZATION] = { "utilization", "", "processors allocated" },
	[METRIC_EFFECTIVENESS] = { "effectiveness", "",
				   "scheduling effectiveness S_e" },
	[METRIC_FRAGMENTATION] = { "fragmentation", "",
				   "folding fragmentation" },
	[METRIC_FOLDING] = { "folding", "", "mean actual folding factor" },
	[METRIC_CHANGES] = { "changes", "1/job", "allocation changes a job" },
	[METRIC_CHANGED] = { "changed", "",
			     "share of jobs whose allocation changed" },
	[METRIC_INSTANTS] = { "change_instants", "1/job",
			      "instants with allocation changes a job" },
	[METRIC_REASSIGNED] = { "reassigned", "1/job",
				"processors that running jobs got or gave up, "
				"a job" },
	[METRIC_EXECUTION] = { "execution", "s",
			       "mean time from start to end" },
	[METRIC_COMPUTE] = { "compute", "s",
			     "that, less standstill for moves and resizes" },
	[METRIC_MIGRATED] = { "migrated", "",
			      "ranks migrated, of those started" },
	[METRIC_MIGRATION_GAP] = { "migration_gap", "s",
				   "time between instants of migration" },
	[METRIC_MIGRATION_RANKS] = { "migration_ranks", "",
				     "ranks that migrate at an instant" },
	[METRIC_SMALL] = { "response_q1", "s",
			   "mean response, sizes up to P/4" },
	[METRIC_MEDIUM] = { "response_q2", "s",
			    "mean response, sizes up to P/2" },
	[METRIC_LARGE] = { "response_q3", "s",
			   "mean response, sizes up to 3P/4" },
	[METRIC_HUGE] = { "response_q4", "s", "mean response, larger sizes" },
	[METRIC_PAGE] = { "page", "s", "mean time a job paged" },
	[METRIC_QUEUEING] = { "queueing", "s",
			      "mean time a job waited for the machine, a "
			      "processor or a disk" },
	[METRIC_MOVING] = { "moving", "s", "mean time a job was on its way" },
	[METRIC_IDLE_MEMORY] = { "idle_memory", "B",
				 "memory that is idle, of all hosts" },
	[METRIC_SKEW] = { "skew", "",
			  "standard deviation of hosts' running jobs" },
};

int sweep_metric_find(const char *name)
{
	for (int m = 0; m < NR_METRICS; m++)
		if (!strcmp(sweep_metrics[m].name, name))
			return m;
	return -1;
}

struct estimate sweep_mean(const struct sweep_result *r, int metric,
			   double level)
{
	struct stats s = { 0 };

	for (uint32_t i = 0; i < r->n; i++)
		stats_add(&s, r->value[i][metric]);
	return stats_estimate(&s, level);
}

/* One metric of the n first replications, fresh memory. */
static double *column(const struct sweep_result *r, int metric, uint32_t n)
{
	double *x = xcalloc(n, sizeof(*x));

	for (uint32_t i = 0; i < n; i++)
		x[i] = r->value[i][metric];
	return x;
}

typedef struct estimate (*pairwise)(const double *, const double *, size_t,
				    double);

static struct estimate compare_results(const struct sweep_result *a,
				       const struct sweep_result *b, int metric,
				       double level, pairwise how)
{
	uint32_t n = a->n < b->n ? a->n : b->n;
	double *x = column(a, metric, n), *y = column(b, metric, n);
	struct estimate e = how(x, y, n, level);

	free(x);
	free(y);
	return e;
}

struct estimate sweep_ratio(const struct sweep_result *a,
			    const struct sweep_result *b, int metric,
			    double level)
{
	return compare_results(a, b, metric, level, stats_ratio);
}

struct estimate sweep_difference(const struct sweep_result *a,
				 const struct sweep_result *b, int metric,
				 double level)
{
	return compare_results(a, b, metric, level, stats_difference);
}

static json_t *metrics_json(const struct sweep *sweep,
			    const struct sweep_result *r)
{
	json_t *metrics = json_object();

	for (int m = 0; m < NR_METRICS; m++) {
		struct estimate e = sweep_mean(r, m, sweep->level);

		json_object_set_new(metrics, sweep_metrics[m].name,
				    json_pack("{s:o, s:o, s:o}", "mean",
					      json_number(e.value), "low",
					      json_number(e.low), "high",
					      json_number(e.high)));
	}
	return metrics;
}

static json_t *cell_json(const struct sweep *sweep, size_t c,
			 const struct sweep_result *r)
{
	const struct sweep_cell *cell = &sweep->cell[c];

	return json_pack(
		"{s:o, s:o, s:f, s:o, s:o, s:o, s:f, s:f, s:f, s:i, s:b, s:o}",
		"policy", json_text(cell->policy), "workload",
		json_text(cell->workload), "load", cell->load, "speedup",
		json_text(cell->speedup), "hosts", json_text(cell->hosts),
		"paging", json_text(cell->paging), "resize_cost",
		usec_to_seconds(cell->costs.resize), "migrate_cost",
		usec_to_seconds(cell->costs.migrate), "rank_cost",
		usec_to_seconds(cell->costs.migrate_rank), "replications",
		(int)r->n, "met", r->met, "metrics", metrics_json(sweep, r));
}

/* What all cells have in common. */
static json_t *sweep_json(const struct sweep *sweep)
{
	json_t *targets = json_object();

	for (int m = 0; m < NR_METRICS; m++)
		if (sweep->target[m] > 0)
			json_object_set_new(targets, sweep_metrics[m].name,
					    json_real(sweep->target[m]));
	return json_pack("{s:s, s:I, s:I, s:I, s:f, s:o, s:i, s:i}", "version",
			 STINT_VERSION, "seed", (json_int_t)sweep->seed, "jobs",
			 (json_int_t)sweep->nr_jobs, "procs",
			 (json_int_t)sweep->procs, "level", sweep->level,
			 "targets", targets, "min", (int)sweep->min, "max",
			 (int)sweep->max);
}

/* A cell a line, each with all it takes to compute it again. */
static void print_cells_json(const struct sweep *sweep,
			     const struct sweep_result *result, FILE *to)
{
	json_t *common = sweep_json(sweep);

	for (size_t c = 0; c < sweep->nr; c++) {
		json_t *cell = cell_json(sweep, c, &result[c]);

		json_object_update(cell, common);
		json_line(cell, to);
	}
	json_decref(common);
}

/* A field of a table and its separator; CSV quotes where it must (RFC 4180). */
static void print_field(const char *text, char sep, FILE *to)
{
	bool quote = text && sep == ',' && strpbrk(text, ",\"\n");

	if (quote)
		fputc('"', to);
	for (; text && *text; text++) {
		if (*text == '"' && quote)
			fputc('"', to);
		fputc(*text, to);
	}
	if (quote)
		fputc('"', to);
	fputc(sep, to);
}

static void print_table(const struct sweep *sweep,
			const struct sweep_result *result,
			enum sweep_format format, FILE *to)
{
	static const char *const columns[] = {
		"policy",    "workload", "load",	 "speedup",
		"hosts",     "paging",	 "resize_cost",	 "migrate_cost",
		"rank_cost", "seed",	 "replications",
	};
	char sep = format == SWEEP_CSV ? ',' : '\t';

	for (size_t i = 0; i < sizeof(columns) / sizeof(*columns); i++)
		fprintf(to, "%s%c", columns[i], sep);
	fprintf(to, "met%cversion", sep);
	for (int m = 0; m < NR_METRICS; m++)
		fprintf(to, "%c%s%c%s_low%c%s_high", sep, sweep_metrics[m].name,
			sep, sweep_metrics[m].name, sep, sweep_metrics[m].name);
	fputc('\n', to);
	for (size_t c = 0; c < sweep->nr; c++) {
		const struct sweep_cell *cell = &sweep->cell[c];

		print_field(cell->policy, sep, to);
		print_field(cell->workload, sep, to);
		fprintf(to, "%.12g%c", cell->load, sep);
		print_field(cell->speedup, sep, to);
		print_field(cell->hosts, sep, to);
		print_field(cell->paging, sep, to);
		fprintf(to,
			"%.12g%c%.12g%c%.12g%c%" PRIu64
			"%c%u%c%d%c" STINT_VERSION,
			usec_to_seconds(cell->costs.resize), sep,
			usec_to_seconds(cell->costs.migrate), sep,
			usec_to_seconds(cell->costs.migrate_rank), sep,
			sweep->seed, sep, result[c].n, sep, result[c].met, sep);
		for (int m = 0; m < NR_METRICS; m++) {
			struct estimate e =
				sweep_mean(&result[c], m, sweep->level);

			fprintf(to, "%c%.12g%c%.12g%c%.12g", sep, e.value, sep,
				e.low, sep, e.high);
		}
		fputc('\n', to);
	}
}

void sweep_print(const struct sweep *sweep, const struct sweep_result *result,
		 enum sweep_format format, FILE *to)
{
	if (format == SWEEP_JSON)
		print_cells_json(sweep, result, to);
	else
		print_table(sweep, result, format, to);
}

static bool same_text(const char *a, const char *b)
{
	return !strcmp(a ? a : "", b ? b : "");
}

static bool same_picture(const struct sweep_cell *a, const struct sweep_cell *b)
{
	return same_text(a->workload, b->workload) &&
	       same_text(a->speedup, b->speedup) &&
	       same_text(a->hosts, b->hosts) &&
	       same_text(a->paging, b->paging) &&
	       a->costs.resize == b->costs.resize &&
	       a->costs.migrate == b->costs.migrate &&
	       a->costs.migrate_rank == b->costs.migrate_rank;
}

/* Points of one policy's curve; the caller frees. */
static struct plot_point *curve(const struct sweep *sweep,
				const struct sweep_result *result, size_t like,
				size_t first, int metric, size_t *ret_nr)
{
	const struct sweep_cell *cell = sweep->cell;
	struct plot_point *p = xcalloc(sweep->nr, sizeof(*p));
	size_t nr = 0;

	for (size_t c = first; c < sweep->nr; c++) {
		struct estimate e;

		if (!same_picture(&cell[c], &cell[like]) ||
		    strcmp(cell[c].policy, cell[first].policy) != 0)
			continue;
		e = sweep_mean(&result[c], metric, sweep->level);
		p[nr++] = (struct plot_point){ cell[c].load, e.value, e.low,
					       e.high };
	}
	*ret_nr = nr;
	return p;
}

static bool first_of_policy(const struct sweep *sweep, size_t like, size_t c)
{
	for (size_t i = 0; i < c; i++)
		if (same_picture(&sweep->cell[i], &sweep->cell[like]) &&
		    !strcmp(sweep->cell[i].policy, sweep->cell[c].policy))
			return false;
	return same_picture(&sweep->cell[c], &sweep->cell[like]);
}

/* Do curves of times differ so much that small ones would lie on the axis? */
static bool spread_wide(const struct plot *plot)
{
	double low = INFINITY, high = 0;

	for (size_t l = 0; l < plot->nr; l++)
		for (size_t i = 0; i < plot->line[l].nr; i++) {
			low = fmin(low, plot->line[l].point[i].y);
			high = fmax(high, plot->line[l].point[i].y);
		}
	return low > 0 && high > 10 * low;
}

void sweep_plot(const struct sweep *sweep, const struct sweep_result *result,
		size_t like, int metric, FILE *to)
{
	const struct sweep_metric_info *info = &sweep_metrics[metric];
	struct plot_line *line = xcalloc(sweep->nr, sizeof(*line));
	char *y_label = xasprintf("%s%s%s", info->summary,
				  *info->unit ? ", " : "", info->unit);
	char *note = xasprintf("seed %" PRIu64, sweep->seed);
	struct plot plot = { .title = sweep->cell[like].workload,
			     .note = note,
			     .x_label = "offered load",
			     .y_label = y_label,
			     .line = line };

	for (size_t c = 0; c < sweep->nr; c++)
		if (first_of_policy(sweep, like, c)) {
			line[plot.nr].label = sweep->cell[c].policy;
			line[plot.nr].point = curve(sweep, result, like, c,
						    metric, &line[plot.nr].nr);
			plot.nr++;
		}
	plot.log_y = spread_wide(&plot);
	plot_write(&plot, to);
	for (size_t l = 0; l < plot.nr; l++)
		free((void *)line[l].point);
	free(line);
	free(note);
	free(y_label);
}
