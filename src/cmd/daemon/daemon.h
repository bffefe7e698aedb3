/*
 * daemon.h - what the command lines of agent and controller share
 *
 * A setting is the same whether it comes from an option (--cores=2) or from a
 * line of the configuration file (cores = 2 in the daemon's section); the last
 * one on the command line wins.  The daemon's own options are all settings, but
 * for those it handles itself.
 */
#ifndef CMD_DAEMON_DAEMON_H
#define CMD_DAEMON_DAEMON_H

#include <argp.h>
#include <stdbool.h>

#include "core/error.h"

typedef int (*daemon_set_fn)(void *conf, const char *name, const char *value,
			     struct error *err);

struct daemon {
	const char *section; /* of the file: "agent", "controller" */
	daemon_set_fn set;
	daemon_set_fn set_owner; /* settings of [owner]; NULL: not its own */
	void *conf;		 /* set's */

	/* Filled in from the command line. */
	int ready_fd; /* -1: none */
	bool verbose;
	const char *log;    /* NULL: stderr */
	const char *config; /* the last one; NULL: none */
};

/* --config, --log, --ready-fd and --verbose; the input is a struct daemon. */
extern const struct argp_child daemon_children[];

/* A line of the daemon's options that is a setting; keys are given out. */
#define DAEMON_KEY 1024
#define DAEMON_SETTING(name, arg, doc)                         \
	{                                                      \
		name, DAEMON_KEY + __COUNTER__, arg, 0, doc, 0 \
	}

/* For the daemon's parser: the option of that key is the setting of its long
 * name. */
error_t daemon_setting(const struct argp_state *state, struct daemon *d,
		       const struct argp_option *options, int key,
		       const char *arg);

/* Once the command line is read: logging starts, as "stint SECTION". */
int daemon_begin(const struct daemon *d, struct error *err) must_check;

#endif
