/* priv.h - what the files of the testbed share */
#ifndef CLUSTER_TESTBED_PRIV_H
#define CLUSTER_TESTBED_PRIV_H

#include "cluster/host/process.h"
#include "cluster/testbed/testbed.h"

/* DIR/NAME/REST, printed; for the caller to free. */
char *testbed_path(const char *name, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Lock DIR (made if need be) against other ups and downs; the descriptor. */
int testbed_lock(struct error *err) must_check;

/* testbed_down() with the lock held. */
int testbed_remove(const char *name, struct error *err) must_check;

/*
 * The parent cgroup of that testbed's hosts in each hierarchy: paths for the
 * caller to free; returns their number.
 */
#define TESTBED_BASES_MAX 7
unsigned testbed_bases(const char *name, char *ret[TESTBED_BASES_MAX]);

/* Start the controller and the agents, and wait until they are ready. */
int testbed_serve(const struct testbed_spec *spec,
		  struct error *err) must_check;

/*
 * DIR/NAME/record: boot, number of hosts, and every cgroup directory of it, the
 * enclosing after what lies in them.
 */
struct testbed_record {
	char boot[PROCESS_BOOT_LEN];
	unsigned nr_hosts;
	char **cgroups; /* by host: those of h1 first; the last are the whole's
			 */
	size_t nr_cgroups;
};
int testbed_record_write(const char *name, const struct testbed_record *rec,
			 struct error *err) must_check;
int testbed_record_read(const char *name,
			struct testbed_record *ret) must_check;
void testbed_record_clear(struct testbed_record *rec);

#endif
