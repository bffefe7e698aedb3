/* priv.h - the connections: private to this sub-room */
#ifndef CLUSTER_CONTROLLER_FRONT_PRIV_H
#define CLUSTER_CONTROLLER_FRONT_PRIV_H

#include "cluster/controller/front/front.h"

struct ctl_front {
	struct conn_server **servers;
	size_t nr_servers;
	unsigned conns_max; /* most connections at each listening socket */
	unsigned users_max; /* most of these for users, */
	unsigned user_max;  /* and for one user */
	LIST_HEAD(, ctl_peer) peers;
	sd_event_source *keys_watch;
	struct front_user *users_had; /* turns.c's, by name */
};

/* ---- peer.c */

extern const struct conn_ops front_peer_ops;

/* ---- turns.c */

/* A user has one connection more. */
void front_turn_begins(struct ctl_front *f, struct conn *c);
/* A request of a user's took so long. */
void front_turn_took(struct ctl_front *f, struct conn *c, usec_t took);
void front_turns_clear(struct ctl_front *f);

/* ---- each.c */

/* The job of a request, or NULL after telling the peer why not. */
struct ctl_job *front_job_for(struct ctl_peer *p, uint64_t re, uint64_t id);
/* 0, or a negative errno and the reason. */
typedef int (*front_job_fn)(struct ctl_peer *p, struct ctl_job *job,
			    const void *arg, struct error *err);
/*
 * Call fn() for that job or, if id is the number of an array, for all jobs of the array
 * or those of the given tasks.  Then answer: OK if fn() succeeded for at least one,
 * else the error of the first.
 */
void front_each_job(struct ctl_peer *p, uint64_t re, uint64_t id,
		    Control__TaskRange **range, size_t n, front_job_fn fn,
		    const void *arg);

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
