/*
 * ismail_dynamic.c - what Ismail 1995 chapter 4 published about
 * dynamic space sharing
 */
#include <math.h>
#include <stdlib.h>

#include "sim/reproduce/ismail.h"

#define LINEAR_U "ismail:chapter=4,times=U,speedup=linear"
#define LINEAR_E "ismail:chapter=4,times=E,speedup=linear"
#define MISP_U	 "ismail:chapter=4,times=U,speedup=misp"
#define MISP_E	 "ismail:chapter=4,times=E,speedup=misp"
#define APPS	 "ismail:chapter=4,speedup=apps"
#define NARROW	 "ismail:chapter=4.9,speedup=misp"

#define NR(array) (sizeof(array) / sizeof(*(array)))

/*
 * I-4a.  The thesis does not say what Table 4.3 counts.  Five counts are
 * computed.  Only one of them puts DEQP above DPROP at every load, as the table
 * and the text do, and lets both come down as the load grows: the processors
 * that change hands.  The rows give that one, the notes the four others.
 */
static void changes_row(struct reproduce *r, const struct reproduce_grid *g,
			size_t p, size_t l, double published)
{
	double base = reproduce_mean(r, g, 0, l, METRIC_CHANGES).value;
	double mine = reproduce_mean(r, g, p, l, METRIC_CHANGES).value;

	reproduce_number(
		r, reproduce_text("L=%g, %s/DFCFS", g->load[l], g->policy[p]),
		published, 0.05,
		reproduce_ratio(r, g, p, 0, l, METRIC_REASSIGNED),
		reproduce_text(
			"changes of running jobs: %.2f; starts counted too: "
			"%.2f; instants at which a running job changes: %.2f; "
			"jobs that ever change: %.2f",
			mine / base, (1 + mine) / (1 + base),
			reproduce_ratio(r, g, p, 0, l, METRIC_INSTANTS).value,
			reproduce_ratio(r, g, p, 0, l, METRIC_CHANGED).value));
}

/* The other reading of DSMJF, policy 4 of the grid. */
static void mixed_note(struct reproduce *r, const struct reproduce_grid *g,
		       size_t l)
{
	struct estimate e = reproduce_ratio(r, g, 4, 0, l, METRIC_REASSIGNED);
	struct estimate n = reproduce_ratio(r, g, 4, 0, l, METRIC_CHANGES);

	reproduce_note(
		r,
		reproduce_text(
			"waiting ones by their size among those that run: %.3f "
			"(%.3f to %.3f), in changes of "
			"running jobs %.3f",
			e.value, e.low, e.high, n.value));
}

int ismail_i4a(struct reproduce *r, struct error *err)
{
	static const char *const policies[] = { "dfcfs",	 "dsmjf",
						"dprop",	 "deqp",
						"dsmjf:by=size", NULL };
	static const double loads[] = { 0.4, 0.6, 0.8 };
	static const double published[4][3] = { { 1, 1, 1 },
						{ 1.00, 1.03, 1.02 },
						{ 1.50, 1.51, 1.28 },
						{ 1.64, 1.68, 1.44 } };
	struct reproduce_grid g = { .policy = policies,
				    .workload = LINEAR_U,
				    .load = loads,
				    .nr_loads = NR(loads) };
	int rc = reproduce_grid_run(r, &g, err);

	for (size_t p = 1; !rc && p < 4; p++)
		for (size_t l = 0; l < g.nr_loads; l++) {
			changes_row(r, &g, p, l, published[p][l]);
			if (p == 1)
				mixed_note(r, &g, l);
		}
	if (!rc)
		reproduce_note(
			r,
			reproduce_text(
				"the thesis does not say what it counts. The "
				"processors that running jobs get or give up "
				"are the only one of five counts that puts "
				"DEQP above DPROP at every load, as the table "
				"and the text do. The cost C is charged for a "
				"change of a job, however many processors it "
				"is"));
	if (!rc)
		rc = ismail_smallest(r, err);
	if (!rc)
		rc = reproduce_figure(r, &g, "changes", METRIC_REASSIGNED, err);
	reproduce_grid_clear(&g);
	return rc;
}

/* 1 - RT(DSMJF)/RT(DEQP), in percent. */
static struct estimate advantage(struct estimate ratio)
{
	return (struct estimate){ 100 * (1 - ratio.value),
				  100 * (1 - ratio.high),
				  100 * (1 - ratio.low) };
}

