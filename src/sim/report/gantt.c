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
	uint32_t of;	    /* that its job has then */
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
	struct window window;
	char **name; /* of the rows, where they are hosts that have any */
	uint32_t nr_names;
};

struct gantt *gantt_create(const struct window *window)
{
	struct gantt *g = xcalloc(1, sizeof(*g));

	g->begin = -1;
	g->window = *window;
	return g;
}

void gantt_destroy(struct gantt *g)
{
	if (!g)
		return;
	for (size_t i = 0; i < g->nr_holdings; i++)
		free(g->holding[i].row);
	free(g->holding);
	for (uint32_t i = 0; i < g->nr_names; i++)
		free(g->name[i]);
	free(g->name);
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
	if (bar.to <= window_begin(&g->window, g->begin) ||
	    bar.from >= window_end(&g->window, g->begin))
		return;
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
						 h->row[i], k - i, h->n });
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

static void keep_names(struct gantt *g, const struct view *view)
{
	if (!view->nr_hosts || !view->hosts[0].name || !*view->hosts[0].name)
		return;
	g->nr_names = view->nr_hosts;
	g->name = xcalloc(g->nr_names, sizeof(*g->name));
	for (uint32_t i = 0; i < g->nr_names; i++)
		g->name[i] = xstrdup(view->hosts[i].name);
}

