/* institute.c - an institute's workstations and its people, see institute.h */
#include "sim/reproduce/institute.h"

#include <math.h>
#include <stdlib.h>

#include <gsl/gsl_cdf.h>

#include "core/random.h"
#include "core/xalloc.h"
#include "sim/workload/plain_host.h"

#define HOUR 3600.0
#define DAY  86400.0
#define MB   1048576.0

/* Table 5.1; memory in MB. */
static const struct machine {
	const char *name;
	double alpha;
	unsigned seats, memory;
} machines[INSTITUTE_HOSTS] = {
	{ "achill", 3.36, 2, 20 },  { "amalthea", 2.72, 3, 16 },
	{ "ares", 1, 8, 64 },	    { "athena", 4, 1, 8 },
	{ "atlas", 4, 1, 16 },	    { "bacchus", 2.72, 3, 16 },
	{ "bal", 4, 1, 16 },	    { "bayes", 2, 3, 32 },
	{ "eos", 3.36, 2, 24 },	    { "hektor", 3.36, 2, 24 },
	{ "helena", 4, 1, 16 },	    { "helios", 2, 4, 40 },
	{ "io", 4, 1, 8 },	    { "isis", 4, 1, 16 },
	{ "janus", 2.72, 3, 16 },   { "kastor", 1, 10, 96 },
	{ "logic", 3.36, 2, 36 },   { "moloch", 4, 1, 16 },
	{ "nemesis", 3.36, 2, 12 }, { "neptun", 4, 1, 16 },
	{ "neuro", 4, 1, 16 },	    { "pandora", 4, 1, 8 },
	{ "possi", 4, 1, 16 },	    { "ra", 2, 1, 48 },
	{ "ran", 4, 1, 16 },	    { "sol", 1, 5, 64 },
	{ "thor", 4, 1, 16 },	    { "venus", 4, 1, 16 },
};

const struct institute_law institute_law = {
	.taken = 0.3,
	.stay = 0.9,
	.come = 10,
	.go = 19,
	.burst = 120,
	.gap = 900,
	.tasks = 1,
	.task = 2,
	.system = 5,
	.session = 3,
};

void institute_hosts(struct host ret[INSTITUTE_HOSTS])
{
	for (uint32_t i = 0; i < INSTITUTE_HOSTS; i++) {
		ret[i] = plain_host(machines[i].name, machines[i].alpha, 1,
				    (uint64_t)(machines[i].memory * MB));
		ret[i].ix = i;
	}
}

/* ---- what people do ---- */

/* One more, or less, of something on a host. */
struct step {
	double at; /* seconds */
	uint32_t host;
	enum activity_what what;
	double by;
};

struct people {
	const struct institute_law *law;
	struct random_stream random;
	struct step *step;
	size_t nr, cap;
};

static void add_change(struct people *p, double at, uint32_t host,
		       enum activity_what what, double by)
{
	array_room(p->step, p->nr, &p->cap);
	p->step[p->nr++] = (struct step){ at, host, what, by };
}

static void last(struct people *p, uint32_t host, enum activity_what what,
		 double from, double to, double by)
{
	add_change(p, from, host, what, by);
	add_change(p, to, host, what, -by);
}

static double about(struct random_stream *r, double mean)
{
	return mean + gsl_cdf_ugaussian_Pinv(random_unit(r));
}

/* Somebody is there, and computes now and then. */
static void work(struct people *p, uint32_t host, double from, double to)
{
	struct random_stream *r = &p->random;

	for (double at = from;;) {
		double begin = at + random_exponential(r, p->law->gap);

		at = begin + random_exponential(r, p->law->burst);
		if (at >= to)
			return;
		last(p, host, ACTIVITY_LOAD, begin, at, 1);
	}
}

/* From coming to going, or until the next evening; one who comes back to a session
 * of theirs goes on with it. */
struct session {
	double from, to;
};

static void end_session(struct people *p, uint32_t host,
			const struct session *s)
{
	if (s->to <= s->from)
		return;
	last(p, host, ACTIVITY_USERS, s->from, s->to, 1);
	last(p, host, ACTIVITY_MEMORY, s->from, s->to, p->law->session * MB);
}

static void spend_day(struct people *p, uint32_t host, double midnight,
		      struct session *open)
{
	const struct institute_law *law = p->law;
	struct random_stream *r = &p->random;
	bool taken = random_unit(r) < law->taken;
	double from = midnight + about(r, law->come) * HOUR;
	double to = midnight + about(r, law->go) * HOUR;
	double end = random_unit(r) < law->stay ? to + DAY : to;

	if (!taken || to <= from)
		return;
	if (from > open->to) {
		end_session(p, host, open);
		*open = (struct session){ from, end };
	}
	open->to = fmax(open->to, end);
	work(p, host, from, to);
}

static void spend_days(struct people *p, uint32_t host, int days)
{
	struct session open = { -DAY, -DAY };

	for (int day = -1; day < days; day++)
		spend_day(p, host, day * DAY, &open);
	end_session(p, host, &open);
}

/* Long computations, which begin between coming and going. */
static void add_computing(struct people *p, uint32_t host, double midnight)
{
	const struct institute_law *law = p->law;
	struct random_stream *r = &p->random;
	double begin = midnight + law->come * HOUR;
	double gap = (law->go - law->come) * HOUR /
		     (law->tasks / machines[host].alpha + 1e-9);

	for (;;) {
		begin += random_exponential(r, gap);
		if (begin >= midnight + law->go * HOUR)
			return;
		last(p, host, ACTIVITY_LOAD, begin,
		     begin + random_exponential(r, law->task * HOUR), 1);
	}
}

static int by_time(const void *a, const void *b)
{
	const struct step *x = a, *y = b;

	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	if (x->host != y->host)
		return x->host < y->host ? -1 : 1;
	return (int)x->what - (int)y->what;
}

/* ---- a script of it ---- */

static void write_script(struct people *p, double end, struct activity *ret)
{
	double now[INSTITUTE_HOSTS][ACTIVITY_WHATS] = { { 0 } };

	qsort(p->step, p->nr, sizeof(*p->step), by_time);
	for (uint32_t i = 0; i < INSTITUTE_HOSTS; i++) {
		activity_add_host(ret, machines[i].name);
		now[i][ACTIVITY_MEMORY] = p->law->system * MB;
		activity_add(ret, 0, i, ACTIVITY_MEMORY,
			     now[i][ACTIVITY_MEMORY]);
	}
	for (size_t i = 0; i < p->nr && p->step[i].at < end; i++) {
		const struct step *s = &p->step[i];
		double *is = &now[s->host][s->what];

		*is = fmax(*is + s->by, 0);
		activity_add(ret, s->at > 0 ? llround(s->at * USEC_PER_SEC) : 0,
			     s->host, s->what, *is);
	}
}

void institute_draw(const struct institute_law *law, uint32_t days,
		    uint64_t seed, uint64_t replication, struct activity *ret)
{
	struct people p = { .law = law };

	*ret = (struct activity)ACTIVITY_INIT;
	random_init(&p.random, seed, "institute", replication);
	for (uint32_t host = 0; host < INSTITUTE_HOSTS; host++) {
		for (unsigned s = 0; s < machines[host].seats; s++)
			spend_days(&p, host, (int)days);
		for (int day = -1; day < (int)days; day++)
			add_computing(&p, host, day * DAY);
	}
	write_script(&p, days * DAY, ret);
	free(p.step);
}
