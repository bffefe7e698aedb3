/*
 * find.h - look-ups of jobs, hosts, keepers and moves
 */
#ifndef CLUSTER_CONTROLLER_STATE_FIND_H
#define CLUSTER_CONTROLLER_STATE_FIND_H

#include "cluster/controller/state/state.h"

usec_t ctl_now(void); /* microseconds since 1970 */
/* What users and administrators are told of a full disk; "" if it is not full. */
const char *ctl_room_text(struct ctl *ctl);
struct ctl_host *ctl_host_find(struct ctl *ctl, const char *name);
/*
 * The host's agent has not connected since the controller was started, but may still be
 * about to.
 */
bool ctl_host_coming(const struct ctl_host *h);
struct ctl_job *ctl_job_find(struct ctl *ctl, uint64_t id);
/* The job's name: the one it was given, or its program's. */
const char *ctl_job_name(const struct ctl_job *job);
/* That rank of that job, or NULL. */
struct ctl_rank *ctl_rank_find(struct ctl *ctl, uint64_t job, uint32_t rank);
/* The rank that has that address; NULL if no rank of an unfinished job has it. */
struct ctl_rank *ctl_rank_at(struct ctl *ctl, struct in_addr address);
/* it has started and not ended */
bool ctl_rank_active(const struct ctl_rank *r);
/* The klink of that keeper of a job, at whatever host. */
struct klink *klink_find(struct ctl *ctl, uint64_t job, uint32_t rank,
			 uint64_t epoch);
/* The klink of a keeper that the host claims to have, true or not. */
struct klink *klink_at(const struct ctl_host *h, uint64_t job, uint32_t rank,
		       uint64_t epoch);
/* The rank of a keeper, or NULL; and is it the keeper that has the rank now? */
struct ctl_rank *klink_rank(const struct klink *k);
bool klink_is_current(const struct klink *k);
/* The keeper that has the rank now, or NULL. */
struct klink *klink_of(const struct ctl_rank *r);
/* Was it a keeper of the rank before its job was requeued? */
bool klink_is_past(const struct klink *k);
/*
 * The offset of this output in all that the rank prints, over all requeues of its job.
 */
uint64_t klink_whole_offset(const struct klink *k, const Keeper__Output *o);
/*
 * Must the keeper be killed?  That is so if it belongs to no job, to one that is over,
 * or to a failed move.
 */
bool klink_is_doomed(const struct klink *k);
/* The two keepers of a move, if known. */
struct klink *ctl_move_source(const struct ctl_move *m);
struct klink *ctl_move_dest(const struct ctl_move *m);
bool ctl_move_at_dest(const struct ctl_move *m, const struct klink *k);
/* the move that this keeper takes part in; or NULL */
struct ctl_move *ctl_move_of(const struct klink *k);
/* Is a copy held at the destination while the source has not answered? */
bool ctl_move_undecided(const struct ctl_move *m);
/* Why the giving back at that return took too long; NULL: nothing is noted. */
struct ctl_late *ctl_late_of(const struct ctl_lending *l, usec_t wall);

#endif
