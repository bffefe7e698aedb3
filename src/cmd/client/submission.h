/*
 * submission.h - what `stint run` and `submit` ask for: program, environment, place, user
 */
#ifndef CMD_CLIENT_SUBMISSION_H
#define CMD_CLIENT_SUBMISSION_H

#include <stdbool.h>

#include "cluster/conn/control.pb-c.h"
#include "core/error.h"

enum { SUBMISSION_LIMITS = 8 };

struct submission {
	Control__Submit ask; /* argv is the caller's */
	size_t cap_env, cap_hosts, cap_after;
	uint8_t key[16]; /* of this job alone */
	Control__ResourceLimit limits[SUBMISSION_LIMITS];
};

/* One rank, with our environment without Stint's own variables. */
void submission_init(struct submission *sub);
void submission_clear(struct submission *sub);

/* "N" or "MIN-N". */
int submission_ranks(struct submission *sub, const char *arg,
		     struct error *err) must_check;
/* How long it will run, as parse_usec() reads it. */
int submission_time(struct submission *sub, const char *arg,
		    struct error *err) must_check;
/* How long it may run, as parse_usec() reads it; "SIGNAL@TIME" before that. */
int submission_limit(struct submission *sub, const char *arg,
		     struct error *err) must_check;
int submission_warn(struct submission *sub, const char *arg,
		    struct error *err) must_check;
/* Do the options go together? */
int submission_check(const struct submission *sub,
		     struct error *err) must_check;
/* Of each rank: a size, as parse_size() reads it; a number. */
int submission_memory(struct submission *sub, const char *arg,
		      struct error *err) must_check;
int submission_pids(struct submission *sub, const char *arg,
		    struct error *err) must_check;
int submission_cpus(struct submission *sub, const char *arg,
		    struct error *err) must_check;
/* Of each file that a rank writes, and of what it prints. */
int submission_output_limit(struct submission *sub, const char *arg,
			    struct error *err) must_check;
/* "[KIND:]JOB[:JOB...],...": jobs, or tasks "JOB[TASKS]", to begin after. */
int submission_after(struct submission *sub, const char *arg,
		     struct error *err) must_check;
/* A command for sh, which stays the caller's. */
int submission_at_end(struct submission *sub, const char *arg,
		      struct error *err) must_check;
/* Files, by core/pattern.h. */
int submission_output(struct submission *sub, const char *arg,
		      struct error *err) must_check;
int submission_error(struct submission *sub, const char *arg,
		     struct error *err) must_check;
/* Which stays the caller's. */
int submission_name(struct submission *sub, const char *arg,
		    struct error *err) must_check;
/* The directory to run in. */
int submission_wdir(struct submission *sub, const char *arg,
		    struct error *err) must_check;
/* "A,B,...", added to those there are. */
int submission_hosts(struct submission *sub, const char *arg,
		     struct error *err) must_check;
/* "NAME" or "NAME=VALUE". */
int submission_export(struct submission *sub, const char *arg,
		      struct error *err) must_check;
/*
 * The program and its arguments, which stay the caller's; quoted: "--" stands
 * before them.  mpirun's ":" is refused.
 */
int submission_program(struct submission *sub, char **argv, size_t n,
		       bool quoted, struct error *err) must_check;
/* Our user and groups, umask and limits, the working directory if none was given, and a key by
 * which this job is known when it is submitted again. */
int submission_fill(struct submission *sub, struct error *err) must_check;

#endif
