/*
 * event.h - what happened, and what it does to the state
 *
 * Every change of a view is an event, so that the recorded events of a live run
 * can be replayed in the simulator and give the same states (and the same
 * plans).  A driver does three things in this order:
 *	model_apply(view, &event);		the state
 *	policy_event(policy, view, &event);	the policy's own state
 *	policy_decide(policy, view, plan);	once for an instant's events
 * and then carries the plan out, which makes events START, RESIZE, MIGRATE,
 * SUSPEND, RESUME, FREEZE, THAW, RESERVE and RELEASE of it.  These are applied but
 * not passed to the policy, which has already taken them into account while
 * planning; if one could not be carried out, the driver sends REQUEUE (or END).
 * A live driver's moves take time and may fail: MIGRATE is applied, and passed to
 * the policy, when the move has ended, with the host where the rank then is.  One that
 * it puts off, or cannot begin, ends so, too: with each planned move it is told how that
 * ended, unless the job ends or begins anew before.
 * THAW comes unplanned, too: a rank that moves is not frozen while it does.  REQUEUE
 * is always passed: of a running job once all its ranks have ended.
 */
#ifndef MODEL_EVENT_H
#define MODEL_EVENT_H

#include <stdint.h>

#include "core/units.h"
#include "model/view.h"

enum event_type {
	EVENT_ARRIVE,  /* job, filled in, joins the waiting */
	EVENT_START,   /* job runs on n processors: hosts */
	EVENT_RESIZE,  /* running job has n processors from now on: hosts */
	EVENT_MIGRATE, /* the rank of a job is on host now, and not frozen if it
			  was on another before; refused: it cannot leave that
			  one, as it is; untried: a planned move of it was not
			  begun, and may be planned again; whether it can leave is
			  as it was */
	EVENT_SUSPEND, /* job stands still; keeps its hosts, frees processors */
	EVENT_RESUME,  /* job goes on; on hosts, if given */
	EVENT_FREEZE,  /* the rank of a job stands still, and the job with it */
	EVENT_THAW,    /* and goes on */
	EVENT_REQUEUE, /* job lost its processors and waits again; of a waiting
			  job: its start was planned and could not be done */
	EVENT_END,     /* job is gone: done, failed or cancelled */
	EVENT_HOST,    /* host: load, users, up, drain, ... are as in *fresh */
	EVENT_PROCS,   /* counted machine: n processors are usable now */
	EVENT_RESERVE, /* host is held back for the policy */
	EVENT_RELEASE, /* and no longer */
	EVENT_BOOKED,  /* view->reservations changed */
	EVENT_TIMER,   /* an instant the policy asked for with plan_wake() */
	EVENT_DEMAND,  /* a process of job needs so many bytes from now on */
	EVENT_TALK,    /* the ranks of job talk to each other as n, talk say */
};

enum event_outcome {
	END_DONE,
	END_FAILED,
	END_CANCELLED,
	END_KILLED,
	END_REJECTED, /* never arrived: policy_check_size(); not of events */
};

struct event {
	enum event_type type;
	usec_t at; /* view->now becomes this; never before it */
	struct job *job;
	uint32_t n;		     /* processors */
	const uint32_t *hosts;	     /* n host indices or NULL; copied */
	uint32_t rank, host;	     /* MIGRATE; rank: FREEZE, THAW; host: HOST,
				     RESERVE, RELEASE */
	uint64_t bytes;		     /* DEMAND */
	const struct job_talk *talk; /* TALK: n of them, by (a, b); copied */
	const struct host *fresh;    /* HOST: the upper part of it is copied */
	usec_t cost;	       /* RESIZE, MIGRATE, RESUME: standstill, which
				     est_end is put off by */
	bool refused, untried; /* MIGRATE */
	struct rank_seen seen; /* MIGRATE: all zeros if nothing was */
	enum event_outcome outcome; /* END */
};

/*
 * Change the state.  An event that contradicts it (starting a job that runs)
 * is a bug of the driver and asserted.  Does not free the job at END.
 */
void model_apply(struct view *view, const struct event *event);

/* Short name ("arrive", ...); NULL beyond the last. */
const char *event_name(enum event_type type);
/* "done", "failed", "cancelled", "killed", "rejected"; NULL beyond the last. */
const char *event_outcome_name(enum event_outcome outcome);

#endif
