/*
 * now.c - what Arpaci 1995 measured of parallel programs on workstations,
 * message by message (sections 3 and 4.1)
 *
 * 64 nodes; each point is the mean of five runs, as in the paper, whose programs
 * were real ones.  Slowdown is against the same program coscheduled, or alone.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/random.h"
#include "core/units.h"
#include "sim/cosched/cosched.h"
#include "sim/reproduce/now.h"
#include "sim/reproduce/reproduce.h"

enum { NODES = 64, RUNS = 5, EM3D = 0, CONNECT, CHOLESKY, COLUMN, SAMPLE, NR };

/* How nodes are shared; the rest is 0. */
struct sharing {
	nsec_t quantum;	    /* of round robin; 0: nobody else is there */
	unsigned others;    /* that run in turn with us */
	bool together;	    /* turns begin at the same time, but for */
	nsec_t skew;	    /* this at most */
	nsec_t daemon_each; /* a daemon comes so often, */
	nsec_t daemon_for;  /* for so long */
	double first; /* the first node alone is shared: we have so much */
};

static nsec_t draw(struct random_stream *r, nsec_t below)
{
	return below > 0 ? (nsec_t)random_below(r, (uint64_t)below) : 0;
}

static void share_node(const struct sharing *s, struct random_stream *r,
		       struct node *n)
{
	*n = (struct node){ .daemon_each = s->daemon_each,
			    .daemon_for = s->daemon_for,
			    .daemon_phase = draw(r, s->daemon_each) };
	if (!s->others)
		return;
	n->period = (1 + (nsec_t)s->others) * s->quantum;
	n->on = s->quantum;
	n->phase = draw(r, s->together ? s->skew : n->period);
}

/* A sequential process has its quantum; we what makes up our share. */
static void share_first(const struct sharing *s, struct node *n)
{
	double period = (double)s->quantum / (1 - s->first);

	n->period = (nsec_t)llround(period);
	n->on = n->period - s->quantum;
}

/* So many rounds take about two seconds, or one is longer. */
static uint32_t rounds_of(const struct program *p)
{
	nsec_t round = p->compute + p->gap * p->messages;
	nsec_t n = 2000 * NSEC_PER_MSEC / round;

	return n > 1 ? (uint32_t)n : 1;
}

static double time_of(const struct reproduce *r, unsigned program,
		      const struct sharing *s, const struct network *net,
		      unsigned replication)
{
	struct node node[NODES];
	struct cosched c = { .program = cosched_program(program),
			     .network = *net,
			     .node = node,
			     .nr = NODES,
			     .seed = r->seed,
			     .replication = replication };
	struct cosched_result result;
	struct random_stream random;

	random_init(&random, r->seed, "nodes", replication);
	for (int i = 0; i < NODES; i++)
		share_node(s, &random, &node[i]);
	if (s->first > 0)
		share_first(s, &node[0]);
	c.rounds = rounds_of(c.program);
	cosched_run(&c, &result);
	return (double)result.time;
}

/* Mean time under a to that under b. */
static struct estimate slowdown_on(const struct reproduce *r, unsigned program,
				   const struct sharing *a,
				   const struct sharing *b,
				   const struct network *net)
{
	double x[RUNS], y[RUNS];
	unsigned n = r->quick ? 2 : RUNS;

	for (unsigned i = 0; i < n; i++) {
		x[i] = time_of(r, program, a, net, i);
		y[i] = time_of(r, program, b, net, i);
	}
	return stats_ratio(x, y, n, r->level);
}

static struct estimate slowdown(const struct reproduce *r, unsigned program,
				const struct sharing *a,
				const struct sharing *b)
{
	const struct network net = cosched_network();

	return slowdown_on(r, program, a, b, &net);
}

static const char *program_name(unsigned program)
{
	return cosched_program(program)->name;
}

static const struct sharing alone;

static struct sharing turns(nsec_t quantum, unsigned others, bool together,
			    nsec_t skew)
{
	return (struct sharing){ .quantum = quantum,
				 .others = others,
				 .together = together,
				 .skew = skew };
}

