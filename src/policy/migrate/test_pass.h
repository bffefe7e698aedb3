/*
 * test_pass.h - six hosts with two cores each, and what one pass of a policy plans on them
 *
 * For cmocka_unit_test_setup_teardown(): each test begins with fresh ones, at 50 s.
 */
#ifndef POLICY_MIGRATE_TEST_PASS_H
#define POLICY_MIGRATE_TEST_PASS_H

#include "core/random.h"
#include "model/plan.h"
#include "model/view.h"
#include "policy/migrate/flights.h"
#include "policy/migrate/targets.h"

#define SEC USEC_PER_SEC
#define MB  1000000

enum { HOSTS = 6 };

extern struct view view;
extern struct host *host; /* HOSTS hosts, those of the view */
extern struct plan plan;
extern struct flights flights; /* 100 MB/s */
extern struct targets targets;

int pass_begin(void **state);
int pass_end(void **state);
#define PASS_TEST(fn) cmocka_unit_test_setup_teardown(fn, pass_begin, pass_end)

/* A job with one processor per rank that waits, or that runs on these hosts. */
struct job *pass_arrive(int64_t id, uint32_t n);
struct job *pass_runs(int64_t id, uint32_t n, const uint32_t *on);
/* One of 1 to most ranks that runs on any of the first n hosts, several on one, too. */
enum { PASS_RANKS = 5 };
struct job *pass_runs_anywhere(struct random_stream *r, int64_t id,
			       uint32_t most, uint32_t n);
/*
 * Each rank talks with the next: up to so many bytes and messages a second.  Where there are
 * no messages none are drawn.
 */
void pass_talks(struct random_stream *r, struct job *j, double bytes,
		double messages);
void pass_stands_still(struct job *j, uint32_t rank);
void pass_wanted_back(uint32_t h, usec_t leave_by);

/*
 * The plan's entries must be these: without reasons, each followed by a ';',
 * times in seconds.
 */
void pass_check_plan(const char *wanted);

#endif
