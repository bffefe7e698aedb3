/*
 * limit.h - what a rank may take of its host: how much is asked for, what the
 * host gives where nothing is asked, and what it gives at most
 *
 * A user asks (`stint run --memory`), the owner of the host sets terms
 * (stint.conf(5): memory-default, memory-max, pids-default, pids-max), and the
 * keeper there settles: nobody else's word counts.  What it has settled is the
 * rank's for life and goes with it (Passport of conn/keeper.proto); a host that gives
 * less refuses it before it stands still.  The kernel's control groups see to it
 * (capsule/cgroup.h).
 */
#ifndef CLUSTER_HOST_LIMIT_H
#define CLUSTER_HOST_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

#include "core/error.h"

#define LIMITS_PIDS_DEFAULT 2048       /* where the owner has said nothing */
#define LIMITS_MEMORY_LEAST (1u << 20) /* with less no program begins */

/* 0: none. */
struct limits {
	uint64_t memory; /* bytes */
	uint64_t pids;	 /* processes and threads */
};

struct limit_terms {
	struct limits given; /* to who asks for nothing */
	struct limits most;
};

/* What became of them.  Counts of a rank's life, wherever it was. */
struct limits_met {
	uint64_t kills;	  /* processes killed because memory ran out */
	bool own_memory;  /* ... at the rank's own limit, not the host's */
	uint64_t refused; /* forks and threads */
};

/* "MEMORY,PIDS,MEMORY-MAX,PIDS-MAX", of numbers; for the caller to free. */
char *limit_terms_text(const struct limit_terms *terms);
int limit_terms_parse(const char *text, struct limit_terms *ret,
		      struct error *err) must_check;

/* A limit of memory: a size that a program can begin with. */
int limits_memory_parse(const char *name, const char *value, uint64_t *ret,
			struct error *err) must_check;
/*
 * One setting: "memory-default" and so on, value a size, a count or "none".
 * -ENOENT, without a word, if it has another name.
 */
int limit_terms_set(struct limit_terms *terms, const char *name,
		    const char *value, struct error *err) must_check;
/*
 * Nothing is given that is more than the most: refused, or where nobody has set
 * the default number of processes, no more than that.
 */
int limit_terms_check(struct limit_terms *terms, struct error *err) must_check;

/* For a rank that starts here: -E2BIG if it asks for more than there is. */
int limits_settle(const struct limits *asked, const struct limit_terms *terms,
		  struct limits *ret, struct error *err) must_check;
/* May one that has these come here?  -E2BIG and why not. */
int limits_fit(const struct limits *has, const struct limit_terms *terms,
	       struct error *err) must_check;

#endif
