/* owners_law.c - people who come to their hosts and go, see owners_law.h */
#include "sim/workload/owners_law.h"

#include <math.h>
#include <stdlib.h>

#include <gsl/gsl_cdf.h>

#include "core/heap.h"
#include "core/random.h"
#include "core/xalloc.h"

#define DAY 86400.0

static const double used_load = 0.2; /* section 5.1 */

static const struct param law_params[] = {
	{ "idle", PARAM_TIME, 180, 1e-3, 1e9, NULL, "median idle period" },
	{ "idle-sigma", PARAM_REAL, 2.2, 0, 10, NULL,
	  "standard deviation of its logarithm, of one person" },
	{ "people", PARAM_REAL, 0.6, 0, 10, NULL,
	  "the same of the factor by which people differ" },
	{ "busy", PARAM_TIME, 300, 1e-3, 1e9, NULL, "median busy period" },
	{ "busy-sigma", PARAM_REAL, 1.2, 0, 10, NULL,
	  "standard deviation of its logarithm" },
	{ "compute", PARAM_REAL, 0.2, 0, 1, NULL,
	  "share of busy periods in which nobody types" },
	{ "burst", PARAM_TIME, 20, 1e-3, 1e9, NULL,
	  "mean burst of computing while somebody types" },
	{ "gap", PARAM_TIME, 180, 1e-3, 1e9, NULL, "mean time between bursts" },
	{ "night", PARAM_REAL, 3, 1, 1e6, NULL,
	  "from 19 to 9 h idle periods are so many times as long" },
	{ "weekend", PARAM_REAL, 3, 1, 1e6, NULL,
	  "the same on Saturdays and Sundays, from 9 to 19 h" },
	{ .name = NULL },
};

int owners_law_parse(const char *text, struct owners_law *ret,
		     struct error *err)
{
	struct params p;
	int r = params_parse(law_params, text, "owners", &p, err);

	if (r < 0)
		return r;
	*ret = (struct owners_law){
		.idle = params_real(&p, "idle"),
		.idle_sigma = params_real(&p, "idle-sigma"),
		.people = params_real(&p, "people"),
		.busy = params_real(&p, "busy"),
		.busy_sigma = params_real(&p, "busy-sigma"),
		.compute = params_real(&p, "compute"),
		.burst = params_real(&p, "burst"),
		.gap = params_real(&p, "gap"),
		.night = params_real(&p, "night"),
		.weekend = params_real(&p, "weekend"),
	};
	params_clear(&p);
	return 0;
}

/* ---- one person ---- */

struct person {
	const struct owners_law *law;
	struct random_stream random;
	uint32_t host;
	double idle;  /* median */
	double clock; /* seconds */
	struct activity_change *change;
	size_t nr, cap;
};

static double lognormal(struct random_stream *r, double median, double sigma)
{
	return median * exp(sigma * gsl_cdf_ugaussian_Pinv(random_unit(r)));
}

static void add_change(struct person *p, double at, enum activity_what what,
		       double value)
{
	array_room(p->change, p->nr, &p->cap);
	p->change[p->nr++] = (struct activity_change){
		.at = llround(at * USEC_PER_SEC),
		.host = p->host,
		.what = what,
		.value = value,
	};
}

static double midnight_before(double at)
{
	return floor(at / DAY) * DAY;
}

static bool is_night(double at)
{
	double hour = (at - midnight_before(at)) / 3600;

	return hour < 9 || hour >= 19;
}

/* Time 0 is the beginning of a Monday, as for terms (model/terms.h); the day before is there
 * only so that midnight finds people anywhere, and is a day like most. */
static bool is_weekend(double at)
{
	double day = floor(at / DAY);

	return at >= 0 && day - 7 * floor(day / 7) >= 5;
}

/* So many times as long as by day is what is idle then. */
static double slowness(const struct owners_law *law, double at)
{
	return is_night(at) ? law->night : is_weekend(at) ? law->weekend : 1;
}

