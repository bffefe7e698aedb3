/*
 * ahead.h - processes that take part in the freeze get the processor before others
 * (core/hurry.h)
 *
 * One for each move. It covers the engine, the keeper and the process's threads at this
 * end, and remembers what the other end was told.
 */
#ifndef MOVE_SEND_AHEAD_H
#define MOVE_SEND_AHEAD_H

#include "move/send/send.h"

struct ahead *ahead_create(void);
/* Priorities stay as they are. NULL is allowed. */
void ahead_destroy(struct ahead *a);

/* Raise the priorities (on) or put them back; send_hurry() at this end alone. */
void send_hurry(struct sending *s, bool on);
/* The same at both ends. */
int send_hurry_both(struct sending *s, bool on, struct error *err) must_check;
/* Called now and then: puts the priorities back once they were raised for too long. */
void send_hurry_bound(struct sending *s);

#endif
