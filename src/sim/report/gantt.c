/* gantt.c - bars of jobs on processors, see gantt.h */
#include "sim/report/gantt.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/xalloc.h"
#include "sim/report/plot.h"

#define MAX_ROWS 20000

struct bar {
	int64_t job;
	usec_t from, to;
	uint32_t row, rows; /* first processor, and how many */
};

/* The processors of a job that runs; by its ix. */
struct holding {
	uint32_t *row; /* ascending */
	uint32_t n;
	usec_t since;
};

struct gantt {
	struct bar *bar;
	size_t nr, cap;
	struct holding *holding;
	size_t nr_holdings;
	bool *used; /* by row; counted machines only */
	uint32_t nr_rows;
	bool too_many;
	usec_t begin, end;
};

struct gantt *gantt_create(void)
{
	struct gantt *g = xcalloc(1, sizeof(*g));

	g->begin = -1;
	return g;
}

void gantt_destroy(struct gantt *g)
{
	if (!g)
		return;
	for (size_t i = 0; i < g->nr_holdings; i++)
		free(g->holding[i].row);
	free(g->holding);
	free(g->bar);
	free(g->used);
	free(g);
}

static struct holding *holding_of(struct gantt *g, const struct job *job)
{
	size_t n = g->nr_holdings;

	if (job->ix >= n) {
		g->nr_holdings = job->ix + 64;
		g->holding = xreallocarray(g->holding, g->nr_holdings,
					   sizeof(*g->holding));
		memset(g->holding + n, 0,
		       (g->nr_holdings - n) * sizeof(*g->holding));
	}
	return &g->holding[job->ix];
}

static void need_rows(struct gantt *g, uint32_t n)
{
	if (n <= g->nr_rows)
		return;
	g->used = xreallocarray(g->used, n, sizeof(*g->used));
	memset(g->used + g->nr_rows, 0, (n - g->nr_rows) * sizeof(*g->used));
	g->nr_rows = n;
}

static void add_bar(struct gantt *g, struct bar bar)
{
	if (g->nr == GANTT_MAX) {
		g->too_many = true;
		return;
	}
	array_room(g->bar, g->nr, &g->cap);
	g->bar[g->nr++] = bar;
}

/* What the job held until now becomes bars, one for each run of rows. */
static void let_go(struct gantt *g, const struct job *job, usec_t now)
{
	struct holding *h = holding_of(g, job);

	for (uint32_t i = 0, k; i < h->n; i = k) {
		for (k = i + 1; k < h->n && h->row[k] == h->row[k - 1] + 1; k++)
			;
		if (now > h->since)
			add_bar(g, (struct bar){ job->id, h->since, now,
						 h->row[i], k - i });
	}
	for (uint32_t i = 0; i < h->n; i++)
		g->used[h->row[i]] = false;
	free(h->row);
	*h = (struct holding){ 0 };
}

