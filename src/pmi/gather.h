/*
 * gather.h - collecting the fences of all ranks of a job
 *
 * The hub of an exchange (pmi/pmi.h): the controller, or a test in one process,
 * keeps one of these per job.  It holds the generation that is being gathered,
 * and the union of the one before for a rank whose release got lost.
 */
#ifndef PMI_GATHER_H
#define PMI_GATHER_H

#include "pmi/pmi.h"

struct pmi_gather;

struct pmi_gather *pmi_gather_create(uint32_t size);
void pmi_gather_destroy(struct pmi_gather *g); /* NULL is allowed */

enum pmi_gathered {
	PMI_GATHER_WAIT,  /* some fences or pieces are missing */
	PMI_GATHER_ALL,	  /* complete now: send the union to every rank */
	PMI_GATHER_AGAIN, /* was complete before: send it to this rank again */
	PMI_GATHER_STUCK, /* ranks wait for ever: see pmi_gather_gone() */
};

/*
 * A rank's fence, or a piece of it (`more`).  It may be repeated.  Returns an
 * enum pmi_gathered, or -EPROTO for an invalid rank or generation.  After ALL
 * and AGAIN, send pmi_gather_union() as the release of that generation.
 */
int pmi_gather_add(struct pmi_gather *g, uint32_t rank, uint64_t generation,
		   const struct pmi_put *puts, size_t n, bool more,
		   struct error *err) must_check;

/*
 * That rank has ended: it enters no barrier any more.  Says whether others are in one
 * already, and now wait for ever; else pmi_gather_add() says STUCK when the first one
 * comes.  Either is said once for each barrier; pmi_gather_missed() says who is waited
 * for.
 */
bool pmi_gather_gone(struct pmi_gather *g, uint32_t rank);

/* A rank that has ended without this generation's fence; the size if there is none. */
uint32_t pmi_gather_missed(const struct pmi_gather *g);

/* The last complete union, in order of arrival; valid until the next add. */
const struct pmi_put *pmi_gather_union(const struct pmi_gather *g,
				       size_t *ret_n);

/*
 * Resume a job whose ranks have already passed `generation` barriers (after a
 * restart of the controller); what was gathered is discarded.  Who is gone stays so.
 */
void pmi_gather_resume(struct pmi_gather *g, uint64_t generation);

#endif
