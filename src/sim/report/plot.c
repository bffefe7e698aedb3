/* plot.c - curves as SVG, see plot.h */
#include "sim/report/plot.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <strings.h>

enum {
	HEIGHT = PLOT_HEIGHT,
	LEFT = 70,
	NARROW = 480, /* of the frame beside a legend */
	MARGIN = 30,
	MARK = 46,     /* legend: where the labels begin */
	CHARACTER = 7, /* of a label, about */
	DENSE = 100,   /* points from which on markers would hide the line */
	TOP = 40,
	BOTTOM = 55,
};

struct scale {
	double min, max, step;
	bool log; /* min, max: decimal logarithms */
};

struct frame {
	struct scale x, y;
	int right; /* its right side; a legend begins there */
	int width; /* of the picture */
};

static const char *const colours[] = { "#0072b2", "#d55e00", "#009e73",
				       "#cc79a7", "#56b4e9", "#e69f00",
				       "#000000", "#999933" };
enum { NR_COLOURS = sizeof(colours) / sizeof(*colours) };

double plot_step(double span, int ticks)
{
	double raw = span / ticks, power = pow(10, floor(log10(raw)));
	double lead = raw / power;

	return power * (lead <= 1 ? 1 : lead <= 2 ? 2 : lead <= 5 ? 5 : 10);
}

double plot_time_unit(double span, const char **ret_label)
{
	double day = 86400, hour = 3600;

	*ret_label = span > 4 * day    ? "time, days"
		     : span > 4 * hour ? "time, hours"
				       : "time, seconds";
	return span > 4 * day ? day : span > 4 * hour ? hour : 1;
}

static struct scale scale_make(double min, double max)
{
	struct scale s = { .log = false };

	if (!(max > min))
		max = min + 1;
	s.step = plot_step(max - min, 6);
	s.min = floor(min / s.step + 1e-9) * s.step;
	s.max = ceil(max / s.step - 1e-9) * s.step;
	return s;
}

/* 1, 2 or 5 times a power of ten next to x > 0: not above, or not below. */
static double round_mark(double x, bool up)
{
	static const double lead[] = { 1, 2, 5, 10 };
	double power = pow(10, floor(log10(x)));
	double best = up ? 10 * power : power;

	for (int i = 0; i < 4; i++) {
		double mark = lead[up ? 3 - i : i] * power;

		if (up ? mark >= x * (1 - 1e-9) : mark <= x * (1 + 1e-9))
			best = mark;
	}
	return best;
}

static struct scale scale_log(double min, double max)
{
	return (struct scale){ .min = log10(round_mark(min, false)),
			       .max = log10(round_mark(max * 1.0001, true)),
			       .log = true };
}

static bool point_is_finite(const struct plot_point *p)
{
	return isfinite(p->x) && isfinite(p->y);
}

/* What lies beside the frame, on the right. */
static int legend_width(const struct plot *plot)
{
	size_t longest = 0;

	for (size_t l = 0; l < plot->nr; l++)
		if (strlen(plot->line[l].label) > longest)
			longest = strlen(plot->line[l].label);
	return plot->nr > 1 ? MARK + CHARACTER * (int)longest + 10 : MARGIN;
}

static struct frame frame_make(const struct plot *plot)
{
	double x0 = INFINITY, x1 = -INFINITY, y0 = INFINITY, y1 = 0;
	struct frame f = { .right = plot->nr > 1 ? LEFT + NARROW
						 : PLOT_WIDTH - MARGIN };

	for (size_t l = 0; l < plot->nr; l++)
		for (size_t i = 0; i < plot->line[l].nr; i++) {
			const struct plot_point *p = &plot->line[l].point[i];

			if (!point_is_finite(p))
				continue;
			x0 = fmin(x0, p->x);
			x1 = fmax(x1, p->x);
			y0 = p->y > 0 ? fmin(y0, p->y) : y0;
			y1 = fmax(y1, isfinite(p->high) ? p->high : p->y);
		}
	if (plot->y_max > 0)
		y1 = plot->y_max;
	if (!isfinite(x0))
		x0 = x1 = 0;
	f.x = scale_make(x0, x1);
	if (plot->tight_x && x1 > x0) {
		f.x.min = x0;
		f.x.max = x1;
	}
	f.y = plot->log_y && y0 < y1 ? scale_log(y0, y1) : scale_make(0, y1);
	f.width = f.right + legend_width(plot);
	return f;
}

