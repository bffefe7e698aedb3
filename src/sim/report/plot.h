/*
 * plot.h - curves as SVG, which any browser shows
 *
 * Lines through points, with intervals as bars, ticks at round numbers and,
 * for more than one, a legend as wide as its longest label.  The output depends
 * on the numbers alone: the same results give the same bytes.  Colours keep
 * apart for the colour-blind (Okabe and Ito), and markers differ too, for
 * paper.
 */
#ifndef SIM_REPORT_PLOT_H
#define SIM_REPORT_PLOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "core/error.h"

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
	bool log_y;   /* logarithmic, from the least value above 0 */
	bool tight_x; /* x is from the first point to the last, not to ticks */
	const char *
		note; /* what it shows the run of, for whoever repeats it; or NULL */
};

/* Of the picture without a legend. */
enum { PLOT_WIDTH = 720, PLOT_HEIGHT = 440 };

/* A distance between ticks of 1, 2 or 5 times a power of ten: about so many in
 * span, which is above 0. */
double plot_step(double span, int ticks);

/* A unit of time, in seconds, that keeps the numbers up to span seconds short;
 * *ret_label is an axis's. */
double plot_time_unit(double span, const char **ret_label);

/* Text with what XML would take for its own written as it wants it. */
void plot_text(const char *text, FILE *to);

/*
 * Is path a name for a picture?  -EINVAL, with one line that begins with option, if it ends in
 * that of another kind of file; one without such an end (-, a device) is good.
 */
int plot_check_name(const char *option, const char *path,
		    struct error *err) must_check;

/* What makes the picture again, in its file: this program's version and note. */
void plot_note(const char *note, FILE *to);

/* Points that are not finite are left out; y above y_max leaves the frame and
 * is cut there.  Whether it could be written shows in ferror(to). */
void plot_write(const struct plot *plot, FILE *to);

#endif
