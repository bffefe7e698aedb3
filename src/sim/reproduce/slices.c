/*
 * slices.c - what Schnor 1997 published: Figures 2.8 and 2.9, the length of gang
 * scheduling's slices; see gang.c for the loads
 */
#include <math.h>

#include "sim/reproduce/schnor.h"

#define NR(array) (sizeof(array) / sizeof(*(array)))

static const char *const policies[] = { "lst",
					"lst:slice=5min",
					"lst:slice=10min",
					"lst:slice=60min",
					"lst:alternate=no",
					"lst:alternate=no,slice=10min",
					"lst:alternate=no,slice=60min",
					NULL };

enum { LST, LST_5, LST_10, LST_60, NA, NA_10, NA_60 };

static const double loads[] = { 0.5, 0.6 };

static struct estimate ratio(const struct reproduce *r,
			     const struct reproduce_grid *g, size_t a, size_t b,
			     size_t load)
{
	return reproduce_ratio(r, g, a, b, load, METRIC_RESPONSE);
}

/* A tenth is what a figure of curves shows as stable. */
static void tell_lst(struct reproduce *r, const struct reproduce_grid *g,
		     const char *name, size_t load)
{
	static const struct {
		size_t policy;
		const char *minutes;
	} stable[] = { { LST_10, "10" }, { LST_60, "60" } };

	for (size_t i = 0; i < NR(stable); i++)
		reproduce_number(
			r,
			reproduce_text("%s, load %g, RT(LST, %s min)/RT(LST, "
				       "30 min)",
				       name, g->load[load], stable[i].minutes),
			1, 0.1, ratio(r, g, stable[i].policy, LST, load), NULL);
	reproduce_range(r,
			reproduce_text("%s, load %g, RT(LST, 5 min)/RT(LST, 30 "
				       "min)",
				       name, g->load[load]),
			1, INFINITY, ratio(r, g, LST_5, LST, load), NULL);
}

/* By how much the length matters: the largest change by a factor. */
static double spread(const struct reproduce *r, const struct reproduce_grid *g,
		     size_t base, size_t a, size_t b, size_t load)
{
	return fmax(fabs(log(ratio(r, g, a, base, load).value)),
		    fabs(log(ratio(r, g, b, base, load).value)));
}

static void tell_na(struct reproduce *r, const struct reproduce_grid *g,
		    const char *name, size_t load, bool shorter_is_better)
{
	double lst = exp(spread(r, g, LST, LST_10, LST_60, load));
	double na = exp(spread(r, g, NA, NA_10, NA_60, load));

	reproduce_fact(r,
		       reproduce_text("%s, load %g, slices of 10 to 60 min "
				      "change RT by a factor of up to",
				      name, g->load[load]),
		       "LST_NA much, LST little",
		       reproduce_text("LST_NA %.2f, LST %.2f", na, lst),
		       na > lst, NULL);
	if (shorter_is_better)
		reproduce_range(r,
				reproduce_text("%s, load %g, RT(LST_NA, 10 "
					       "min)/RT(LST_NA, 30 min)",
					       name, g->load[load]),
				-INFINITY, 1, ratio(r, g, NA_10, NA, load),
				NULL);
}

/* What a move costs decides whether slices of 5 min are too short. */
static const struct slice_reading {
	const char *text;
	const char *policies[3];
	unsigned percent; /* of what a move costs */
} readings[] = {
	{ "moves for nothing", { "lst:slice=5min", "lst", NULL }, 0 },
	{ "moves that cost twice as much",
	  { "lst:slice=5min", "lst", NULL },
	  200 },
	{ "maxprio of 100 instead of 200",
	  { "lst:slice=5min,maxprio=100", "lst:maxprio=100", NULL },
	  100 },
};

static struct reproduce_grid make_grid(const struct reproduce *r,
				       const char *const *which,
				       const char *workload, unsigned percent)
{
	return (struct reproduce_grid){
		.policy = which,
		.workload = workload,
		.load = loads,
		.nr_loads = NR(loads),
		.costs = { .migrate = SCHNOR_MIGRATE * percent / 100,
			   .migrate_rank =
				   SCHNOR_MIGRATE_RANK * percent / 100 },
		/* Some are near their end at these loads: the mean response of
		 * long runs takes hundreds of them, ratios of pairs do not. */
		.nr_jobs = 2500,
		.runs = r->quick ? 6 : 20
	};
}

static int note_readings(struct reproduce *r, const char *workload,
			 struct error *err)
{
	int rc = 0;

	for (size_t i = 0; i < NR(readings) && !rc && !r->quick; i++) {
		struct reproduce_grid g = make_grid(
			r, readings[i].policies, workload, readings[i].percent);
		struct estimate e;

		rc = reproduce_grid_run(r, &g, err);
		if (!rc) {
			e = ratio(r, &g, 0, 1, NR(loads) - 1);
			reproduce_note(r,
				       reproduce_text("%s: %.3f (%.3f to %.3f)",
						      readings[i].text, e.value,
						      e.low, e.high));
		}
		reproduce_grid_clear(&g);
	}
	return rc;
}

static int sweep_slices(struct reproduce *r, const char *workload,
			const char *name, bool shorter_is_better,
			struct error *err)
{
	struct reproduce_grid g = make_grid(r, policies, workload, 100);
	int rc = reproduce_grid_run(r, &g, err);

	for (size_t l = 0; l < NR(loads) && !rc; l++) {
		tell_na(r, &g, name, l, shorter_is_better);
		tell_lst(r, &g, name, l);
	}
	if (!rc)
		rc = note_readings(r, workload, err);
	if (!rc)
		rc = reproduce_figure(r, &g, name, METRIC_RESPONSE, err);
	reproduce_grid_clear(&g);
	return rc;
}

int schnor_s5a(struct reproduce *r, struct error *err)
{
	int rc = sweep_slices(r, "schnor:kind=ft", "FT", true, err);

	return rc < 0 ? rc
		      : sweep_slices(r, "schnor:kind=mb", "MB", false, err);
}
