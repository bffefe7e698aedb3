/* sim_figures.c - pictures and tables over time, see sim_figures.h */
#include "cmd/sim/sim_figures.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/xalloc.h"

static void note(void *data, const struct view *view, const struct event *e)
{
	struct sim_figures *f = data;

	if (f->begin < 0)
		f->begin = view->now;
	f->end = view->now;
	if (f->series)
		series_note(f->series, view);
	if (f->gantt)
		gantt_note(f->gantt, view, e);
}

int sim_figures_open(struct sim_figures *f, const struct sim_observer **ret,
		     struct error *err)
{
	int r = 0;

	if (f->series_path)
		r = output_open(f->series_path, &f->table, err);
	if (!r && f->plot_path)
		r = output_open(f->plot_path, &f->plot, err);
	if (!r && f->gantt_path)
		r = output_open(f->gantt_path, &f->chart, err);
	if (r < 0)
		return r;
	if (f->table || f->plot) {
		f->series = xcalloc(1, sizeof(*f->series));
		f->series->window = f->window;
	}
	if (f->chart)
		f->gantt = gantt_create(&f->window);
	f->begin = -1;
	f->observer = (struct sim_observer){ .event = note, .data = f };
	*ret = f->series || f->gantt ? &f->observer : NULL;
	return 0;
}

/* Is there anything in it? */
static int check_window(const struct sim_figures *f, struct error *err)
{
	if (!f->window.from || f->begin + f->window.from < f->end)
		return 0;
	return error_set(err, -ERANGE,
			 "--window begins at %.6g s, and the run is over at "
			 "%.6g s",
			 usec_to_seconds(f->window.from),
			 usec_to_seconds(f->end - f->begin));
}

int sim_figures_window(struct sim_figures *f, const char *text,
		       struct error *err)
{
	struct window w = { 0 };
	const char *colon = strchr(text, ':');
	char *from =
		colon ? xasprintf("%.*s", (int)(colon - text), text) : NULL;
	bool good = colon;

	if (good && *from)
		good = !parse_usec(from, &w.from, NULL);
	if (good && colon[1])
		good = !parse_usec(colon + 1, &w.to, NULL) && w.to > w.from;
	free(from);
	if (!good)
		return error_set(err, -EINVAL,
				 "--window: '%s' is not FROM:TO, times since "
				 "the first event such as 2h:1d, of which one "
				 "may be left out",
				 text);
	f->window = w;
	return 0;
}

int sim_figures_commit(struct sim_figures *f, const struct sim_figures_run *run,
		       struct error *err)
{
	int r = check_window(f, err);

	if (r < 0)
		return r;
	if (f->table)
		series_print(f->series, run->seed, output_stream(f->table));
	if (f->plot)
		series_plot(f->series, run->title, run->note,
			    output_stream(f->plot));
	if (f->chart)
		r = gantt_write(f->gantt, run->title, run->note,
				output_stream(f->chart), err);
	r = output_end(&f->table, r, err);
	r = output_end(&f->plot, r, err);
	return output_end(&f->chart, r, err);
}

void sim_figures_clear(struct sim_figures *f)
{
	output_abort(f->table);
	output_abort(f->plot);
	output_abort(f->chart);
	free(f->series);
	gantt_destroy(f->gantt);
}
