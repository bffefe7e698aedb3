/*
 * institute_rows.c - what Schnor 1997 published: section 5.5, Dynamic-SED on
 * the workstations of an institute
 *
 * One trace of four days was all that the paper had; ours are independent draws of
 * a law, under which every job meets the same days.
 */
#include <math.h>
#include <stdlib.h>

#include "core/xalloc.h"
#include "sim/reproduce/institute_run.h"
#include "sim/reproduce/runs.h"
#include "sim/reproduce/schnor.h"

enum { SIZE, DELAY, SLOWDOWN, MOVES, MOVES_MOST, TIME, VALUES };

static const char *const names[INSTITUTE_JOBS] = { "A_greedy", "A_70", "A_50" };

/* ---- runs ---- */

/* Laws beside that of the rows, each with one thing changed. */
struct reading5 {
	const char *text;
	struct institute_law law;
};

enum { READINGS = 8 };

static void make_readings(struct reading5 ret[READINGS])
{
	for (int i = 0; i < READINGS; i++)
		ret[i].law = institute_law;
	ret[0].text = "as in the rows";
	ret[1].text = "fewer people, 20 % of seats taken";
	ret[1].law.taken = 0.2;
	ret[2].text = "more people, 40 % of seats";
	ret[2].law.taken = 0.4;
	ret[3].text = "nobody leaves a session open";
	ret[3].law.stay = 0;
	ret[4].text = "who is there computes for 5 minutes instead of 2";
	ret[4].law.burst = 300;
	ret[5].text = "for 10";
	ret[5].law.burst = 600;
	ret[6].text = "no long computations";
	ret[6].law.tasks = 0;
	ret[7].text = "three times as many";
	ret[7].law.tasks = 3 * institute_law.tasks;
}

struct work5 {
	uint64_t seed;
	double start;
	struct reading5 reading[READINGS];
};

static int run_one(void *arg, uint32_t cell, uint32_t replication,
		   double *value, struct error *err)
{
	const struct work5 *w = arg;
	const struct institute_setup s = { .law = w->reading[cell].law,
					   .start = w->start,
					   .policy = "dynamic-sed-1997:share=1",
					   .seed = w->seed };
	struct institute_result job[INSTITUTE_JOBS];
	int rc = institute_run(&s, replication, job, err);

	for (int j = 0; j < INSTITUTE_JOBS && !rc; j++) {
		double *v = &value[j * VALUES];

		v[SIZE] = job[j].size;
		v[DELAY] = job[j].delay;
		v[SLOWDOWN] = 100 * (job[j].delay / job[j].promised - 1);
		v[MOVES] = job[j].moves;
		v[MOVES_MOST] = job[j].moves_most;
		v[TIME] = job[j].delay / job[j].size;
	}
	return rc;
}

enum { NIGHT = 0, AFTERNOON = 16 };

static int run_days(const struct reproduce *r, double start, struct runs *ret,
		    struct error *err)
{
	struct work5 w = { .seed = r->seed, .start = start };

	make_readings(w.reading);
	*ret = (struct runs){ .work = run_one,
			      .nr_values = VALUES * INSTITUTE_JOBS,
			      .arg = &w,
			      .nr_cells = r->quick ? 1 : READINGS,
			      .n = r->quick ? 6 : 20 };
	return runs_do(r, ret, err);
}

static double *at(const struct runs *d, size_t cell, int job, int value)
{
	return runs_at(d, cell, (unsigned)(job * VALUES + value));
}

static struct estimate mean(const struct reproduce *r, const struct runs *d,
			    int job, int value)
{
	return runs_mean_of(r, at(d, 0, job, value), d->n);
}

/* A value of each job under each reading, for the note of the last row. */
static void note_readings5(struct reproduce *r, const struct runs *d, int value)
{
	struct reading5 reading[READINGS];

	make_readings(reading);
	for (size_t k = 1; k < d->nr_cells; k++) {
		double v[INSTITUTE_JOBS];

		for (int j = 0; j < INSTITUTE_JOBS; j++)
			v[j] = runs_mean_of(r, at(d, k, j, value), d->n).value;
		reproduce_note(r, reproduce_text("%s: %.3g, %.3g and %.3g",
						 reading[k].text, v[JOB_GREEDY],
						 v[JOB_70], v[JOB_50]));
	}
}

/* ---- S-5e: migrations ---- */

static void tell_moves(struct reproduce *r, const struct runs *night)
{
	static const double most[] = { 9, 7, 5 }, moves[] = { 1.27, .61, .63 };

	for (int j = 0; j < INSTITUTE_JOBS; j++)
		reproduce_number(r,
				 reproduce_text("by night, %s, migrations an "
						"hour",
						names[j]),
				 moves[j], 0.005, mean(r, night, j, MOVES),
				 NULL);
	note_readings5(r, night, MOVES);
	reproduce_range(r,
			reproduce_text("by night, migrations of A_greedy to "
				       "those of A_70"),
			1.5, 2.5,
			stats_ratio(at(night, 0, JOB_GREEDY, MOVES),
				    at(night, 0, JOB_70, MOVES), night->n,
				    r->level),
			reproduce_text("\"twice as much\""));
	for (int j = 0; j < INSTITUTE_JOBS; j++)
		reproduce_range(r,
				reproduce_text("by night, %s, most in an hour",
					       names[j]),
				-INFINITY, most[j],
				mean(r, night, j, MOVES_MOST), NULL);
	note_readings5(r, night, MOVES_MOST);
}

