/*
 * plot.h - curves as SVG, which any browser shows
 *
 * Lines through points, with intervals as bars, ticks at round numbers and a
 * legend.  The output depends on the numbers alone: the same results give the
 * same bytes.  Colours keep apart for the colour-blind (Okabe and Ito), and
 * markers differ too, for paper.
 */
#ifndef SIM_PLOT_H
#define SIM_PLOT_H

#include <stddef.h>
#include <stdio.h>

struct plot_point {
	double x, y;
	double low, high; /* interval; both y where there is none */
};

struct plot_line {
	const char *label;
	const struct plot_point *point;
	size_t nr;
};

struct plot {
	const char *title, *x_label, *y_label; /* any may be NULL */
	const struct plot_line *line;
	size_t nr;
	double y_max; /* the scale ends here; 0: at the greatest value */
};

/* Points that are not finite are left out; y above y_max leaves the frame and
 * is cut there.  Whether it could be written shows in ferror(to). */
void plot_write(const struct plot *plot, FILE *to);

#endif
