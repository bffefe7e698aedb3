/*
 * throttle.h - slow down a process that writes memory faster than the link carries it
 *
 * From throttle_create() to throttle_destroy() every throttle_tick() lets the process
 * run for a moment or stop for one, never longer than the downtime that was asked for;
 * with a budget of 0 the first one stops it for all of that time.  Meanwhile nothing
 * else may resume its threads.
 */
#ifndef MOVE_SEND_THROTTLE_H
#define MOVE_SEND_THROTTLE_H

#include "core/units.h"
#include "move/tracee/tracee.h"

struct throttle;

/* t outlives it. */
struct throttle *throttle_create(struct tracee *t, usec_t budget);
/* For send_tick(), between two frames. NULL: no process is slowed down. */
void throttle_tick(struct throttle *th);
/* The process runs at full speed again.  NULL is allowed. */
void throttle_destroy(struct throttle *th);

#endif
