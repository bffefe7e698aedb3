/*
 * inflate.h - a whole file in memory, unpacked if it is gzipped
 */
#ifndef SIM_WORKLOAD_INFLATE_H
#define SIM_WORKLOAD_INFLATE_H

#include <stddef.h>

#include "core/error.h"

/*
 * The contents of path ("-": standard input), with a NUL after them that
 * *ret_size does not count, for the caller to free.  A gzip file that is cut
 * off or damaged is an error, not a shorter file, and so is what other programs have packed.
 * The mark with which some programs begin a text in UTF-8 is left out.
 */
int inflate_read(const char *path, char **ret, size_t *ret_size,
		 struct error *err) must_check;

#endif