static double at_x(const struct frame *f, double x)
{
	return LEFT +
	       (x - f->x.min) / (f->x.max - f->x.min) * (f->right - LEFT);
}

/* On a logarithmic scale what is not above 0 is at its foot. */
static double at_y(const struct frame *f, double y)
{
	if (f->y.log)
		y = y > 0 ? fmax(log10(y), f->y.min) : f->y.min;
	return HEIGHT - BOTTOM -
	       (y - f->y.min) / (f->y.max - f->y.min) * (HEIGHT - TOP - BOTTOM);
}

void plot_text(const char *text, FILE *to)
{
	for (; *text; text++)
		switch (*text) {
		case '<':
			fputs("&lt;", to);
			break;
		case '>':
			fputs("&gt;", to);
			break;
		case '&':
			fputs("&amp;", to);
			break;
		default:
			fputc(*text, to);
		}
}

int plot_check_name(const char *option, const char *path, struct error *err)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	const char *dot = strrchr(name, '.');

	if (!dot || dot == name || !strcasecmp(dot, ".svg"))
		return 0;
	return error_set(
		err, -EINVAL,
		"%s: '%.200s' is to be a picture, and these are SVG: call "
		"it .svg",
		option, path);
}

void plot_note(const char *note, FILE *to)
{
	fputs("<desc>stint " STINT_VERSION, to);
	if (note) {
		fputs(", ", to);
		plot_text(note, to);
	}
	fputs("</desc>\n", to);
}

static void write_text(FILE *to, double x, double y, const char *anchor,
		       const char *extra, const char *text)
{
	fprintf(to, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\"%s>", x, y,
		anchor, extra);
	plot_text(text, to);
	fputs("</text>\n", to);
}

static void write_tick(FILE *to, const struct frame *f, bool is_x, double v)
{
	char label[32];
	double p = is_x ? at_x(f, v) : at_y(f, v);

	snprintf(label, sizeof(label), "%.6g", fabs(v) < 1e-12 ? 0 : v);
	if (is_x) {
		fprintf(to, "<path d=\"M%.1f %d V%d\" stroke=\"#ddd\"/>\n", p,
			TOP, HEIGHT - BOTTOM);
		write_text(to, p, HEIGHT - BOTTOM + 18, "middle", "", label);
	} else {
		fprintf(to, "<path d=\"M%d %.1f H%d\" stroke=\"#ddd\"/>\n",
			LEFT, p, f->right);
		write_text(to, LEFT - 8, p + 4, "end", "", label);
	}
}

/* At multiples of the step, as far as they are within the axis. */
static void write_x_ticks(FILE *to, const struct frame *f)
{
	const struct scale *s = &f->x;
	double first = ceil(s->min / s->step - 1e-9) * s->step;

	for (int i = 0; first + i * s->step < s->max + s->step * 1e-9; i++)
		write_tick(to, f, true, first + i * s->step);
}

static void write_y_ticks(FILE *to, const struct frame *f)
{
	const struct scale *s = &f->y;
	double y = pow(10, s->min);

	if (s->log)
		for (; log10(y) < s->max + 1e-9;
		     y = round_mark(y * 1.001, true))
			write_tick(to, f, false, y);
	else
		for (int i = 0; s->min + i * s->step < s->max + s->step / 2;
		     i++)
			write_tick(to, f, false, s->min + i * s->step);
}

static void write_axes(FILE *to, const struct plot *plot, const struct frame *f)
{
	double middle = (LEFT + f->right) / 2.;

	write_x_ticks(to, f);
	write_y_ticks(to, f);
	fprintf(to,
		"<path d=\"M%d %d V%d H%d\" fill=\"none\" "
		"stroke=\"#000\"/>\n",
		LEFT, TOP, HEIGHT - BOTTOM, f->right);
	if (plot->title)
		write_text(to, middle, TOP - 16, "middle", " font-size=\"14\"",
			   plot->title);
	if (plot->x_label)
		write_text(to, middle, HEIGHT - 14, "middle", "",
			   plot->x_label);
	if (plot->y_label)
		write_text(to, -(TOP + HEIGHT - BOTTOM) / 2., 18, "middle",
			   " transform=\"rotate(-90)\"", plot->y_label);
}

