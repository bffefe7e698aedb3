/* crowd.c - see crowd.h */
#include "core/crowd.h"

#include <string.h>

size_t crowd_oldest(const void *keys, size_t n, size_t size)
{
	const char *key = keys;
	size_t found = 0, most = 0, has;

	for (size_t i = 0; i < n; i++) {
		has = 0;
		for (size_t k = i; k < n; k++)
			has += !memcmp(key + i * size, key + k * size, size);
		if (has > most) {
			most = has;
			found = i;
		}
	}
	return found;
}
