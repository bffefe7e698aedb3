/*
 * ismail_orders.c - what Ismail 1995 says of curves whose figures are lost: which of
 * two policies is above, and when
 *
 * "Above" is at least 1 in the ratio, or at most; "slightly" and "not significantly" are
 * within 10 %, as the thesis knew each mean to 5 %.  Large jobs are those of more than
 * three quarters of the machine, small ones of at most a quarter.
 */
#include <math.h>
#include <stdlib.h>

#include "core/xalloc.h"
#include "sim/reproduce/ismail.h"

#define UU	"ismail:sizes=U,times=U,speedup=linear"
#define UU_MISP "ismail:sizes=U,times=U,speedup=misp"
#define UE_MISP "ismail:sizes=U,times=E,speedup=misp"
#define EU_MISP "ismail:sizes=E,times=U,speedup=misp"
#define EE_MISP "ismail:sizes=E,times=E,speedup=misp"
#define EU	"ismail:sizes=E,times=U,speedup=linear"
#define DYN_U	"ismail:chapter=4,times=U,speedup=misp"
#define DYN_E	"ismail:chapter=4,times=E,speedup=misp"
#define APPS	"ismail:chapter=4,speedup=apps"

#define NR(array) (sizeof(array) / sizeof(*(array)))

/* The first policy's metric to the second's. */
struct order {
	const char *of, *to, *where, *workload;
	double load;
	int metric;
	double low, high;
};

#define ABOVE 1, INFINITY
#define BELOW -INFINITY, 1
#define ALIKE 0.9, 1.1

static const char *metric_text(int metric)
{
	switch (metric) {
	case METRIC_FOLDING:
		return "folding";
	case METRIC_EFFECTIVENESS:
		return "S_e";
	case METRIC_SMALL:
		return "RT of small jobs";
	case METRIC_HUGE:
		return "RT of large jobs";
	default:
		return "RT";
	}
}

/* For the note of a row that differs. */
static const double other_loads[] = { 0.2, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.9 };

static int one_order(struct reproduce *r, const struct order *o,
		     struct error *err)
{
	const char *const policies[] = { o->of, o->to, NULL };
	struct reproduce_grid g = { .policy = policies,
				    .workload = o->workload,
				    .load = &o->load,
				    .nr_loads = 1 };
	int rc = reproduce_grid_run(r, &g, err);

	if (!rc)
		reproduce_range(
			r,
			reproduce_text("%s L=%g, %s, %s/%s", o->where, o->load,
				       metric_text(o->metric), o->of, o->to),
			o->low, o->high,
			reproduce_ratio(r, &g, 0, 1, 0, o->metric), NULL);
	if (!rc && !reproduce_met(r) && o->metric == METRIC_RESPONSE) {
		ismail_as_known(r, &g, 0, 1, 0);
		rc = ismail_by_load(r, policies, o->workload, other_loads,
				    NR(other_loads), err);
	}
	reproduce_grid_clear(&g);
	return rc;
}

static int all_orders(struct reproduce *r, const struct order *o, size_t nr,
		      struct error *err)
{
	int rc = 0;

	for (size_t i = 0; i < nr && !rc; i++)
		rc = one_order(r, &o[i], err);
	return rc;
}

/* Figure 2.8 and line 575: less folding is better. */
int ismail_i5a(struct reproduce *r, struct error *err)
{
#define FOLDS(of, to, load, ...)                                    \
	{                                                           \
		of, to, "MISP, U/U", UU_MISP, load, METRIC_FOLDING, \
			__VA_ARGS__                                 \
	}
	static const struct order orders[] = {
		FOLDS("ffds+fifo", "ff+fifo", 0.5, ABOVE),
		FOLDS("ffds+fifo", "ff+fifo", 0.8, ABOVE),
		FOLDS("ffis+fifo", "ff+fifo", 0.5, BELOW),
		FOLDS("ffis+fifo", "ff+fifo", 0.8, BELOW),
		FOLDS("fcfsuf", "ff+fifo", 0.5, BELOW),
		FOLDS("fcfsuf", "ff+fifo", 0.8, BELOW),
		FOLDS("epfp", "ffds+fifo", 0.8, ABOVE),
	};

	return all_orders(r, orders, NR(orders), err);
}

