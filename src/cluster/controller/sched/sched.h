/*
 * sched.h - the view that the policy sees, and its record
 */
#ifndef CLUSTER_CONTROLLER_SCHED_SCHED_H
#define CLUSTER_CONTROLLER_SCHED_SCHED_H

#include "cluster/controller/state/state.h"
#include "model/event.h"
#include "model/plan.h"
#include "model/view.h"

/* ---- sched.c */

/* The view that the policy sees; it has no hosts until the first one connects. */
const struct view *ctl_sched_view(const struct ctl *ctl);
/*
 * Have the policy decide at that time.  Its plan is valid until it decides again; hosts
 * may be added to it (plan_hosts()).
 */
struct plan *ctl_sched_decide(struct ctl *ctl, usec_t now);

/* Create the view of the hosts and unfinished jobs, and the policy for it. */
int ctl_sched_create(struct ctl *ctl, struct error *err);
void ctl_sched_destroy(struct ctl *ctl);
/*
 * Create both again, with the policy's saved state: when hosts are added, or
 * the record begins a new segment.
 */
void ctl_sched_anew(struct ctl *ctl);

/* ---- host.c */

/* What a host reports of itself has changed. */
void ctl_sched_host(struct ctl_host *h);

/* ---- tell.c */

void ctl_sched_arrive(struct ctl_job *job);
void ctl_sched_start(struct ctl_job *job, const uint32_t *hosts);
void ctl_sched_migrated(struct ctl_rank *r);
/*
 * A move of the rank that the policy has planned, or may have, does not take place, and a
 * pass is asked for.
 */
enum stays {
	STAYS_FAILED,
	STAYS_REFUSED, /* because of what the rank holds */
	STAYS_UNTRIED, /* the policy's was not tried */
};
void ctl_sched_stays(struct ctl_rank *r, enum stays why);
/* A rank is frozen, or no more. told: the policy has not planned that. */
void ctl_sched_frozen(struct ctl_rank *r, bool on, bool told);
/*
 * To be called when the job's ranks may need another amount of memory than the policy
 * was told.
 */
void ctl_sched_demand(struct ctl_job *job);
void ctl_sched_end(struct ctl_job *job);
/* The job waits again. */
void ctl_sched_requeue(struct ctl_job *job);
/* The policy forgets the job until it arrives again. */
void ctl_sched_leave(struct ctl_job *job);
void ctl_sched_soon(struct ctl *ctl);
/* a time has come that the policy asked for */
void ctl_sched_timer(struct ctl *ctl);
/* Apply an event that the policy planned, or (told) that it must be told of. */
void ctl_sched_apply(struct ctl *ctl, struct event *e, bool told);

/* ---- talk.c */

/*
 * To be called when the job's ranks may exchange other amounts than the policy was
 * told.
 */
void ctl_sched_talk(struct ctl_job *job);

/* ---- wake.c */

/* The policy asks to be woken at that instant: ctl_sched_timer() is called then. */
void ctl_sched_wake(struct ctl *ctl, usec_t at);

/* ---- answer.c */

/*
 * Write into buf why a job waits; and the numbers in that to `numbers`, unless NULL, as
 * because_write_numbers() does.
 */
void ctl_sched_why(struct ctl_job *job, char *buf, size_t n, FILE *numbers);
/* When a waiting job would start; USEC_MAX: not known. */
usec_t ctl_sched_expect(const struct ctl_job *job);
/* -E2BIG with the reason if the job is too large for all hosts together. */
int ctl_sched_check(const struct ctl_job *job, struct error *err);
/* -ENOENT if the user named a host that there is not, even if no rank would go there. */
int ctl_sched_named(const struct ctl_job *job, struct error *err);
/*
 * Assign ranks round-robin to the hosts that the user named; an error names the first
 * unusable one.  Nothing behind that is looked at: each pass asks for each job that
 * waits for its hosts.
 */
int ctl_sched_fixed(struct ctl_job *job, uint32_t *hosts, struct error *err);

/* ---- resume.c */

/*
 * The policy's state at the end of the record, for policy_load(); the caller
 * frees it.  NULL if there is none.
 */
char *ctl_resume(struct ctl *ctl);

/* ---- record.c */

/* Begin a segment, with a new view and policy without jobs. */
void ctl_record_begin(struct ctl *ctl);
/* Record an event, before it is applied. */
void ctl_record_event(struct ctl *ctl, const struct event *e, bool told);
/* Let go of what the last lines were written with. */
void ctl_record_close(struct ctl *ctl);
/* Record what is given to policy_load(). */
void ctl_record_state(struct ctl *ctl, const char *state);
/* Record that the policy has decided; its plan is not carried out yet. */
void ctl_record_pass(struct ctl *ctl);
/*
 * After a pass: commit if the transaction has grown large, because on an idle cluster
 * no message is sent that would commit it.
 */
void ctl_record_flush(struct ctl *ctl);
/* Is it time for a new segment? */
bool ctl_record_full(const struct ctl *ctl);
void ctl_record_read(struct ctl_peer *p, uint64_t re,
		     const Control__GetRecord *g);

#endif
