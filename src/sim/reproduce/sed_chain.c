/*
 * sed_chain.c - see sed_chain.h
 *
 * The chain is followed in steps of one length (uniformization): in each, the state changes
 * with a probability in proportion to the rate of each change.
 */
#include "sim/reproduce/sed_chain.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include "core/xalloc.h"

enum layout { IDLE, ALONE, FULL, HALF, HALVES, CROWD, NR_LAYOUTS };

static const struct {
	unsigned nr_fast, hosts; /* jobs on fast hosts, and hosts of each */
	bool slow;		 /* is there one on the slow hosts? */
} layouts[NR_LAYOUTS] = {
	[ALONE] = { 1, 20, false }, [FULL] = { 1, 20, true },
	[HALF] = { 1, 10, false },  [HALVES] = { 2, 10, false },
	[CROWD] = { 2, 10, true },
};

enum {
	WAITING = 100, /* longer queues are cut off */
	PHASES = NR_LAYOUTS
		 << 3, /* layouts, and which mean each of three has */
	STATES = PHASES * (WAITING + 1)
};

struct spot {
	enum layout layout;
	unsigned fast[2], slow; /* which of the means; 0 of who is not there */
	unsigned waiting;
};

struct chain {
	const struct sed_demand *demand;
	double rate, steps; /* arrivals and steps a second */
	double *now, *next; /* by state */
	double migrations;  /* so far */
};

static size_t place_of(const struct spot *s)
{
	size_t phase = ((size_t)s->layout << 3) + (s->fast[0] << 2) +
		       (s->fast[1] << 1) + s->slow;

	return phase * (WAITING + 1) + s->waiting;
}

static struct spot spot_of(size_t place)
{
	size_t phase = place / (WAITING + 1);

	return (struct spot){ .layout = (enum layout)(phase >> 3),
			      .fast = { phase >> 2 & 1, phase >> 1 & 1 },
			      .slow = phase & 1,
			      .waiting = (unsigned)(place % (WAITING + 1)) };
}

/* The state changes at so many times a second. */
static void turn_into(struct chain *c, size_t from, const struct spot *to,
		      double rate)
{
	double flow = c->now[from] * rate / c->steps;

	c->next[place_of(to)] += flow;
	c->next[from] -= flow;
}

/* The same, and the job at *seat, which is in *to, is a new one. */
static void begin_at(struct chain *c, size_t from, struct spot *to,
		     unsigned *seat, double rate)
{
	for (*seat = 0; *seat < 2; ++*seat)
		turn_into(c, from, to, rate * c->demand->weight[*seat]);
}

static void arrive(struct chain *c, size_t from, struct spot s)
{
	static const enum layout then[] = { [IDLE] = ALONE,
					    [ALONE] = FULL,
					    [HALF] = HALVES,
					    [HALVES] = CROWD };
	unsigned *seat = s.layout == IDLE   ? &s.fast[0]
			 : s.layout == HALF ? &s.fast[1]
					    : &s.slow;

	if (!layouts[s.layout].slow) {
		s.layout = then[s.layout];
		begin_at(c, from, &s, seat, c->rate);
	} else if (s.waiting < WAITING) {
		s.waiting++;
		turn_into(c, from, &s, c->rate);
	}
}

static void end_slow(struct chain *c, size_t from, struct spot s)
{
	double rate = 10 / 4. / c->demand->mean[s.slow];

	if (s.waiting) {
		s.waiting--;
		begin_at(c, from, &s, &s.slow, rate);
		return;
	}
	s.layout = s.layout == FULL ? ALONE : HALVES;
	s.slow = 0;
	turn_into(c, from, &s, rate);
}

/* Who is on the slow hosts takes the place of the i-th job on fast ones, ten of them. */
static void migrate(struct chain *c, size_t from, struct spot s, unsigned i,
		    double rate)
{
	c->migrations += c->now[from] * rate / c->steps;
	s.fast[i] = s.slow;
	s.slow = 0;
	s.layout = s.layout == FULL ? HALF : HALVES;
	turn_into(c, from, &s, rate);
}

static void end_fast(struct chain *c, size_t from, struct spot s, unsigned i)
{
	double rate = layouts[s.layout].hosts / c->demand->mean[s.fast[i]];

	if (s.waiting) {
		s.waiting--;
		begin_at(c, from, &s, &s.fast[i], rate);
	} else if (layouts[s.layout].slow) {
		migrate(c, from, s, i, rate);
	} else {
		s.fast[0] = s.layout == HALVES ? s.fast[1 - i] : 0;
		s.fast[1] = 0;
		s.layout = s.layout == HALVES ? HALF : IDLE;
		turn_into(c, from, &s, rate);
	}
}

static void step(struct chain *c)
{
	double *last = c->now;

	for (size_t i = 0; i < STATES; i++)
		c->next[i] = c->now[i];
	for (size_t i = 0; i < STATES; i++) {
		struct spot s = spot_of(i);

		if (c->now[i] <= 0)
			continue;
		arrive(c, i, s);
		for (unsigned k = 0; k < layouts[s.layout].nr_fast; k++)
			end_fast(c, i, s, k);
		if (layouts[s.layout].slow)
			end_slow(c, i, s);
	}
	c->now = c->next;
	c->next = last;
}

double sed_chain_gap(const struct sed_demand *demand, double rate, double from,
		     double count)
{
	struct chain c = { .demand = demand,
			   .rate = rate,
			   .steps = rate + 22.5 / fmin(demand->mean[0],
						       demand->mean[1]),
			   .now = xcalloc(STATES, sizeof(double)),
			   .next = xcalloc(STATES, sizeof(double)) };
	size_t before = (size_t)(from / rate * c.steps);
	size_t steps = (size_t)(count / rate * c.steps);

	c.now[place_of(&(struct spot){ .layout = IDLE })] = 1;
	for (size_t i = 0; i < before; i++)
		step(&c);
	c.migrations = 0;
	for (size_t i = 0; i < steps; i++)
		step(&c);
	free(c.now);
	free(c.next);
	return (double)steps / c.steps / c.migrations;
}

double sed_chain_closed(double rho)
{
	double halves = 2.25 * rho * rho;
	double all = 1 + (20 - 2.5 * rho) / (22.5 * rho) + 2 * rho +
		     (1 + halves) / (1 - rho);

	return all / (20 * rho * (1 + halves));
}
