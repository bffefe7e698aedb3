/*
 * test_slices.h - a policy that slices time against a second implementation: each pass plans
 * what that plans, and why
 *
 * On random hosts, whose owners come and go, with jobs that come and end, within slices and at
 * their ends; policies are made anew in between.
 */
#ifndef POLICY_HOSTS_TEST_SLICES_H
#define POLICY_HOSTS_TEST_SLICES_H

#include "policy/hosts/test_world.h"

struct mine {
	struct job *job; /* NULL: not there */
	uint32_t size;
	int row;	    /* of the matrix; at: its columns */
	uint32_t at[HOSTS]; /* the hosts that it shall have */
	bool turn;	    /* does it run after this pass? */
};

/* The second implementation. */
struct second {
	/* The policy's name and parameters; alternate is one of them. */
	void (*draw)(struct random_stream *r, char *spec, size_t size);
	void (*begin)(struct random_stream *r);
	void (*came)(struct mine *m); /* or NULL */
	void (*went)(int row);	      /* or NULL */
	/* What is planned now, by slices_expect().  True if a slice begins of whose end it wants
	 * to know. */
	bool (*pass)(void);
	/* What a job that waits is told, by slices_expect(); it is the k-th of order. */
	void (*told)(const struct mine *m, int k);
};

extern struct world w;
extern bool alternate;
extern usec_t ends; /* of the slice */
extern struct mine mine[JOBS];
extern int order[JOBS], nr; /* those that are there, as they came */
extern bool busy[HOSTS];    /* given out in this slice */

void slices_play(const struct second *second);

/* A line of the plan, in any order. */
void slices_expect(const char *fmt, ...);
const char *slices_names(const uint32_t *hosts, uint32_t n);
int slices_id(const struct mine *m);
const char *slices_of(uint32_t n, const char *one, const char *many);

/* May a rank of the job be placed there? */
bool slices_takes(const struct host *h, const struct job *job);
/* ... with the owner away, or its own? */
bool slices_opens(const struct host *h, const struct job *job);
bool slices_may_stay(const struct mine *m, uint32_t i);
/* Its first rank that is in an owner's way; -1: none */
int slices_in_the_way(const struct mine *m);
/* Is enough of the slice left to give idle hosts to others? */
bool slices_lends(void);

#endif
