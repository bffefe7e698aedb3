/*
 * check.c - what entries report with: rows, grids of sweeps, figures, see
 * reproduce.h
 */
#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>

#include "core/xalloc.h"
#include "sim/report/output.h"
#include "sim/reproduce/reproduce.h"

char *reproduce_text(const char *fmt, ...)
{
	char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		abort(); /* out of memory */
	va_end(ap);
	return text;
}

static void add_row(struct reproduce *r, struct reproduce_row row)
{
	array_room(r->row, r->nr, &r->cap);
	row.id = r->id;
	r->row[r->nr++] = row;
}

static void add_number(struct reproduce *r, char *what, char *published,
		       double low, double high, struct estimate ours,
		       char *note)
{
	struct reproduce_row row = { .what = what,
				     .published = published,
				     .value = ours,
				     .note = note };

	if (isnan(ours.value))
		row.ours = xstrdup("none");
	else
		row.ours = reproduce_text(ESTIMATE_FMT, ESTIMATE_ARGS(ours));
	/* A hair wider, so that 0.55 is within 0.6 +- 0.05. */
	row.met = ours.low <= high + 1e-9 && ours.high >= low - 1e-9;
	add_row(r, row);
}

void reproduce_number(struct reproduce *r, char *what, double published,
		      double precision, struct estimate ours, char *note)
{
	add_number(r, what, reproduce_text("%g +- %g", published, precision),
		   published - precision, published + precision, ours, note);
}

void reproduce_range(struct reproduce *r, char *what, double low, double high,
		     struct estimate ours, char *note)
{
	char *published = isinf(high)  ? reproduce_text("at least %g", low)
			  : isinf(low) ? reproduce_text("at most %g", high)
				       : reproduce_text("%g to %g", low, high);

	add_number(r, what, published, low, high, ours, note);
}

void reproduce_measured(struct reproduce *r, char *what, double low,
			double high, struct estimate ours, char *note)
{
	struct reproduce_row *row;

	reproduce_range(r, what, low, high, ours, note);
	if (!isnan(ours.value))
		return;
	row = &r->row[r->nr - 1];
	row->lacking = true;
	free(row->ours);
	free(row->note);
	row->ours = xstrdup("not measured");
	row->note = NULL;
}

void reproduce_fact(struct reproduce *r, char *what, const char *published,
		    char *ours, bool met, char *note)
{
	add_row(r, (struct reproduce_row){ .what = what,
					   .published = xstrdup(published),
					   .ours = ours,
					   .value = { NAN, NAN, NAN },
					   .met = met,
					   .note = note });
}

static struct sweep_cell *grid_cells(struct reproduce_grid *g)
{
	struct sweep_cell *cell;

	while (g->policy[g->nr_policies])
		g->nr_policies++;
	cell = xcalloc(g->nr_policies * g->nr_loads, sizeof(*cell));
	for (size_t p = 0; p < g->nr_policies; p++)
		for (size_t l = 0; l < g->nr_loads; l++)
			cell[p * g->nr_loads + l] =
				(struct sweep_cell){ .policy = g->policy[p],
						     .workload = g->workload,
						     .paging = g->paging,
						     .load = g->load[l],
						     .costs = g->costs,
						     .group = (uint32_t)l };
	return cell;
}

int reproduce_grid_run(struct reproduce *r, struct reproduce_grid *g,
		       struct error *err)
{
	double precision = g->precision > 0 ? g->precision : 0.02;

	g->sweep = (struct sweep){
		.seed = r->seed,
		.nr_jobs = g->nr_jobs ? g->nr_jobs
			   : r->quick ? 2500
				      : 0,
		.level = r->level,
		.target = { [METRIC_RESPONSE] = precision,
			    [METRIC_EFFECTIVENESS] = 0.01 },
		.min = g->runs	  ? g->runs
		       : r->quick ? 6
				  : 20,
		.max = g->runs	  ? g->runs
		       : r->quick ? 6
				  : 200,
		.workers = r->workers,
		.results = r->results,
		.nr = 0,
	};
	g->nr_policies = 0;
	g->sweep.cell = grid_cells(g);
	g->sweep.nr = g->nr_policies * g->nr_loads;
	return sweep_run(&g->sweep, &g->result, err);
}

void reproduce_grid_clear(struct reproduce_grid *g)
{
	sweep_free(g->result, g->sweep.nr);
	free((void *)g->sweep.cell);
	g->result = NULL;
	g->sweep.cell = NULL;
}

