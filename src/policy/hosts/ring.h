/*
 * ring.h - jobs that take turns, the first of them first
 */
#ifndef POLICY_HOSTS_RING_H
#define POLICY_HOSTS_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "model/view.h"

struct ring {
	struct job **job;
	size_t nr, cap;
};

void ring_clear(struct ring *r);

void ring_add(struct ring *r, struct job *job);
void ring_drop(struct ring *r, const struct job *job);
/* Its place; r->nr if it is not there. */
size_t ring_find(const struct ring *r, const struct job *job);
/* The jobs that run go to its end, in their order. */
void ring_turn(struct ring *r);

/* A line for each, and back: false if that is no order of jobs; *text is where. */
void ring_save(const struct ring *r, FILE *to);
bool ring_load(struct ring *r, const struct view *view, const char **text);

#endif
