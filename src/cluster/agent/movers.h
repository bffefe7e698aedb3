/*
 * movers.h - who works for guests' leaving gets as much of the processor as that needs
 *
 * While an owner is there keepers and engines have the lowest claim, as their guests do.
 * Beside an owner who computes on all processors they would get none, and the guest would
 * stay, in the owner's way, for as long as that goes on.  So whoever is seen to wait for a
 * processor gets a step more (claim_step()), again and again until it gets on, and a step
 * less when it has more than it needs.  It is never real-time, and its work is bounded: it
 * is what is left to send.
 */
#ifndef CLUSTER_AGENT_MOVERS_H
#define CLUSTER_AGENT_MOVERS_H

#include <stdbool.h>
#include <systemd/sd-event.h>

#include "core/units.h"

struct movers;

struct movers *movers_create(sd_event *event, const char *run_dir);
void movers_destroy(struct movers *m); /* NULL is allowed */
/*
 * The owner is there, and keepers of guests (owners: see guests.h) have been lowered: look at
 * them, and where a host is being given back often, by a timer of its own.  To be called
 * each second.
 */
void movers_watch(struct movers *m, const char *owners, bool giving);
/* The owner has gone. */
void movers_rest(struct movers *m);
/* One look; how many of them were changed. */
unsigned movers_look(struct movers *m, const char *owners, usec_t now);

/* What a thread did between two looks. */
struct movers_time {
	usec_t ran, waited; /* for a processor */
};

/*
 * The step after that one: more if a thread waits most of the time and does not run, or hardly
 * at two looks in a row, which *hungry tells (0 at first).  That it has less than it could
 * use is no reason: on a host that has a share of a processor, half of which an owner who
 * works now and then leaves unused, all wait.
 */
unsigned movers_next(unsigned step, unsigned *hungry,
		     const struct movers_time *t, size_t n, usec_t elapsed);

#endif
