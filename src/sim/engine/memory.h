/*
 * memory.h - hosts' memory in one simulation run, shared by memory.c (what jobs
 * need, and what their time goes for) and, over progress.c, shares.c (who gets
 * what)
 *
 * All numbers are constant between instants: a phase begins, a job arrives where
 * it moved to, starts or ends.  At each of these the shares of all hosts are
 * computed anew, and the account of each job whose share changed is closed first,
 * in whole microseconds; so the parts of its time sum up to it exactly.  A job
 * of several processes goes on as its slowest one, whose time is split.
 */
#ifndef SIM_ENGINE_MEMORY_H
#define SIM_ENGINE_MEMORY_H

#include "sim/engine/engine.h"
#include "sim/engine/paging.h"

/* What is known of a job here; by its ix. */
struct need {
	const struct workload_phases *phases; /* or NULL */
	uint64_t memory;		      /* without them */
	uint32_t phase;
	uint64_t demand;	/* now; 0 until it runs */
	usec_t work;		/* in all, since its start */
	double cpu, page, rate; /* seconds a second */
	/* The same, while they are being computed. */
	double fresh_cpu, fresh_page, fresh_rate;
};

struct engine_memory {
	const struct paging *model;
	struct need *need;
	size_t nr_need;
	struct heap wakes;	    /* job ix, by when its phase or way ends */
	struct paging_share *share; /* of all ranks, host by host */
	uint32_t *owner;	    /* job ix of each of these */
	uint32_t *first;	    /* by host: where its ranks begin */
	size_t cap_ranks;
	bool told;	   /* hosts changed, and no pass has been since */
	double idle, skew; /* now */
	double idle_area, skew_area, seconds;
};

struct need *memory_need(const struct engine *g, const struct job *job);

/* Of engine_part_memory (shares.c), what needs to know nothing of shares. */
usec_t memory_next(const struct engine *g, bool jobs);
void memory_arrive(struct engine *g, const struct job *job,
		   const struct workload_job *w);
void memory_leave(struct engine *g, const struct job *job);
void memory_spend(struct engine *g, const struct job *job, usec_t dt);
void memory_pace(struct engine *g, const struct job *job);
void memory_measure(struct engine *g, double seconds);
void memory_average(struct engine *g);

/* NULL: it is in its last one. */
const struct workload_phase *memory_next_phase(const struct need *n);
/* Work that is to be done until it begins. */
double memory_until_phase(const struct engine *g, const struct job *job);

#endif
