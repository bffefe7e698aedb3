/*
 * find.h - look-ups of jobs, hosts, keepers and moves
 */
#ifndef CLUSTER_CONTROLLER_STATE_FIND_H
#define CLUSTER_CONTROLLER_STATE_FIND_H

#include "cluster/controller/state/state.h"

usec_t ctl_now(void); /* since 1970 */
/* What an administrator should do about a full disk; "" if nothing. */
const char *ctl_room_text(struct ctl *ctl);
struct ctl_host *ctl_host_find(struct ctl *ctl, const char *name);
/* Since we were started it has not been there, and may be about to. */
bool ctl_host_coming(const struct ctl_host *h);
struct ctl_job *ctl_job_find(struct ctl *ctl, uint64_t id);
/* What people call it: the name it was given, or its program's. */
const char *ctl_job_name(const struct ctl_job *job);
/* That rank of that job, or NULL. */
struct ctl_rank *ctl_rank_find(struct ctl *ctl, uint64_t job, uint32_t rank);
/* Whose address that is; NULL: no rank's of a job that is not over. */
struct ctl_rank *ctl_rank_at(struct ctl *ctl, struct in_addr address);
bool ctl_rank_active(const struct ctl_rank *r); /* started and not ended */
/* The one that a job has, wherever it is. */
struct klink *klink_find(struct ctl *ctl, uint64_t job, uint32_t rank,
			 uint64_t epoch);
/* What that host says it has, be it true or not. */
struct klink *klink_at(const struct ctl_host *h, uint64_t job, uint32_t rank,
		       uint64_t epoch);
/* The rank of a keeper, or NULL; and is it the keeper that has the rank now? */
struct ctl_rank *klink_rank(const struct klink *k);
bool klink_is_current(const struct klink *k);
/* The keeper that has the rank now, or NULL. */
struct klink *klink_of(const struct ctl_rank *r);
/* Was it the rank's before its job began anew? */
bool klink_is_past(const struct klink *k);
/* Its place in all that the rank prints, however often its job begins anew. */
uint64_t klink_whole_offset(const struct klink *k, const Keeper__Output *o);
/*
 * Must it be killed?  It belongs to no job, to one that is over, or to a failed
 * move.
 */
bool klink_is_doomed(const struct klink *k);
/* The two keepers of a move, if known. */
struct klink *ctl_move_source(const struct ctl_move *m);
struct klink *ctl_move_dest(const struct ctl_move *m);
bool ctl_move_at_dest(const struct ctl_move *m, const struct klink *k);
struct ctl_move *ctl_move_of(const struct klink *k); /* that concerns it */
/* Is a copy held at the destination while the source has not answered? */
bool ctl_move_undecided(const struct ctl_move *m);

#endif
