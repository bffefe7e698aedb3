/*
 * priv.h - who is connected: what only this part looks into
 */
#ifndef CLUSTER_CONTROLLER_FRONT_PRIV_H
#define CLUSTER_CONTROLLER_FRONT_PRIV_H

#include "cluster/controller/front/front.h"

struct ctl_front {
	struct conn_server **servers;
	size_t nr_servers;
	unsigned conns_max; /* connections at each of them */
	unsigned users_max; /* of these, those of users; */
	unsigned user_max;  /* and of one user */
	LIST_HEAD(, ctl_peer) peers;
	sd_event_source *keys_watch;
};

/* ---- peer.c */

extern const struct conn_ops front_peer_ops;

/* ---- each.c */

/* The job of a request, or NULL after telling the peer why not. */
struct ctl_job *front_job_for(struct ctl_peer *p, uint64_t re, uint64_t id);
/* 0, or why not. */
typedef int (*front_job_fn)(struct ctl_peer *p, struct ctl_job *job,
			    const void *arg, struct error *err);
/*
 * Have fn() do something to that job or, if it is the number of an array, to all
 * of its jobs that are there, or those of these tasks; and answer: OK if it was
 * done to one of them at least, else why it was not done to the first.
 */
void front_each_job(struct ctl_peer *p, uint64_t re, uint64_t id,
		    Control__TaskRange **range, size_t n, front_job_fn fn,
		    const void *arg);

/* ---- keys.c */

/* End connections whose keys are revoked, from now on. */
int front_keys_watch(struct ctl *ctl, struct error *err) must_check;
/*
 * Check a new connection: its key may have been revoked during the handshake.
 */
void front_keys_check(struct ctl_peer *p);

/* ---- why.c */

/* Answer with what was planned for a job, even one that is over and deleted. */
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
