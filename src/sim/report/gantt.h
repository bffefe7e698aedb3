/*
 * gantt.h - which job had which processor when, as SVG
 *
 * An observer that keeps a bar for every stretch of time in which a job's
 * processors did not change.  On a machine of hosts the rows are the hosts the
 * policy chose; on one that only counts processors every job is given the
 * lowest free ones, so that the picture is one of the schedules that the
 * counts allow.  The picture grows with the number of bars and processors, so that
 * thousands can be told apart.
 */
#ifndef SIM_REPORT_GANTT_H
#define SIM_REPORT_GANTT_H

#include <stdio.h>

#include "core/error.h"
#include "model/event.h"
#include "model/view.h"
#include "sim/report/window.h"

/* More bars than this make no readable picture and are refused. */
#define GANTT_MAX 100000

struct gantt;

/* Of that stretch of time alone. */
struct gantt *gantt_create(const struct window *window);
void gantt_destroy(struct gantt *g); /* NULL is allowed */

/* An event was applied to view. */
void gantt_note(struct gantt *g, const struct view *view,
		const struct event *e);

/* -E2BIG, with nothing written, when there were too many bars or processors. */
int gantt_write(const struct gantt *g, const char *title, const char *note,
		FILE *to, struct error *err) must_check;

#endif
