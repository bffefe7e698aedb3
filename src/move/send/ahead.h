/*
 * ahead.h - who takes part in the freeze is ahead of others (core/hurry.h)
 *
 * One for a move: engine, keeper and the process's threads at this end, and
 * what the other end was told of it.
 */
#ifndef MOVE_SEND_AHEAD_H
#define MOVE_SEND_AHEAD_H

#include "move/send/send.h"

struct ahead *ahead_create(void);
/* Whoever is ahead stays so.  NULL is allowed. */
void ahead_destroy(struct ahead *a);

/* They are ahead, or not; send_hurry() here alone. */
void send_hurry(struct sending *s, bool on);
/* At either end. */
int send_hurry_both(struct sending *s, bool on, struct error *err) must_check;
/* Called now and then: nobody is ahead for too long. */
void send_hurry_bound(struct sending *s);

#endif
