/*
 * now_owned.c - Arpaci 1995 sections 4 and 5: jobs on hosts whose owners come and go
 *
 * A run is one of the paper's busy days; every cell of an entry meets the same ones.
 */
#include <math.h>
#include <stdlib.h>

#include "core/xalloc.h"
#include "sim/reproduce/now.h"

/*
 * The text has moves become much rarer where there are more hosts, which they do only
 * if those are taken that stay idle for longest: in the row, who was quiet for longest.
 */
static const struct now_reading readings[] = {
	{ "as in the row", NULL, "longest" },
	{ "hosts with fewer ranks taken first", NULL, "quiet" },
	{ "owners here more, 55 % of hosts idle for 15 min by day", "busy=400",
	  "longest" },
	{ "owners here less, 64 % of hosts idle for 15 min by day",
	  "idle=199,idle-sigma=2.18,busy=239", "longest" },
	{ "people who differ more, with a shorter tail each",
	  "idle=779,idle-sigma=1.72,people=1.8,busy=320", "longest" },
};

const struct now_reading *now_reading(size_t n)
{
	return n < sizeof(readings) / sizeof(*readings) ? &readings[n] : NULL;
}

/* The cells of an entry under each reading: cell i of reading k is k * n + i. */
struct study {
	struct now_cell *cell;
	size_t n, nr_readings;
	struct now_days days;
};

static int study_run(const struct reproduce *r, const struct now_cell *cells,
		     size_t n, struct study *ret, struct error *err)
{
	size_t nr = 1;

	while (!r->quick && now_reading(nr))
		nr++;
	*ret = (struct study){ .n = n, .nr_readings = nr };
	ret->cell = xcalloc(nr * n, sizeof(*ret->cell));
	for (size_t i = 0; i < nr * n; i++) {
		ret->cell[i] = cells[i % n];
		ret->cell[i].owners = now_reading(i / n)->owners;
		ret->cell[i].choose = now_reading(i / n)->choose;
	}
	return now_days_run(r, ret->cell, nr * n, r->quick ? 3 : 8, &ret->days,
			    err);
}

static void study_clear(struct study *s)
{
	now_days_clear(&s->days);
	free(s->cell);
}

/* ---- one figure, and the same under the other readings ---- */

/* Of cell a, or of it to cell b. */
struct figure {
	size_t a, b;
	bool ratio;
	enum now_value value;
};

static struct estimate figure_of(const struct reproduce *r,
				 const struct study *s, size_t reading,
				 const struct figure *f)
{
	size_t first = reading * s->n;

	return f->ratio ? now_ratio(r, &s->days, first + f->a, first + f->b,
				    f->value)
			: now_mean(r, &s->days, first + f->a, f->value);
}

static void tell_estimate(struct reproduce *r, const char *text,
			  struct estimate e)
{
	reproduce_note(r, reproduce_text("%s: %.3g (%.3g to %.3g)", text,
					 e.value, e.low, e.high));
}

static void tell_readings(struct reproduce *r, const struct study *s,
			  const struct figure *f)
{
	for (size_t k = 1; k < s->nr_readings; k++)
		tell_estimate(r, readings[k].text, figure_of(r, s, k, f));
}

static void add_number(struct reproduce *r, const struct study *s,
		       const struct figure *f, const char *what,
		       double published, double precision)
{
	reproduce_number(r, reproduce_text("%s", what), published, precision,
			 figure_of(r, s, 0, f), NULL);
	tell_readings(r, s, f);
}

static void add_range(struct reproduce *r, const struct study *s,
		      const struct figure *f, const char *what, double low,
		      double high)
{
	reproduce_range(r, reproduce_text("%s", what), low, high,
			figure_of(r, s, 0, f), NULL);
	tell_readings(r, s, f);
}

/* ---- N-1: what moves cost ---- */

/* What other systems do when an owner comes, on the same days, without time slices. */
static int tell_others(struct reproduce *r, struct error *err)
{
	static const char *const names[] = {
		"ranks move, in 2 s",
		"ranks move, in 2 min",
		"jobs begin anew, as HTCondor's",
		"ranks stand still where they are",
		"ranks stay beside the owner",
	};
	static const struct now_cell cells[] = {
		{ .policy = "stint:gain=100", .hosts = 50, .move = 2 },
		{ .policy = "stint:gain=100", .hosts = 50, .move = 120 },
		{ .policy = "stint:leave=anew,gain=100",
		  .hosts = 50,
		  .requeue = true },
		{ .policy = "stint:leave=still,gain=100", .hosts = 50 },
		{ .policy = "stint:leave=not,gain=100", .hosts = 50 },
	};
	enum { NR = sizeof(cells) / sizeof(*cells) };
	struct now_days d = { .runs.value = NULL };
	int rc = r->quick ? 0 : now_days_run(r, cells, NR, 8, &d, err);

	for (size_t i = 0; d.runs.value && !rc && i < NR; i++) {
		struct estimate e = now_mean(r, &d, i, NOW_RESPONSE);

		reproduce_note(
			r,
			reproduce_text(
				"beside it, without slices (policy stint), %s: "
				"%.3g (%.3g to %.3g), delays of the worst user "
				"%.3g",
				names[i], e.value, e.low, e.high,
				now_mean(r, &d, i, NOW_DELAYS_MOST).value));
	}
	if (d.runs.value)
		reproduce_note(
			r, reproduce_text("beside it, without harvesting, on "
					  "32 hosts of their own: 1, which all "
					  "are measured by"));
	now_days_clear(&d);
	return rc;
}

