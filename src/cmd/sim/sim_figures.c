/* sim_figures.c - pictures and tables over time, see sim_figures.h */
#include "cmd/sim/sim_figures.h"

#include <stdlib.h>

#include "core/xalloc.h"

static void note(void *data, const struct view *view, const struct event *e)
{
	struct sim_figures *f = data;

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
	if (f->table || f->plot)
		f->series = xcalloc(1, sizeof(*f->series));
	if (f->chart)
		f->gantt = gantt_create();
	f->observer = (struct sim_observer){ .event = note, .data = f };
	*ret = f->series || f->gantt ? &f->observer : NULL;
	return 0;
}

static int commit(struct output **out, struct error *err)
{
	struct output *o = *out;

	*out = NULL;
	return o ? output_commit(o, err) : 0;
}

int sim_figures_commit(struct sim_figures *f, const char *title,
		       struct error *err)
{
	int r = 0;

	if (f->table)
		series_print(f->series, output_stream(f->table));
	if (f->plot)
		series_plot(f->series, title, output_stream(f->plot));
	if (f->chart)
		r = gantt_write(f->gantt, title, output_stream(f->chart), err);
	if (!r)
		r = commit(&f->table, err);
	if (!r)
		r = commit(&f->plot, err);
	return r ? r : commit(&f->chart, err);
}

void sim_figures_clear(struct sim_figures *f)
{
	output_abort(f->table);
	output_abort(f->plot);
	output_abort(f->chart);
	free(f->series);
	gantt_destroy(f->gantt);
}
