/*
 * sizes.c - what Schnor 1997 published: Figures 4.6 to 4.11 and 4.13, what
 * upgrading and migration gain, how many nodes jobs get, SED1 against SED2
 */
#include <math.h>
#include <stdlib.h>

#include "sim/reproduce/schnor.h"

#define NR(array) (sizeof(array) / sizeof(*(array)))

static const double loads[] = { 0.2, 0.5, 0.7 };

enum { LOW, MEDIUM, HIGH };

static const char *const at_load[] = { "low load (0.2)", "medium load (0.5)",
				       "high load (0.7)" };

/* Ratios of twenty pairs: SED1 is near its end at some of these loads, where a mean
 * takes hundreds of runs. */
static struct reproduce_grid grid_of(const struct reproduce *r,
				     const char *const *policies,
				     const char *workload, size_t nr_loads)
{
	struct reproduce_grid g =
		schnor_grid4(policies, workload, loads, nr_loads);

	g.nr_jobs = 2500;
	g.runs = r->quick ? 6 : 20;
	return g;
}

/* (RT without - RT with) / RT with, by load: what the first policy gains over the second. */
static int run_gains(struct reproduce *r, const char *const *policies,
		     const char *workload, struct estimate gain[NR(loads)],
		     struct error *err)
{
	struct reproduce_grid g = grid_of(r, policies, workload, NR(loads));
	int rc = reproduce_grid_run(r, &g, err);

	for (size_t l = 0; l < NR(loads) && !rc; l++) {
		struct estimate q =
			reproduce_ratio(r, &g, 1, 0, l, METRIC_RESPONSE);

		gain[l] =
			(struct estimate){ q.value - 1, q.low - 1, q.high - 1 };
	}
	reproduce_grid_clear(&g);
	return rc;
}

/* ---- Figure 4.6 ---- */

static char *two_gains(const struct estimate gain[NR(loads)], int load)
{
	return reproduce_text(ESTIMATE_FMT " at %g, " ESTIMATE_FMT " at %g",
			      ESTIMATE_ARGS(gain[load]), loads[load],
			      ESTIMATE_ARGS(gain[HIGH]), loads[HIGH]);
}

static int tell_upgrading(struct reproduce *r, struct error *err)
{
	static const char *const policies[] = { "sed1", "sed1:upgrade=no",
						NULL };
	struct estimate gain[NR(loads)];
	int rc =
		run_gains(r, policies, "schnor:kind=proof,system=1", gain, err);

	if (rc < 0)
		return rc;
	for (size_t l = 0; l < NR(loads); l++)
		reproduce_range(r,
				reproduce_text("Figure 4.6, system 1, SED1 "
					       "gains by upgrading, %s",
					       at_load[l]),
				0, INFINITY, gain[l], NULL);
	reproduce_fact(
		r, reproduce_text("Figure 4.6, system 1, gain by upgrading"),
		"more under higher load", two_gains(gain, LOW),
		gain[HIGH].high > gain[LOW].low, NULL);
	return 0;
}

static int tell_migration(struct reproduce *r, struct error *err)
{
	static const char *const policies[] = { "sed1", "sed1:migrate=no",
						NULL };
	struct estimate gain[NR(loads)];
	int rc =
		run_gains(r, policies, "schnor:kind=proof,system=2", gain, err);

	if (rc < 0)
		return rc;
	reproduce_range(r,
			reproduce_text("Figure 4.6, system 2, SED1 "
				       "gains by migration, %s",
				       at_load[MEDIUM]),
			0.05, INFINITY, gain[MEDIUM],
			reproduce_text("\"substantial\""));
	reproduce_fact(
		r, reproduce_text("Figure 4.6, system 2, gain by migration"),
		"less at high load than at medium", two_gains(gain, MEDIUM),
		gain[HIGH].low < gain[MEDIUM].value, NULL);
	return 0;
}

/* ---- Figures 4.7 to 4.11 ---- */

