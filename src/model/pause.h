/*
 * pause.h - a move that has failed is not tried again at once
 *
 * For each rank, and one rule for all drivers: for a while none to that host, and none to
 * any once several have failed one after the other.  A driver that puts a planned move
 * off tells the policy so, by EVENT_MIGRATE with the host where the rank is: who counts on
 * a move that never began looks for no other place.
 */
#ifndef MODEL_PAUSE_H
#define MODEL_PAUSE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/units.h"

/* All zeros: nothing has failed. */
struct move_pause {
	usec_t until;	 /* no move before, */
	uint32_t to;	 /* ... to that host */
	uint32_t failed; /* so many have failed in a row */
	uint32_t
		told; /* 1 + the host of which the policy was told last; 0: of none */
};

/* A move to that host has failed. */
void move_pause_failed(struct move_pause *p, uint32_t to, usec_t now);

/* May none be tried to that host now? */
bool move_pauses(const struct move_pause *p, uint32_t to, usec_t now);

/*
 * A move to that host was planned and pauses: is the policy to be told?  Once: one that
 * remembers no moves plans the same in each pass, and each event asks for a pass.
 */
bool move_pause_tells(struct move_pause *p, uint32_t to) must_check;

#endif
