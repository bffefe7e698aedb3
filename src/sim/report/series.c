/* series.c - averages over spans of time that widen, see series.h */
#include "sim/report/series.h"

#include <inttypes.h>
#include <stdlib.h>

#include "core/xalloc.h"
#include "sim/report/plot.h"

static void add_span(struct series_span *to, const struct series_span *what,
		     double times)
{
	to->waiting += what->waiting * times;
	to->running += what->running * times;
	to->allocated += what->allocated * times;
	to->demand += what->demand * times;
}

/* Spans of twice the width, half as many. */
static void widen(struct series *s)
{
	for (size_t i = 0; i < SERIES_MAX / 2; i++) {
		struct series_span sum = s->span[2 * i];

		add_span(&sum, &s->span[2 * i + 1], 1);
		s->span[i] = sum;
	}
	for (size_t i = SERIES_MAX / 2; i < SERIES_MAX; i++)
		s->span[i] = (struct series_span){ 0 };
	s->nr = SERIES_MAX / 2;
	s->width *= 2;
}

/* The state as it is lasts until then. */
static void lasts_until(struct series *s, usec_t until)
{
	while (s->seen < until) {
		size_t i = (size_t)((s->seen - s->begin) / s->width);
		usec_t end;

		if (i >= SERIES_MAX) {
			widen(s);
			continue;
		}
		end = s->begin + (usec_t)(i + 1) * s->width;
		if (end > until)
			end = until;
		add_span(&s->span[i], &s->now, usec_to_seconds(end - s->seen));
		s->seen = end;
		if (i >= s->nr)
			s->nr = i + 1;
	}
}

void series_note(struct series *s, const struct view *view)
{
	usec_t end;

	if (!s->width) {
		s->width = USEC_PER_SEC;
		s->origin = view->now;
		s->begin = s->seen = window_begin(&s->window, s->origin);
	}
	end = window_end(&s->window, s->origin);
	lasts_until(s, view->now < end ? view->now : end);
	s->procs = view->nr_procs;
	s->now = (struct series_span){
		.waiting = view->nr_waiting,
		.running = view->nr_running,
		.allocated = (double)(view->nr_procs - view->nr_free),
		.demand = (double)view->demand,
	};
}

/* Seconds that span covers; the last one may not be full. */
static double seconds_in(const struct series *s, size_t i)
{
	usec_t from = s->begin + (usec_t)i * s->width;
	usec_t to = from + s->width;

	return usec_to_seconds((to > s->seen ? s->seen : to) - from);
}

static double middle(const struct series *s, size_t i)
{
	return usec_to_seconds(s->begin - s->origin) +
	       (double)i * (double)s->width / USEC_PER_SEC +
	       seconds_in(s, i) / 2;
}

void series_print(const struct series *s, int64_t seed, FILE *to)
{
	double procs = s->procs > 0 ? (double)s->procs : 1;

	fputs("seconds\twaiting\trunning\tutilization\tdemand\tseed\tversion\n",
	      to);
	for (size_t i = 0; i < s->nr; i++) {
		const struct series_span *p = &s->span[i];
		double t = seconds_in(s, i);

		fprintf(to,
			"%.12g\t%.6g\t%.6g\t%.6g\t%.6g\t%" PRId64
			"\t" STINT_VERSION "\n",
			middle(s, i), p->waiting / t, p->running / t,
			p->allocated / t / procs, p->demand / t / procs, seed);
	}
}

static void panel(const struct series *s, const char *title, const char *label,
		  size_t offset, double scale, double y_max, FILE *to)
{
	/* A curve of a few hundred points can be read. */
	size_t by = s->nr / 300 + 1, nr = (s->nr + by - 1) / by;
	struct plot_point *point = xcalloc(nr, sizeof(*point));
	struct plot_line line = { .label = label, .point = point, .nr = nr };
	struct plot plot = { .title = title,
			     .y_label = label,
			     .line = &line,
			     .nr = 1,
			     .y_max = y_max,
			     .tight_x = true };
	double unit = plot_time_unit(usec_to_seconds(s->seen - s->origin),
				     &plot.x_label);

	for (size_t i = 0; i < s->nr; i++) {
		const char *span = (const char *)&s->span[i];
		struct plot_point *p = &point[i / by];

		p->x += middle(s, i) / unit * seconds_in(s, i);
		p->y += *(const double *)(span + offset) / scale;
		p->low += seconds_in(s, i); /* the weight, for now */
	}
	for (size_t i = 0; i < nr; i++) {
		point[i].x /= point[i].low;
		point[i].y /= point[i].low;
		point[i].low = point[i].high = point[i].y;
	}
	plot_write(&plot, to);
	free(point);
}

void series_plot(const struct series *s, const char *title, const char *note,
		 FILE *to)
{
	fprintf(to,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" "
		"height=\"%d\" viewBox=\"0 0 %d %d\">\n",
		PLOT_WIDTH, 2 * PLOT_HEIGHT, PLOT_WIDTH, 2 * PLOT_HEIGHT);
	plot_note(note, to);
	fputs("<g>\n", to);
	panel(s, title, "utilization", offsetof(struct series_span, allocated),
	      s->procs > 0 ? (double)s->procs : 1, 1, to);
	fprintf(to, "</g>\n<g transform=\"translate(0 %d)\">\n", PLOT_HEIGHT);
	panel(s, NULL, "waiting jobs", offsetof(struct series_span, waiting), 1,
	      0, to);
	fputs("</g>\n</svg>\n", to);
}
