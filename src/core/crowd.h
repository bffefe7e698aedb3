/*
 * crowd.h - who has to go where there is no room for more
 */
#ifndef CORE_CROWD_H
#define CORE_CROWD_H

#include <stddef.h>

/*
 * keys are n keys of size bytes each, the oldest first, and say whose each of n
 * things is: the number of the oldest thing of whoever has the most, so that
 * one who takes much room takes it from themselves.  Of two who have as many,
 * whose first is the older.  n must not be 0.
 */
size_t crowd_oldest(const void *keys, size_t n, size_t size);

#endif
