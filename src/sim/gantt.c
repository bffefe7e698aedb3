/* gantt.c - bars of jobs on processors, see gantt.h */
#include "sim/gantt.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/xalloc.h"

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

static void take(struct gantt *g, const struct job *job, usec_t now)
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
		take(g, e->job, view->now);
		break;
	case EVENT_RESIZE:
	case EVENT_MIGRATE:
		let_go(g, e->job, view->now);
		if (e->job->state == JOB_RUNNING)
			take(g, e->job, view->now);
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

/* Neighbouring ids get colours that differ: steps of the golden angle. */
static void write_bar(const struct gantt *g, const struct bar *b, double x,
		      double y, FILE *to)
{
	fprintf(to,
		"<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" "
		"fill=\"hsl(%d 55%% %d%%)\"><title>job %" PRId64 ", %" PRIu32
		" processors, %.6g s to %.6g s</title></rect>\n",
		LEFT + (double)(b->from - g->begin) * x, TOP + b->row * y,
		(double)(b->to - b->from) * x, b->rows * y,
		(int)((uint64_t)b->job * 137 % 360),
		45 + (int)((uint64_t)b->job % 3) * 10, b->job, b->rows,
		(double)(b->from - g->begin) / USEC_PER_SEC,
		(double)(b->to - g->begin) / USEC_PER_SEC);
}

static void write_axes(const struct gantt *g, double height, FILE *to)
{
	double seconds = (double)(g->end - g->begin) / USEC_PER_SEC;
	double unit = seconds > 4 * 86400  ? 86400
		      : seconds > 4 * 3600 ? 3600
					   : 1;
	const char *name = unit == 86400  ? "days"
			   : unit == 3600 ? "hours"
					  : "seconds";

	fprintf(to,
		"<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%.2f\" "
		"fill=\"none\" stroke=\"#444\"/>\n",
		LEFT, TOP, WIDTH, height);
	for (int i = 0; i <= 10; i++)
		fprintf(to,
			"<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">"
			"%.4g</text>\n",
			LEFT + WIDTH * i / 10., TOP + height + 16,
			seconds / unit * i / 10);
	fprintf(to,
		"<text x=\"%d\" y=\"%.1f\" text-anchor=\"middle\">%s</text>\n"
		"<text x=\"%d\" y=\"%d\" text-anchor=\"end\">0</text>\n"
		"<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%" PRIu32
		"</text>\n",
		LEFT + WIDTH / 2, TOP + height + 36, name, LEFT - 6, TOP + 10,
		LEFT - 6, TOP + height, g->nr_rows);
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
		"height=\"%.0f\" font-family=\"sans-serif\" font-size=\"12\">\n"
		"<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n"
		"<text x=\"%d\" y=\"24\" font-size=\"15\">",
		LEFT + WIDTH + 30, TOP + height + BOTTOM, LEFT);
	for (const char *c = title; *c; c++)
		if (*c == '<' || *c == '&')
			fputs(*c == '<' ? "&lt;" : "&amp;", to);
		else
			fputc(*c, to);
	fputs("</text>\n<g fill-opacity=\"0.85\">\n", to);
	for (size_t i = 0; i < g->nr; i++)
		write_bar(g, &g->bar[i], x, y, to);
	fputs("</g>\n", to);
	write_axes(g, height, to);
	fputs("</svg>\n", to);
	return 0;
}