int now_n1(struct reproduce *r, struct error *err)
{
	static const struct now_cell cells[] = {
		{ .hosts = 50, .move = 2 }, { .hosts = 50, .move = 120 },
		{ .hosts = 55, .move = 2 }, { .hosts = 55, .move = 120 },
		{ .hosts = 60, .move = 2 }, { .hosts = 60, .move = 120 },
	};
	struct study s;
	int rc = study_run(r, cells, 6, &s, err);

	if (!rc) {
		add_number(r, &s, &(struct figure){ .a = 1 },
			   "50 hosts, moves of 2 min, slowdown", 1.8, 0.05);
		add_range(r, &s, &(struct figure){ .a = 1, .ratio = true },
			  "50 hosts, moves of 2 min to those of 2 s", 2,
			  INFINITY);
		add_range(r, &s, &(struct figure){ 3, 1, true, NOW_RESPONSE },
			  "moves of 2 min, 55 hosts to 50", -INFINITY, 1);
		add_range(r, &s, &(struct figure){ 5, 1, true, NOW_RESPONSE },
			  "moves of 2 min, 60 hosts to 50", -INFINITY, 1);
		add_range(r, &s, &(struct figure){ 5, 1, true, NOW_MOVES },
			  "moves of 2 min, how many, 60 hosts to 50", -INFINITY,
			  1);
		rc = tell_others(r, err);
	}
	study_clear(&s);
	return rc;
}

/* ---- N-2: the recruitment threshold ---- */

static const double thresholds[NOW_THRESHOLDS] = { 1, 60, 120, 180, 300, 600 };

struct estimate now_best_threshold(const struct reproduce *r,
				   const struct now_days *d, size_t first)
{
	struct estimate e = { NAN, NAN, NAN };
	size_t best = first;

	for (size_t i = first; i < first + NOW_THRESHOLDS; i++)
		if (now_mean(r, d, i, NOW_RESPONSE).value <
		    now_mean(r, d, best, NOW_RESPONSE).value)
			best = i;
	for (size_t i = first; i < first + NOW_THRESHOLDS; i++) {
		struct estimate x = now_ratio(r, d, i, best, NOW_RESPONSE);

		if (i != best && x.low > 1)
			continue;
		if (isnan(e.low))
			e.low = thresholds[i - first];
		e.high = thresholds[i - first];
	}
	e.value = thresholds[best - first];
	return e;
}

double now_threshold_loss(const struct reproduce *r, const struct now_days *d,
			  size_t first, size_t k, double best)
{
	size_t b = 0;

	while (thresholds[b] < best)
		b++;
	return 100 *
	       (now_ratio(r, d, first + k, first + b, NOW_RESPONSE).value - 1);
}

static void tell_threshold(struct reproduce *r, const struct study *s,
			   size_t first, const char *text)
{
	struct estimate e = now_best_threshold(r, &s->days, first);

	reproduce_note(
		r, reproduce_text(
			   "%s: %g s (%g to %g s), with 1 s %.1f %% longer, "
			   "180 s %.1f %%, 600 s %.1f %%",
			   text, e.value, e.low, e.high,
			   now_threshold_loss(r, &s->days, first, 0, e.value),
			   now_threshold_loss(r, &s->days, first, 3, e.value),
			   now_threshold_loss(r, &s->days, first, 5, e.value)));
}

int now_n2(struct reproduce *r, struct error *err)
{
	struct now_cell cells[3 * NOW_THRESHOLDS];
	struct study s;
	int rc;

	for (size_t i = 0; i < 3 * NOW_THRESHOLDS; i++)
		cells[i] = (struct now_cell){
			.hosts = 50 + 5 * (uint32_t)(i / NOW_THRESHOLDS),
			.quiet = thresholds[i % NOW_THRESHOLDS]
		};
	rc = study_run(r, cells, 3 * NOW_THRESHOLDS, &s, err);
	for (size_t i = 0; !rc && i < 3; i++) {
		size_t first = i * NOW_THRESHOLDS;

		reproduce_number(r,
				 reproduce_text("%u hosts, best threshold, s",
						cells[first].hosts),
				 180, 30, now_best_threshold(r, &s.days, first),
				 reproduce_text("the interval has all "
						"thresholds that so few days "
						"do not tell from the best"));
		for (size_t k = 0; k < s.nr_readings; k++)
			tell_threshold(r, &s, k * s.n + first,
				       readings[k].text);
	}
	study_clear(&s);
	return rc;
}

