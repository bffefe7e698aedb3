/*
 * record.h - what a capsule has outside itself, for cleaning up after it
 *
 * RUN_DIR/capsules/NAME/record is written before the resources that it names
 * are created, so that whatever a killed keeper leaves behind is known.  Lines
 * of "key value"; whoever makes or removes one holds RUN_DIR/capsules/.lock.
 */
#ifndef CLUSTER_CAPSULE_RECORD_H
#define CLUSTER_CAPSULE_RECORD_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "cluster/capsule/cgroup.h"
#include "cluster/host/process.h"
#include "core/error.h"

struct capsule_record {
	struct process_id keeper;
	struct process_id init; /* 0 until it is there */
	char boot[PROCESS_BOOT_LEN];
	uint64_t netns;	 /* inode of the host's network namespace */
	char link[16];	 /* the host's end of the capsule's link, or "" */
	char uplink[16]; /* where ARP is answered for address, or "" */
	struct in_addr address;
	char *cgroups[CGROUP_DIRS];
	unsigned nr_cgroups;
	unsigned cpu_weight; /* of them, when nobody has lowered it */
	bool has_uid;	     /* not in those that an older keeper wrote */
	uid_t uid;	     /* whose programs run in it */
};

/*
 * Write it into the directory dir, under the lock if it is the first there.  After
 * that only init may differ, and who reads meanwhile finds all else as it was.
 */
int record_write(const char *dir, const struct capsule_record *rec,
		 struct error *err) must_check;
/* -EBADMSG when it is not a record; -ENOENT when it does not exist. */
int record_read(const char *dir, struct capsule_record *ret) must_check;
/* Parse text; unknown keys are skipped, missing ones are 0. */
int record_parse(const char *text, struct capsule_record *ret) must_check;
void record_clear(struct capsule_record *rec);
/* The directory, too. */
void record_remove(const char *dir);

/* Lock RUN_DIR/capsules, created if missing; returns the lock's descriptor. */
int record_lock(const char *run_dir, struct error *err) must_check;

/* Of the calling thread. */
int record_netns(uint64_t *ret, struct error *err) must_check;

#endif