/* ---- N-7: local scheduling ---- */

static struct estimate local(const struct reproduce *r, unsigned program,
			     nsec_t quantum, unsigned others)
{
	const struct sharing a = turns(quantum, others, false, 0);
	const struct sharing b = turns(quantum, others, true, 0);

	return slowdown(r, program, &a, &b);
}

/* The same with other buffers, which the paper calls small. */
static void tell_buffers(struct reproduce *r, unsigned program)
{
	static const uint32_t sizes[] = { 256, 4096, 16384, 65536, 1048576 };
	const struct sharing a = turns(100 * NSEC_PER_MSEC, 1, false, 0);
	const struct sharing b = turns(100 * NSEC_PER_MSEC, 1, true, 0);

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		struct network net = cosched_network();
		struct estimate e;

		net.buffer = sizes[i];
		e = slowdown_on(r, program, &a, &b, &net);
		reproduce_note(r, reproduce_text("buffers of %u bytes: %.1f "
						 "(%.1f to %.1f)",
						 sizes[i], e.value, e.low,
						 e.high));
	}
}

static void tell_more(struct reproduce *r, unsigned program,
		      struct estimate one)
{
	struct estimate three = local(r, program, 100 * NSEC_PER_MSEC, 3);
	struct estimate longer = local(r, program, 200 * NSEC_PER_MSEC, 1);

	reproduce_fact(r,
		       reproduce_text("%s, three competitors; quantum of "
				      "200 ms",
				      program_name(program)),
		       "both slower than one and 100 ms",
		       reproduce_text(ESTIMATE_FMT " and " ESTIMATE_FMT
						   ", against %.4g",
				      ESTIMATE_ARGS(three),
				      ESTIMATE_ARGS(longer), one.value),
		       three.value > one.value && longer.value > one.value,
		       NULL);
}

static int n7(struct reproduce *r, struct error *err)
{
	(void)err;
	for (unsigned p = 0; p < NR; p++) {
		struct estimate one = local(r, p, 100 * NSEC_PER_MSEC, 1);

		reproduce_range(r,
				reproduce_text("%s, one competitor, quantum "
					       "of 100 ms",
					       program_name(p)),
				8, INFINITY, one, NULL);
		tell_buffers(r, p);
		if (p == EM3D)
			reproduce_number(r,
					 reproduce_text("em3d, the same: "
							"\"nearly 50\""),
					 47.5, 2.5, one, NULL);
		tell_more(r, p, one);
	}
	return 0;
}

/* ---- N-8: skew ---- */

static int n8(struct reproduce *r, struct error *err)
{
	static const struct {
		nsec_t quantum;
		double most;
	} points[] = { { 100 * NSEC_PER_MSEC, 1.05 },
		       { 1000 * NSEC_PER_MSEC, 1.02 } };

	(void)err;
	for (unsigned k = 0; k < 2; k++)
		for (unsigned p = 0; p < NR; p++) {
			const struct sharing a = turns(
				points[k].quantum, 1, true, 10 * NSEC_PER_MSEC);
			const struct sharing b =
				turns(points[k].quantum, 1, true, 0);

			reproduce_range(
				r,
				reproduce_text("%s, skew of 10 ms, quantum of "
					       "%d ms",
					       program_name(p),
					       (int)(points[k].quantum /
						     NSEC_PER_MSEC)),
				-INFINITY, points[k].most,
				slowdown(r, p, &a, &b), NULL);
		}
	return 0;
}

/* ---- N-9: daemons ---- */

