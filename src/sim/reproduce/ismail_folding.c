/*
 * ismail_folding.c - what Ismail 1995 chapter 3 published about
 * limited folding
 */
#include <math.h>
#include <stdlib.h>

#include "sim/reproduce/ismail.h"

#define UU	"ismail:sizes=U,times=U,speedup=linear"
#define UU_MISP "ismail:sizes=U,times=U,speedup=misp"
#define EU_MISP "ismail:sizes=E,times=U,speedup=misp"

#define NR(array) (sizeof(array) / sizeof(*(array)))

/* RT(first)/RT(second) at each load. */
static int ratios(struct reproduce *r, const char *const *policies,
		  const char *workload, const double *loads,
		  const double *published, size_t nr, double precision,
		  const struct reproduce_reading *reading, struct error *err)
{
	struct reproduce_grid g = { .policy = policies,
				    .workload = workload,
				    .load = loads,
				    .nr_loads = nr };
	int rc = reproduce_grid_run(r, &g, err);

	for (size_t l = 0; !rc && l < nr; l++) {
		reproduce_number(
			r,
			reproduce_text("L=%g, RT(%s)/RT(%s)", loads[l],
				       policies[0], policies[1]),
			published[l], precision,
			reproduce_ratio(r, &g, 0, 1, l, METRIC_RESPONSE), NULL);
		if (!reproduce_met(r))
			ismail_as_known(r, &g, 0, 1, l);
		if (reading && !reproduce_met(r))
			rc = reproduce_readings(r, reading, loads[l],
						METRIC_RESPONSE, err);
	}
	if (!rc && nr > 1)
		rc = reproduce_figure(r, &g, "response", METRIC_RESPONSE, err);
	reproduce_grid_clear(&g);
	return rc;
}

static const char *const fifo_fff[] = { "ff+fifo", "fff", NULL };
static const char *const fifo_fff_f2[] = { "ff+fifo", "fff:ffmax=f2", NULL };

/* What the thesis leaves open, for ratios that are not met. */
static const struct reproduce_reading misp_readings[] = {
	{ "FF_max = f2", fifo_fff_f2, UU_MISP },
	{ "N = 32 in the load", fifo_fff, UU_MISP ",mean_size=32" },
	{ "all draws of the efficiency kept", fifo_fff,
	  UU_MISP ",serial_max=1" },
	{ NULL },
};
static const struct reproduce_reading linear_readings[] = {
	{ "FF_max = f2", fifo_fff_f2, UU },
	{ "N = 32 in the load", fifo_fff, UU ",mean_size=32" },
	{ NULL },
};
static const struct reproduce_reading small_readings[] = {
	{ "FF_max = f2", fifo_fff_f2, EU_MISP },
	{ "N = 15 in the load", fifo_fff, EU_MISP ",mean_size=15" },
	{ "all draws of the efficiency kept", fifo_fff,
	  EU_MISP ",serial_max=1" },
	{ NULL },
};

int ismail_i3a(struct reproduce *r, struct error *err)
{
	static const double loads[] = { 0.2, 0.4, 0.6, 0.8, 1.0, 1.2 };
	static const double published[] = { 1.2, 1.3, 1.4, 1.4, 1.3, 1.2 };

	return ratios(r, fifo_fff, UU_MISP, loads, published, NR(loads), 0.05,
		      misp_readings, err);
}

int ismail_i3b(struct reproduce *r, struct error *err)
{
	static const double loads[] = { 0.2, 0.5, 0.7, 0.9 };
	static const double published[] = { 1.4, 1.6, 1.7, 1.5 };

	return ratios(r, fifo_fff, UU, loads, published, NR(loads), 0.05,
		      linear_readings, err);
}

int ismail_i3c(struct reproduce *r, struct error *err)
{
	static const double loads[] = { 0.4, 0.6, 0.8, 1.2 };
	static const double published[] = { 1.1, 1.2, 1.3, 1.15 };

	return ratios(r, fifo_fff, EU_MISP, loads, published, NR(loads), 0.05,
		      small_readings, err);
}

int ismail_i3d(struct reproduce *r, struct error *err)
{
	static const char *const policies[] = { "ff", "fff", NULL };
	static const double misp[] = { 0.7 }, linear[] = { 0.8 };
	static const double two[] = { 2 };
	int rc = ratios(r, policies, UU_MISP, misp, two, 1, 0.2, NULL, err);

	return rc < 0 ? rc
		      : ratios(r, policies, UU, linear, two, 1, 0.2, NULL, err);
}

/*
 * "Do not differ significantly" is read as within 10 %: the thesis knew each
 * mean to 5 %, so it could not tell less apart.
 */
