/*
 * testbed.h - several test hosts on one machine
 *
 * A testbed is a bridge in a network namespace of its own ("the LAN") and hosts
 * h1 to hN, each a network namespace with one link to it:
 *
 *	h1 eth0 10.77.0.1 --+
 *	h2 eth0 10.77.0.2 --+-- br0 (in the LAN's namespace; no way out)
 *	h3 eth0 10.77.0.3 --+
 *
 * Capsules get addresses of 10.77.128.0/17, which all hosts route to the LAN.
 * A host further has its cgroups, with its share of the CPUs, a run directory
 * and a name; several testbeds are isolated from each other, though all use the
 * same addresses.
 *
 * Unless it is bare, each host has an agent (logging to DIR/NAME/hI/agent.log)
 * and the testbed a controller; with STINT_TESTBED=NAME the commands find it.
 *
 * No process keeps a testbed up: namespaces are held by mounts in
 * DIR/NAME, and everything that must be removed lies there or is written down
 * there before it is made.  So testbed_down() works after any crash, and may be
 * repeated.  DIR is $STINT_TESTBED_DIR or /run/stint-testbed.
 */
#ifndef CLUSTER_TESTBED_TESTBED_H
#define CLUSTER_TESTBED_TESTBED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/error.h"

#define TESTBED_HOSTS_MAX 64
#define TESTBED_NAME_MAX  24

struct testbed_spec {
	const char *name;
	unsigned nr_hosts;
	/* By host; index 0 is h1.  Share of the CPUs against others: 1 */
	double share[TESTBED_HOSTS_MAX];
	/* Most CPU time a second of wall time, in CPUs; 0: no limit */
	double speed[TESTBED_HOSTS_MAX];
	double whole; /* the same of all hosts together */
	/* Memory of all that runs there, in bytes; 0: no limit */
	uint64_t memory[TESTBED_HOSTS_MAX];
	/* eth0 is a port of a bridge br0 on each host; capsules are bridged */
	bool bridge;
	/* Only the hosts: no controller, no agents */
	bool bare;
	/* The controller's, "NAME:key=value,..."; NULL: its default */
	const char *policy;
};

/* A name of letters, digits, "-" and "_" that fits; or an error. */
int testbed_check_name(const char *name, struct error *err) must_check;

/* -EEXIST when it is up; what a crashed one left is removed first. */
int testbed_up(const struct testbed_spec *spec, struct error *err) must_check;

/*
 * End all that runs in it (services registered by testbed_keep() by SIGTERM
 * first), and remove it.  0 also if it does not exist.
 */
int testbed_down(const char *name, struct error *err) must_check;

struct testbed_info {
	char name[TESTBED_NAME_MAX + 1];
	unsigned nr_hosts;
	bool up; /* false: a broken one, which down will remove */
};
/* Sorted by name; for the caller to free. */
int testbed_list(struct testbed_info **ret, size_t *ret_n,
		 struct error *err) must_check;

/* Is there a testbed of that name, and in it that host?  Or an error. */
int testbed_check_host(const char *name, const char *host,
		       struct error *err) must_check;

/*
 * Become a process on that host: cgroups, network, host name, /sys, /etc/hosts;
 * environment STINT_TESTBED, STINT_HOST and STINT_RUN_DIR.  For a
 * process that is about to exec; after a failure only exit is left.
 */
int testbed_enter(const char *name, const char *host,
		  struct error *err) must_check;

/*
 * Register a process as the testbed's service of that name: testbed_down()
 * sends it SIGTERM and waits before it kills.
 */
int testbed_keep(const char *name, const char *service, pid_t pid,
		 struct error *err) must_check;

/* DIR/NAME, and DIR/NAME/HOST/run; for the caller to free. */
char *testbed_dir(const char *name);
char *testbed_run_dir(const char *name, const char *host);

#define TESTBED_UPLINK	     "eth0"
#define TESTBED_BRIDGE	     "br0"
#define TESTBED_POOL	     "10.77.128.0/17"
#define TESTBED_LAN_PREFIX   16
#define TESTBED_HOST_ADDRESS "10.77.0.%u" /* by number, from 1 */

#endif