static int n9(struct reproduce *r, struct error *err)
{
	struct sharing daemons = { .daemon_each = 10000 * NSEC_PER_MSEC,
				   .daemon_for = 5 * NSEC_PER_MSEC };

	(void)err;
	for (unsigned p = 0; p < NR; p++)
		reproduce_range(r,
				reproduce_text("%s, daemons of 5 ms each 10 s",
					       program_name(p)),
				-INFINITY, 1.1,
				slowdown(r, p, &daemons, &alone), NULL);
	daemons.daemon_for = 50 * NSEC_PER_MSEC;
	daemons.daemon_each = 5000 * NSEC_PER_MSEC;
	reproduce_range(r, reproduce_text("em3d, daemons of 50 ms each 5 s"), 2,
			INFINITY, slowdown(r, EM3D, &daemons, &alone), NULL);
	for (nsec_t each = 10000; each <= 30000; each += 10000) {
		struct estimate e;

		daemons.daemon_each = each * NSEC_PER_MSEC;
		e = slowdown(r, EM3D, &daemons, &alone);
		reproduce_note(r, reproduce_text("each %d s: %.2f (%.2f to "
						 "%.2f)",
						 (int)(each / 1000), e.value,
						 e.low, e.high));
	}
	return 0;
}

/* ---- N-10: one node is shared ---- */

static int n10(struct reproduce *r, struct error *err)
{
	/* The share that we have of the node; everybody else is alone. */
	static const double shares[] = { 0.5, 0.25 };

	(void)err;
	for (unsigned k = 0; k < 2; k++)
		for (unsigned p = 0; p < NR; p++) {
			const struct sharing s = { .quantum =
							   100 * NSEC_PER_MSEC,
						   .first = shares[k] };
			double rate = 1 / shares[k];
			struct estimate e = slowdown(r, p, &s, &alone);
			char *what = reproduce_text(
				"%s, %g %% of one node of 64, at that node's "
				"rate %g",
				program_name(p), 100 * shares[k], rate);

			/* The text says "at the rate"; a tenth of it is what a
			 * figure would show. */
			if (p == CHOLESKY)
				reproduce_range(r, what, -INFINITY, 0.9 * rate,
						e, NULL);
			else
				reproduce_number(r, what, rate, 0.1 * rate, e,
						 NULL);
		}
	return 0;
}

static const struct reproduce_entry entries[] = {
	{ "N-1", "moves of 2 minutes: jobs 1.8 times as long on 50 hosts",
	  now_n1 },
	{ "N-2", "hosts are best recruited after 3 minutes", now_n2 },
	{ "N-3", "how often the worst owners are delayed a day", now_n3 },
	{ "N-4", "a social contract of 10 delays on 60 hosts, of 20 on 50",
	  now_n4 },
	{ "N-5", "about 60 hosts carry a parallel workload of 32 nodes",
	  now_n5 },
	{ "N-6", "how owners come and go, as the generator has it", now_n6 },
	{ "N-7", "local scheduling: at least 8 times slower, em3d 50", n7 },
	{ "N-8", "a skew of 10 ms costs at most 5 %, or 2 %", n8 },
	{ "N-9", "daemons of 5 ms cost at most 10 %; of 50 ms em3d half", n9 },
	{ "N-10", "one shared node slows all down, but cholesky", n10 },
	{ "N-11", "the parallel workload, as the generator has it", now_n11 },
	{ "N-12", "what a return costs its owner, modelled", now_n12 },
	{ NULL, NULL, NULL }
};

const struct reproduce_paper reproduce_now = {
	.name = "now",
	.title = "R. Arpaci et al., The Interaction of Parallel and Sequential "
		 "Workloads on a Network of Workstations, 1995",
	.method =
		"The paper ran five programs on a CM-5 of 64 nodes and "
		"disturbed them; here they are what the text says of them: "
		"how long they compute between messages, of what size, and "
		"how often all wait for all (doc/design/55-cosched.md). Means "
		"of five runs with other phases of the nodes. A slowdown is "
		"against the same program coscheduled with as many others, "
		"or alone. The figures are lost; bounds are the text's. "
		"N-1 to N-6 and N-11 are of jobs on hosts that belong to people, "
		"whose traces are lost: ours are generated by laws that have "
		"what the paper says of them (doc/design/56-borrowed-hosts.md). "
		"Their tails and how much people differ it does not say, so "
		"each claim has notes with its figures under other laws that "
		"agree with the paper as well, and tells for which of them it "
		"holds.",
	.entry = entries,
};
