/*
 * reproduce_schnor.c - what Schnor 1997 published: chapter 2, largest size
 * first and gang scheduling
 *
 * The figures of the scan are lost: what a curve shows is known from the text
 * around it, which names loads only as low, medium and high.  Here these are
 * 0.3, 0.5 and 0.65 of what the hosts can do; first come, first served is at
 * its end at about 0.67 on these workloads.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/xalloc.h"
#include "model/job.h"
#include "sim/reproduce.h"
#include "sim/reproduce_schnor.h"
#include "sim/sim.h"

#define NR(array) (sizeof(array) / sizeof(*(array)))

/* ---- S-2a: the worked example ---- */

enum { NR_JOBS = 6, NR_SLOTS = 8, HOSTS = 8 };

static const uint32_t sizes[NR_JOBS] = { 6, 4, 3, 4, 2, 5 };

#define SLOT (1800 * USEC_PER_SEC)

/* Table 2.1: all at once, two slots each. */
struct example {
	struct workload base;
	int next;
};

static int example_next(struct workload *workload, struct workload_job *ret,
			struct error *err)
{
	struct example *e = (struct example *)workload;

	if (e->next == NR_JOBS)
		return 0;
	*ret = (struct workload_job){ .id = e->next + 1,
				      .run = 2 * SLOT,
				      .estimate = 2 * SLOT,
				      .size = sizes[e->next],
				      .min_size = sizes[e->next],
				      .kind = JOB_RIGID };
	e->next++;
	return 1;
}

static const struct workload_ops example_ops = { .name = "table 2.1",
						 .next = example_next };

/* Which jobs were given hosts at the start of each slot, as bits. */
struct seen {
	unsigned running;
	unsigned slot[NR_SLOTS + 1];
};

static void note_event(void *data, const struct view *view,
		       const struct event *e)
{
	struct seen *s = data;
	unsigned bit = e->job ? 1u << (e->job->id - 1) : 0;
	usec_t slot = view->now / SLOT;

	switch (e->type) {
	case EVENT_START:
	case EVENT_RESUME:
		s->running |= bit;
		break;
	case EVENT_SUSPEND:
	case EVENT_END:
		s->running &= ~bit;
		break;
	default:
		break;
	}
	if (slot <= NR_SLOTS)
		s->slot[slot] = s->running;
}

/* "J1 J5 | J3 J6 | ...", malloc'd; the last slot is when nothing is left. */
static char *slots_text(const struct seen *s)
{
	char *text = xstrdup("");

	for (int t = 0; t < NR_SLOTS && s->slot[t]; t++)
		for (int j = 0; j <= NR_JOBS; j++) {
			bool bar = j == NR_JOBS && t + 1 < NR_SLOTS &&
				   s->slot[t + 1];
			char *longer;

			if (j < NR_JOBS && !(s->slot[t] & (1u << j)))
				continue;
			longer = j < NR_JOBS
					 ? xasprintf("%s%sJ%d", text,
						     *text ? " " : "", j + 1)
					 : xasprintf("%s%s", text,
						     bar ? " |" : "");
			free(text);
			text = longer;
		}
	return text;
}

static int run_example(const char *policy, char **ret, struct error *err)
{
	struct example e = { .base = { .ops = &example_ops, .procs = HOSTS } };
	struct seen seen = { 0 };
	const struct sim_observer observer = { .event = note_event,
					       .data = &seen };
	const struct sim_config config = { .workload = &e.base,
					   .policy = policy,
					   .procs = HOSTS,
					   .observer = &observer };
	struct sim_result result = { 0 };
	int rc = sim_run(&config, &result, err);

	if (rc == 0)
		*ret = slots_text(&seen);
	sim_result_clear(&result);
	return rc;
}

static int s2a(struct reproduce *r, struct error *err)
{
	static const struct {
		const char *policy, *what, *published;
	} rows[] = {
		{ "lst:slice=1800", "Table 2.2, who runs in each slot (LST)",
		  "J1 J5 | J3 J6 | J1 J5 | J2 J4 | J3 J6 | J2 J4" },
		{ "matrix:slice=1800", "Figure 2.1, 4 rows (matrix)",
		  "J1 J5 | J2 J3 | J4 J5 | J6 | J1 | J2 J3 | J4 | J6" },
	};
	int rc = 0;

	for (size_t i = 0; i < NR(rows) && rc == 0; i++) {
		char *ours;

		rc = run_example(rows[i].policy, &ours, err);
		if (rc == 0)
			reproduce_fact(
				r, reproduce_text("%s", rows[i].what),
				rows[i].published, ours,
				!strcmp(ours, rows[i].published),
				reproduce_text("priorities and remaining "
					       "times: unit test policy/gang"));
	}
	return rc;
}