/* Figures 2.11 and 2.12. */
int ismail_i5b(struct reproduce *r, struct error *err)
{
#define RT METRIC_RESPONSE
	static const struct order orders[] = {
		{ "ffis+fifo", "ff+fifo", "linear", UU, 0.7, RT, BELOW },
		{ "ffis+fifo", "ff+fifo", "linear", UU, 0.9, RT, BELOW },
		{ "ffis+fifo", "ff+fifo", "MISP", UU_MISP, 0.7, RT, BELOW },
		{ "ffis+fifo", "ff+fifo", "MISP", UU_MISP, 0.9, RT, BELOW },
		{ "ffds+fifo", "ff+fifo", "linear", UU, 0.7, RT, ABOVE },
		{ "ffds+fifo", "ff+fifo", "linear", UU, 0.9, RT, ABOVE },
		{ "ffds+fifo", "ff+fifo", "MISP", UU_MISP, 0.7, RT, ABOVE },
		{ "ffds+fifo", "ff+fifo", "MISP", UU_MISP, 0.9, RT, ABOVE },
	};

	return all_orders(r, orders, NR(orders), err);
}

/* Figures 2.16 to 2.21. */
int ismail_i5c(struct reproduce *r, struct error *err)
{
	static const struct order orders[] = {
		{ "fcfs", "ff", "U/U", UU, 0.6, METRIC_SMALL, ABOVE },
		{ "ff", "fcfs", "E/U", EU, 0.6, METRIC_SMALL, BELOW },
		{ "fcfsuf", "ffis+fifo", "MISP, U/U", UU_MISP, 0.9, METRIC_HUGE,
		  BELOW },
		{ "ffis+fifo", "fcfsuf", "MISP, U/U", UU_MISP, 0.9, RT, BELOW },
		{ "fcfsuf", "ffis+fifo", "MISP, E/U", EU_MISP, 0.9, METRIC_HUGE,
		  ALIKE },
		{ "ffitd", "ffis", "U/U", UU, 0.6, RT, BELOW },
		{ "ffitd", "ff", "U/U", UU, 0.6, RT, ABOVE },
		{ "ffitd", "ffds", "U/U", UU, 0.6, RT, ABOVE },
	};

	return all_orders(r, orders, NR(orders), err);
}

/* Figures 2.22 to 2.24, under heavy loads. */
int ismail_i5d(struct reproduce *r, struct error *err)
{
	static const struct order orders[] = {
		{ "shjfuf", "fcfsuf", "MISP, U/E", UE_MISP, 0.9, RT, BELOW },
		{ "stdfuf", "fcfsuf", "MISP, U/E", UE_MISP, 0.9, RT, BELOW },
		{ "lojfuf", "fcfsuf", "MISP, U/E", UE_MISP, 0.9, RT, ABOVE },
		{ "shjfuf", "fcfsuf", "MISP, U/U", UU_MISP, 0.9, RT, BELOW },
		{ "stdfuf", "fcfsuf", "MISP, U/U", UU_MISP, 0.9, RT, BELOW },
		{ "lojfuf", "fcfsuf", "MISP, U/U", UU_MISP, 0.9, RT, ABOVE },
		{ "shjfuf", "fcfsuf", "linear, U/U", UU, 0.9, RT, BELOW },
		{ "stdfuf", "fcfsuf", "linear, U/U", UU, 0.9, RT, BELOW },
		{ "lojfuf", "fcfsuf", "linear, U/U", UU, 0.9, RT, ABOVE },
	};

	return all_orders(r, orders, NR(orders), err);
}

/* Figures 3.10 to 3.14. */
int ismail_i5e(struct reproduce *r, struct error *err)
{
	static const struct order orders[] = {
		{ "fff", "mfff", "linear, U/U", UU, 0.6, RT, BELOW },
		{ "fff", "mfff", "linear, U/U", UU, 0.8, RT, BELOW },
		{ "mfff", "fff", "MISP, U/U", UU_MISP, 0.6,
		  METRIC_EFFECTIVENESS, BELOW },
		{ "mfff", "fff", "MISP, E/E", EE_MISP, 0.6,
		  METRIC_EFFECTIVENESS, BELOW },
		{ "mfff", "fff", "MISP, U/U", UU_MISP, 0.6, METRIC_FOLDING,
		  ABOVE },
		{ "mfff", "fff", "MISP, U/E", UE_MISP, 0.6, METRIC_FOLDING,
		  ABOVE },
	};

	return all_orders(r, orders, NR(orders), err);
}

/* ---- I-5f: fixed folding factors ---- */

