/*
 * limit.h - limits of a rank's memory, processes and processors: what the user asks for,
 * the host's default, and the host's maximum
 *
 * A user asks (`stint run --memory`), the owner of the host sets terms
 * (stint.conf(5): memory-default, memory-max and likewise of pids and cpus), and the
 * keeper on that host decides; no other party can override it.  The limits hold
 * for the rank's life and move with it (Passport of conn/keeper.proto); a host
 * that allows less refuses the rank before it is frozen.  Control groups
 * enforce them (capsule/cgroup.h).
 */
#ifndef CLUSTER_HOST_LIMIT_H
#define CLUSTER_HOST_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

#include "core/error.h"

#define LIMITS_PIDS_DEFAULT 2048       /* where the owner has said nothing */
#define LIMITS_MEMORY_LEAST (1u << 20) /* with less no program begins */

#define LIMITS_CPUS_LEAST 10 /* with less the kernel keeps no quota */
#define LIMITS_CPUS_MOST  (UINT64_C(1) << 20) /* more than any host has */

/* 0: none. */
struct limits {
	uint64_t memory; /* bytes */
	uint64_t pids;	 /* processes and threads */
	uint64_t cpus;	 /* thousandths of a processor */
};

struct limit_terms {
	struct limits given; /* default where the user asks for nothing */
	struct limits most;
};

/* How often limits were hit, over a rank's whole life on all hosts. */
struct limits_met {
	uint64_t kills;	  /* processes killed because memory ran out */
	bool own_memory;  /* ... at the rank's own limit, not the host's */
	uint64_t refused; /* forks and threads */
	uint64_t
		held_usec; /* threads that waited for the limit of processors */
};

/*
 * "MEMORY,PIDS,MEMORY-MAX,PIDS-MAX,CPUS,CPUS-MAX", as decimal numbers; for the
 * caller to free.  The last two may be missing: agents of before Stint limited
 * processors write none.
 */
char *limit_terms_text(const struct limit_terms *terms);
int limit_terms_parse(const char *text, struct limit_terms *ret,
		      struct error *err) must_check;

/* Parse a memory limit; refuses one too small for any program to start. */
int limits_memory_parse(const char *name, const char *value, uint64_t *ret,
			struct error *err) must_check;
/* Parse a number of processors, which may have a fraction. */
int limits_cpus_parse(const char *name, const char *value, uint64_t *ret,
		      struct error *err) must_check;
/* As users write it: "1.5". */
#define LIMITS_CPUS_TEXT 24
const char *limits_cpus_text(uint64_t cpus, char ret[LIMITS_CPUS_TEXT]);
/*
 * One setting: "memory-default" and so on, value a size, a count or "none".
 * -ENOENT, with err untouched, if it is not such a setting.
 */
int limit_terms_set(struct limit_terms *terms, const char *name,
		    const char *value, struct error *err) must_check;
/*
 * No default may be above its maximum: refused; but an unset default number of
 * processes is lowered to the maximum.
 */
int limit_terms_check(struct limit_terms *terms, struct error *err) must_check;

/*
 * The limits of a rank that starts here; -E2BIG if it asks for more than the
 * maximum.
 */
int limits_settle(const struct limits *asked, const struct limit_terms *terms,
		  struct limits *ret, struct error *err) must_check;
/* May a rank with these limits move here?  0, or -E2BIG with the reason. */
int limits_fit(const struct limits *has, const struct limit_terms *terms,
	       struct error *err) must_check;

#endif