/* ---- S-2b ... S-2f ---- */

/* How much smaller than a's is b's mean response: 1 - b/a. */
static struct estimate reduction(const struct reproduce *r,
				 const struct reproduce_grid *g, size_t a,
				 size_t b, size_t load)
{
	struct estimate q = reproduce_ratio(r, g, b, a, load, METRIC_RESPONSE);

	return (struct estimate){ 1 - q.value, 1 - q.high, 1 - q.low };
}

static const double loads2[] = { 0.3, 0.5, 0.6, 0.65 };

enum { LOW, MEDIUM, HIGH, HIGHER };

static struct reproduce_grid grid2(const char *const *policies,
				   const char *workload)
{
	return (struct reproduce_grid){
		.policy = policies,
		.workload = workload,
		.load = loads2,
		.nr_loads = NR(loads2),
		.costs = { .migrate = SCHNOR_MIGRATE,
			   .migrate_rank = SCHNOR_MIGRATE_RANK },
		.precision = 0.05
	};
}

/* Is a's mean response surely below b's? */
static bool better(const struct reproduce *r, const struct reproduce_grid *g,
		   size_t a, size_t b, size_t load)
{
	return reproduce_difference(r, g, a, b, load, METRIC_RESPONSE).high < 0;
}

static void tell_ratio(struct reproduce *r, const struct reproduce_grid *g,
		       size_t a, size_t b, size_t load, const char *published,
		       double low, double high)
{
	struct estimate q = reproduce_ratio(r, g, a, b, load, METRIC_RESPONSE);

	reproduce_fact(
		r,
		reproduce_text("RT(%s)/RT(%s) at %g", g->policy[a],
			       g->policy[b], g->load[load]),
		published,
		reproduce_text("%.3f [%.3f, %.3f]", q.value, q.low, q.high),
		q.high >= low && q.low <= high, NULL);
}

static int s2b(struct reproduce *r, struct error *err)
{
	static const char *const policies[] = { "fcfs",		  "ls",
						"ffis",		  "lst",
						"ls:maxprio=100", NULL };
	enum { FIFO, LS, SNPF, LST, LS_N };
	struct reproduce_grid g = grid2(policies, "schnor:kind=ft");
	int rc = reproduce_grid_run(r, &g, err);

	if (rc < 0)
		goto out;
	for (size_t p = LS; p <= SNPF; p++) {
		reproduce_number(
			r,
			reproduce_text("%s, RT below FIFO's at 0.5",
				       p == LS ? "LS" : "SNPF"),
			0.4, 0.05, reduction(r, &g, FIFO, p, MEDIUM),
			p == LS ? reproduce_text(
					  "the paper gives no maxprio; with "
					  "100 (the hosts) instead of 200 it "
					  "is %.2f",
					  reduction(r, &g, FIFO, LS_N, MEDIUM)
						  .value)
				: NULL);
		reproduce_range(
			r,
			reproduce_text("%s, RT below FIFO's at 0.6",
				       p == LS ? "LS" : "SNPF"),
			0.6, 0.8, reduction(r, &g, FIFO, p, HIGH),
			p == LS ? reproduce_text(
					  "%.2f with maxprio=100",
					  reduction(r, &g, FIFO, LS_N, HIGH)
						  .value)
				: NULL);
	}
	tell_ratio(r, &g, LS, SNPF, MEDIUM, "alike: 1 +- 0.1", 0.9, 1.1);
	reproduce_fact(
		r, reproduce_text("LST against LS and SNPF at 0.65"),
		"better than both",
		reproduce_text(
			"%.0f s against %.0f and %.0f",
			reproduce_mean(r, &g, LST, HIGHER, METRIC_RESPONSE)
				.value,
			reproduce_mean(r, &g, LS, HIGHER, METRIC_RESPONSE)
				.value,
			reproduce_mean(r, &g, SNPF, HIGHER, METRIC_RESPONSE)
				.value),
		better(r, &g, LST, LS, HIGHER) &&
			better(r, &g, LST, SNPF, HIGHER),
		NULL);
	rc = reproduce_figure(r, &g, "2.3", METRIC_RESPONSE, err);
out:
	reproduce_grid_clear(&g);
	return rc;
}

