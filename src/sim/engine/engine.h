/*
 * engine.h - the parts of one simulation run, shared by the files of the
 * event core: engine.c (the loop) over happen.c (the event file) and carry.c
 * (carrying a plan out), these over transfer.c (moves that take time) and owners.c
 * (who is at the hosts), these over step.c (applying one event), progress.c
 * (how fast jobs get on) and measure.c (integrals over time)
 */
#ifndef SIM_ENGINE_ENGINE_H
#define SIM_ENGINE_ENGINE_H

#include "core/heap.h"
#include "policy/policies.h"
#include "sim/engine/followers.h"
#include "sim/engine/owners.h"
#include "sim/engine/sim.h"

struct engine;

/*
 * What only some runs have: an event file, jobs that follow others, moves that take
 * their time, owners, memory.  A run that has it registers its functions
 * (engine_use()), in the order in which they are to be called; one that does not
 * pays nothing for it.  Any may be NULL.
 */
struct engine_part {
	/* When something of it happens next; USEC_MAX: never.  jobs: are there
	 * any, or will be? */
	usec_t (*next)(const struct engine *g, bool jobs);
	/* Let what is due happen; false if policies see no difference. */
	bool (*happen)(struct engine *g);
	/* The same where jobs have their pace of all that has happened; a pass
	 * follows. */
	void (*settle)(struct engine *g);
	/* An event is about to be applied. */
	void (*note)(struct engine *g, const struct event *e);
	/* A job is there, and its record. */
	void (*arrive)(struct engine *g, const struct job *job,
		       const struct workload_job *w);
	/* It starts; returned: what it stands still for. */
	usec_t (*start)(struct engine *g, struct job *job);
	/* It has got on for dt, at the pace it had. */
	void (*spend)(struct engine *g, const struct job *job, usec_t dt);
	/* Its rate was set. */
	void (*pace)(struct engine *g, const struct job *job);
	/* It is gone from its hosts. */
	void (*leave)(struct engine *g, const struct job *job);
	/* The job with this id is over, or was rejected. */
	void (*over)(struct engine *g, int64_t id, usec_t at);
	/* So much time has passed; the averages over it, at the end. */
	void (*measure)(struct engine *g, double seconds);
	void (*average)(struct engine *g);
};

#define ENGINE_PARTS 5 /* that there are */

/* What only the simulator knows of a job; by its ix. */
struct truth {
	usec_t left;  /* work: time it would still take at rate 1 */
	usec_t since; /* left is as of then */
	usec_t stall; /* it stands still until then */
	double rate;  /* of progress; 0 while suspended */
	double pair_bytes, pair_segments; /* workload_job's */
	uint32_t record;
	bool killed; /* its estimate ends it */
};

/* Integrals over time, in seconds times what is named. */
struct areas {
	double allocated, queue, jobs, effective, fragmentation;
	double demand; /* seconds in which there was any */
};

/* Of a host, for a reservation. */
struct holding {
	int64_t reservation;
	usec_t from, to; /* its own */
	uint32_t host, cores;
};

struct engine {
	const struct sim_config *config;
	const struct engine_part
		*part[ENGINE_PARTS + 1]; /* in use; then NULL */
	struct view view;
	struct policy *policy;
	struct plan plan;
	struct heap ends; /* job ix by the time of its end */
	struct truth *truth;
	size_t nr_truth;
	int64_t most;		     /* policy_most() */
	struct workload_job next;    /* the arrival that comes next */
	bool more;		     /* is there one? */
	usec_t arrival;		     /* when a job arrives next, as far as is
					known; USEC_MAX: never */
	struct followers *followers; /* jobs that come after others; or NULL */
	usec_t *timer;		     /* times asked for, the latest first */
	size_t nr_timers, cap_timers;
	struct sim_result result;
	int64_t running_demand; /* sum of size over running jobs */
	usec_t measured;	/* integrals are complete up to then */
	struct areas area, area_at_arrival;
	uint64_t nr_ended;
	size_t happened;	    /* events of the script that are past */
	struct reservation *booked; /* that are not over, by their start */
	size_t nr_booked, cap_booked;
	struct holding *holding; /* cores that are held for them now */
	size_t nr_holdings, cap_holdings;
	bool moved;	       /* a rank migrated at this instant */
	struct owners *owners; /* or NULL */
	struct moves *moves;   /* or NULL: moves are over at once */
	usec_t *drain_by;      /* by host, 0: any time; NULL: none has a time */
	struct engine_memory *memory; /* memory.c; NULL: it does not matter */
};

