/*
 * fake_capsule.h - a capsule in which nothing runs, for fuzz targets and tests
 *
 * cluster/capsule/capsule.h as far as a keeper uses it; linked in front of the library.
 * What a program would do with its descriptors, the target does.
 */
#ifndef FUZZ_FAKE_CAPSULE_H
#define FUZZ_FAKE_CAPSULE_H

#include <stdbool.h>
#include <stddef.h>

/* Write as the program, to its descriptor `as`; nothing if it has none. */
void fake_program_writes(int as, const void *p, size_t n);
/* It ends with that wait status; nothing if none runs. */
void fake_program_ends(int status);

/* The last one that was made: capsule_end() was called; it is not destroyed. */
bool fake_capsule_ended(void);
bool fake_capsule_there(void);
/* What capsule_end() of any says; at first true. */
void fake_capsule_dies(bool dies);

#endif
