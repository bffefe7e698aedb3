/*
 * policies.h - all policies: which there are, making one, asking it
 *
 * kit/policy.h says what a policy is; this header is for those that drive one.
 *
 * How a driver uses one:
 *	policy_create(spec, seed, view, &policy, err);
 *	for every instant with events:
 *		for each: model_apply(view, e); policy_event(policy, view, e);
 *		plan_reset(plan, view);
 *		policy_decide(policy, view, plan);
 *		carry out plan->entry[0..nr), applying events of its own
 *		    (START, ...), which are not told to the policy;
 *	policy_destroy(policy);
 * The order of events within an instant is policy->order's (enum
 * policy_order).  A driver that was started anew and holds a view with jobs
 * calls policy_adopt(), and policy_load() if the policy has save and load.
 */
#ifndef POLICY_POLICIES_H
#define POLICY_POLICIES_H

#include "policy/kit/leave.h"
#include "policy/kit/policy.h"

/* All of them, in the order of policies.def; NULL beyond the last. */
const struct policy_ops *policy_nth(size_t n);

/*
 * Add a policy of a user's own (kit/own.h), which is found by the name `path` from then
 * on; policy_nth() has only Stint's.  To be called before policies are made; path and
 * ops must stay valid.
 */
void policy_add(const char *path, const struct policy_ops *ops);

/* Is it the path of a user's own policy, with a slash in it or .so at its end? */
bool policy_is_path(const char *name);

/* The policy of that name, or NULL with an error that lists similar names. */
const struct policy_ops *policy_find(const char *name, struct error *err);

/* The policy that "NAME:key=value,..." names; *ret_params is what follows the name. */
const struct policy_ops *policy_of(const char *spec, const char **ret_params,
				   struct error *err);

/*
 * Is there such a policy, with such parameters?  What depends on the machine is
 * left to policy_create().
 */
int policy_check(const char *spec, struct error *err) must_check;

/*
 * policy_check(), and can the live cluster do what this policy plans?  -ENOTSUP
 * with a reason for one that changes the number of a running program's
 * processes, or suspends programs in time slices.
 */
int policy_check_live(const char *spec, struct error *err) must_check;

/*
 * Make a policy from "NAME:key=value,...".  seed feeds its random stream.
 * policy_destroy() frees it.
 */
int policy_create(const char *spec, uint64_t seed, const struct view *view,
		  struct policy **ret, struct error *err) must_check;
void policy_destroy(struct policy *policy); /* NULL is allowed */

static inline void policy_event(struct policy *policy, const struct view *view,
				const struct event *event)
{
	if (policy->ops->event)
		policy->ops->event(policy, view, event);
}

static inline void policy_decide(struct policy *policy, const struct view *view,
				 struct plan *plan)
{
	policy->ops->decide(policy, view, plan);
	if (view->nr_hosts &&
	    !(policy->ops->flags & (POLICY_OWNERS | POLICY_SLICES)))
		leave_owned(view, plan);
}

/*
 * What the policy remembers beyond the view, as text for policy_load(), which the
 * caller frees; NULL if there is nothing.  To go on as before: create, adopt, load.
 */
char *policy_save(const struct policy *policy, const struct view *view);
/* Does policy_save() ever return something for policies of that spec? */
bool policy_remembers(const char *spec);
int policy_load(struct policy *policy, const struct view *view,
		const char *text, struct error *err) must_check;

/* Append an entry that says why a waiting job waits. */
void policy_explain(const struct policy *policy, const struct view *view,
		    const struct job *job, struct plan *plan);

/*
 * A job of more than policy_most() processors would wait for ever, and may block
 * others, so a driver asks before EVENT_ARRIVE. policy_check_size() returns -E2BIG with
 * the reason for a job of that size, or if the policy folds, of that min_size.
 */
int64_t policy_most(const struct policy *policy, const struct view *view);
int policy_check_size(const struct policy *policy, const struct view *view,
		      uint32_t size, uint32_t min_size,
		      struct error *err) must_check;

/*
 * Tell a new policy of the jobs in the view: ARRIVE for each that waits, ARRIVE and
 * START for each that runs, in the order of the lists.
 */
void policy_adopt(struct policy *policy, const struct view *view);

#endif