#define for_each_part(p, g) \
	for (const struct engine_part *const *p = (g)->part; *p; p++)

/* step.c: from now on, this part is called; it is not yet. */
void engine_use(struct engine *g, const struct engine_part *part);

/* step.c: apply e, let the observer and, if told is true, the policy know. */
void engine_event(struct engine *g, const struct event *e, bool told);

/* step.c: a job that runs waits again, and will begin anew. */
void engine_requeue(struct engine *g, struct job *job);

/* step.c: the job of e (EVENT_END) is gone, running or not. */
void engine_finish(struct engine *g, const struct event *e);

/* step.c: so many ranks of it have moved. */
void engine_count_moves(struct engine *g, const struct job *job,
			uint32_t ranks);

/* step.c: a pass is due then. */
void engine_wake(struct engine *g, usec_t at);
/* carry.c: do what the plan says; -EPROTO if that cannot be. */
int engine_carry_out(struct engine *g, struct error *err) must_check;

/*
 * pass.c: one pass of the policy, and what it plans; now and then the policy is made anew
 * (sim_config.renew)
 */
int engine_pass(struct engine *g, struct error *err) must_check;

/* happen.c: the event file */
extern const struct engine_part engine_part_script;
/* Does it fit the machine? */
int engine_check_script(const struct engine *g, struct error *err) must_check;

/* measure.c */

/* Add the time from the last instant up to now to the integrals. */
void engine_measure(struct engine *g, usec_t now);
/* Make the result's averages of them, at the end. */
void engine_averages(struct engine *g);

/* shares.c */

/* Set the rate of every running job, where the machine has hosts that may have
 * become slower. */
void engine_pace_hosts(struct engine *g);

static inline void engine_pace_all(struct engine *g)
{
	if (g->view.nr_hosts)
		engine_pace_hosts(g);
}

/*
 * memory.c, shares.c: how hosts' memory slows jobs down, where the run is asked for that
 * (sim_config.paging).  A job that starts away from home stands still until its
 * program is there; what happens is that a job's need changes, that it arrives
 * where it moved to, or that a pass is due that sees what became of the last
 * one's plan.
 */
extern const struct engine_part engine_part_memory;
struct engine_memory *engine_memory_create(struct engine *g);
void engine_memory_destroy(struct engine_memory *m); /* NULL is allowed */
/* A job's rate of progress; only with memory. */
double engine_memory_rate(const struct engine *g, const struct job *job);
/* What a move of one of its processes takes; without memory, 0. */
usec_t engine_memory_transfer(const struct engine *g, const struct job *job);

/* progress.c */

/* Bring left up to now. */
void engine_advance(struct engine *g, const struct job *job);
/* Its rate of progress, by where it is. */
double engine_rate(const struct engine *g, const struct job *job);
/* Set its rate, and the time of its end. */
void engine_pace(struct engine *g, const struct job *job);

/* It stands still for cost more; until then at least. */
void engine_stall(struct engine *g, const struct job *job, usec_t cost);
void engine_stall_until(struct engine *g, const struct job *job, usec_t until);

/* What became of the job's time, up to when it was last advanced; of a waiting job,
 * run is 0.  Only where the result has that. */
static inline struct sim_split *engine_split(struct engine *g,
					     const struct job *job)
{
	return &g->result.split[g->truth[job->ix].record];
}

/* moves.c, transfer.c: moves that take their time, where g->moves is there */

extern const struct engine_part engine_part_moves;
struct moves *moves_create(const struct engine *g);
void moves_destroy(struct moves *m); /* NULL is allowed */
/* The rank sets out; not if it is under way already. */
void moves_begin(struct engine *g, struct job *job, uint32_t rank, uint32_t to);
/* Ranks that are on their way to that host; m may be NULL. */
uint32_t moves_coming(const struct moves *m, uint32_t host);

#endif