void gantt_note(struct gantt *g, const struct view *view, const struct event *e)
{
	if (g->begin < 0) {
		g->begin = view->now;
		keep_names(g, view);
	}
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

enum { LEFT = 60, TOP = 40, BOTTOM = 50, NAMES = 90 };

/* Where what is drawn. */
struct chart {
	double from, to; /* seconds since the first event */
	double left, width, height;
	double x, y; /* of a second, of a row */
};

/* Wider and higher where there is more to see: a row has 5 points at least, as far as the
 * picture is not higher than a few pages, and a screen is as wide as a thousand bars. */
static struct chart make_chart(const struct gantt *g)
{
	usec_t end = window_end(&g->window, g->begin);
	struct chart c = { .from = usec_to_seconds(g->window.from) };
	double more = sqrt((double)g->nr / 1000);

	c.to = usec_to_seconds((end < g->end ? end : g->end) - g->begin);
	c.left = g->nr_names ? NAMES : LEFT;
	c.width = 1100 * fmin(8, fmax(1, more));
	c.height = g->nr_rows < 30 ? 20. * g->nr_rows
				   : fmax(600, fmin(3000, 5. * g->nr_rows));
	c.x = c.to > c.from ? c.width / (c.to - c.from) : 0;
	c.y = g->nr_rows ? c.height / g->nr_rows : 0;
	return c;
}

/* Okabe and Ito's, which keep apart for the colour-blind; neighbouring ids
 * differ in colour, and those seven apart in strength. */
static const char *const colours[] = { "#0072b2", "#e69f00", "#009e73",
				       "#cc79a7", "#56b4e9", "#d55e00",
				       "#b0a000" };
enum { NR_COLOURS = sizeof(colours) / sizeof(*colours) };

static void write_bar(const struct gantt *g, const struct chart *c,
		      const struct bar *b, FILE *to)
{
	double from = usec_to_seconds(b->from - g->begin);
	double until = usec_to_seconds(b->to - g->begin);
	double left = c->left + (fmax(from, c->from) - c->from) * c->x;
	double width = (fmin(until, c->to) - fmax(from, c->from)) * c->x;
	double top = TOP + b->row * c->y, height = b->rows * c->y;
	int strength = 90 - (int)((uint64_t)b->job / NR_COLOURS % 3) * 20;
	char id[24], of[24] = "";
	int digits = snprintf(id, sizeof(id), "%" PRId64, b->job);

	if (b->of > b->rows)
		snprintf(of, sizeof(of), " of %" PRIu32, b->of);
	fprintf(to,
		"<g><title>job %s, %" PRIu32 "%s processor%s, %.12g s to %.12g "
		"s</title><rect x=\"%.2f\" "
		"y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" fill=\"%s\" "
		"fill-opacity=\"0.%d\"/>",
		id, b->rows, of, b->of > 1 ? "s" : "", from, until, left, top,
		width, height, colours[(uint64_t)b->job % NR_COLOURS],
		strength);
	if (width > 7. * digits + 4 && height > 13)
		fprintf(to,
			"<text x=\"%.1f\" y=\"%.1f\" "
			"text-anchor=\"middle\">%s</text>",
			left + width / 2, top + height / 2 + 4, id);
	fputs("</g>\n", to);
}

/* At multiples of a round step, as far as there is data. */
static void write_times(const struct chart *c, FILE *to)
{
	const char *name;
	double unit = plot_time_unit(c->to, &name);
	double span = (c->to - c->from) / unit;
	double step = span > 0 ? plot_step(span, (int)(c->width / 110)) : 1;
	double first = ceil(c->from / unit / step - 1e-9);

	for (int i = 0; (first + i) * step * unit <= c->to; i++) {
		double t = (first + i) * step;
		double x = c->left + (t * unit - c->from) * c->x;

		fprintf(to,
			"<path d=\"M%.1f %.1f v5\" stroke=\"#444\"/>\n"
			"<text x=\"%.1f\" y=\"%.1f\" "
			"text-anchor=\"middle\">%.6g</text>\n",
			x, TOP + c->height, x, TOP + c->height + 18, t);
	}
	fprintf(to,
		"<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%s"
		"</text>\n",
		c->left + c->width / 2, TOP + c->height + 38, name);
}

static void write_row_label(const struct gantt *g, const struct chart *c,
			    uint32_t row, FILE *to)
{
	double y = TOP + row * c->y;

	fprintf(to,
		"<path d=\"M%.0f %.1f h-5\" stroke=\"#444\"/>\n"
		"<text x=\"%.0f\" y=\"%.1f\" text-anchor=\"end\">",
		c->left, y, c->left - 8, y + 4 + (g->nr_names ? c->y / 2 : 0));
	if (row < g->nr_names)
		plot_text(g->name[row], to);
	else if (!g->nr_names)
		fprintf(to, "%" PRIu32, row);
	fputs("</text>\n", to);
}

static void write_axes(const struct gantt *g, const struct chart *c, FILE *to)
{
	double step = fmax(1, plot_step(fmax(1, g->nr_rows),
					(int)fmax(8, c->height / 75)));

	/* Of hosts every name that there is room for. */
	if (g->nr_names && c->y >= 12)
		step = 1;
	fprintf(to,
		"<rect x=\"%.0f\" y=\"%d\" width=\"%.0f\" height=\"%.2f\" "
		"fill=\"none\" stroke=\"#444\"/>\n",
		c->left, TOP, c->width, c->height);
	write_times(c, to);
	for (int i = 0; i * step <= g->nr_rows; i++)
		write_row_label(g, c, (uint32_t)(i * step), to);
	fprintf(to,
		"<text x=\"%.1f\" y=\"16\" text-anchor=\"middle\" "
		"transform=\"rotate(-90)\">processors</text>\n"
		"<text x=\"%.0f\" y=\"24\" text-anchor=\"end\" "
		"fill=\"#444\">"
		"a colour and a number for each job; white: idle</text>\n",
		-(TOP + c->height / 2), c->left + c->width);
}

int gantt_write(const struct gantt *g, const char *title, const char *note,
		FILE *to, struct error *err)
{
	const struct chart c = make_chart(g);
	double width = c.left + c.width + 30, height = TOP + c.height + BOTTOM;

	if (g->too_many || g->nr_rows > MAX_ROWS)
		return error_set(err, -E2BIG,
				 "a Gantt chart shows at most %d bars on %d "
				 "processors: take less of the time, with "
				 "--window FROM:TO, or fewer jobs, with --jobs",
				 GANTT_MAX, MAX_ROWS);
	fprintf(to,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" "
		"height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\" "
		"font-family=\"sans-serif\" font-size=\"12\">\n",
		width, height, width, height);
	plot_note(note, to);
	fprintf(to,
		"<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n"
		"<text x=\"%.0f\" y=\"24\" font-size=\"15\">",
		c.left);
	plot_text(title, to);
	fputs("</text>\n", to);
	for (size_t i = 0; i < g->nr; i++)
		write_bar(g, &c, &g->bar[i], to);
	write_axes(g, &c, to);
	fputs("</svg>\n", to);
	return 0;
}
