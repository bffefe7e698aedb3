/*
 * conf.h - the settings of a controller; see controller.h
 */
#ifndef CLUSTER_CONTROLLER_STATE_CONF_H
#define CLUSTER_CONTROLLER_STATE_CONF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/units.h"

struct controller_conf {
	char *state_dir; /* its keys, state.db */
	char **listen;	 /* addresses (cluster/conn/address.h) */
	size_t nr_listen, cap_listen;
	char *pool;	   /* of the capsules' addresses: "A.B.C.D/N" */
	char *calendar;	   /* a file (hosts/calendar.h); NULL: none */
	char *policy;	   /* "NAME:key=value,..." */
	usec_t lost_after; /* ranks of a silent host are given up after this */
	usec_t kill_grace; /* between TERM and KILL */
	usec_t client_grace; /* a job without its client is ended after this */
	int64_t min_uid;     /* of who runs jobs; -1: identity_first() */
	bool show_arguments; /* users see the arguments of others */
	bool submit_as_others; /* an administrator may submit as any user */
	int64_t user_jobs;     /* unfinished jobs of one user */
	int64_t user_ranks;    /* of these jobs */
	int64_t user_conns;    /* connections of one user */
	int64_t accounts;      /* of jobs that are over, however long ago */
	int64_t history;       /* jobs that are over and not forgotten yet */
	int64_t keep_output;   /* bytes of what a job without client prints */
	int64_t record; /* lines kept of what the policy was told and planned
			   (model/record.h), at least; 0: none */
};

#endif
