/*
 * unsupported.h - what cannot move, as lists of things to set up
 */
#ifndef UNSUPPORTED_H
#define UNSUPPORTED_H

#include <stddef.h>

struct thing {
	const char *name, *word;
	void (*make)(void);
	void (*use)(void);
	void (*finish)(void);
};

/* System V segments, semaphores and queues. */
extern const struct thing sysv_things[];
extern const size_t nr_sysv;

/* What does not show as a descriptor, a mapping or a child. */
extern const struct thing hidden_things[];
extern const size_t nr_hidden;

/* Connections to another process of the host. */
extern const struct thing near_things[];
extern const size_t nr_near;

#endif
