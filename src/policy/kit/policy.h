/*
 * policy.h - the contract between a scheduling policy and its driver
 *
 * A policy is a pure function of what it is shown: a view (model/view.h), the
 * events told to it (model/event.h) and the state of its own that it derived
 * from them.  It writes a plan (model/plan.h).  It does no I/O, reads no
 * clock but view->now, draws no random number but from the stream it is
 * handed, iterates over nothing in the order of addresses, and keeps nothing
 * in globals.  So the controller and the simulator link the same object code,
 * and the same events always yield the same plans.
 *
 * To add a policy there are four things to do (CONTRIBUTING.md has the steps):
 * 1. write policy/ROOM/NAME.c (one policy or a close family; queue, space,
 *    hosts or migrate), ending in one `const struct policy_ops policy_NAME`;
 * 2. add its line POLICY(NAME) to policy/policies.def;
 * 3. add the file to policy/meson.build;
 * 4. say in the comment at its top what a pass costs as the queue grows.
 * policy/test_policy.c and the laws of sim/laws then run with it, too.  A
 * test_NAME.c beside it is for a rule of its own that those cannot know.
 *
 * One that is not to be part of Stint is a shared object: kit/own.h.
 *
 * Every plan entry has a reason, a sentence with up to three numbers that have
 * names: REASON() and BECAUSE() of model/reason.h, which has an example.
 *
 * How a policy stays fast on long queues: it keeps its own index of the
 * waiting jobs, updated by policy_event() in O(log n) (policy/kit/fitset.h has one
 * ordered by a key and searched by size), and its pass touches only the jobs it
 * starts.  A policy for short queues may simply walk for_each_waiting(), which
 * goes from the earliest submission to the latest, or the other way round with
 * for_each_waiting_reverse() (model/view.h).
 *
 * As a policy plans START, it notes the job as running in its own state at
 * once; if the driver could not do it, EVENT_REQUEUE brings the job back. Where
 * plan_start() returns false, a reservation is in the way, and it waits on.
 */
#ifndef POLICY_KIT_POLICY_H
#define POLICY_KIT_POLICY_H

#include <stdio.h>

#include "core/error.h"
#include "core/param.h"
#include "core/random.h"
#include "model/event.h"
#include "model/plan.h"
#include "model/view.h"

enum policy_order {
	/* All ends, then all arrivals (by submit, id), then one pass: what is
	 * specified for EASY, and the default. */
	ORDER_ENDS_ARRIVALS_PASS,
	/* A pass after every event, arrivals before ends (pyss). */
	ORDER_ARRIVALS_FIRST_PASS_EACH,
	/* A pass after every event, ends before arrivals. */
	ORDER_ENDS_FIRST_PASS_EACH,
};

enum policy_flags {
	POLICY_HOSTS = 1 << 0,	   /* chooses hosts: needs view->hosts */
	POLICY_FOLDS = 1 << 1,	   /* may start a job on fewer than its size */
	POLICY_RESIZES = 1 << 2,   /* may change a running job's processors */
	POLICY_ESTIMATES = 1 << 3, /* is of little use without estimates */
	POLICY_SLICES = 1 << 4,	   /* suspends and resumes: gang time slices */
	POLICY_SHARES = 1 << 5,	   /* puts more ranks on a host than cores */
	POLICY_LIVE = 1 << 6,	   /* made for the live cluster */
	POLICY_OWNERS = 1 << 7,	   /* moves ranks off hosts whose owners want
				      them out; else leave_owned() does */
};

struct policy_ops;

/* What every policy begins with; the rest of it is private to its file. */
struct policy {
	const struct policy_ops *ops;
	enum policy_order order; /* set by create, if not the default */
};

/* What create is given. */
struct policy_setup {
	const struct policy_ops *ops; /* the policy to be made */
	/* the parameters that ops->params describes */
	const struct params *params;
	/* a stream for this policy alone; copy it */
	const struct random_stream *random;
	const struct view *view; /* at the start: it has processors and
				    hosts, and perhaps jobs */
};

struct policy_ops {
	const char *name;    /* as written on the command line */
	const char *summary; /* one line */
	const char *source;  /* "Ismail 1995 section 3.2" */
	const char *details; /* a paragraph for `stint policies NAME`: rule,
				choices made where the source is silent, and the
				cost of a pass as the queue grows */
	const struct param *params; /* or NULL */
	unsigned flags;		    /* enum policy_flags */
	/*
	 * For create: which member of its family it is, if several share the
	 * functions below.  Its file says what the numbers mean.
	 */
	int variant;

	/*
	 * Make one: *ret is a struct policy at the head of something larger;
	 * its ops is filled in by the caller.  -EINVAL with a reason if the
	 * parameters do not go together or do not fit the machine.
	 */
	int (*create)(const struct policy_setup *setup, struct policy **ret,
		      struct error *err);

	/*
	 * Something happened; the view shows the state after it (of EVENT_END:
	 * the job is in no list any more, and still readable).  NULL where the
	 * policy keeps no state.
	 */
	void (*event)(struct policy *policy, const struct view *view,
		      const struct event *event);

	/* Append to plan what should happen at view->now.  Cannot fail. */
	void (*decide)(struct policy *policy, const struct view *view,
		       struct plan *plan);

	/*
	 * Append one PLAN_DEFER entry that says why the job waits, as things
	 * are now.  Changes nothing.  NULL: the library says that it waits for
	 * processors.
	 */
	void (*explain)(const struct policy *policy, const struct view *view,
			const struct job *job, struct plan *plan);

	/*
	 * The most ranks one job could ever have, were all hosts usable and
	 * idle.  NULL: all cores there are.
	 */
	int64_t (*most)(const struct policy *policy, const struct view *view);

	/*
	 * Save state that does not follow from the view (ages, usage, rows) as
	 * text in a form of the policy's own, without NUL; load it, after
	 * policy_adopt(). Jobs in the text may be gone by then and others have
	 * come, and no timer is set: the next pass asks for timers again.  NULL
	 * if all state follows from the view.
	 */
	void (*save)(const struct policy *policy, const struct view *view,
		     FILE *to);
	int (*load)(struct policy *policy, const struct view *view,
		    const char *text, struct error *err);

	void (*destroy)(struct policy *policy); /* NULL: free() is enough */
};

/* For load(): returns -EINVAL, saying that the text is wrong at `at`. */
int policy_damaged(const struct policy *policy, const char *at,
		   struct error *err);

#endif