static void alike(struct reproduce *r, const struct reproduce_grid *g, size_t a,
		  size_t b, size_t l, const char *where)
{
	reproduce_number(r,
			 reproduce_text("%s L=%g, RT(%s)/RT(%s)", where,
					g->load[l], g->policy[a], g->policy[b]),
			 1, 0.1,
			 reproduce_ratio(r, g, a, b, l, METRIC_RESPONSE), NULL);
}

static void slower(struct reproduce *r, const struct reproduce_grid *g,
		   size_t a, size_t b, size_t l, const char *where)
{
	struct estimate e = reproduce_ratio(r, g, a, b, l, METRIC_RESPONSE);
	const char *small = ismail_too_small(e);

	reproduce_range(r,
			reproduce_text("%s L=%g, RT(%s)/RT(%s)", where,
				       g->load[l], g->policy[a], g->policy[b]),
			1, INFINITY, e,
			small ? reproduce_text("%s", small) : NULL);
}

/* How FFF/MFFF depends on what MFFF does with fractions of a processor. */
static int roundings(struct reproduce *r, const char *workload, double load,
		     struct error *err)
{
	static const char *const down[] = { "fff", "mfff:round=down", NULL };
	static const char *const nearest[] = { "fff", "mfff:round=nearest",
					       NULL };
	const struct reproduce_reading reading[] = {
		{ "fractions of processors left free", down, workload },
		{ "rounded to the nearest", nearest, workload },
		{ NULL },
	};

	return reproduce_readings(r, reading, load, METRIC_RESPONSE, err);
}

/* Why FFF is not above MFFF: at which loads it is, and what rounding is worth. */
static int below(struct reproduce *r, const struct reproduce_grid *g, size_t l,
		 struct error *err)
{
	static const char *const policies[] = { "fff", "mfff", NULL };
	static const double loads[] = { 0.2, 0.4, 0.5, 0.7, 0.8, 0.9, 1.2 };
	int rc;

	ismail_as_known(r, g, 3, 0, l);
	rc = ismail_by_load(r, policies, g->workload, loads, NR(loads), err);
	return rc < 0 ? rc : roundings(r, g->workload, g->load[l], err);
}

static int i3e_pair(struct reproduce *r, char sizes, char times,
		    struct error *err)
{
	static const char *const policies[] = { "mfff", "fsjf",	 "mfsjf",
						"fff",	"ffcfs", NULL };
	static const double loads[] = { 0.6, 1.0 };
	char *workload = reproduce_text("ismail:sizes=%c,times=%c,speedup=misp",
					sizes, times);
	char *where = reproduce_text("%c/%c", sizes, times);
	struct reproduce_grid g = { .policy = policies,
				    .workload = workload,
				    .load = loads,
				    .nr_loads = NR(loads) };
	int rc = reproduce_grid_run(r, &g, err);

	for (size_t l = 0; !rc && l < g.nr_loads; l++) {
		alike(r, &g, 1, 0, l, where);
		alike(r, &g, 2, 0, l, where);
		slower(r, &g, 4, 3, l, where);
		slower(r, &g, 3, 0, l, where);
		if (!reproduce_met(r))
			rc = below(r, &g, l, err);
	}
	if (!rc)
		rc = reproduce_figure(r, &g, workload, METRIC_RESPONSE, err);
	reproduce_grid_clear(&g);
	free(workload);
	free(where);
	return rc;
}

int ismail_i3e(struct reproduce *r, struct error *err)
{
	int rc = i3e_pair(r, 'U', 'U', err);

	if (!rc)
		rc = i3e_pair(r, 'E', 'U', err);
	if (!rc)
		rc = i3e_pair(r, 'U', 'E', err);
	if (!rc)
		rc = i3e_pair(r, 'E', 'E', err);
	return rc;
}

int ismail_i3f(struct reproduce *r, struct error *err)
{
	static const char *const policies[] = { "mfff", "mfstdf", "mfshjf",
						"mflojf", NULL };
	static const double loads[] = { 0.6, 1.0 };
	static const char *const workloads[] = {
		UU_MISP, "ismail:sizes=E,times=E,speedup=misp"
	};
	static const char *const where[] = { "U/U", "E/E" };
	int rc = 0;

	for (size_t w = 0; !rc && w < 2; w++) {
		struct reproduce_grid g = { .policy = policies,
					    .workload = workloads[w],
					    .load = loads,
					    .nr_loads = NR(loads) };

		rc = reproduce_grid_run(r, &g, err);
		for (size_t l = 0; !rc && l < g.nr_loads; l++)
			for (size_t p = 1; p < 4; p++)
				alike(r, &g, p, 0, l, where[w]);
		reproduce_grid_clear(&g);
	}
	return rc;
}
