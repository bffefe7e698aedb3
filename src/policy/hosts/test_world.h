/*
 * test_world.h - six hosts with owners, eight jobs that come and go, and a policy that slices
 * time: its plans are carried out, and what each of them must keep is looked at
 */
#ifndef POLICY_HOSTS_TEST_WORLD_H
#define POLICY_HOSTS_TEST_WORLD_H

#include <stdbool.h>
#include <stdint.h>

#include "core/random.h"
#include "policy/policies.h"

#define SLICE (100 * USEC_PER_SEC)

enum { HOSTS = 6, JOBS = 8, USERS = 3 };

struct world {
	const char *spec;
	uint64_t seed;
	struct view view;
	struct policy *policy;
	struct plan plan;
	struct job *job[JOBS]; /* NULL: not there */
	uint32_t size[JOBS];
	int32_t user[JOBS];
};

/* users: so many; each host is that of one of them, or of nobody. */
void world_begin(struct world *w, const char *spec, uint64_t seed,
		 uint64_t users);
void world_end(struct world *w);
void world_fails(const struct world *w, const char *what, const struct job *j);

void world_tell(struct world *w, struct event *e);
void world_arrive(struct world *w, int i);
void world_end_job(struct world *w, int i);
/* Some job comes or ends; a pass. */
void world_jobs_change(struct world *w, struct random_stream *r);
/* Its owner comes (1) or leaves (0), or it takes no guests for another reason (2). */
void world_change_host(struct world *w, uint32_t h, uint64_t to);

/*
 * A pass, carried out.  No rank goes where it may not; no host has two jobs that run, or more
 * ranks than slots; and no owner has a guest who runs.
 */
void world_pass(struct world *w);
/* The second half of it: what is in its plan is done. */
void world_carry_out(struct world *w);

/* Is it in an owner's way? */
bool world_evicts(const struct world *w, const struct job *j);

#endif
