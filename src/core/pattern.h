/*
 * pattern.h - names of output files, one for each rank, by a pattern
 *
 *	%j  the job's number		%r  the rank's
 *	%x  the job's name		%N  the host it starts on
 *	%a  its number in an array of jobs, 0 if it is of none
 *	%A  the array's number, or the job's if it is of none
 *	%%  a percent sign
 *
 * A slash in a value, or what a terminal obeys (plain.h), becomes '_', so that
 * no value adds a directory; in the pattern itself it is refused.  The folder is what comes before the first component with a
 * value: that its user has written, the rest may be anybody's words.
 */
#ifndef CORE_PATTERN_H
#define CORE_PATTERN_H

#include <stdint.h>

#include "core/error.h"

#define PATTERN_MAX 1024 /* bytes, also of what comes of it */

struct pattern_values {
	uint64_t job, array; /* 0: of none */
	uint32_t rank, task;
	const char *name, *host;
};

/* -EINVAL, and what is wrong with it. */
int pattern_check(const char *pattern, struct error *err) must_check;
/*
 * Of a pattern that is right: with the values of the job, which has no rank and host,
 * put in, and %r, %N and %% as they are; the caller frees it.
 */
char *pattern_of_job(const char *pattern, const struct pattern_values *v);
/*
 * Of a pattern that is right: the folder ("." or "/" at least) and the path in
 * it; the caller frees both.
 */
int pattern_expand(const char *pattern, const struct pattern_values *v,
		   char **folder, char **path, struct error *err) must_check;

#endif