static const struct sweep_result *grid_at(const struct reproduce_grid *g,
					  size_t policy, size_t load)
{
	return &g->result[policy * g->nr_loads + load];
}

struct estimate reproduce_mean(const struct reproduce *r,
			       const struct reproduce_grid *g, size_t policy,
			       size_t load, int metric)
{
	return sweep_mean(grid_at(g, policy, load), metric, r->level);
}

struct estimate reproduce_ratio(const struct reproduce *r,
				const struct reproduce_grid *g, size_t a,
				size_t b, size_t load, int metric)
{
	return sweep_ratio(grid_at(g, a, load), grid_at(g, b, load), metric,
			   r->level);
}

struct estimate reproduce_difference(const struct reproduce *r,
				     const struct reproduce_grid *g, size_t a,
				     size_t b, size_t load, int metric)
{
	return sweep_difference(grid_at(g, a, load), grid_at(g, b, load),
				metric, r->level);
}

void reproduce_note(struct reproduce *r, char *text)
{
	struct reproduce_row *row = &r->row[r->nr - 1];
	char *note = row->note;

	row->note = note ? reproduce_text("%s; %s", note, text) : text;
	if (note) {
		free(note);
		free(text);
	}
}

bool reproduce_met(const struct reproduce *r)
{
	return r->row[r->nr - 1].met;
}

int reproduce_readings(struct reproduce *r,
		       const struct reproduce_reading *reading, double load,
		       int metric, struct error *err)
{
	enum { READING_RUNS = 20 }; /* pairs: enough for a note */
	int rc = 0;

	for (; !r->quick && reading->text && !rc; reading++) {
		struct reproduce_grid g = { .policy = reading->policy,
					    .workload = reading->workload,
					    .load = &load,
					    .nr_loads = 1,
					    .costs = reading->costs,
					    .runs = READING_RUNS };
		struct estimate e;

		rc = reproduce_grid_run(r, &g, err);
		if (!rc) {
			e = reproduce_ratio(r, &g, 0, 1, 0, metric);
			reproduce_note(r,
				       reproduce_text("%s: %.3f (%.3f to %.3f)",
						      reading->text, e.value,
						      e.low, e.high));
		}
		reproduce_grid_clear(&g);
	}
	return rc;
}

/* ID-NAME.svg, without what a URL or a shell would mind. */
static char *figure_file(const char *id, const char *name)
{
	char *file = xasprintf("%s-%s.svg", id, name), *to = file;

	for (const char *c = file; *c; c++)
		if (isalnum((unsigned char)*c) || *c == '.')
			*to++ = *c;
		else if (to[-1] != '-')
			*to++ = '-';
	*to = '\0';
	return file;
}

int reproduce_figure(struct reproduce *r, const struct reproduce_grid *g,
		     const char *name, int metric, struct error *err)
{
	struct output *out;
	char *path;
	int rc;

	if (!r->figures)
		return 0;
	array_room(r->figure, r->nr_figures, &r->cap_figures);
	r->figure[r->nr_figures++] =
		(struct reproduce_drawn){ r->id, figure_file(r->id, name) };
	path = xasprintf("%s/%s", r->figures,
			 r->figure[r->nr_figures - 1].file);
	rc = output_open(path, &out, err);
	free(path);
	if (rc < 0)
		return rc;
	sweep_plot(&g->sweep, g->result, 0, metric, output_stream(out));
	return output_end(&out, 0, err);
}

static double crossing(const double *x, const struct estimate *y, size_t nr,
		       size_t field)
{
	double last = 0;

	for (size_t i = 0; i < nr; i++) {
		double v = field == 0	? y[i].value
			   : field == 1 ? y[i].low
					: y[i].high;

		if (v <= 0 && i == 0)
			return x[0];
		if (v <= 0)
			return x[i - 1] + (x[i] - x[i - 1]) * last / (last - v);
		last = v;
	}
	return NAN;
}

struct estimate reproduce_crossing(const double *x, const struct estimate *y,
				   size_t nr)
{
	struct estimate e = { crossing(x, y, nr, 0), crossing(x, y, nr, 1),
			      crossing(x, y, nr, 2) };

	if (isnan(e.low))
		e.low = INFINITY;
	if (isnan(e.high))
		e.high = INFINITY;
	return e;
}