/* FFF of several fixed ones at rising loads; the last policy is the adaptive one. */
static int best_fixed(struct reproduce *r, const char *where,
		      const char *workload, struct error *err)
{
	static const char *const policies[] = { "fff:ffmax=1",	"fff:ffmax=2",
						"fff:ffmax=4",	"fff:ffmax=8",
						"fff:ffmax=16", "fff:ffmax=64",
						"fff",		NULL };
	static const int limit[] = { 1, 2, 4, 8, 16, 64 };
	static const double loads[] = { 0.4, 0.8, 1.2 };
	struct reproduce_grid g = { .policy = policies,
				    .workload = workload,
				    .load = loads,
				    .nr_loads = NR(loads) };
	size_t best[NR(loads)] = { 0 };
	int rc = reproduce_grid_run(r, &g, err);

	for (size_t l = 0; !rc && l < NR(loads); l++)
		for (size_t p = 1; p < NR(limit); p++)
			if (reproduce_mean(r, &g, p, l, RT).value <
			    reproduce_mean(r, &g, best[l], l, RT).value)
				best[l] = p;
	if (!rc)
		reproduce_fact(r,
			       reproduce_text("%s, best fixed FF_max at 0.4, "
					      "0.8, 1.2",
					      where),
			       "grows with the load",
			       reproduce_text("%d, %d, %d", limit[best[0]],
					      limit[best[1]], limit[best[2]]),
			       best[0] <= best[1] && best[1] <= best[2] &&
				       best[0] < best[2],
			       NULL);
	for (size_t l = 0; !rc && l < NR(loads); l++)
		reproduce_range(
			r,
			reproduce_text("%s L=%g, RT, adaptive to best fixed",
				       where, loads[l]),
			0.9, 1.1,
			reproduce_ratio(r, &g, NR(limit), best[l], l, RT),
			NULL);
	reproduce_grid_clear(&g);
	return rc;
}

/* Figures 3.15 to 3.18. */
int ismail_i5f(struct reproduce *r, struct error *err)
{
	static const struct order orders[] = {
		{ "fsjf", "mfff", "MISP, U/U", UU_MISP, 1, METRIC_HUGE, ABOVE },
		{ "ffcfs", "mfff", "MISP, U/U", UU_MISP, 1, METRIC_SMALL,
		  ABOVE },
		{ "ffcfs", "mfff", "MISP, U/U", UU_MISP, 1, METRIC_HUGE,
		  ABOVE },
	};
	int rc = best_fixed(r, "MISP, U/U", UU_MISP, err);

	if (!rc)
		rc = best_fixed(r, "MISP, U/E", UE_MISP, err);
	return rc < 0 ? rc : all_orders(r, orders, NR(orders), err);
}

/* Figures 4.4 to 4.8 and 4.10 to 4.15. */
int ismail_i5g(struct reproduce *r, struct error *err)
{
#define SM    "dprop-sm:x=2"
/* The text calls applications 9, 10, 19, 20, 29 and 30 long.  Their t(n) is 808 and more;
 * that of the next ones, 8, 18 and 28, is 435, which is above T_e as well. */
#define SH(x) "dprop-sh:x=" #x ",long=500"
	static const struct order orders[] = {
		{ "dprop", "deqp", "MISP, U", DYN_U, 0.8, RT, ABOVE },
		{ "dsmjf", "dprop", "MISP, U", DYN_U, 0.8, RT, ABOVE },
		{ "dfcfs", "dsmjf", "MISP, U", DYN_U, 0.8, RT, ABOVE },
		{ "dprop", "deqp", "MISP, E", DYN_E, 0.8, RT, ABOVE },
		{ "dsmjf", "dprop", "MISP, E", DYN_E, 0.8, RT, ABOVE },
		{ "dfcfs", "dsmjf", "MISP, E", DYN_E, 0.8, RT, ABOVE },
		{ "dsmjf", "dprop", "applications", APPS, 0.8, RT, ABOVE },
		{ "dfcfs", "dsmjf", "applications", APPS, 0.8, RT, ABOVE },
		{ "deqp", "dprop", "MISP, U", DYN_U, 1, METRIC_HUGE, ABOVE },
		{ "deqp", "dprop", "MISP, U", DYN_U, 1, METRIC_SMALL, BELOW },
		{ SM, "dprop", "MISP, U", DYN_U, 1, RT, BELOW },
		{ SM, "deqp", "MISP, U", DYN_U, 1, RT, 1, 1.1 },
		{ SM, "deqp", "MISP, U", DYN_U, 1, METRIC_HUGE, BELOW },
		{ SH(4), SM, "applications", APPS, 0.8, RT, 0.9, 1 },
		{ SH(4), "deqp", "applications", APPS, 0.8, RT, ABOVE },
		{ SH(32), "deqp", "applications", APPS, 0.8, RT, 0.95, 1.05 },
	};

	return all_orders(r, orders, NR(orders), err);
}
