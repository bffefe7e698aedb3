/*
 * users.h - who may do what, and take how much
 */
#ifndef CLUSTER_CONTROLLER_USERS_USERS_H
#define CLUSTER_CONTROLLER_USERS_USERS_H

#include "cluster/controller/state/state.h"

/* ---- limit.c */

/* -EDQUOT if that user would have more that is not over than one may have. */
int ctl_limit_jobs(const struct ctl_peer *p, const Control__Submit *s,
		   struct error *err) must_check;
/* What a job asks for, against what these hosts (NULL: any host) give. */
int ctl_limit_check(const struct ctl_job *job, const uint32_t *hosts,
		    struct error *err) must_check;
int ctl_limit_host(const struct ctl_job *job, const struct ctl_host *h,
		   struct error *err) must_check;
/* Before ctl_rank_ended(): which limits it met. */
void ctl_limit_exited(struct ctl_rank *r, const Keeper__Exited *e);
/*
 * How it met them, to go on after "rank N exited" ("" if it did not), or, where
 * true is returned, after "rank N": that is what ended it.
 */
#define CTL_LIMIT_TEXT 256
bool ctl_limit_words(const struct ctl_rank *r, char ret[CTL_LIMIT_TEXT]);
/* It ended well and met one all the same: its user wants to know.  The caller
 * stores the job. */
void ctl_limit_note(const struct ctl_rank *r, const char *words);

/* ---- user.c */

/*
 * As many groups as there is room for in START beside the longest argument; agents
 * and keepers drop what is larger than 192 KiB, and the rank would never start.
 */
enum { CTL_GROUPS_MOST = 8000 };

/* May it do things to that job, and see all of it? */
bool ctl_may(const struct ctl_peer *p, const struct ctl_job *job);
/* May it see what was told and printed in that job, too? */
bool ctl_sees(const struct ctl_peer *p, const struct ctl_job *job);
/* What went wrong with it, for who does not. */
const char *ctl_job_outside(const struct ctl_job *job);
/* A text that may hold what a job was told, for the log. */
const char *ctl_log_text(const struct ctl *ctl, const char *text);
/* May it submit this?  Then its user and groups are filled in. */
int ctl_user_submits(const struct ctl_peer *p, Control__Submit *s,
		     struct error *err) must_check;
/* May it (still) start?  With the groups that its user has now. */
int ctl_user_starts(struct ctl_job *job, struct error *err) must_check;
/* May it still be what it is, at another host? */
int ctl_user_moves(const struct ctl_job *job, struct error *err) must_check;

#endif
