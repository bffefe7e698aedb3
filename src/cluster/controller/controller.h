/*
 * controller.h - the daemon that knows all jobs
 *
 * Runs until SIGTERM or SIGINT.  Everything it must not forget is in
 * STATE_DIR/state.db (cluster/store.h), so it can be killed at any instant
 * and started again: agents and clients come back to it and say where they
 * stand.
 */
#ifndef CLUSTER_CONTROLLER_H
#define CLUSTER_CONTROLLER_H

#include <stdbool.h>
#include <stddef.h>

#include "core/error.h"
#include "core/units.h"

struct controller_conf {
	char *state_dir; /* its keys, state.db */
	char **listen;	 /* addresses (cluster/address.h) */
	size_t nr_listen, cap_listen;
	char *pool;	     /* of the capsules' addresses: "A.B.C.D/N" */
	char *policy;	     /* "NAME:key=value,..." */
	usec_t lost_after;   /* a silent host's ranks are given up after this */
	usec_t kill_grace;   /* between TERM and KILL */
	usec_t client_grace; /* a job without its client is ended after this */
	int64_t min_uid;     /* of who runs jobs; -1: identity_first() */
	bool show_arguments; /* everybody is shown everybody's */
	bool submit_as_others; /* an administrator's key does */
	int64_t user_jobs;     /* not over, of one user */
	int64_t user_conns;    /* connections of one user */
	int64_t history;       /* jobs that are over and not forgotten yet */
	int64_t record; /* lines kept of what the policy was told and planned
			   (model/record.h), at least; 0: none */
};

/*
 * Those of stint-controller(8): pool 10.99.0.0/16, policy spread, and no
 * address to listen at.  controller_conf_clear() frees.
 */
void controller_conf_init(struct controller_conf *conf);
void controller_conf_clear(struct controller_conf *conf);

/*
 * One setting, from [controller] of a file or a command line; name and value
 * as in controller.c's table.
 */
int controller_conf_set(struct controller_conf *conf, const char *name,
			const char *value, struct error *err) must_check;

/*
 * Serve; ready_fd, if not negative, gets a newline once clients can connect.
 * 0 after a signal asked it to end.
 */
int controller_run(const struct controller_conf *conf, int ready_fd,
		   struct error *err) must_check;

#endif
