/*
 * sim.h - run a policy on a workload
 *
 * One event core drives the same policy code as the live cluster does
 * (policy/kit/policy.h says in which steps).  The machine is one of two kinds:
 * - counted: procs equal processors, each of which serves one rank;
 * - hosts (model/host.h): with speeds, cores and more ranks than cores.  A
 *   job then progresses at the rate of its slowest rank, 1 / host_delay()
 *   (strong synchronization, Schnor 1997 section 1.3.2), or, if it is a pool
 *   of tasks, at the mean rate of its ranks.
 * A policy that chooses hosts gets the second kind: procs hosts of one core
 * if none are described.
 *
 * A run is a pure function of its configuration: same seed, same bytes.
 */
#ifndef SIM_ENGINE_SIM_H
#define SIM_ENGINE_SIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/error.h"
#include "core/units.h"
#include "model/event.h"
#include "model/plan.h"
#include "model/view.h"
#include "sim/workload/workload.h"

/* How long a job stands still when something is done to it. */
struct sim_costs {
	usec_t resize;	     /* a change of its number of processors: the C of
				Ismail 1995 section 4 */
	usec_t migrate;	     /* once for all ranks of it that move together */
	usec_t migrate_rank; /* and for each of them */
	/*
	 * Moves take their time: a rank's lasts migrate_rank and what its memory
	 * needs at so many bytes a second, on a link of each host that carries
	 * one after the other.  The job stands still for all of it; or, with
	 * precopy, for migrate at its end.  0: moves are over at once.
	 */
	uint64_t link;
	bool precopy;
	/* What is left of a standstill goes by while a job is suspended, too:
	 * its ranks are under way whether it has its turn or not. */
	bool aside;
};

/* One who watches; every function may be NULL, none may change anything. */
struct sim_observer {
	/* An event was applied, and the view shows what came of it. */
	void (*event)(void *data, const struct view *view,
		      const struct event *event);
	/* A pass is over; its plan is about to be carried out. */
	void (*plan)(void *data, const struct view *view,
		     const struct plan *plan);
	void *data;
};

struct activity;    /* model/activity.h */
struct owner_terms; /* model/terms.h */
struct paging;	    /* sim/engine/paging.h */

/* Host failures, drains, cancellations, reservations: sim/workload/script.h. */
struct sim_script;

/* How a policy is made anew. */
enum sim_renewal {
	RENEW,
	/* And its timers are lost, and there is a pass at once, as when a
	 * controller is started again; */
	RENEW_AND_FORGET,
	RENEW_NOT, /* to compare with: the pass alone. */
	/* Before the pass: when it has been told of the events of an instant, and has not yet
	 * decided what to make of them. */
	RENEW_TOLD,
};

struct sim_config {
	struct workload *workload; /* used up by the run; not destroyed */
	const char *policy;	   /* "NAME:key=value,..." */
	uint32_t procs;		   /* 0: the workload's */
	const struct host *hosts;  /* NULL: equal ones */
	uint32_t nr_hosts;
	struct sim_costs costs;
	/* Hosts' memory matters: sim/engine/paging.h; NULL: it does not.  Needs
	 * hosts. */
	const struct paging *paging;
	bool pool;	       /* jobs are pools of tasks, not synchronized */
	bool exact_estimates;  /* policies see the run times */
	bool kill_at_estimate; /* a job that outruns its estimate is killed */
	uint64_t seed;	       /* of the policy's stream */
	const struct sim_observer *observer; /* or NULL */
	const struct sim_script *script;     /* or NULL; needs hosts, and gets
						them */
	const struct activity *activity; /* of the hosts' owners (owners.h), or
					    NULL */
	const struct owner_terms
		*terms; /* of all of them, where there are any */
	bool no_terms;	/* nobody keeps them: owners are only watched */
	uint64_t
		host_memory; /* bytes, of hosts that do not say; 0: not known */
	uint64_t rank_memory; /* bytes, of jobs that do not say */
	bool requeue;	      /* users allow it (job->requeue) */
	/* After every so many passes the policy is made anew, from what it
	 * saved and the view; 0: never. */
	uint64_t renew;
	enum sim_renewal renewal;
	/* Told now and then how many jobs have ended, for a progress bar. */
	void (*progress)(void *data, uint64_t nr_ended);
	void *progress_data;
};

