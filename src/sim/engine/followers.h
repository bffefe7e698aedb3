/*
 * followers.h - jobs that are submitted when others are over
 *
 * A workload says beforehand who comes after whom (workload_follower).  The engine tells of
 * each job that is over, and takes those whose time has come.
 */
#ifndef SIM_ENGINE_FOLLOWERS_H
#define SIM_ENGINE_FOLLOWERS_H

#include "sim/workload/workload.h"

struct followers;

/* NULL if the workload, which outlives them, has none. */
struct followers *followers_create(const struct workload *w);
void followers_destroy(struct followers *f); /* NULL is allowed */

/* The job with this id is over, or was rejected. */
void followers_over(struct followers *f, int64_t id, usec_t now);

/* When the next one is submitted, as far as is known; USEC_MAX: none. */
usec_t followers_next(const struct followers *f);

/* Take that one, which there is. */
struct workload_job followers_take(struct followers *f);

#endif
