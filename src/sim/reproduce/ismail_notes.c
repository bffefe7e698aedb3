/*
 * ismail_notes.c - for rows that differ: at which loads they do, and what a ratio is worth
 * whose means are known as well as the thesis knew them
 *
 * The thesis made runs until the half-width of the 95 % interval of a mean response was 5 %
 * of it.  So are means made here, again and again, out of our runs, which are as long as its
 * own: where their ratios lie is where a published one may.  Whether its policies met the
 * same jobs it does not say: each has runs of its own here.
 */
#include <gsl/gsl_sort.h>
#include <stdlib.h>

#include "core/random.h"
#include "sim/reproduce/ismail.h"

enum { TRIALS = 2000, RUNS_LEAST = 3, RUNS_MOST = 1000 };

static double mean_as_known(const struct sweep_result *of,
			    struct random_stream *random)
{
	struct stats s = { 0 };

	while (s.n < RUNS_LEAST ||
	       (s.n < RUNS_MOST && stats_half_width(&s, 0.95) > 0.05 * s.mean))
		stats_add(&s, of->value[random_below(random, of->n)]
				       [METRIC_RESPONSE]);
	return s.mean;
}

void ismail_as_known(struct reproduce *r, const struct reproduce_grid *g,
		     size_t a, size_t b, size_t load)
{
	const struct sweep_result *of = &g->result[a * g->nr_loads + load];
	const struct sweep_result *to = &g->result[b * g->nr_loads + load];
	struct random_stream random;
	double ratio[TRIALS];

	if (r->quick)
		return; /* too few runs to draw from */
	random_init(&random, r->seed, "as the thesis knew it", 0);
	for (size_t i = 0; i < TRIALS; i++)
		ratio[i] =
			mean_as_known(of, &random) / mean_as_known(to, &random);
	gsl_sort(ratio, 1, TRIALS);
	reproduce_note(
		r,
		reproduce_text(
			"of means known to 5 %%, as in the thesis, nine of "
			"ten ratios are from %.3f to %.3f",
			ratio[TRIALS / 20], ratio[TRIALS - 1 - TRIALS / 20]));
}

int ismail_by_load(struct reproduce *r, const char *const *policies,
		   const char *workload, const double *loads, size_t nr,
		   struct error *err)
{
	struct reproduce_grid g = { .policy = policies,
				    .workload = workload,
				    .load = loads,
				    .nr_loads = nr,
				    .runs = 20 };
	int rc = r->quick ? 0 : reproduce_grid_run(r, &g, err);
	char *text = reproduce_text("by load:");

	for (size_t l = 0; g.result && l < nr; l++) {
		struct estimate e =
			reproduce_ratio(r, &g, 0, 1, l, METRIC_RESPONSE);
		char *longer = reproduce_text("%s %.3f at %g%s", text, e.value,
					      loads[l], l + 1 < nr ? "," : "");

		free(text);
		text = longer;
	}
	if (g.result)
		reproduce_note(r, text);
	else
		free(text);
	reproduce_grid_clear(&g);
	return rc;
}
