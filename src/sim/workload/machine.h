/*
 * machine.h - hosts described in a few characters, or in a file
 */
#ifndef SIM_WORKLOAD_MACHINE_H
#define SIM_WORKLOAD_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/error.h"
#include "model/host.h"

/*
 * "5x1,25x4": five hosts of speed factor 1 (the fastest) and 25 of 4, one core
 * each; "2x1x8" gives each eight cores, and "2x1x8x4G" memory of 4 GiB.  "30" alone
 * is 30 hosts of factor 1.
 * What has a slash in it, or .csv at its end, is a file (platform.h).
 * A host may hold any number of ranks.  *ret is for the caller to free.
 */
int machine_parse(const char *text, struct host **ret, uint32_t *ret_n,
		  struct error *err) must_check;

/* Is it that of a file? */
bool machine_is_file(const char *text);

/* The same machine in a few characters, for the caller to free: what a file said when it was
 * read.  The hosts' names are not in it. */
int machine_text(const char *text, char **ret, struct error *err) must_check;

/* Is it one?  For command lines, before anything is read or computed. */
int machine_check(const char *text, struct error *err) must_check;

#endif
