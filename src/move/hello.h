/*
 * hello.h - the two ends introduce themselves, and refuse what cannot work
 */
#ifndef MOVE_HELLO_H
#define MOVE_HELLO_H

#include "core/error.h"
#include "move/land.h"
#include "move/state.pb-c.h"

/* What this host is; fresh. */
Move__Hello *hello_of_host(void);

/* Can what is described there run here?  root: see struct move_dest. */
int hello_check(const Move__Hello *there, const Move__Hello *here,
		const char *root, struct error *err) must_check;

/* The time namespace that the process needs here. */
void hello_clocks(const Move__Hello *there, struct landing_spec *spec);

#endif
