/* priv.h - the controller's policy and its view: private to this sub-room */
#ifndef CLUSTER_CONTROLLER_SCHED_PRIV_H
#define CLUSTER_CONTROLLER_SCHED_PRIV_H

#include <stdio.h>

#include "cluster/controller/sched/sched.h"
#include "cluster/controller/state/state.h"
#include "policy/policies.h"

enum { SLOTS_LEAST = 16 }; /* a host has at least so many slots */

/* Instants at which the policy asked to be woken: wake.c's. */
struct sched_wakes {
	usec_t *at; /* latest first */
	size_t nr, cap;
	/* set for the last one in the list, which is the earliest */
	sd_event_source *timer;
};

/* How many lines the record has since its last begin: record.c's. */
struct sched_record {
	uint64_t nr;
	uint64_t flushed; /* of these, certainly committed */
	/* of these, written until all existing jobs had entered */
	uint64_t entered;
};

/* Text that is being written, for the record or for an answer: record.c's. */
struct sched_text {
	FILE *to;
	char *text;
	size_t size;
};

struct ctl_sched {
	struct view view;
	struct policy *policy; /* NULL until there is a host */
	struct plan plan;      /* of the last pass */
	sd_event_source *pass; /* not NULL: a pass is due */
	struct sched_wakes wakes;
	struct sched_record record;
	struct sched_text lines; /* the last that were recorded */
};

/* ---- tell.c */

/* Apply an event that the policy did not plan: tell it, and ask it for a plan. */
void sched_apply_and_ask(struct ctl *ctl, struct event *e);
/* Enter a job into the view. */
void sched_job_enter(struct ctl_job *job, usec_t at);
void sched_job_start(struct ctl_job *job, usec_t at, const uint32_t *hosts);
void sched_rank_frozen(struct ctl_rank *r, bool on, usec_t at, bool told);
/* What is known of one that has moved. */
void sched_rank_seen(struct ctl_rank *r, usec_t at);

/* ---- host.c */

void sched_host_fill(const struct ctl_host *h, struct host *ret);

/* ---- wake.c */

/* Forget the instants that the policy asked for. */
void sched_forget_wakes(struct ctl *ctl);

#endif