/* The next change between day and night. */
static double next_turn(double at)
{
	double day = midnight_before(at), hour = (at - day) / 3600;

	return day + 3600 * (hour < 9 ? 9 : hour < 19 ? 19 : 33);
}

/* Idle for so long, as time goes by day. */
static void be_idle(struct person *p, double length)
{
	while (length > 0) {
		double slow = slowness(p->law, p->clock);
		double room = (next_turn(p->clock) - p->clock) / slow;
		double part = length < room ? length : room;

		if (part == room)
			p->clock = next_turn(p->clock);
		else
			p->clock += part * slow;
		length -= part;
	}
}

static void draw_computing(struct person *p, double from, double to)
{
	add_change(p, from, ACTIVITY_LOAD, 1);
	add_change(p, to, ACTIVITY_LOAD, 0);
}

static void be_busy(struct person *p)
{
	const struct owners_law *law = p->law;
	struct random_stream *r = &p->random;
	double end = p->clock + lognormal(r, law->busy, law->busy_sigma);
	double at = p->clock;

	if (random_unit(r) < law->compute) {
		draw_computing(p, at, end);
	} else {
		add_change(p, at, ACTIVITY_KEYBOARD, 1);
		for (;;) {
			double from = at + random_exponential(r, law->gap);

			at = from + random_exponential(r, law->burst);
			if (at >= end)
				break;
			draw_computing(p, from, at);
		}
		add_change(p, end, ACTIVITY_KEYBOARD, 0);
	}
	p->clock = end;
}

/* It begins a day before, so that midnight finds people anywhere. */
static void live(struct person *p, double end)
{
	const struct owners_law *law = p->law;

	for (p->clock = -DAY; p->clock < end;) {
		be_idle(p, lognormal(&p->random, p->idle, law->idle_sigma));
		if (p->clock < end)
			be_busy(p);
	}
}

/* ---- all of them ---- */

static void add_host(struct activity *activity, uint32_t n)
{
	char *name = xasprintf("h%u", n + 1);

	activity_add_host(activity, name);
	free(name);
}

static struct person make_person(const struct owners_law *law, uint32_t host,
				 uint64_t seed, uint64_t replication)
{
	struct person p = { .law = law, .host = host };
	char *name = xasprintf("owner %u", host + 1);

	random_init(&p.random, seed, name, replication);
	free(name);
	p.idle = lognormal(&p.random, law->idle, law->people);
	return p;
}

/* Who is there at the first midnight is there: how that came about is not told. */
static size_t find_midnight(const struct person *p, struct activity *ret)
{
	double is[ACTIVITY_WHATS] = { 0 };
	size_t i;

	for (i = 0; i < p->nr && p->change[i].at < 0; i++)
		is[p->change[i].what] = p->change[i].value;
	for (int what = 0; what < ACTIVITY_WHATS; what++)
		activity_add(ret, 0, p->host, (enum activity_what)what,
			     is[what]);
	return i;
}

/* One script of all, whose lists this frees. */
static void merge(struct person *p, uint32_t nr, uint32_t days,
		  struct activity *ret)
{
	size_t *next = xcalloc(nr + 1, sizeof(*next));
	struct heap heap = HEAP_INIT;

	for (uint32_t i = 0; i < nr; i++) {
		next[i] = find_midnight(&p[i], ret);
		if (next[i] < p[i].nr)
			heap_set(&heap, i, p[i].change[next[i]].at);
	}
	while (heap_first_key(&heap) < days * USEC_PER_SEC * (usec_t)DAY) {
		usec_t at = heap_first_key(&heap);
		uint32_t i = heap_pop(&heap);
		const struct activity_change *c = &p[i].change[next[i]++];

		activity_add(ret, at, i, c->what, c->value);
		if (next[i] < p[i].nr)
			heap_set(&heap, i, p[i].change[next[i]].at);
	}
	for (uint32_t i = 0; i < nr; i++)
		free(p[i].change);
	heap_clear(&heap);
	free(next);
}

