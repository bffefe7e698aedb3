/*
 * names.h - names and their numbers, from 0 on as they were added
 *
 * A look-up takes as long among many names as among few.
 */
#ifndef CORE_NAMES_H
#define CORE_NAMES_H

#include <stdint.h>

/* All zero: there are none.  Free with names_clear(). */
struct names {
	struct numbered_name *table;
};

/* The number of name; UINT32_MAX: it was not added. */
uint32_t names_find(const struct names *names, const char *name);

/* The number of name, which is added, as a copy, if it is not there. */
uint32_t names_add(struct names *names, const char *name);

/* How many were added: what the next number is. */
uint32_t names_count(const struct names *names);

void names_clear(struct names *names);

#endif
