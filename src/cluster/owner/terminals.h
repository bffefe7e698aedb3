/*
 * terminals.h - terminals that are watched for their users
 */
#ifndef CLUSTER_OWNER_TERMINALS_H
#define CLUSTER_OWNER_TERMINALS_H

#include <stdbool.h>
#include <stddef.h>

#include "model/presence.h"

enum { TERMINAL_LINE = 32 };

struct terminal {
	char line[TERMINAL_LINE + 1]; /* "tty1", "pts/3" */
	char who[PRESENCE_WHO];
	unsigned from; /* which source names it */
	/* Of the list: */
	int wd;		/* negative: none */
	bool unwatched; /* though it is there */
	bool named;
};

struct owner;
struct owner_terminals;

struct owner_terminals *owner_terminals_create(struct owner *o);
void owner_terminals_destroy(struct owner_terminals *t); /* NULL is allowed */

/*
 * These are the terminals of that source from now on.  When each was used last
 * is told if it is new, and from then on each use.
 */
void owner_terminals_set(struct owner_terminals *t, unsigned from,
			 const struct terminal *list, size_t n);

#endif
