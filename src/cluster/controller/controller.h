/*
 * controller.h - the daemon that manages all jobs of a cluster
 *
 * Runs until SIGTERM or SIGINT.  All persistent state is in STATE_DIR/state.db
 * (cluster/controller/state/store.h), so it can be killed at any instant and
 * started again: agents and clients reconnect and report their state.
 */
#ifndef CLUSTER_CONTROLLER_CONTROLLER_H
#define CLUSTER_CONTROLLER_CONTROLLER_H

#include <stdbool.h>
#include <stddef.h>

#include "cluster/controller/state/conf.h"
#include "core/error.h"
#include "core/units.h"

/*
 * Set the defaults of stint-controller(8): pool 10.99.0.0/16, policy spread, and no
 * address to listen at.  controller_conf_clear() frees them.
 */
void controller_conf_init(struct controller_conf *conf);
void controller_conf_clear(struct controller_conf *conf);

/*
 * Change one setting, as given in section [controller] of a file or on a command line.
 */
int controller_conf_set(struct controller_conf *conf, const char *name,
			const char *value, struct error *err) must_check;

/*
 * Serve until a signal asks it to end, which returns 0. ready_fd, if not negative, gets
 * a newline once clients can connect.
 */
int controller_run(const struct controller_conf *conf, int ready_fd,
		   struct error *err) must_check;

#endif
