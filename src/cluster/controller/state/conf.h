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
	char *pool;	   /* the capsules' addresses: "A.B.C.D/N" */
	char *calendar;	   /* a file (hosts/calendar.h); NULL: none */
	char *policy;	   /* "NAME:key=value,..." */
	usec_t lost_after; /* ranks of a silent host are given up after this */
	usec_t kill_grace; /* time between TERM and KILL */
	usec_t client_grace; /* a job without its client is ended after this */
	/* lowest uid that may run jobs; -1: identity_first() */
	int64_t min_uid;
	bool show_arguments;   /* users see the arguments of others */
	bool submit_as_others; /* an administrator may submit as any user */
	int64_t user_jobs;     /* most unfinished jobs of one user */
	int64_t user_ranks;    /* most ranks of these jobs */
	int64_t user_conns;    /* most connections of one user */
	/* how many accounts of jobs that are over are kept */
	int64_t accounts;
	usec_t accounts_for; /* and how long; 0: any time */
	int64_t history;     /* how many jobs that are over are remembered */
	/* bytes kept of what a job without client prints */
	int64_t keep_output;
	usec_t started_waits; /* for an end that comes soon (hear/keeper.c) */
	int64_t record; /* lines kept of what the policy was told and planned
			   (model/record.h), at least; 0: none */
};

#endif
