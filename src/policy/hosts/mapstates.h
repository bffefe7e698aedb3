/*
 * mapstates.h - mapping state diagrams, enumerated from SED's own code
 *
 * A mapping state says of which sizes the jobs are that run in each delay class:
 * (0,0,0,30+15) is two jobs in class 4. Edges are arrivals and departures; a departure
 * that leads to an upgrade or a migration is marked as such (Schnor 1997 §4.2). Queue
 * lengths are left out: each departure is followed with no job waiting and, where jobs
 * may wait in that state, with one waiting, with two, and so on until one stays blocked.
 *
 * The walk goes over full placements, in which equal hosts are interchangeable;
 * placements with the same mapping state are drawn as one node.
 */
#ifndef POLICY_HOSTS_MAPSTATES_H
#define POLICY_HOSTS_MAPSTATES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "core/error.h"
#include "policy/hosts/sed_state.h"

enum mapstates_kind {
	MAPSTATES_ARRIVAL = 1,
	MAPSTATES_DEPARTURE = 2,
	MAPSTATES_UPGRADE = 4,
	MAPSTATES_MIGRATION = 8,
};

struct mapstates_edge {
	size_t from, to; /* indices of nodes */
	unsigned kind;	 /* of enum mapstates_kind, ored */
};

struct mapstates {
	char **nodes; /* labels; node 0 is the idle system */
	size_t nr_nodes, cap_nodes;
	struct mapstates_edge *edges; /* ordered by from, to, kind */
	size_t nr_edges, cap_edges;
};

struct mapstates_conf {
	enum sed_kind kind;
	const double *alpha; /* speed factors of nr_hosts hosts */
	int nr_hosts;
	int minsize, maxsize; /* of every job */
	struct sed_rules rules;
};

/*
 * Enumerate all states into *ret, which the caller clears.  -E2BIG, with *ret
 * untouched, if there are more than max_placements placements.
 */
int mapstates_enumerate(const struct mapstates_conf *conf,
			size_t max_placements, struct mapstates *ret,
			struct error *err) must_check;
void mapstates_clear(struct mapstates *ms);

/* The index of a label, or -1. */
long mapstates_find(const struct mapstates *ms, const char *label);

/* A Graphviz digraph with a legend: departures grey, upgrades dashed,
 * migrations bold, both with their name. */
void mapstates_dot(const struct mapstates *ms, const char *title, FILE *to);

#endif