static void write_marker(FILE *to, size_t kind, double x, double y)
{
	const char *colour = colours[kind % NR_COLOURS];

	switch (kind % 4) {
	case 0:
		fprintf(to, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3.5\"", x, y);
		break;
	case 1:
		fprintf(to,
			"<rect x=\"%.1f\" y=\"%.1f\" width=\"6.4\" "
			"height=\"6.4\"",
			x - 3.2, y - 3.2);
		break;
	case 2:
		fprintf(to, "<path d=\"M%.1f %.1f l4 7 h-8 z\"", x, y - 4.5);
		break;
	default:
		fprintf(to, "<path d=\"M%.1f %.1f l4 4 l-4 4 l-4 -4 z\"", x,
			y - 4);
	}
	fprintf(to, " fill=\"%s\"/>\n", colour);
}

/* The curve, its bars and its markers, cut at the frame. */
static void write_line(FILE *to, const struct plot_line *line,
		       const struct frame *f, size_t kind)
{
	const char *colour = colours[kind % NR_COLOURS];
	const char *verb = "M";

	fprintf(to,
		"<g clip-path=\"url(#frame)\">\n<path fill=\"none\" "
		"stroke=\"%s\" stroke-width=\"1.6\" d=\"",
		colour);
	for (size_t i = 0; i < line->nr; i++) {
		const struct plot_point *p = &line->point[i];

		if (!point_is_finite(p))
			continue;
		fprintf(to, "%s%.1f %.1f", verb, at_x(f, p->x), at_y(f, p->y));
		verb = " L";
	}
	fputs("\"/>\n", to);
	for (size_t i = 0; i < line->nr; i++) {
		const struct plot_point *p = &line->point[i];

		if (!point_is_finite(p))
			continue;
		if (isfinite(p->low) && isfinite(p->high) && p->high > p->low)
			fprintf(to,
				"<path d=\"M%.1f %.1f V%.1f\" "
				"stroke=\"%s\"/>\n",
				at_x(f, p->x), at_y(f, p->low),
				at_y(f, p->high), colour);
		if (line->nr < DENSE)
			write_marker(to, kind, at_x(f, p->x), at_y(f, p->y));
	}
	fputs("</g>\n", to);
}

static void write_legend(FILE *to, const struct plot *plot,
			 const struct frame *f)
{
	for (size_t l = 0; l < plot->nr; l++) {
		double y = TOP + 12 + 20. * (double)l;

		fprintf(to,
			"<path d=\"M%d %.1f h24\" stroke=\"%s\" "
			"stroke-width=\"1.6\"/>\n",
			f->right + 14, y, colours[l % NR_COLOURS]);
		write_marker(to, l, f->right + 26, y);
		write_text(to, f->right + MARK, y + 4, "start", "",
			   plot->line[l].label);
	}
}

void plot_write(const struct plot *plot, FILE *to)
{
	struct frame f = frame_make(plot);

	fprintf(to,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" "
		"viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" "
		"font-family=\"sans-serif\" font-size=\"12\">\n",
		f.width, HEIGHT, f.width, HEIGHT);
	plot_note(plot->note, to);
	fprintf(to,
		"<rect width=\"%d\" height=\"%d\" fill=\"#fff\"/>\n"
		"<clipPath id=\"frame\"><rect x=\"%d\" y=\"%d\" "
		"width=\"%d\" height=\"%d\"/></clipPath>\n",
		f.width, HEIGHT, LEFT - 4, TOP - 5, f.right - LEFT + 8,
		HEIGHT - TOP - BOTTOM + 10);
	write_axes(to, plot, &f);
	for (size_t l = 0; l < plot->nr; l++)
		write_line(to, &plot->line[l], &f, l);
	if (plot->nr > 1)
		write_legend(to, plot, &f);
	fputs("</svg>\n", to);
}
