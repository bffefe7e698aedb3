/*
 * engine.h - the parts of one simulation run, shared by the files of the
 * event core: engine.c (the loop) over happen.c (the event file) and carry.c
 * (carrying a plan out), these over step.c (applying one event), progress.c
 * (how fast jobs get on) and measure.c (integrals over time)
 */
#ifndef SIM_ENGINE_ENGINE_H
#define SIM_ENGINE_ENGINE_H

#include "core/heap.h"
#include "policy/policies.h"
#include "sim/engine/sim.h"

/* What only the simulator knows of a job; by its ix. */
struct truth {
	usec_t left;  /* work: time it would still take at rate 1 */
	usec_t since; /* left is as of then */
	usec_t stall; /* it stands still until then */
	double rate;  /* of progress; 0 while suspended */
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
	int64_t most;		  /* policy_most() */
	struct workload_job next; /* the arrival that comes next */
	bool more;		  /* is there one? */
	usec_t *timer;		  /* times asked for, the latest first */
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
	bool moved; /* a rank migrated at this instant */
};

/* step.c: apply e, let the observer and, if told is true, the policy know. */
void engine_event(struct engine *g, const struct event *e, bool told);

/* step.c: the job of e (EVENT_END) is gone, running or not. */
void engine_finish(struct engine *g, const struct event *e);

/* carry.c: do what the plan says; -EPROTO if that cannot be. */
int engine_carry_out(struct engine *g, struct error *err) must_check;

/* happen.c: the event file */

/* When its next event is; USEC_MAX if there is none. */
usec_t engine_next_happening(const struct engine *g);
/* Let what it says of now happen. */
void engine_happen(struct engine *g);
/* Does it fit the machine? */
int engine_check_script(const struct engine *g, struct error *err) must_check;

/* measure.c */

/* Add the time from the last instant up to now to the integrals. */
void engine_measure(struct engine *g, usec_t now);
/* Make the result's averages of them, at the end. */
void engine_averages(struct engine *g);

/* progress.c */

/* Bring left up to now. */
void engine_advance(struct engine *g, const struct job *job);
/* Set its rate by where it is, and the time of its end. */
void engine_pace(struct engine *g, const struct job *job);
/* The same for every running job, where hosts may have become slower. */
void engine_pace_all(struct engine *g);

#endif
