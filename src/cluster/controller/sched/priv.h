/*
 * priv.h - the controller's policy and its view: what only this part looks into
 */
#ifndef CLUSTER_CONTROLLER_SCHED_PRIV_H
#define CLUSTER_CONTROLLER_SCHED_PRIV_H

#include "cluster/controller/sched/sched.h"
#include "cluster/controller/state/state.h"
#include "policy/policies.h"

enum { SLOTS_LEAST = 16 }; /* that a host has for ranks */

/* Instants the policy asked for: wake.c's. */
struct sched_wakes {
	usec_t *at; /* latest first */
	size_t nr, cap;
	sd_event_source *timer; /* at the last of them */
};

/* Lines of the record since its last begin: record.c's. */
struct sched_record {
	uint64_t nr;
	uint64_t flushed; /* of them, surely committed */
	uint64_t entered; /* of them, when all that was there had entered */
};

struct ctl_sched {
	struct view view;
	struct policy *policy; /* NULL until there is a host */
	struct plan plan;      /* of the last pass */
	sd_event_source *pass; /* one is due */
	struct sched_wakes wakes;
	struct sched_record record;
};

/* ---- tell.c */

/* Something the policy did not plan: tell it, and ask it for a plan. */
void sched_apply_and_ask(struct ctl *ctl, struct event *e);
/* The model's side of a job, from what the controller knows. */
void sched_job_enter(struct ctl_job *job, usec_t at);
void sched_job_start(struct ctl_job *job, usec_t at, const uint32_t *hosts);
void sched_rank_frozen(struct ctl_rank *r, bool on, usec_t at, bool told);

/* ---- host.c */

void sched_host_fill(const struct ctl_host *h, struct host *ret);

/* ---- wake.c */

/* Forget the instants that the policy asked for. */
void sched_forget_wakes(struct ctl *ctl);

#endif
