/*
 * daemon.h - what the command lines of agent and controller share
 *
 * A setting is the same whether it comes from an option (--cores=2) or from a
 * line of the configuration file (cores = 2 in the daemon's section); what
 * comes later on the command line holds.  The daemon's own options are all
 * settings, but for those it handles itself.
 */
#ifndef CMD_DAEMON_H
#define CMD_DAEMON_H

#include <argp.h>
#include <stdbool.h>

#include "core/error.h"

typedef int (*daemon_set_fn)(void *conf, const char *name, const char *value,
			     struct error *err);

struct daemon {
	const char *section; /* of the file: "agent", "controller" */
	daemon_set_fn set;
	void *conf; /* set's */

	/* Filled in by daemon_argp and daemon_setting(). */
	int ready_fd; /* -1: none */
	bool verbose;
	int code; /* of the first error, which err tells */
	struct error err;
};

/* --config, --ready-fd and --verbose: an argp child; input a struct daemon. */
extern const struct argp daemon_argp;

/* The option of that key is the setting of its long name. */
error_t daemon_setting(struct daemon *d, const struct argp_option *options,
		       int key, const char *arg);

/* Logging starts; returns d->code. */
int daemon_begin(struct daemon *d, const char *name);

#endif
