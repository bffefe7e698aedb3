/* plot.c - curves as SVG, see plot.h */
#include "sim/plot.h"

#include <math.h>
#include <stdbool.h>

enum {
	WIDTH = 720,
	HEIGHT = 440,
	LEFT = 70,
	RIGHT = 170, /* the legend's room */
	DENSE = 100, /* points from which on markers would hide the line */
	TOP = 40,
	BOTTOM = 55,
};

struct scale {
	double min, max, step;
};

struct frame {
	struct scale x, y;
};

static const char *const colours[] = { "#0072b2", "#d55e00", "#009e73",
				       "#cc79a7", "#56b4e9", "#e69f00",
				       "#000000", "#999933" };
enum { NR_COLOURS = sizeof(colours) / sizeof(*colours) };

/* A distance between ticks of 1, 2 or 5 times a power of ten. */
static double round_step(double span, int ticks)
{
	double raw = span / ticks, power = pow(10, floor(log10(raw)));
	double lead = raw / power;

	return power * (lead <= 1 ? 1 : lead <= 2 ? 2 : lead <= 5 ? 5 : 10);
}

static struct scale scale_make(double min, double max)
{
	struct scale s;

	if (!(max > min))
		max = min + 1;
	s.step = round_step(max - min, 6);
	s.min = floor(min / s.step + 1e-9) * s.step;
	s.max = ceil(max / s.step - 1e-9) * s.step;
	return s;
}

static bool point_is_finite(const struct plot_point *p)
{
	return isfinite(p->x) && isfinite(p->y);
}

static struct frame frame_make(const struct plot *plot)
{
	double x0 = INFINITY, x1 = -INFINITY, y1 = 0;

	for (size_t l = 0; l < plot->nr; l++)
		for (size_t i = 0; i < plot->line[l].nr; i++) {
			const struct plot_point *p = &plot->line[l].point[i];

			if (!point_is_finite(p))
				continue;
			x0 = fmin(x0, p->x);
			x1 = fmax(x1, p->x);
			y1 = fmax(y1, isfinite(p->high) ? p->high : p->y);
		}
	if (plot->y_max > 0)
		y1 = plot->y_max;
	if (!isfinite(x0))
		x0 = x1 = 0;
	return (struct frame){ scale_make(x0, x1), scale_make(0, y1) };
}

static double at_x(const struct frame *f, double x)
{
	return LEFT +
	       (x - f->x.min) / (f->x.max - f->x.min) * (WIDTH - LEFT - RIGHT);
}

static double at_y(const struct frame *f, double y)
{
	return HEIGHT - BOTTOM -
	       (y - f->y.min) / (f->y.max - f->y.min) * (HEIGHT - TOP - BOTTOM);
}

static void write_text(FILE *to, double x, double y, const char *anchor,
		       const char *extra, const char *text)
{
	fprintf(to, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\"%s>", x, y,
		anchor, extra);
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
			LEFT, p, WIDTH - RIGHT);
		write_text(to, LEFT - 8, p + 4, "end", "", label);
	}
}

static void write_axes(FILE *to, const struct plot *plot, const struct frame *f)
{
	double middle = (LEFT + WIDTH - RIGHT) / 2.;

	for (int i = 0; f->x.min + i * f->x.step < f->x.max + f->x.step / 2;
	     i++)
		write_tick(to, f, true, f->x.min + i * f->x.step);
	for (int i = 0; f->y.min + i * f->y.step < f->y.max + f->y.step / 2;
	     i++)
		write_tick(to, f, false, f->y.min + i * f->y.step);
	fprintf(to,
		"<path d=\"M%d %d V%d H%d\" fill=\"none\" "
		"stroke=\"#000\"/>\n",
		LEFT, TOP, HEIGHT - BOTTOM, WIDTH - RIGHT);
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

static void write_legend(FILE *to, const struct plot *plot)
{
	for (size_t l = 0; l < plot->nr; l++) {
		double y = TOP + 12 + 20. * (double)l;

		fprintf(to,
			"<path d=\"M%d %.1f h24\" stroke=\"%s\" "
			"stroke-width=\"1.6\"/>\n",
			WIDTH - RIGHT + 14, y, colours[l % NR_COLOURS]);
		write_marker(to, l, WIDTH - RIGHT + 26, y);
		write_text(to, WIDTH - RIGHT + 46, y + 4, "start", "",
			   plot->line[l].label);
	}
}

void plot_write(const struct plot *plot, FILE *to)
{
	struct frame f = frame_make(plot);

	fprintf(to,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" "
		"viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" "
		"font-family=\"sans-serif\" font-size=\"12\">\n"
		"<rect width=\"%d\" height=\"%d\" fill=\"#fff\"/>\n"
		"<clipPath id=\"frame\"><rect x=\"%d\" y=\"%d\" "
		"width=\"%d\" height=\"%d\"/></clipPath>\n",
		WIDTH, HEIGHT, WIDTH, HEIGHT, WIDTH, HEIGHT, LEFT, TOP - 5,
		WIDTH - LEFT - RIGHT + 5, HEIGHT - TOP - BOTTOM + 10);
	write_axes(to, plot, &f);
	for (size_t l = 0; l < plot->nr; l++)
		write_line(to, &plot->line[l], &f, l);
	write_legend(to, plot);
	fputs("</svg>\n", to);
}
