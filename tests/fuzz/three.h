/*
 * three.h - three hosts and an administrator at a controller (actors.h), and
 * what they have heard of it
 */
#ifndef FUZZ_THREE_H
#define FUZZ_THREE_H

#include "actors.h"

/* A setting for actors_run(): hosts that go are given up at once. */
extern const char *const soon[];

extern int step; /* of a play that is called again and again; 0 at first */
extern struct conn *h1, *h2, *h3, *admin;

/* Since set_up(). */
struct heard {
	unsigned asked[32]; /* of keepers, by body */
	bool verdict;	    /* the last */
	unsigned refused, forgotten, drained, granted, moved;
	char moved_why[64];
	uint64_t started_epoch, started_id;
	struct conn *started_at;
};
extern struct heard heard;

#define ASKED(NAME) heard.asked[KEEPER__REQUEST__BODY_##NAME]

int set_up(void **state);
int tear_down(void **state);
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

/* Is it not so yet?  Fails the test after a minute. */
bool not_yet(bool so);

struct ctl_job *job_of(struct ctl *ctl, uint64_t id);
/* Rank 1.0. */
struct ctl_rank *rank_of(struct ctl *ctl);

/* The hosts, the first two with a keeper of rank 1.0 and that epoch unless it is
 * negative, and the administrator. */
void all_come(int64_t epoch1, int64_t epoch2);

/* A job of so many ranks, on these hosts or (NULL) where the policy says. */
void submit(uint32_t ranks, const char *first, const char *second);

/* One of one rank, without a client; host may be NULL. */
void submit_one(const char *host, usec_t limit, usec_t warn);

/* Ask for job 1's rank to be moved; the same key is the same request. */
void migrate(const char *to, const char *key);

/* Its agent finds no keeper of rank 1.0 and that epoch; record: the move whose
 * record is asked for, 0: none. */
void lacks(struct conn *agent, uint64_t epoch, uint64_t record, bool committed);

#endif
