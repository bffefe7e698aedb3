/*
 * owners_bear.c - what owners bear of guests, see owners_touched.h
 */
#include <stdlib.h>

#include "sim/engine/engine.h"
#include "sim/engine/memory.h"
#include "sim/engine/owners_touched.h"

/* ---- the processor ---- */

/* Processor seconds a second that the owner's processes wait for guests. */
static double wait_rate(const struct host *h, double load, uint32_t guests)
{
	double alone = load > h->cores ? load / h->cores : 1;
	double shared = (load + guests) / h->cores;

	return load > 0 && shared > alone ? load * (1 - alone / shared) : 0;
}

/* Sum up what has lasted since the last time. */
void owners_bear(struct owner *w, const struct host *h, usec_t now)
{
	double dt = usec_to_seconds(now - w->since);
	uint32_t guests = w->contract.scene.running;

	w->since = now;
	if (!w->contract.scene.here || !guests)
		return;
	w->bore.beside += dt;
	w->bore.waited +=
		dt * wait_rate(h, w->state.value[ACTIVITY_LOAD], guests);
}

/* ---- returns ---- */

void owners_given_back(struct owner *w, usec_t now)
{
	usec_t took = now - w->waits;

	w->waits = -1;
	w->bore.given_back++;
	w->bore.give_back += usec_to_seconds(took);
	if (took > w->bore.give_back_most)
		w->bore.give_back_most = took;
}

void owners_came_back(const struct owners *o, struct owner *w, usec_t now)
{
	const struct contract *c = &w->contract;

	w->bore.returns++;
	w->bore.disturbed += c->last[c->nr_last - 1].disturbed;
	if (c->disturbed > w->bore.disturbed_most)
		w->bore.disturbed_most = c->disturbed;
	w->bore.refill += w->taken * o->refill;
	w->taken = 0;
	if (c->scene.running)
		w->waits = now;
}

/* ---- memory ---- */

/*
 * What was in memory in the place of guests, pages of the owner's programs or files, is read
 * again page by page (Arpaci 1995 section 5.2, doc/design/56).
 */
double owners_refill_rate(const struct engine *g)
{
	struct paging p = { .page = 1 };

	if (g->config->paging)
		p = *g->config->paging;
	else if (paging_parse("", &p, NULL) < 0)
		abort(); /* the defaults are good */
	return p.fault / (double)p.page;
}

static double rank_memory(const struct engine *g, const struct job *job)
{
	return (double)(g->memory ? memory_need(g, job)->demand : job->memory);
}

/* The owner is away: what is the most that guests have had meanwhile? */
void owners_note_memory(const struct engine *g, struct owner *w,
			const struct host *h)
{
	const struct job *j;
	double bytes = 0;

	if (!w->contract.scene.guests)
		return;
	for_each_running(j, &g->view)
	{
		double each = job_is_home(j, h) ? 0 : rank_memory(g, j);

		for (uint32_t i = 0; each > 0 && i < j->n; i++)
			bytes += j->hosts[i] == h->ix ? each : 0;
	}
	if (h->memory && bytes > (double)h->memory)
		bytes = (double)h->memory;
	if (bytes > w->taken)
		w->taken = bytes;
}

/* ---- sums ---- */

void owners_add(struct sim_owners *to, const struct sim_owners *one)
{
	to->returns += one->returns;
	to->disturbed += one->disturbed;
	to->given_back += one->given_back;
	to->give_back += one->give_back;
	if (one->give_back_most > to->give_back_most)
		to->give_back_most = one->give_back_most;
	to->beside += one->beside;
	to->waited += one->waited;
	to->refill += one->refill;
}

/* The owners who were disturbed most in a day. */
void owners_worst(const struct owners *o, struct sim_owners *ret)
{
	uint32_t most[3] = { 0 };

	for (uint32_t i = 0; i < o->nr; i++) {
		uint32_t n = o->owner[i].bore.disturbed_most;

		for (int k = 0; k < 3; k++)
			if (n > most[k]) {
				uint32_t less = most[k];

				most[k] = n;
				n = less;
			}
	}
	ret->disturbed_most = most[0];
	ret->disturbed_third = most[2];
}
