/*
 * arguments.h - how much of arguments and environment a program can be given
 *
 * Linux gives a string 32 pages and all of them, with a pointer each, 6 MiB; less
 * where the stack's limit is below 24 MiB.  What is more can never run, and would
 * only be kept and sent.
 */
#ifndef CLUSTER_HOST_ARGUMENTS_H
#define CLUSTER_HOST_ARGUMENTS_H

#include <stddef.h>

#include "core/error.h"

enum {
	ARGUMENT_MAX = 128 << 10, /* with its end */
	ARGUMENTS_MAX = 6 << 20,
};

struct arguments {
	size_t bytes; /* so far */
};

/* Another n of them; -E2BIG, and what is too large. */
int arguments_add(struct arguments *sum, char *const *list, size_t n,
		  struct error *err) must_check;

#endif