void owners_law_draw(const struct owners_law *law, uint32_t hosts,
		     uint32_t days, uint64_t seed, uint64_t replication,
		     struct activity *ret)
{
	struct person *p = xcalloc(hosts + 1, sizeof(*p));

	*ret = (struct activity)ACTIVITY_INIT;
	for (uint32_t i = 0; i < hosts; i++) {
		add_host(ret, i);
		p[i] = make_person(law, i, seed, replication);
		live(&p[i], days * DAY);
	}
	merge(p, hosts, days, ret);
	free(p);
}

/* ---- as seen ---- */

static bool in_use(const struct activity_host *h, enum owners_sign sign)
{
	return h->value[ACTIVITY_LOAD] >= used_load ||
	       (sign == OWNERS_CPU_KEYBOARD &&
		(h->value[ACTIVITY_KEYBOARD] > 0 ||
		 h->value[ACTIVITY_OWNER] > 0));
}

void owners_as_seen(const struct activity *a, enum owners_sign sign,
		    struct activity *ret)
{
	struct activity_host *h = xcalloc(a->nr_hosts + 1, sizeof(*h));

	*ret = (struct activity)ACTIVITY_INIT;
	for (uint32_t i = 0; i < a->nr_hosts; i++) {
		activity_add_host(ret, a->host[i].name);
		activity_host_init(&h[i]);
	}
	for (size_t i = 0; i < a->nr; i++) {
		const struct activity_change *c = &a->change[i];

		activity_apply(c, &h[c->host]);
		activity_add(ret, c->at, c->host, ACTIVITY_OWNER,
			     in_use(&h[c->host], sign));
	}
	free(h);
}

/* ---- resampled ---- */

static uint32_t whole_days(const struct activity *a)
{
	usec_t last = a->change[a->nr - 1].at;

	return last < USEC_PER_SEC * (usec_t)DAY
		       ? 1
		       : (uint32_t)(last / (USEC_PER_SEC * (usec_t)DAY));
}

/* What host `of` is at the beginning of each day, and its changes in it, as those of
 * a person for so many days from day `first` on. */
static void copy_days(const struct activity *a, uint32_t of, uint32_t first,
		      uint32_t days, struct person *p)
{
	uint32_t nr = whole_days(a);
	const usec_t day = USEC_PER_SEC * (usec_t)DAY;

	for (uint32_t d = 0; d < days; d++) {
		usec_t from = (first + d) % nr * day;
		double at = d * DAY;
		struct activity_host h = { .name = NULL };
		size_t i;

		activity_host_init(&h);
		for (i = 0; i < a->nr && a->change[i].at <= from; i++)
			if (a->change[i].host == of)
				activity_apply(&a->change[i], &h);
		for (int what = 0; what < ACTIVITY_WHATS; what++)
			add_change(p, at, (enum activity_what)what,
				   h.value[what]);
		for (; i < a->nr && a->change[i].at < from + day; i++)
			if (a->change[i].host == of)
				add_change(
					p,
					at + usec_to_seconds(a->change[i].at -
							     from),
					(enum activity_what)a->change[i].what,
					a->change[i].value);
	}
}

void owners_resample(const struct activity *recorded, uint32_t hosts,
		     uint32_t days, uint64_t seed, uint64_t replication,
		     struct activity *ret)
{
	const struct owners_law nobody = { 0 };
	struct person *p = xcalloc(hosts + 1, sizeof(*p));

	*ret = (struct activity)ACTIVITY_INIT;
	for (uint32_t i = 0; i < hosts; i++) {
		uint64_t of, first;

		add_host(ret, i);
		p[i] = make_person(&nobody, i, seed, replication);
		of = random_below(&p[i].random, recorded->nr_hosts);
		first = random_below(&p[i].random, whole_days(recorded));
		copy_days(recorded, (uint32_t)of, (uint32_t)first, days, &p[i]);
	}
	merge(p, hosts, days, ret);
	free(p);
}
