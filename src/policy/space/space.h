/*
 * space.h - what the space-sharing policies of Ismail have in common
 *
 * Ismail 1995 studies a machine of P equal processors, each of which serves
 * one job; where they are does not matter ("topology-independent").  A job
 * asks for n processors and may be folded: run on fewer.  The 27 policies
 * differ in the order of their queue, in how far they fold, and in whether a
 * running job's share may change:
 *	space/firstfit.c   never fold                    chapter 2
 *	space/unlimited.c  fold down to one processor    chapter 2
 *	space/folding.c    fold one job by FF_max        chapter 3
 *	space/multifold.c  fold several at once          chapter 3
 *	space/equal.c      resize: equal, proportional   chapter 4
 *	space/topup.c      resize: fill up one by one    chapter 4
 *
 * All of them keep to a job's min_size as well, which the thesis does not
 * have: a rigid job is never folded, and one that may be folded never below
 * its min_size.  Ismail's jobs have min_size 1.
 */
#ifndef POLICY_SPACE_SPACE_H
#define POLICY_SPACE_SPACE_H

#include "policy/kit/fitset.h"
#include "policy/kit/policy.h"

/* The queue's order; ties by (submit, id). */
enum space_order {
	SPACE_ARRIVAL,
	SPACE_LARGEST,	    /* n decreasing */
	SPACE_SMALLEST,	    /* n increasing */
	SPACE_LEAST_DEMAND, /* n t(n) increasing */
	SPACE_SHORTEST,	    /* t(n) increasing */
	SPACE_LONGEST,	    /* t(n) decreasing */
};

/* A policy with a queue; the structs of the others begin with it. */
struct space {
	struct policy policy;
	enum space_order order;
	struct fitset waiting;
};

/*
 * A zeroed struct of `size` bytes that begins with a struct space.  Its queue's order
 * is the variant (enum space_order) of the policy_ops in setup.
 */
void *space_new(size_t size, const struct policy_setup *setup);
/* The policy_ops callbacks of a policy whose only state is its waiting jobs. */
int space_create(const struct policy_setup *setup, struct policy **ret,
		 struct error *err);
void space_event(struct policy *policy, const struct view *view,
		 const struct event *event);
void space_destroy(struct policy *policy);

/* The sort key of a job in that order. */
int64_t space_key(enum space_order order, const struct job *job);

/*
 * The most processors the job can have, those it has included; 0 if that is less than
 * it needs, or no more than it has.
 */
uint32_t space_allows(struct plan *plan, const struct job *job) must_check;

/* Plan the job's start and take it off the queue; false if plan_start() refuses. */
bool space_start(struct space *s, struct plan *plan, const struct job *job,
		 uint32_t n, struct because why) must_check;

/* First fit: start each job that fits unfolded, in the queue's order. */
void space_first_fit(struct space *s, struct plan *plan);

/*
 * FF_max, the most a job may be folded by (Ismail 1995 section 3.2): f1 = ceil(P_d /
 * P), f2 = f1 - (1-r) N_r / P_u, or a fixed number.  P_d: the processors that all
 * present jobs ask for; N_r and P_u: those that the running ones ask for, and have.
 */
struct space_limit {
	enum { SPACE_F1, SPACE_F2, SPACE_FIXED } kind;
	double number; /* r of F2, FF_max of FIXED */
};

/* Parameters "ffmax" and "r", for the tables of policies that fold. */
#define SPACE_LIMIT_PARAMS                                                     \
	{ "ffmax",                                                             \
	  PARAM_TEXT,                                                          \
	  0,                                                                   \
	  0,                                                                   \
	  0,                                                                   \
	  (const char *const[]){ "f1", NULL },                                 \
	  "most a job may be folded by: f1, f2 or a number (Ismail 1995 "      \
	  "section 3.2)" },                                                    \
	{                                                                      \
		"r", PARAM_REAL, 2. / 3, 0, 1, NULL,                           \
			"f2: mean residual life over mean life of run times: " \
			"1 exponential, 2/3 uniform, 1/2 constant"             \
	}

int space_limit_read(const struct params *params, struct space_limit *ret,
		     struct error *err) must_check;
/* At least 1. */
double space_limit_now(const struct space_limit *limit,
		       const struct view *view);
/* The largest size that folds into free processors under FF_max. */
int64_t space_limit_size(double ffmax, int64_t free);

/*
 * Sharing out processors: every share begins at n within [low, high], and is
 * brought to sum to at most total.
 */
struct space_share {
	const struct job *job;
	uint32_t low, high;
	uint32_t n;
};

/*
 * While their sum is more than total, take one from the largest that is above its low
 * (of equal ones the last). Returns total minus the sum, which is below 0 only if the
 * lows alone are too much.
 */
int64_t space_share_trim(struct space_share *share, size_t nr, int64_t total);

/*
 * Give `left` processors out one by one, in order, to shares below their high, again
 * and again.  Returns what is left when all have theirs.
 */
int64_t space_share_fill(struct space_share *share, size_t nr, int64_t left);

#endif
