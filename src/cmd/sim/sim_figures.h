/* sim_figures.h - the pictures and tables over time that stint sim makes */
#ifndef CMD_SIM_SIM_FIGURES_H
#define CMD_SIM_SIM_FIGURES_H

#include "core/error.h"
#include "sim/engine/sim.h"
#include "sim/report/gantt.h"
#include "sim/report/output.h"
#include "sim/report/series.h"

struct sim_figures {
	const char *series_path, *plot_path, *gantt_path; /* NULL: not wanted */

	struct window window;
	usec_t begin, end; /* first and last event */
	struct output *table, *plot, *chart;
	struct series *series;
	struct gantt *gantt;
	struct sim_observer observer;
};

/* Of which time they are: "FROM:TO" since the first event, either may be left out. */
int sim_figures_window(struct sim_figures *f, const char *text,
		       struct error *err) must_check;

/*
 * Open the files that are wanted, before the run.  Returns the observer for
 * the run in *ret, or NULL in it when nothing is wanted.
 */
int sim_figures_open(struct sim_figures *f, const struct sim_observer **ret,
		     struct error *err) must_check;

/* What tells of the run, for the files of it. */
struct sim_figures_run {
	const char *title; /* short */
	const char *note;  /* everything that determines it */
	int64_t seed;
};

/* Write and name them, after the run. */
int sim_figures_commit(struct sim_figures *f, const struct sim_figures_run *run,
		       struct error *err) must_check;

/* Free, and remove what was not committed. */
void sim_figures_clear(struct sim_figures *f);

#endif