/* ---- N-3, N-4: what owners bear ---- */

/* How often who types computes, too, is free: each 180 s on average in the row. */
static int tell_bursts(struct reproduce *r, struct error *err)
{
	static const struct now_cell cells[] = {
		{ .owners = "gap=60",
		  .choose = "quiet",
		  .hosts = 60,
		  .quiet = 60,
		  .cpu_alone = true },
		{ .owners = "gap=360",
		  .choose = "quiet",
		  .hosts = 60,
		  .quiet = 60,
		  .cpu_alone = true },
	};
	struct now_days d = { .runs.value = NULL };
	int rc = r->quick ? 0 : now_days_run(r, cells, 2, 10, &d, err);

	if (d.runs.value && !rc) {
		tell_estimate(
			r,
			"fewer ranks first, and who types computes each minute",
			now_mean(r, &d, 0, NOW_DELAYS_MOST));
		tell_estimate(r, "fewer ranks first, each 6 minutes",
			      now_mean(r, &d, 1, NOW_DELAYS_MOST));
	}
	now_days_clear(&d);
	return rc;
}

int now_n3(struct reproduce *r, struct error *err)
{
	static const struct now_cell cells[] = {
		{ .hosts = 60, .quiet = 60, .cpu_alone = true },
		{ .hosts = 60, .quiet = 900, .cpu_alone = false },
	};
	const struct figure worst = { .value = NOW_DELAYS_MOST },
			    third = { .a = 1, .value = NOW_DELAYS_THIRD };
	struct study s;
	int rc = study_run(r, cells, 2, &s, err);

	if (!rc) {
		add_number(
			r, &s, &worst,
			"CPU only, quiet for 1 min: delays of the worst user",
			80, 10);
		rc = tell_bursts(r, err);
	}
	if (!rc)
		add_range(r, &s, &third,
			  "CPU and keyboard, 15 min: delays of the third user",
			  15, INFINITY);
	study_clear(&s);
	return rc;
}

int now_n4(struct reproduce *r, struct error *err)
{
	static const struct now_cell cells[] = {
		{ .hosts = 60, .delays = 10 },
		{ .hosts = 50, .delays = 20 },
	};
	static const struct figure most[] = {
		{ .a = 0, .value = NOW_DELAYS_MOST },
		{ .a = 1, .value = NOW_DELAYS_MOST },
	};
	struct study s;
	int rc = study_run(r, cells, 2, &s, err);

	if (!rc) {
		add_number(r, &s, &(struct figure){ .a = 0 },
			   "60 hosts, contract of 10, slowdown", 1.14, 0.05);
		add_number(r, &s, &(struct figure){ .a = 1 },
			   "50 hosts, contract of 20, slowdown", 1.4, 0.05);
		add_range(r, &s, &most[0],
			  "60 hosts, contract of 10, delays of the worst user",
			  -INFINITY, 10);
		add_range(r, &s, &most[1],
			  "50 hosts, contract of 20, delays of the worst user",
			  -INFINITY, 20);
	}
	study_clear(&s);
	return rc;
}

/* ---- N-5: two to one ---- */

struct estimate now_enough(const struct reproduce *r, const struct now_days *d,
			   size_t first)
{
	double hosts[NOW_SIZES];
	struct estimate above[NOW_SIZES];

	for (size_t i = 0; i < NOW_SIZES; i++) {
		struct estimate e = now_mean(r, d, first + i, NOW_RESPONSE);

		hosts[i] = NOW_FEWEST + NOW_STEP * (double)i;
		above[i] = (struct estimate){ e.value - 1.14, e.low - 1.14,
					      e.high - 1.14 };
	}
	return reproduce_crossing(hosts, above, NOW_SIZES);
}

int now_n5(struct reproduce *r, struct error *err)
{
	struct now_cell cells[NOW_SIZES];
	struct study s;
	int rc;

	for (uint32_t i = 0; i < NOW_SIZES; i++)
		cells[i] =
			(struct now_cell){ .hosts = NOW_FEWEST + NOW_STEP * i,
					   .delays = 10 };
	rc = study_run(r, cells, NOW_SIZES, &s, err);
	if (!rc) {
		reproduce_number(r,
				 reproduce_text("hosts for a slowdown of 1.14, "
						"contract of 10"),
				 60, 5, now_enough(r, &s.days, 0), NULL);
		for (size_t k = 1; k < s.nr_readings; k++)
			tell_estimate(r, readings[k].text,
				      now_enough(r, &s.days, k * s.n));
	}
	study_clear(&s);
	return rc;
}
