/*
 * workload.h - where a simulation's jobs come from
 *
 * A workload yields jobs one by one in the order of their arrival (by submit,
 * then id), so that ten million of them need no room.  The papers'
 * generators and SWF traces (sim/workload/swf.h) are workloads alike.
 *
 * To add a generator there are three things to do:
 * 1. write sim/workload/NAME.c ending in `const struct workload_ops
 *    workload_NAME` (or several, for a family);
 * 2. add its line WORKLOAD(NAME) to sim/workload/workloads.def;
 * 3. add the file to sim/meson.build.
 *
 * Draw each quantity from a stream of its own name (random_init(&w->sizes,
 * setup->seed, "sizes", setup->replication)), so that two loads or two policies
 * compared on one seed see the same sizes: common random numbers.
 */
#ifndef SIM_WORKLOAD_WORKLOAD_H
#define SIM_WORKLOAD_WORKLOAD_H

#include <stdint.h>

#include "core/error.h"
#include "core/param.h"
#include "core/random.h"
#include "core/units.h"
#include "model/speedup.h"

/* One job as a workload yields it. */
struct workload_job {
	int64_t id;
	usec_t submit;
	usec_t run;	 /* true time on size processors of speed 1 */
	usec_t estimate; /* the user's; 0: none.  Generators set it to run. */
	uint32_t size, min_size;
	uint8_t kind; /* enum job_kind */
	struct speedup speedup;
	uint64_t memory;
	/* Ranks 2i and 2i + 1 send each other so much a second, both ways, where
	 * nothing delays them; 0: nothing is said of it. */
	double pair_bytes, pair_segments;
	int32_t user, group, app, queue, partition;
	uint32_t home; /* host it is submitted at, + 1; 0: at none */
	const struct workload_tasks *tasks; /* a pool of tasks, or NULL */
	/* How its need of memory changes while it runs, or NULL: it needs
	 * `memory`.  Good as long as the workload is. */
	const struct workload_phases *phases;
};

/* From the share `from` of its work on, a process needs so many bytes; the first
 * phase is from 0, the others follow in order. */
struct workload_phases {
	uint32_t nr;
	struct workload_phase {
		double from;
		uint64_t bytes;
	} phase[];
};

/* A master-worker job: rounds of independent work steps of known lengths. */
struct workload_tasks {
	uint32_t nr;
	usec_t length[];
};

/* A job that is submitted when another one is over, whatever became of it, and its user
 * has thought. */
struct workload_follower {
	struct workload_job job; /* its submit is not known before */
	int64_t after; /* the id of the other, which next() yields or is a
				    follower itself */
	usec_t think;
};

struct workload_setup {
	const struct params *params; /* by ops->params */
	uint32_t procs;		     /* of the machine; 0: the workload says */
	double load;		     /* offered load wanted; 0: as it is */
	uint64_t nr_jobs;	     /* how many at most; 0: its own number */
	uint64_t seed;
	uint64_t replication; /* 0, 1, ...: independent ones of one seed */
};

struct workload_ops;

/* What every workload begins with. */
struct workload {
	const struct workload_ops *ops;
	uint32_t procs;	    /* of the machine it is meant for */
	uint64_t nr_warmup; /* jobs at the start left out of the statistics, as
			       the paper does */
	uint64_t nr_jobs;   /* how many there will be; 0: not known */
	/* Those that next() does not yield, as they come after others; their ids
	 * are their own.  nr_jobs has them, too. */
	const struct workload_follower *follower;
	uint32_t nr_followers;
	const char *
		hosts; /* a host list (sim/workload/machine.h) it comes with, for
			       heterogeneous systems; NULL: procs equal ones */
	const char *paging; /* what is meant by that hosts' memory, for
			       paging_parse() (sim/engine/paging.h); NULL: it
			       does not matter */
};

struct workload_ops {
	const char *name;
	const char *summary;
	const char *source;
	const char *details;
	const struct param *params;

	/* *ret heads something larger; ops is filled in by the caller. */
	int (*create)(const struct workload_setup *setup, struct workload **ret,
		      struct error *err);

	/* The next job: 1, or 0 at the end, or -errno.  Submits never
	 * decrease. */
	int (*next)(struct workload *workload, struct workload_job *ret,
		    struct error *err);

	void (*destroy)(struct workload *workload); /* NULL: free() */
};

const struct workload_ops *workload_nth(size_t n);

/* Is there such a workload, with such parameters?  "NAME:key=value,..." */
int workload_check(const char *spec, struct error *err) must_check;

/* From "NAME:key=value,..."; setup->params is ignored. */
int workload_create(const char *spec, const struct workload_setup *setup,
		    struct workload **ret, struct error *err) must_check;
void workload_destroy(struct workload *workload); /* NULL is allowed */

static inline int workload_next(struct workload *workload,
				struct workload_job *ret, struct error *err)
{
	return workload->ops->next(workload, ret, err);
}

#endif
