/*
 * ranked.h - queues in the order of a score that changes with time
 *
 * What SJF, LXF, WFP and multifactor priority have in common: at a pass
 * every waiting job gets a score, jobs are tried from the highest down (ties
 * by submit, id), and `fit` says what happens behind one that does not fit:
 *
 *   block  everybody waits
 *   skip   who fits goes first (list scheduling)
 *   easy   who fits and does not delay the first that does not, by the
 *          estimates of the running jobs (as policy/queue/easy.c)
 *
 * A pass costs O(n) for n waiting jobs, since all scores may change, and
 * O(log n) for each that starts or fits behind the first that does not; nothing
 * where no processor is free.
 *
 * Where time changes no order (SJF) the queue is kept in it: the functions
 * called _fixed cost O(log n) for each job that starts.
 */
#ifndef POLICY_KIT_RANKED_H
#define POLICY_KIT_RANKED_H

#include "policy/kit/ends.h"
#include "policy/kit/fitset.h"
#include "policy/kit/policy.h"

enum ranked_fit { RANKED_BLOCK, RANKED_SKIP, RANKED_EASY };

/* the names of enum ranked_fit, for PARAM_CHOICE */
extern const char *const ranked_fits[];

struct ranked_entry {
	const struct job *job;
	double score;
};

struct ranked {
	enum ranked_fit fit;
	struct ends ends; /* running jobs, by their estimated ends */
	struct ranked_entry *entry;
	size_t nr, cap;
	struct fitset queue; /* the queue, if its order is fixed */
};

typedef double ranked_score(const void *ctx, const struct view *view,
			    const struct job *job);

void ranked_init(struct ranked *r, enum ranked_fit fit);
void ranked_clear(struct ranked *r);

/* To be called with every event that the policy is told. */
void ranked_event(struct ranked *r, const struct event *event);

void ranked_decide(struct ranked *r, const struct view *view, struct plan *plan,
		   ranked_score *score, const void *ctx);

/*
 * The same for an order that time does not change: by key, the least of which stands
 * for the highest score.
 */
void ranked_init_fixed(struct ranked *r, enum ranked_fit fit);
void ranked_event_fixed(struct ranked *r, const struct event *event,
			int64_t key);
void ranked_decide_fixed(struct ranked *r, const struct view *view,
			 struct plan *plan, ranked_score *score,
			 const void *ctx);

/* Why a job waits: its score, and how many jobs are before it. */
void ranked_explain(const struct view *view, const struct job *job,
		    struct plan *plan, ranked_score *score, const void *ctx);

#endif
