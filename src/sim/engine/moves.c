/* moves.c - the list of moves that are under way; see moves.h */
#include "sim/engine/moves.h"

#include <stdlib.h>

#include "core/xalloc.h"

struct moves *moves_create(const struct engine *g)
{
	struct moves *m = xcalloc(1, sizeof(*m));

	m->busy = xcalloc(g->view.nr_hosts + 1, sizeof(*m->busy));
	return m;
}

void moves_destroy(struct moves *m)
{
	if (!m)
		return;
	free(m->transfer);
	free(m->paused);
	free(m->busy);
	free(m);
}

bool moves_under_way(const struct moves *m, const struct job *job,
		     uint32_t rank)
{
	for (size_t i = 0; i < m->nr; i++)
		if (m->transfer[i].job == job && m->transfer[i].rank == rank)
			return true;
	return false;
}

void moves_add(struct moves *m, const struct transfer *t)
{
	size_t i;

	array_room(m->transfer, m->nr, &m->cap);
	for (i = m->nr; i > 0 && m->transfer[i - 1].ends <= t->ends; i--)
		m->transfer[i] = m->transfer[i - 1];
	m->transfer[i] = *t;
	m->nr++;
}

usec_t moves_end(const struct moves *m)
{
	return m->nr ? m->transfer[m->nr - 1].ends : USEC_MAX;
}

struct move_pause *moves_pause_of(struct moves *m, const struct job *job,
				  uint32_t rank)
{
	for (size_t i = 0; i < m->nr_paused; i++)
		if (m->paused[i].job == job && m->paused[i].rank == rank)
			return &m->paused[i].pause;
	return NULL;
}

void moves_failed(struct moves *m, const struct job *job, uint32_t rank,
		  uint32_t to, usec_t now)
{
	struct move_pause *p = moves_pause_of(m, job, rank);

	if (!p) {
		array_room(m->paused, m->nr_paused, &m->cap_paused);
		m->paused[m->nr_paused] =
			(struct paused){ .job = job, .rank = rank };
		p = &m->paused[m->nr_paused++].pause;
	}
	move_pause_failed(p, to, now);
}

static void forget_pauses(struct moves *m, const struct job *job)
{
	size_t n = 0;

	for (size_t i = 0; i < m->nr_paused; i++)
		if (m->paused[i].job != job)
			m->paused[n++] = m->paused[i];
	m->nr_paused = n;
}

void moves_forget(struct engine *g, const struct job *job)
{
	struct moves *m = g->moves;
	size_t n = 0;

	forget_pauses(m, job);
	for (size_t i = 0; i < m->nr; i++)
		if (m->transfer[i].job != job)
			m->transfer[n++] = m->transfer[i];
		else
			owners_touch(g->owners, m->transfer[i].to);
	m->nr = n;
}

uint32_t moves_coming(const struct moves *m, uint32_t host)
{
	uint32_t n = 0;

	for (size_t i = 0; m && i < m->nr; i++)
		n += m->transfer[i].to == host;
	return n;
}
