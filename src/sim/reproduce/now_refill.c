/*
 * now_refill.c - what Arpaci 1995 says a return costs an owner: Figure 10 and
 * Table 2 (section 5.2), modelled
 *
 * Figure 10 is lost. Table 2 has how much longer four programs took when the file
 * cache, memory or both had been cleaned. By our model of paging
 * (sim/engine/paging.h) what comes back is read page by page; so each slowdown is
 * that of a working set of some size, and that must fit a workstation of its time.
 */
#include <math.h>

#include "sim/engine/paging.h"
#include "sim/reproduce/now.h"

#define MB 1048576.0

/* The smallest of Schnor 1997, Table 5.1; this paper does not tell its own. */
static const double least_memory = 8;

static const struct {
	const char *name;
	double seconds, both; /* run time, and how many times that */
} programs[] = {
	{ "LaTeX", 15.0, 1.46 },
	{ "make", 42.0, 1.39 },
	{ "gzip", 23.3, 1.09 },
	{ "user", 101.7, 1.13 },
};

enum { PROGRAMS = sizeof(programs) / sizeof(*programs) };

/* Seconds until so many bytes have come back. */
static double refill(const struct paging *p, double bytes)
{
	return bytes / (double)p->page * p->fault;
}

static struct estimate exactly(double x)
{
	return (struct estimate){ x, x, x };
}

int now_n12(struct reproduce *r, struct error *err)
{
	struct paging p;
	double most = 0, mean = 0;
	int rc = paging_parse("", &p, err);

	if (rc < 0)
		return rc;
	for (int i = 0; i < PROGRAMS; i++) {
		double lost = programs[i].seconds * (programs[i].both - 1);
		double mb = lost / refill(&p, MB);

		reproduce_range(r,
				reproduce_text("Table 2, %s, MB that come back "
					       "in the %.1f s that it lost",
					       programs[i].name, lost),
				0, least_memory, exactly(mb), NULL);
		most = mb > most ? mb : most;
		mean += mb / PROGRAMS;
	}
	reproduce_note(r, reproduce_text("modelled, not measured: the bound is "
					 "the memory of the smallest "
					 "workstations of Schnor 1997, Table "
					 "5.1"));
	reproduce_range(r,
			reproduce_text("Figure 10, seconds until the largest "
				       "of these working sets is back"),
			1, INFINITY, exactly(refill(&p, most * MB)),
			reproduce_text("\"potentially quite lengthy\", where "
				       "the processor's state takes a few "
				       "milliseconds; on average %.1f s",
				       refill(&p, mean * MB)));
	return 0;
}
