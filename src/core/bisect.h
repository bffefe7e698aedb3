/*
 * bisect.h - where in an ascending row something is, or belongs
 */
#ifndef CORE_BISECT_H
#define CORE_BISECT_H

#include <stddef.h>

/*
 * Set at, a size_t, to the first index below n for which `before`, an expression
 * with at, is false; n if it is true for all.  It must be true up to some index, and
 * false from there on.
 */
#define bisect(at, n, before)                                               \
	do {                                                                \
		size_t bisect_low = 0, bisect_high = (n);                   \
                                                                            \
		while (bisect_low < bisect_high) {                          \
			(at) = bisect_low + (bisect_high - bisect_low) / 2; \
			if (before)                                         \
				bisect_low = (at) + 1;                      \
			else                                                \
				bisect_high = (at);                         \
		}                                                           \
		(at) = bisect_low;                                          \
	} while (0)

#endif
