/* window.h - a stretch of the time of a run */
#ifndef SIM_REPORT_WINDOW_H
#define SIM_REPORT_WINDOW_H

#include "core/units.h"

/* From the first event on; to: 0 is no end.  All zero is all of the run. */
struct window {
	usec_t from, to;
};

/* Its ends, where the first event was at origin. */
static inline usec_t window_begin(const struct window *w, usec_t origin)
{
	return origin + w->from;
}

static inline usec_t window_end(const struct window *w, usec_t origin)
{
	return w->to ? origin + w->to : USEC_MAX;
}

#endif
