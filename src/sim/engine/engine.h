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

/* What only the simulator knows of a job; by its ix. */
struct truth {
	struct sim_split split; /* up to since; of a waiting job, run is 0 */
	usec_t left;		/* work: time it would still take at rate 1 */
	usec_t since;		/* left is as of then */
	usec_t stall;		/* it stands still until then */
	double rate;		/* of progress; 0 while suspended */
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
	uint32_t host, cores;
};

struct engine {
	const struct sim_config *config;
	struct view view;
	struct policy *policy;
	struct plan plan;
	struct heap ends; /* job ix by the time of its end */
	struct truth *truth;
	size_t nr_truth;
	int64_t most;		     /* policy_most() */
	struct workload_job next;    /* the arrival that comes next */
	bool more;		     /* is there one? */
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
	bool moved;		      /* a rank migrated at this instant */
	struct owners *owners;	      /* or NULL */
	struct moves *moves;	      /* or NULL: moves are over at once */
	struct engine_memory *memory; /* memory.c; NULL: it does not matter */
};

/* step.c: apply e, let the observer and, if told is true, the policy know. */
void engine_event(struct engine *g, const struct event *e, bool told);

/* step.c: a job that runs waits again, and will begin anew. */
void engine_requeue(struct engine *g, struct job *job);

/* step.c: the job of e (EVENT_END) is gone, running or not. */
void engine_finish(struct engine *g, const struct event *e);

/* step.c: so many ranks of it have moved. */
void engine_count_moves(struct engine *g, const struct job *job,
			uint32_t ranks);

/* carry.c: do what the plan says; -EPROTO if that cannot be. */
int engine_carry_out(struct engine *g, struct error *err) must_check;

/* happen.c: the event file */

/* When its next event is; USEC_MAX if there is none. */
usec_t engine_next_happening(const struct engine *g);
/* Let what it says of now happen; false if that is nothing. */
bool engine_happen(struct engine *g);
/* Does it fit the machine? */
int engine_check_script(const struct engine *g, struct error *err) must_check;

/* measure.c */

/* Add the time from the last instant up to now to the integrals. */
void engine_measure(struct engine *g, usec_t now);
/* Make the result's averages of them, at the end. */
void engine_averages(struct engine *g);

/* shares.c */

/* Set the rate of every running job, where hosts may have become slower. */
void engine_pace_all(struct engine *g);

/*
 * memory.c, shares.c: how hosts' memory slows jobs down, where the run is asked for that
 * (sim_config.paging).  All do nothing where it is not; the engine calls them
 * as it gets on.
 */
void engine_memory_open(struct engine *g);
void engine_memory_close(struct engine *g);
/* A job is there, and its record; it starts (returned: what it stands still for,
 * away from home); it is gone from its hosts. */
void engine_memory_arrive(struct engine *g, const struct job *job,
			  const struct workload_job *w);
usec_t engine_memory_start(struct engine *g, struct job *job);
void engine_memory_forget(struct engine *g, const struct job *job);
/* Of a job that has run for dt since its share was last computed: what of it goes
 * to cpu and page.  Its rate of progress. */
void engine_memory_account(struct engine *g, const struct job *job, usec_t dt);
double engine_memory_rate(const struct engine *g, const struct job *job);
/* When its rate is set: when does it need memory, or run, otherwise? */
void engine_memory_pace(struct engine *g, const struct job *job);
/* What a move of one of its processes takes. */
usec_t engine_memory_transfer(const struct engine *g, const struct job *job);
/* When the next job's need changes or it arrives where it moved to, or now, if a
 * pass is due that sees what became of the last one's plan; USEC_MAX if neither.
 * Let what is due now happen; a pass follows. */
usec_t engine_memory_next(const struct engine *g);
void engine_memory_happen(struct engine *g);
/* The averages over time. */
void engine_memory_measure(struct engine *g, double seconds);
void engine_memory_averages(struct engine *g);

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

/* moves.c, transfer.c: moves that take their time; NULL: none do */

struct moves *moves_create(const struct engine *g);
void moves_destroy(struct moves *m);
/* The rank sets out; not if it is under way already. */
void moves_begin(struct engine *g, struct job *job, uint32_t rank, uint32_t to);
usec_t moves_next(const struct engine *g); /* when one ends; USEC_MAX: none */
/* Let those that are due end; false if none is. */
bool moves_happen(struct engine *g);
/* The job is gone from its hosts, or has others. */
void moves_forget(struct engine *g, const struct job *job);
/* Ranks that are on their way to that host; m may be NULL. */
uint32_t moves_coming(const struct moves *m, uint32_t host);

#endif