/* What became of one job.  Records stand in the order of arrival. */
struct sim_record {
	int64_t id;
	usec_t submit;
	usec_t start; /* its first; -1: never started */
	usec_t end;   /* -1: it was rejected */
	usec_t run;   /* its true run time on size processors of speed 1 */
	uint32_t size;
	uint32_t procs;		 /* it had at last */
	float proc_secs;	 /* processor seconds it had */
	float stood_secs;	 /* seconds it stood still for changes */
	uint16_t resizes, moves; /* allocation changes; rank migrations
				    (both stop counting at 65535) */
	uint8_t outcome;	 /* enum event_outcome */
};

/*
 * What a job's time from submit to end was: the sum is exact.  Not known of jobs
 * that ended before they arrived.
 */
struct sim_split {
	usec_t queue;  /* it waited */
	usec_t run;    /* it got on, however slowly */
	usec_t still;  /* for moves and changes of its processors */
	usec_t frozen; /* ranks of it were, or all of it was suspended */
	usec_t lost;   /* it ran, and had to begin anew */
	/* With memory, and contained in run: it computed; the disk served its
	 * faults.  The rest of run it waited for others. */
	usec_t cpu, page;
};

/* What the owners of hosts bore, over all of them; or one of them. */
struct sim_owners {
	uint64_t returns;
	uint64_t disturbed;	  /* of them (model/contract.h) */
	uint32_t disturbed_most;  /* in a day, one owner */
	uint32_t disturbed_third; /* the third of them, by that; not of one */
	uint64_t given_back;	  /* returns after which running guests went */
	double give_back;	  /* seconds until they had, in all */
	usec_t give_back_most;
	double beside; /* seconds in which an owner was beside running guests */
	double waited; /* processor seconds that owners' processes waited for
			  guests, all having equal shares */
	double refill; /* seconds until what was in memory in the place of guests
			  was read again, at the rate of its faults */
};

struct sim_owner {
	char *name; /* of the host; "" where hosts have none */
	struct sim_owners bore;
};

/* Integrals over time between the arrivals of the first counted (not warm-up)
 * job and of the last one. */
struct sim_averages {
	double seconds;	      /* length of that window */
	double utilization;   /* allocated / processors */
	double effectiveness; /* S_e = P_a / min(P, P_d), while P_d > 0 */
	double fragmentation; /* (P_da - P_a) / P: what running jobs still
				 want, at most what is idle */
	double queue_length;  /* waiting jobs */
	double jobs;	      /* jobs in the system, for Little's law */
	/* With memory, and over the whole run: */
	double idle_memory; /* bytes that no process needs, of all hosts */
	double skew;	    /* standard deviation of the number of jobs that a
			       host runs, hosts held back left out */
};

struct sim_result {
	struct sim_record *record;
	size_t nr, cap;
	struct sim_split *split; /* of each record; NULL without owners, moves
				    that take time and memory */
	size_t cap_split;
	bool memory;		  /* hosts' memory mattered */
	struct sim_owners owners; /* 0 without activity */
	struct sim_owner *owner;  /* each host's; NULL without */
	uint32_t nr_owners;
	uint64_t nr_warmup; /* the first so many are not counted */
	int64_t seed;	    /* of the random streams; -1: not known */
	uint32_t procs;
	usec_t begin, end; /* first arrival, last end */
	double busy; /* processor seconds that jobs had; shared ones count once */
	struct sim_averages averages;
	uint64_t nr_passes, nr_events;
	uint64_t migrations;	   /* ranks moved */
	uint64_t migration_events; /* instants at which any moved */
	uint64_t restarts;	   /* jobs that lost a host */
	uint64_t starts_of_ranks;  /* ranks of all jobs started */
	uint64_t nr_rejected;	   /* jobs too large ever to start; */
	char *why_rejected;	   /* the first of them, and why; or NULL */
};

/*
 * Run to the end.  On success *ret is for sim_result_clear() to free.  -EPROTO
 * with a reason if the policy asks for what cannot be (a bug of the policy),
 * -EDEADLK if jobs wait for ever on a machine on which nothing runs.
 */
int sim_run(const struct sim_config *config, struct sim_result *ret,
	    struct error *err) must_check;
void sim_result_clear(struct sim_result *result);

#endif
