/* priv.h - the connections: private to this sub-room */
#ifndef CLUSTER_CONTROLLER_FRONT_PRIV_H
#define CLUSTER_CONTROLLER_FRONT_PRIV_H

#include "cluster/controller/front/front.h"
#include "cluster/controller/state/audit.h"

struct ctl_front {
	struct conn_server **servers;
	size_t nr_servers;
	unsigned conns_max; /* most connections at each listening socket */
	unsigned users_max; /* most of these for users, */
	unsigned user_max;  /* and for one user */
	LIST_HEAD(, ctl_peer) peers;
	sd_event_source *keys_watch;
	struct front_user *users_had;	/* turns.c's, by name */
	LIST_HEAD(, front_copy) copies; /* copy.c's */
};

/* ---- peer.c */

extern const struct conn_ops front_peer_ops;

/* ---- unknown.c */

/* Is all of a client's request known?  Else the client is told that it is not. */
bool front_knows(struct ctl_peer *p, const Control__Message *m);

/* ---- turns.c */

/* A user has one connection more. */
void front_turn_begins(struct ctl_front *f, struct conn *c);
/* A request of a user's took so long. */
void front_turn_took(struct ctl_front *f, struct conn *c, usec_t took);
void front_turns_clear(struct ctl_front *f);

/* ---- each.c */

/*
 * The job of a request, or NULL after telling the peer why not; what: the request's name,
 * for the audit.
 */
struct ctl_job *front_job_for(struct ctl_peer *p, uint64_t re, uint64_t id,
			      const char *what);
/* 0, or a negative errno and the reason. */
typedef int (*front_job_fn)(struct ctl_peer *p, struct ctl_job *job,
			    const void *arg, struct error *err);
/*
 * Call fn() for that job or, if id is the number of an array, for all jobs of the array
 * or those of the given tasks.  Then answer: OK if fn() succeeded for at least one,
 * else the error of the first.  Others' jobs are audited, as what and detail.
 */
void front_each_job(struct ctl_peer *p, uint64_t re, uint64_t id,
		    Control__TaskRange **range, size_t n, front_job_fn fn,
		    const void *arg, const char *what, const char *detail);

/* ---- audit.c */

/* Is it an administrator, and the job another user's? */
bool front_is_others(const struct ctl_peer *p, const struct ctl_job *job);
/* Audit what was asked for a job (user: whose it is) and the given tasks. */
void front_audit_job(const struct ctl_peer *p,
		     const struct ctl_audited *of_what, uint64_t id,
		     const char *user, Control__TaskRange **range, size_t n,
		     int code, const char *why);
/* Audit that it may not ask for this. */
void front_audit_refused(const struct ctl_peer *p, const Control__Message *m,
			 const char *why);
/* What was asked for by CHANGE_JOB, in words; detail is for free(). */
const char *front_change_words(const Control__ChangeJob *c, char **detail);
void ctl_audit_read(struct ctl_peer *p, uint64_t re,
		    const Control__GetAudit *g);

/* ---- copy.c */

/*
 * Copy the store for an administrator (from 0), who is answered when that is done, and
 * send it piece by piece (from what the answer said).
 */
void front_copy_store(struct ctl_peer *p, uint64_t re, uint64_t from);
/* The peer has gone, or (NULL) all have. */
void front_copy_gone(struct ctl_front *f, const struct ctl_peer *p);

/* ---- keys.c */

/* From now on end connections whose keys are revoked. */
int front_keys_watch(struct ctl *ctl, struct error *err) must_check;
/*
 * Check a new connection: its key may have been revoked during the handshake.
 */
void front_keys_check(struct ctl_peer *p);

/* ---- why.c */

/* Answer with what was planned for a job, even if that is over and forgotten. */
void ctl_record_why(struct ctl_peer *p, uint64_t re, uint64_t job);

/* ---- output.c */

void ctl_output_read(struct ctl_peer *p, uint64_t re, struct ctl_job *job,
		     const Control__GetOutput *g);

/* ---- history.c */

/* Accounts of jobs that are over. */
void ctl_history_read(struct ctl_peer *p, uint64_t re,
		      const Control__GetHistory *g);

/* ---- list.c */

void ctl_list_jobs(struct ctl_peer *p, uint64_t re, const Control__ListJobs *l);

/* ---- hosts.c */

void ctl_list_hosts(struct ctl_peer *p, uint64_t re);

#endif
