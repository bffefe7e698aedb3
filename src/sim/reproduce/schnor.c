/*
 * schnor.c - what Schnor 1997 published: the worked example of
 * chapter 2 (S-2a), and the table of all ids
 */
#include <stdlib.h>
#include <string.h>

#include "core/xalloc.h"
#include "model/job.h"
#include "sim/engine/sim.h"
#include "sim/reproduce/reproduce.h"
#include "sim/reproduce/schnor.h"

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

	if (!rc)
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

	for (size_t i = 0; i < NR(rows) && !rc; i++) {
		char *ours;

		rc = run_example(rows[i].policy, &ours, err);
		if (!rc)
			reproduce_fact(
				r, reproduce_text("%s", rows[i].what),
				rows[i].published, ours,
				!strcmp(ours, rows[i].published),
				reproduce_text("priorities and remaining "
					       "times: unit test policy/gang"));
	}
	return rc;
}

static const struct reproduce_entry entries[] = {
	{ "S-2a", "the worked example of LST and the matrix algorithm", s2a },
	{ "S-2b", "FT: LS and SNPF alike, far faster than FIFO; LST better",
	  schnor_s2b },
	{ "S-2c", "MB: SNPF close to LST, LS not far behind", schnor_s2c },
	{ "S-2d", "exponential demands: LST gains little or loses",
	  schnor_s2d },
	{ "S-2e", "migrations under LST are few, and cost little", schnor_s2e },
	{ "S-2f", "FIFO-V: worst at low load, best at high", schnor_s2f },
	{ "S-4a", "availability vectors of idle systems", schnor_s4a },
	{ "S-4b", "mapping states of system 1", schnor_s4b },
	{ "S-4c", "mapping states of system 2", schnor_s4c },
	{ "S-4d", "Proof workload: computing times at high load", schnor_s4d },
	{ "S-4e", "what migration gains", schnor_s4e },
	{ "S-4f", "the least time between migration events", schnor_s4f },
	{ "S-4g", "gains grow with the difference of the hosts", schnor_s4g },
	{ "S-5a", "the length of slices matters little to LST, but at 5 min",
	  schnor_s5a },
	{ "S-5b", "load averages and delay factors", schnor_s5b },
	{ "S-5c", "gains and sizes; SED2 better than SED1", schnor_s5c },
	{ "S-5d", "Dynamic-SED: no ping-pong, no circles; not stable",
	  schnor_s5d },
	{ "S-5e", "Dynamic-SED migrates little, least by day", schnor_s5e },
	{ "S-5f", "a job started by night: sizes, delays, slowdowns",
	  schnor_s5f },
	{ "S-5g", "the same of one started by day", schnor_s5g },
	{ "S-5h", "70 % of the nodes are nearly as good as all", schnor_s5h },
	{ NULL, NULL, NULL }
};

const struct reproduce_paper reproduce_schnor = {
	.name = "schnor",
	.title = "B. Schnor, Scheduling and Migration Strategies for Parallel "
		 "Applications on Distributed Systems, 1997",
	.method =
		"Means over independent replications with common random "
		"numbers; a tenth of the jobs is warm-up. Loads are offered "
		"work over what the hosts can do. A statement without a "
		"number is met when the interval of the paired difference or "
		"ratio allows it; the bounds are in the column of the "
		"published value. The trace of S-5e to S-5h is lost: people come "
		"and go by a law that has the hours of Figure 5.2 and as many of "
		"Table 5.1's seats taken as the published sizes leave; notes have "
		"the figures under other laws.",
	.entry = entries,
};