int schnor_s5e(struct reproduce *r, struct error *err)
{
	static const double most[] = { 3, 2, 2 };
	struct runs night = { .value = NULL }, day = { .value = NULL };
	int rc = run_days(r, NIGHT, &night, err);

	if (!rc)
		rc = run_days(r, AFTERNOON, &day, err);
	if (!rc)
		tell_moves(r, &night);
	for (int j = 0; j < INSTITUTE_JOBS && !rc; j++) {
		reproduce_range(
			r,
			reproduce_text("by day, %s, most in an hour", names[j]),
			-INFINITY, most[j], mean(r, &day, j, MOVES_MOST), NULL);
		reproduce_range(
			r,
			reproduce_text("by day, %s, migrations to those by "
				       "night",
				       names[j]),
			-INFINITY, 1,
			stats_ratio(at(&day, 0, j, MOVES),
				    at(&night, 0, j, MOVES), day.n, r->level),
			NULL);
	}
	runs_clear(&night);
	runs_clear(&day);
	return rc;
}

/* ---- S-5f, S-5g: sizes, delays and slowdowns ---- */

struct table5 {
	double size[INSTITUTE_JOBS], delay[INSTITUTE_JOBS],
		slowdown[INSTITUTE_JOBS];
	double precision; /* of its delays */
	const char *arithmetic;
};

static void tell_table(struct reproduce *r, const struct runs *d,
		       const struct table5 *t)
{
	for (int j = 0; j < INSTITUTE_JOBS; j++)
		reproduce_number(r, reproduce_text("%s, size", names[j]),
				 t->size[j], 0.5, mean(r, d, j, SIZE), NULL);
	note_readings5(r, d, SIZE);
	for (int j = 0; j < INSTITUTE_JOBS; j++)
		reproduce_number(
			r, reproduce_text("%s, mean delay class", names[j]),
			t->delay[j], t->precision, mean(r, d, j, DELAY), NULL);
	note_readings5(r, d, DELAY);
	for (int j = 0; j < INSTITUTE_JOBS; j++)
		reproduce_number(
			r, reproduce_text("%s, slowdown, %%", names[j]),
			t->slowdown[j], 0.5, mean(r, d, j, SLOWDOWN), NULL);
	reproduce_note(r, reproduce_text("%s", t->arithmetic));
	note_readings5(r, d, SLOWDOWN);
}

/* what is the row's, as reproduce_range() says. */
static void tell_less(struct reproduce *r, char *what, const double *less,
		      const double *more, uint32_t n)
{
	reproduce_range(r, what, 0, INFINITY,
			stats_difference(more, less, n, r->level), NULL);
}

int schnor_s5f(struct reproduce *r, struct error *err)
{
	static const struct table5 table = {
		{ 26, 18, 13 },
		{ 8.2, 6.04, 5.43 },
		{ 113, 64, 35 },
		0.05,
		"the table's own delays over the classes of the start, 8.2/4, "
		"6.04/4 and 5.43/4, are slowdowns of 105, 51 and 36 %: it "
		"rounded first, and 6.04/18 is 0.34 and not 0.36"
	};
	struct runs d = { .value = NULL };
	int rc = run_days(r, NIGHT, &d, err);

	if (!rc) {
		tell_table(r, &d, &table);
		tell_less(r,
			  reproduce_text(
				  "slowdown of A_greedy less that of A_70"),
			  at(&d, 0, JOB_70, SLOWDOWN),
			  at(&d, 0, JOB_GREEDY, SLOWDOWN), d.n);
		tell_less(r,
			  reproduce_text("slowdown of A_70 less that of A_50"),
			  at(&d, 0, JOB_50, SLOWDOWN),
			  at(&d, 0, JOB_70, SLOWDOWN), d.n);
	}
	runs_clear(&d);
	return rc;
}

int schnor_s5g(struct reproduce *r, struct error *err)
{
	static const struct table5 table = {
		{ 15, 10, 7 },
		{ 5.26, 4.23, 3.52 },
		{ 30, 5, 16 },
		0.005,
		"A_50 was started in class 3, the others in 4"
	};
	struct runs d = { .value = NULL }, night = { .value = NULL };
	int rc = run_days(r, AFTERNOON, &d, err);

	if (!rc)
		rc = run_days(r, NIGHT, &night, err);
	if (!rc)
		tell_table(r, &d, &table);
	for (int j = 0; j < INSTITUTE_JOBS && !rc; j++)
		tell_less(r,
			  reproduce_text("%s, slowdown by night less that "
					 "by day",
					 names[j]),
			  at(&d, 0, j, SLOWDOWN), at(&night, 0, j, SLOWDOWN),
			  d.n);
	runs_clear(&d);
	runs_clear(&night);
	return rc;
}

/* ---- S-5h: how much a long job should take ---- */

static void tell_share(struct reproduce *r, const struct runs *d)
{
	reproduce_range(
		r,
		reproduce_text("by night, delay time of A_70 to that "
			       "of A_greedy"),
		-INFINITY, 1.125,
		stats_ratio(at(d, 0, JOB_70, TIME), at(d, 0, JOB_GREEDY, TIME),
			    d->n, r->level),
		reproduce_text("\"almost as fast\": 0.36 to 0.32, and by "
			       "the table's own delays and sizes 0.34 "
			       "to 0.32"));
	note_readings5(r, d, TIME);
	reproduce_range(r,
			reproduce_text("by night, migrations of A_70 to those "
				       "of A_greedy"),
			-INFINITY, 1,
			stats_ratio(at(d, 0, JOB_70, MOVES),
				    at(d, 0, JOB_GREEDY, MOVES), d->n,
				    r->level),
			NULL);
}

int schnor_s5h(struct reproduce *r, struct error *err)
{
	struct runs d = { .value = NULL };
	int rc = run_days(r, NIGHT, &d, err);

	if (!rc)
		tell_share(r, &d);
	runs_clear(&d);
	return rc < 0 ? rc : schnor_pmax(r, err);
}