static int s2c(struct reproduce *r, struct error *err)
{
	static const char *const policies[] = { "fcfs", "ls", "ffis", "lst",
						NULL };
	enum { FIFO, LS, SNPF, LST };
	struct reproduce_grid g = grid2(policies, "schnor:kind=mb");
	int rc = reproduce_grid_run(r, &g, err);

	if (rc < 0)
		goto out;
	for (size_t l = MEDIUM; l <= HIGHER; l++) {
		tell_ratio(r, &g, SNPF, LST, l, "almost as good: 1 +- 0.15",
			   0.85, 1.15);
		tell_ratio(r, &g, LS, LST, l, "not far behind: up to 1.5", 0,
			   1.5);
	}
	rc = reproduce_figure(r, &g, "2.4", METRIC_RESPONSE, err);
out:
	reproduce_grid_clear(&g);
	return rc;
}

static int s2d_one(struct reproduce *r, const char *workload,
		   const char *published, double low, double high,
		   const char *figure, struct error *err)
{
	static const char *const policies[] = { "ls", "ffis", "lst", NULL };
	enum { LS, SNPF, LST };
	struct reproduce_grid g = grid2(policies, workload);
	int rc = reproduce_grid_run(r, &g, err);

	for (size_t l = MEDIUM; rc == 0 && l <= HIGH; l++) {
		tell_ratio(r, &g, LST, LS, l, published, low, high);
		tell_ratio(r, &g, LST, SNPF, l, published, low, high);
	}
	if (rc == 0)
		rc = reproduce_figure(r, &g, figure, METRIC_RESPONSE, err);
	reproduce_grid_clear(&g);
	return rc;
}

static int s2d(struct reproduce *r, struct error *err)
{
	int rc = s2d_one(r, "schnor:kind=ft-exp",
			 "gains little or nothing: 0.9 or more", 0.9, INFINITY,
			 "2.3exp", err);

	if (rc < 0)
		return rc;
	return s2d_one(r, "schnor:kind=mb-exp", "worse: above 1", 1, INFINITY,
		       "2.4exp", err);
}

static void tell_migrations(struct reproduce *r, const struct reproduce_grid *g,
			    const char *name)
{
	for (size_t l = MEDIUM; l <= HIGHER; l++) {
		struct estimate share =
			reproduce_mean(r, g, 0, l, METRIC_MIGRATED);
		struct estimate gap =
			reproduce_mean(r, g, 0, l, METRIC_MIGRATION_GAP);

		reproduce_range(r,
				reproduce_text("%s, processes migrated at %g",
					       name, g->load[l]),
				0, 0.02, share, NULL);
		reproduce_range(r,
				reproduce_text("%s, hours between events at %g",
					       name, g->load[l]),
				10, INFINITY,
				(struct estimate){ gap.value / 3600,
						   gap.low / 3600,
						   gap.high / 3600 },
				NULL);
	}
	reproduce_number(
		r, reproduce_text("%s, processes an event", name), 20, 5,
		reproduce_mean(r, g, 0, HIGHER, METRIC_MIGRATION_RANKS), NULL);
}

static int s2e_variants(struct reproduce *r, const char *workload,
			const char *name, struct error *err)
{
	static const char *const policies[] = { "lst",
						"lst:migrate=no",
						"lst:alternate=no",
						"lst:alternate=no,slice=10min",
						"lst:slice=10min",
						NULL };
	enum { LST, NM, NA, NA_10, LST_10 };
	static const char *const only_lst[] = { "lst", NULL };
	struct reproduce_grid g = grid2(policies, workload);
	struct reproduce_grid o = grid2(only_lst, workload);
	int rc = reproduce_grid_run(r, &g, err);

	o.costs = (struct sim_costs){ 0 };
	if (rc == 0)
		rc = reproduce_grid_run(r, &o, err);
	if (rc < 0)
		goto out;
	tell_migrations(r, &g, name);
	for (size_t l = MEDIUM; l <= HIGH; l++) {
		double lst =
			reproduce_mean(r, &g, LST, l, METRIC_RESPONSE).value;
		double lst_o =
			reproduce_mean(r, &o, 0, l, METRIC_RESPONSE).value;

		reproduce_fact(r,
			       reproduce_text("%s, RT(LST_O)/RT(LST) at %g",
					      name, g.load[l]),
			       "1 +- 0.05", reproduce_text("%.3f", lst_o / lst),
			       fabs(lst_o / lst - 1) <= 0.05, NULL);
		tell_ratio(r, &g, NM, LST, l, "1 +- 0.05", 0.95, 1.05);
		tell_ratio(r, &g, NA, LST, l, "worse: above 1", 1.001,
			   INFINITY);
	}
	reproduce_fact(
		r,
		reproduce_text("%s, slice 10 instead of 30 min at 0.5", name),
		"LST_NA changes more than LST",
		reproduce_text("LST_NA %.3f, LST %.3f times",
			       reproduce_ratio(r, &g, NA_10, NA, MEDIUM,
					       METRIC_RESPONSE)
				       .value,
			       reproduce_ratio(r, &g, LST_10, LST, MEDIUM,
					       METRIC_RESPONSE)
				       .value),
		fabs(reproduce_ratio(r, &g, NA_10, NA, MEDIUM, METRIC_RESPONSE)
			     .value -
		     1) > fabs(reproduce_ratio(r, &g, LST_10, LST, MEDIUM,
					       METRIC_RESPONSE)
				       .value -
			       1),
		NULL);
	rc = reproduce_figure(r, &g, name, METRIC_RESPONSE, err);
out:
	reproduce_grid_clear(&g);
	reproduce_grid_clear(&o);
	return rc;
}

