/*
 * users.h - who may do what, and take how much
 */
#ifndef CLUSTER_CONTROLLER_USERS_USERS_H
#define CLUSTER_CONTROLLER_USERS_USERS_H

#include "cluster/controller/state/state.h"

/* ---- limit.c */

/*
 * -EDQUOT if that user would have more unfinished jobs or ranks than one user may have.
 */
int ctl_limit_jobs(const struct ctl_peer *p, const Control__Submit *s,
		   struct error *err) must_check;
/* -EDQUOT if the user's unfinished jobs would take too much with this one as that. */
int ctl_limit_change(const struct ctl_peer *p, const struct ctl_job *job,
		     const Control__Submit *as, struct error *err) must_check;
/* Check what a job asks for against what these hosts (NULL: any host) give. */
int ctl_limit_check(const struct ctl_job *job, const uint32_t *hosts,
		    struct error *err) must_check;
int ctl_limit_host(const struct ctl_job *job, const struct ctl_host *h,
		   struct error *err) must_check;
/* Note which limits the rank has met; to be called before ctl_rank_ended(). */
void ctl_limit_exited(struct ctl_rank *r, const Keeper__Exited *e);
/*
 * Text about limits that the rank has met, to follow "rank N exited" ("" if it met
 * none). If a limit has ended the rank, true is returned, and the text follows "rank
 * N".
 */
#define CTL_LIMIT_TEXT 256
bool ctl_limit_words(const struct ctl_rank *r, char ret[CTL_LIMIT_TEXT]);
/* The rank ended well but met a limit: tell its user.  The caller stores the job. */
void ctl_limit_note(const struct ctl_rank *r, const char *words);

/* ---- user.c */

/*
 * As many groups as START has room for beside the longest argument: agents and keepers
 * drop messages of more than 192 KiB, and the rank would never start.
 */
enum { CTL_GROUPS_MOST = 8000 };

/* May the peer change that job, and see all of it? */
bool ctl_may(const struct ctl_peer *p, const struct ctl_job *job);
/* May it also see the job's arguments and output? */
bool ctl_sees(const struct ctl_peer *p, const struct ctl_job *job);
/* The job's why for peers that may not see everything. */
const char *ctl_job_outside(const struct ctl_job *job);
/*
 * A text for the log that may contain a job's arguments: these are replaced unless they
 * may be shown.
 */
const char *ctl_log_text(const struct ctl *ctl, const char *text);
/* May the peer submit this?  If so, the user and groups are filled in. */
int ctl_user_submits(const struct ctl_peer *p, Control__Submit *s,
		     struct error *err) must_check;
/* May the job (still) start?  Takes the groups that its user has now. */
int ctl_user_starts(struct ctl_job *job, struct error *err) must_check;
/* May the job's ranks move, with the ids that they have? */
int ctl_user_moves(const struct ctl_job *job, struct error *err) must_check;

#endif