int ismail_i4b(struct reproduce *r, struct error *err)
{
	static const char *const policies[] = { "dsmjf", "deqp",
						"dsmjf:by=size", NULL };
	static const struct {
		const char *workload, *name;
		usec_t overhead;
		double low, high;
	} rows[] = {
		{ LINEAR_U, "U, C=0", 0, 20, 24 },
		{ LINEAR_U, "U, C=1", USEC_PER_SEC, 25, 29 },
		{ LINEAR_E, "E, C=0", 0, -INFINITY, 5 },
		{ LINEAR_E, "E, C=1", USEC_PER_SEC, 12.5, 17.5 },
	};
	static const double loads[] = { 0.8 };
	int rc = 0;

	for (size_t i = 0; !rc && i < NR(rows); i++) {
		struct reproduce_grid g = {
			.policy = policies,
			.workload = rows[i].workload,
			.costs = { .resize = rows[i].overhead },
			.load = loads,
			.nr_loads = 1,
			.precision = 0.03
		};
		struct estimate e;

		rc = reproduce_grid_run(r, &g, err);
		if (!rc) {
			e = reproduce_ratio(r, &g, 0, 1, 0, METRIC_RESPONSE);
			reproduce_range(
				r,
				reproduce_text("%s, 100 (1 - "
					       "RT(DSMJF)/RT(DEQP))",
					       rows[i].name),
				rows[i].low, rows[i].high, advantage(e),
				reproduce_text("read as RT(DEQP)/RT(DSMJF) - "
					       "1 it is %.1f %%",
					       100 / e.value - 100));
			e = advantage(reproduce_ratio(r, &g, 2, 1, 0,
						      METRIC_RESPONSE));
			reproduce_note(
				r,
				reproduce_text(
					"waiting ones by their size among those that run: "
					"%.1f (%.1f to %.1f)",
					e.value, e.low, e.high));
		}
		reproduce_grid_clear(&g);
	}
	return rc;
}

struct pair {
	const char *workload, *name;
	double load, low, high;
};

/* Loads that the thesis' own may have been, as it knew means to 5 %. */
static const double more_load[] = { 0.82, 0.85 };

static int at_load(struct reproduce *r, const char *const *policies,
		   const char *workload, double load, struct error *err)
{
	char *text = reproduce_text("L = %g", load);
	const struct reproduce_reading readings[] = {
		{ text, policies, workload },
		{ NULL },
	};
	int rc = reproduce_readings(r, readings, load, METRIC_RESPONSE, err);

	free(text);
	return rc;
}

/* RT(policies[0])/RT(policies[1]) of each row, and the same with N = 32, of the
 * policies mixed, if given, and with both. */
static int pairs(struct reproduce *r, const char *const *policies,
		 const char *const *mixed, const struct pair *row, size_t nr,
		 struct error *err)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < nr; i++) {
		char *other =
			reproduce_text("%s,mean_size=32", row[i].workload);
		const struct reproduce_reading readings[] = {
			{ "N = 32 in the load", policies, other },
			{ mixed ? "waiting ones by their size among those that run"
				: NULL,
			  mixed, row[i].workload },
			{ "both", mixed, other },
			{ NULL },
		};
		struct reproduce_grid g = { .policy = policies,
					    .workload = row[i].workload,
					    .load = &row[i].load,
					    .nr_loads = 1 };

		rc = reproduce_grid_run(r, &g, err);
		if (!rc) {
			reproduce_range(
				r,
				reproduce_text("%s, L=%g, RT(%s)/RT(%s)",
					       row[i].name, row[i].load,
					       policies[0], policies[1]),
				row[i].low, row[i].high,
				reproduce_ratio(r, &g, 0, 1, 0,
						METRIC_RESPONSE),
				NULL);
			rc = reproduce_readings(r, readings, row[i].load,
						METRIC_RESPONSE, err);
		}
		for (size_t k = 0; mixed && !rc && k < NR(more_load); k++)
			rc = at_load(r, policies, row[i].workload, more_load[k],
				     err);
		reproduce_grid_clear(&g);
		free(other);
	}
	return rc;
}

int ismail_i4c(struct reproduce *r, struct error *err)
{
	static const char *const policies[] = { "dprop", "deqp", NULL };
	static const struct pair row[] = {
		{ MISP_U, "MISP, U", 1, 1.06, 1.08 },
		{ MISP_E, "MISP, E", 1, 1.06, 1.08 },
		{ APPS, "applications", 0.8, 1.115, 1.125 },
	};

	return pairs(r, policies, NULL, row, NR(row), err);
}

int ismail_i4d(struct reproduce *r, struct error *err)
{
	static const char *const policies[] = { "dsmjf", "deqp", NULL };
	static const char *const mixed[] = { "dsmjf:by=size", "deqp", NULL };
	static const struct pair row[] = {
		{ MISP_U, "MISP, U", 0.8, 1.23, 1.33 },
		{ MISP_E, "MISP, E", 0.8, 1.45, 1.55 },
		{ APPS, "applications", 0.8, 2.1, 2.2 },
	};

	return pairs(r, policies, mixed, row, NR(row), err);
}

int ismail_i4e(struct reproduce *r, struct error *err)
{
	static const char *const policies[] = { "mfff", "deqp", "dprop", NULL };
	static const double loads[] = { 0.4, 0.6, 0.8, 1.0 };
	struct reproduce_grid g = { .policy = policies,
				    .workload = NARROW,
				    .costs = { .resize = USEC_PER_SEC / 2 },
				    .load = loads,
				    .nr_loads = NR(loads) };
	int rc = reproduce_grid_run(r, &g, err);

	for (size_t p = 1; !rc && p < 3; p++)
		for (size_t l = 0; l < g.nr_loads; l++)
			reproduce_range(r,
					reproduce_text("L=%g, RT(%s)/RT(mfff)",
						       loads[l], policies[p]),
					1, INFINITY,
					reproduce_ratio(r, &g, p, 0, l,
							METRIC_RESPONSE),
					NULL);
	if (!rc)
		rc = reproduce_figure(r, &g, "4.9", METRIC_RESPONSE, err);
	reproduce_grid_clear(&g);
	return rc;
}