static int s2e(struct reproduce *r, struct error *err)
{
	int rc = s2e_variants(r, "schnor:kind=ft", "FT", err);

	return rc < 0 ? rc : s2e_variants(r, "schnor:kind=mb", "MB", err);
}

static int s2f_one(struct reproduce *r, const char *workload, const char *name,
		   struct error *err)
{
	static const char *const policies[] = { "fifo-v", "fcfs", "ls",
						"ffis",	  "lst",  NULL };
	enum { V, FIFO, LS, SNPF, LST };
	static const double loads[] = { 0.1, 0.5, 0.65 };
	struct reproduce_grid g = grid2(policies, workload);
	int rc;

	g.load = loads;
	g.nr_loads = NR(loads);
	rc = reproduce_grid_run(r, &g, err);
	if (rc == 0) {
		reproduce_fact(r, reproduce_text("%s, low load (0.1)", name),
			       "FIFO-V worse than FIFO",
			       reproduce_text("%.3f times FIFO's",
					      reproduce_ratio(r, &g, V, FIFO, 0,
							      METRIC_RESPONSE)
						      .value),
			       better(r, &g, FIFO, V, 0), NULL);
		reproduce_fact(
			r, reproduce_text("%s, medium load (0.5)", name),
			"FIFO-V better than the space-sharing ones",
			reproduce_text("%.3f times LS's, %.3f times SNPF's",
				       reproduce_ratio(r, &g, V, LS, 1,
						       METRIC_RESPONSE)
					       .value,
				       reproduce_ratio(r, &g, V, SNPF, 1,
						       METRIC_RESPONSE)
					       .value),
			better(r, &g, V, LS, 1) && better(r, &g, V, SNPF, 1),
			NULL);
		reproduce_fact(r, reproduce_text("%s, high load (0.65)", name),
			       "FIFO-V better than LST",
			       reproduce_text("%.3f times LST's",
					      reproduce_ratio(r, &g, V, LST, 2,
							      METRIC_RESPONSE)
						      .value),
			       better(r, &g, V, LST, 2), NULL);
		rc = reproduce_figure(r, &g, name, METRIC_RESPONSE, err);
	}
	reproduce_grid_clear(&g);
	return rc;
}

static int s2f(struct reproduce *r, struct error *err)
{
	int rc = s2f_one(r, "schnor:kind=ft", "FT", err);

	return rc < 0 ? rc : s2f_one(r, "schnor:kind=mb", "MB", err);
}

static const struct reproduce_entry entries[] = {
	{ "S-2a", "the worked example of LST and the matrix algorithm", s2a },
	{ "S-2b", "FT: LS and SNPF alike, far faster than FIFO; LST better",
	  s2b },
	{ "S-2c", "MB: SNPF close to LST, LS not far behind", s2c },
	{ "S-2d", "exponential demands: LST gains little or loses", s2d },
	{ "S-2e", "migrations under LST are few, and cost little", s2e },
	{ "S-2f", "FIFO-V: worst at low load, best at high", s2f },
	{ "S-4a", "availability vectors of idle systems", schnor_s4a },
	{ "S-4b", "mapping states of system 1", schnor_s4b },
	{ "S-4c", "mapping states of system 2", schnor_s4c },
	{ "S-4d", "Proof workload: computing times at high load", schnor_s4d },
	{ "S-4e", "what migration gains", schnor_s4e },
	{ "S-4f", "the least time between migration events", schnor_s4f },
	{ "S-4g", "gains grow with the difference of the hosts", schnor_s4g },
	{ NULL, NULL, NULL }
};

const struct reproduce_paper reproduce_schnor = {
	.name = "schnor",
	.title = "B. Schnor, Scheduling and Migration Strategies for Parallel "
		 "Applications on Distributed Systems, 1997",
	.method = "Means over independent replications with common random "
		  "numbers; a tenth of the jobs is warm-up. Loads are offered "
		  "work over what the hosts can do. A statement without a "
		  "number is met when the interval of the paired difference or "
		  "ratio allows it; the bounds are in the column of the "
		  "published value.",
	.entry = entries,
};
