/*
 * platform.h - a machine described by a file: CSV, a line for each kind of hosts
 *
 *	name,count,cores,speed,memory
 *	# the old lab
 *	lab,24,4,2.4,8G
 *	big,1,16,3.6,64G
 * The first line names the columns, in any order; name and speed must be there.  count and
 * cores are 1 where they are not said, memory (core/units.h) is not known.  speed is in any
 * unit, the same for all: the fastest hosts have alpha 1, the others the greatest speed by
 * theirs.  One host is called name, several name1, name2, ...
 */
#ifndef SIM_WORKLOAD_PLATFORM_H
#define SIM_WORKLOAD_PLATFORM_H

#include <stdint.h>

#include "core/error.h"
#include "model/host.h"

/* The hosts in the order of the file; *ret, with their names, is for the caller to free().
 * Errors say file and line. */
int platform_read(const char *path, struct host **ret, uint32_t *ret_n,
		  struct error *err) must_check;

#endif