/* With maxsize 100 all virtual nodes are one job's: first come, first served. */
static int tell_greedy(struct reproduce *r, const char *kind, int system,
		       double nodes, struct error *err)
{
	static const char *const policies[] = { "sed2", NULL };
	char *w = reproduce_text("schnor:kind=%s,maxsize=100,system=%d", kind,
				 system);
	struct reproduce_grid g = grid_of(r, policies, w, 1);
	int rc = reproduce_grid_run(r, &g, err);

	if (!rc) {
		struct estimate f = reproduce_mean(r, &g, 0, 0, METRIC_FOLDING);

		reproduce_number(r,
				 reproduce_text("%s, system %d, nodes of each "
						"job under SED2-greedy",
						kind, system),
				 nodes, 0.5,
				 (struct estimate){ 100 / f.value, 100 / f.high,
						    100 / f.low },
				 NULL);
	}
	reproduce_grid_clear(&g);
	free(w);
	return rc;
}

/* "The best performance is achieved by SED2 in both systems." */
static int tell_best(struct reproduce *r, const char *figure, const char *kind,
		     int system, struct error *err)
{
	static const char *const policies[] = { "sed2", "sed1",
						"sed2:migrate=no", NULL };
	char *w = reproduce_text("schnor:kind=%s,system=%d", kind, system);
	struct reproduce_grid g = grid_of(r, policies, w, HIGH);
	int rc = reproduce_grid_run(r, &g, err);

	for (size_t l = 0; l < HIGH && !rc; l++) {
		reproduce_range(
			r,
			reproduce_text("%s, %s, system %d, %s, "
				       "RT(SED2)/RT(SED1)",
				       figure, kind, system, at_load[l]),
			-INFINITY, 1,
			reproduce_ratio(r, &g, 0, 1, l, METRIC_RESPONSE), NULL);
		reproduce_range(
			r,
			reproduce_text("%s, %s, system %d, %s, "
				       "RT(SED2)/RT(SED2-NM)",
				       figure, kind, system, at_load[l]),
			-INFINITY, 1,
			reproduce_ratio(r, &g, 0, 2, l, METRIC_RESPONSE), NULL);
	}
	reproduce_grid_clear(&g);
	free(w);
	return rc;
}

/* ---- Figure 4.13 ---- */

static int tell_fixed(struct reproduce *r, int system, struct error *err)
{
	static const char *const policies[] = { "sed2", "sed1",
						"sed1:upgrade=no", NULL };
	char *w = reproduce_text("schnor:kind=fs,system=%d", system);
	struct reproduce_grid g = grid_of(r, policies, w, HIGH);
	int rc = reproduce_grid_run(r, &g, err);

	for (size_t l = 0; l < HIGH && !rc; l++) {
		reproduce_range(
			r,
			reproduce_text("Figure 4.13, system %d, %s, "
				       "RT(SED2)/RT(SED1)",
				       system, at_load[l]),
			-INFINITY, 1,
			reproduce_ratio(r, &g, 0, 1, l, METRIC_RESPONSE), NULL);
		if (system == 1) /* there are no upgrades in system 2 */
			reproduce_range(r,
					reproduce_text("FS, system 1, %s, "
						       "RT(SED1)/RT(SED1-NU)",
						       at_load[l]),
					1, INFINITY,
					reproduce_ratio(r, &g, 1, 2, l,
							METRIC_RESPONSE),
					NULL);
	}
	reproduce_grid_clear(&g);
	free(w);
	return rc;
}

int schnor_s5c(struct reproduce *r, struct error *err)
{
	static const struct {
		const char *figure, *kind;
		int system;
		double greedy; /* virtual nodes of the idle system */
	} figures[] = { { "Figure 4.7", "exp", 1, 45 },
			{ "Figure 4.8", "exp", 2, 90 },
			{ "Figure 4.10", "hyperexp", 1, 45 },
			{ "Figure 4.11", "hyperexp", 2, 90 } };
	int rc = tell_upgrading(r, err);

	if (!rc)
		rc = tell_migration(r, err);
	for (size_t i = 0; i < NR(figures) && !rc; i++) {
		rc = tell_best(r, figures[i].figure, figures[i].kind,
			       figures[i].system, err);
		if (!rc)
			rc = tell_greedy(r, figures[i].kind, figures[i].system,
					 figures[i].greedy, err);
	}
	for (int system = 1; system <= 2 && !rc; system++)
		rc = tell_fixed(r, system, err);
	return rc;
}
