/*
 * moves.h - the moves that are under way (transfer.c begins and ends them)
 */
#ifndef SIM_ENGINE_MOVES_H
#define SIM_ENGINE_MOVES_H

#include "model/pause.h"
#include "sim/engine/engine.h"

/* By the times of their ends, the latest first. */
struct transfer {
	struct job *job;
	uint32_t rank, to;
	usec_t ends, standstill;
};

/* Of a rank whose last move has failed. */
struct paused {
	const struct job *job;
	uint32_t rank;
	struct move_pause pause;
};

struct moves {
	struct transfer *transfer;
	size_t nr, cap;
	struct paused *paused;
	size_t nr_paused, cap_paused;
	usec_t *busy; /* by host: its link is, until then */
};

bool moves_under_way(const struct moves *m, const struct job *job,
		     uint32_t rank);
void moves_add(struct moves *m, const struct transfer *t);
/* When the first of them ends; USEC_MAX: none is under way. */
usec_t moves_end(const struct moves *m);
/* The pause of a rank; NULL: no move of it has failed. */
struct move_pause *moves_pause_of(struct moves *m, const struct job *job,
				  uint32_t rank);
void moves_failed(struct moves *m, const struct job *job, uint32_t rank,
		  uint32_t to, usec_t now);
/* The job is gone from its hosts, or has others. */
void moves_forget(struct engine *g, const struct job *job);

#endif