static int by_number(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static void take_rows(struct gantt *g, const struct job *job, usec_t now)
{
	struct holding *h = holding_of(g, job);
	uint32_t next = 0;

	h->row = xcalloc(job->n, sizeof(*h->row));
	h->n = job->n;
	h->since = now;
	for (uint32_t i = 0; i < job->n; i++) {
		if (job->hosts) {
			h->row[i] = job->hosts[i];
		} else {
			while (next < g->nr_rows && g->used[next])
				next++;
			h->row[i] = next;
		}
		need_rows(g, h->row[i] + 1);
		g->used[h->row[i]] = true;
	}
	qsort(h->row, h->n, sizeof(*h->row), by_number);
}

void gantt_note(struct gantt *g, const struct view *view, const struct event *e)
{
	if (g->begin < 0)
		g->begin = view->now;
	g->end = view->now;
	need_rows(g, view->nr_hosts);
	switch (e->type) {
	case EVENT_START:
	case EVENT_RESUME:
		take_rows(g, e->job, view->now);
		break;
	case EVENT_RESIZE:
	case EVENT_MIGRATE:
		let_go(g, e->job, view->now);
		if (e->job->state == JOB_RUNNING)
			take_rows(g, e->job, view->now);
		break;
	case EVENT_SUSPEND:
	case EVENT_REQUEUE:
	case EVENT_END:
		let_go(g, e->job, view->now);
		break;
	default:
		break;
	}
}

enum { LEFT = 60, TOP = 40, WIDTH = 1100, BOTTOM = 50 };

/* Okabe and Ito's, which keep apart for the colour-blind; neighbouring ids
 * differ in colour, and those seven apart in strength. */
static const char *const colours[] = { "#0072b2", "#e69f00", "#009e73",
				       "#cc79a7", "#56b4e9", "#d55e00",
				       "#b0a000" };
enum { NR_COLOURS = sizeof(colours) / sizeof(*colours) };

static void write_bar(const struct gantt *g, const struct bar *b, double x,
		      double y, FILE *to)
{
	double left = LEFT + (double)(b->from - g->begin) * x;
	double top = TOP + b->row * y;
	double width = (double)(b->to - b->from) * x, height = b->rows * y;
	int strength = 90 - (int)((uint64_t)b->job / NR_COLOURS % 3) * 20;
	char id[24];
	int digits = snprintf(id, sizeof(id), "%" PRId64, b->job);

	fprintf(to,
		"<g><title>job %s, %" PRIu32
		" processors, %.6g s to %.6g s</title><rect x=\"%.2f\" "
		"y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" fill=\"%s\" "
		"fill-opacity=\"0.%d\"/>",
		id, b->rows, usec_to_seconds(b->from - g->begin),
		usec_to_seconds(b->to - g->begin), left, top, width, height,
		colours[(uint64_t)b->job % NR_COLOURS], strength);
	if (width > 7. * digits + 4 && height > 13)
		fprintf(to,
			"<text x=\"%.1f\" y=\"%.1f\" "
			"text-anchor=\"middle\">%s</text>",
			left + width / 2, top + height / 2 + 4, id);
	fputs("</g>\n", to);
}

static void write_axes(const struct gantt *g, double height, FILE *to)
{
	double span = usec_to_seconds(g->end - g->begin), unit, step;
	const char *name;

	fprintf(to,
		"<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%.2f\" "
		"fill=\"none\" stroke=\"#444\"/>\n",
		LEFT, TOP, WIDTH, height);
	unit = plot_time_unit(span, &name);
	step = span > 0 ? plot_step(span / unit, 10) : 1;
	for (int i = 0; i * step * unit <= span; i++) {
		double x =
			LEFT + (span > 0 ? WIDTH * i * step * unit / span : 0);

		fprintf(to,
			"<path d=\"M%.1f %.1f v5\" stroke=\"#444\"/>\n"
			"<text x=\"%.1f\" y=\"%.1f\" "
			"text-anchor=\"middle\">%.6g</text>\n",
			x, TOP + height, x, TOP + height + 18, i * step);
	}
	step = g->nr_rows > 1 ? fmax(1, plot_step(g->nr_rows, 8)) : 1;
	for (int i = 0; i * step <= g->nr_rows; i++) {
		double y = TOP + height * i * step / fmax(1, g->nr_rows);

		fprintf(to,
			"<path d=\"M%d %.1f h-5\" stroke=\"#444\"/>\n"
			"<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">"
			"%.6g</text>\n",
			LEFT, y, LEFT - 8, y + 4, i * step);
	}
	fprintf(to,
		"<text x=\"%d\" y=\"%.1f\" text-anchor=\"middle\">%s</text>\n"
		"<text x=\"%.1f\" y=\"16\" text-anchor=\"middle\" "
		"transform=\"rotate(-90)\">processors</text>\n"
		"<text x=\"%d\" y=\"24\" text-anchor=\"end\" fill=\"#444\">"
		"a colour and a number for each job; white: idle</text>\n",
		LEFT + WIDTH / 2, TOP + height + 38, name, -(TOP + height / 2),
		LEFT + WIDTH);
}

int gantt_write(const struct gantt *g, const char *title, FILE *to,
		struct error *err)
{
	double span = (double)(g->end - g->begin);
	double x = span > 0 ? WIDTH / span : 0;
	double height = g->nr_rows < 30 ? 20. * g->nr_rows : 600;
	double y = g->nr_rows ? height / g->nr_rows : 0;

	if (g->too_many || g->nr_rows > MAX_ROWS)
		return error_set(err, -E2BIG,
				 "a Gantt chart shows at most %d bars on %d "
				 "processors: take fewer jobs, with --jobs N",
				 GANTT_MAX, MAX_ROWS);
	fprintf(to,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" "
		"height=\"%.0f\" viewBox=\"0 0 %d %.0f\" "
		"font-family=\"sans-serif\" font-size=\"12\">\n"
		"<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n"
		"<text x=\"%d\" y=\"24\" font-size=\"15\">",
		LEFT + WIDTH + 30, TOP + height + BOTTOM, LEFT + WIDTH + 30,
		TOP + height + BOTTOM, LEFT);
	plot_text(title, to);
	fputs("</text>\n", to);
	for (size_t i = 0; i < g->nr; i++)
		write_bar(g, &g->bar[i], x, y, to);
	write_axes(g, height, to);
	fputs("</svg>\n", to);
	return 0;
}
