/*
 * pace.h - a rate that several processes of a host keep together
 *
 * What all moves of a host may have of its link: a number of bytes a second out,
 * and as many in, in a file that each of them maps.  Whoever is about to send
 * takes its bytes, and waits for as long as they and all that was taken before
 * need at that rate; nothing is divided beforehand, and one that dies takes
 * nothing along.  The rate may change at any time, and counts at once.
 */
#ifndef CORE_PACE_H
#define CORE_PACE_H

#include <stddef.h>
#include <stdint.h>

#include "core/error.h"
#include "core/units.h"

enum pace_way { PACE_OUT, PACE_IN, PACE_WAYS };

/* Bytes that are taken at a time at most, so that none waits for long. */
#define PACE_PIECE 65536

struct pace;

/* RUN_DIR/pace, where an agent has it for its keepers; for the caller to free. */
char *pace_path(const char *run_dir);

/* The one in that file, which is made if it is missing. */
int pace_open(const char *path, struct pace **ret,
	      struct error *err) must_check;
/* One of this process and its forks. */
struct pace *pace_own(uint64_t rate);
void pace_close(struct pace *p); /* NULL is allowed */

void pace_set(struct pace *p, uint64_t rate); /* bytes a second; 0: any */
uint64_t pace_rate(const struct pace *p);     /* NULL: any */

/* Take n bytes at that instant of CLOCK_MONOTONIC; when they may go, then. */
usec_t pace_take(struct pace *p, enum pace_way way, size_t n, usec_t now);
/* Take them, and wait.  NULL: no matter. */
void pace_wait(struct pace *p, enum pace_way way, size_t n);

#endif
