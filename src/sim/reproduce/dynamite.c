/*
 * dynamite.c - what Overeinder 2000 measured of Dynamite (section 7.6), beside
 * what bench/dynamite and bench/decider measured of Stint
 *
 * Nothing is simulated: a file has one JSON object a line, with its "id" and
 * what that needs (stint-reproduce(1)).  Seconds of other machines say nothing,
 * so all that is compared are ratios of runs side by side; several lines of one
 * kind are repetitions, and give an interval.
 */
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/xalloc.h"
#include "sim/reproduce/reproduce.h"

/* ---- the file ---- */

/* One line into list, if it is of that id. */
static int take_line(json_t *list, const char *text, size_t size,
		     const char *id, struct error *err)
{
	json_error_t why;
	json_t *line = json_loadb(text, size, 0, &why);
	const char *of = json_string_value(json_object_get(line, "id"));

	if (!of) {
		json_decref(line);
		return error_set(err, -EINVAL,
				 "it is no JSON object with an \"id\"");
	}
	if (!strcmp(of, id))
		json_array_append(list, line);
	json_decref(line);
	return 0;
}

/* All lines of an id; *ret is json_decref()'d by the caller. */
static int read_lines(const struct reproduce *r, json_t **ret,
		      struct error *err)
{
	FILE *f = fopen(r->measured, "re");
	json_t *list;
	char *text = NULL;
	size_t size = 0;
	ssize_t n;
	int rc = 0, number = 0;

	if (!f)
		return error_sys(err, -errno, "%s", r->measured);
	list = json_array();
	while (!rc && (n = getline(&text, &size, f)) > 0) {
		number++;
		rc = take_line(list, text, (size_t)n, r->id, err);
	}
	if (rc < 0)
		error_prefix(err, rc, "%s:%d", r->measured, number);
	else if (ferror(f))
		rc = error_sys(err, -errno, "%s: cannot read", r->measured);
	else if (!number)
		rc = error_set(err, -ENODATA, "%s: there is nothing in it",
			       r->measured);
	free(text);
	fclose(f);
	if (rc < 0)
		json_decref(list);
	else
		*ret = list;
	return rc;
}

/* ---- lines of one kind ---- */

/* Which lines are meant; NULL: any. */
struct kind {
	const char *kernel, *policy;
	double bytes; /* 0: any */
};

static bool is_of(const json_t *line, const struct kind *k)
{
	const char *kernel = json_string_value(json_object_get(line, "kernel"));
	const char *policy = json_string_value(json_object_get(line, "policy"));
	double bytes = json_number_value(json_object_get(line, "bytes"));

	return (!k->kernel || (kernel && !strcmp(kernel, k->kernel))) &&
	       (!k->policy || (policy && !strcmp(policy, k->policy))) &&
	       (!(k->bytes > 0) || fabs(bytes - k->bytes) < 0.5);
}

/* Two figures of each line of a kind. */
struct pairs {
	double *y, *x;
	size_t nr;
};

/* a line's figure less that of `less`, in units of `unit`; NaN: not there. */
static double figure(const json_t *line, const char *name, const char *less)
{
	const json_t *v = json_object_get(line, name);
	const json_t *w = less ? json_object_get(line, less) : NULL;

	if (!json_is_number(v) || (less && !json_is_number(w)))
		return NAN;
	return json_number_value(v) - (less ? json_number_value(w) : 0);
}

/* (y - base) / (x - base); base NULL: y / x. */
static struct pairs pairs_of(const json_t *list, const struct kind *k,
			     const char *y, const char *x, const char *base)
{
	size_t n = json_array_size(list);
	struct pairs p = { .y = xcalloc(n + 1, sizeof(double)),
			   .x = xcalloc(n + 1, sizeof(double)) };

	for (size_t i = 0; i < n; i++) {
		const json_t *line = json_array_get(list, i);

		if (!is_of(line, k))
			continue;
		p.y[p.nr] = figure(line, y, base);
		p.x[p.nr] = figure(line, x, base);
		p.nr += isfinite(p.y[p.nr]) && p.x[p.nr] > 0;
	}
	return p;
}

static void free_pairs(struct pairs *p)
{
	free(p->y);
	free(p->x);
}

/* The ratio of the means; one run has no interval. */
static struct estimate ratio(const struct reproduce *r, const json_t *list,
			     const struct kind *k, const char *y, const char *x,
			     const char *base)
{
	struct pairs p = pairs_of(list, k, y, x, base);
	struct estimate e = { NAN, NAN, NAN };

	if (p.nr == 1)
		e.value = e.low = e.high = p.y[0] / p.x[0];
	else if (p.nr)
		e = stats_ratio(p.y, p.x, p.nr, r->level);
	free_pairs(&p);
	return e;
}

/* The mean of a figure of lines of a kind; NaN: none has it. */
static double mean_of(const json_t *list, const struct kind *k,
		      const char *name)
{
	struct pairs p = pairs_of(list, k, name, name, NULL);
	double sum = 0;

	for (size_t i = 0; i < p.nr; i++)
		sum += p.y[i];
	sum /= (double)p.nr; /* none: NaN */
	free_pairs(&p);
	return sum;
}

static struct estimate percent_more(struct estimate e)
{
	return (struct estimate){ 100 * (e.value - 1), 100 * (e.low - 1),
				  100 * (e.high - 1) };
}

/* ---- D-1, D-2: messages, and moves by size ---- */

/* On one machine no wire hides what is added. */
static void tell_microseconds(struct reproduce *r, const json_t *list,
			      const struct kind *k, double theirs)
{
	double bare = mean_of(list, k, "bare");
	double more = mean_of(list, k, "ours") - bare;

	reproduce_note(r, reproduce_text("%.3g us more than %.3g us, which is "
					 "%.2g %% of the %.3g ms that one took "
					 "there at best",
					 more, bare, 100 * more / theirs,
					 theirs / 1000));
}

static int d1(struct reproduce *r, struct error *err)
{
	/* theirs: microseconds of the fastest such message in Table 7.1, which is
	 * of latency and throughput. */
	static const struct message {
		double bytes;
		const char *what;
		double low, high, theirs;
	} sizes[] = { { 1, "1 byte, % more time", 4, 25, 420 },
		      { 100000, "100 KB, % more time", 2, 8, 100000 / 4.01 } };
	json_t *list = NULL;
	int rc = read_lines(r, &list, err);

	for (size_t i = 0; !rc && i < 2; i++) {
		const struct kind k = { .bytes = sizes[i].bytes };
		struct estimate e =
			percent_more(ratio(r, list, &k, "ours", "bare", NULL));

		/* To be better than published is no difference. */
		reproduce_measured(r, xstrdup(sizes[i].what), -INFINITY,
				   sizes[i].high, e,
				   reproduce_text("published: %g to %g",
						  sizes[i].low, sizes[i].high));
		if (!isnan(e.value))
			tell_microseconds(r, list, &k, sizes[i].theirs);
	}
	json_decref(list);
	return rc;
}

/* How much of the variance of y a straight line over x explains. */
static double straightness(const struct pairs *p)
{
	double sx = 0, sy = 0, xx = 0, yy = 0, xy = 0, n = (double)p->nr;

	for (size_t i = 0; i < p->nr; i++) {
		sx += p->x[i];
		sy += p->y[i];
	}
	for (size_t i = 0; i < p->nr; i++) {
		double x = p->x[i] - sx / n, y = p->y[i] - sy / n;

		xx += x * x;
		yy += y * y;
		xy += x * y;
	}
	return xx > 0 && yy > 0 ? xy * xy / (xx * yy) : NAN;
}

static int d2(struct reproduce *r, struct error *err)
{
	const struct kind any = { .kernel = NULL };
	struct pairs p;
	json_t *list = NULL;
	int rc = read_lines(r, &list, err);
	double v;

	if (rc < 0)
		return rc;
	p = pairs_of(list, &any, "seconds", "bytes", NULL);
	v = straightness(&p);
	reproduce_measured(
		r,
		reproduce_text("part of the variance of %zu moves that "
			       "a straight line explains",
			       p.nr),
		0.95, 1, (struct estimate){ v, v, v }, NULL);
	free_pairs(&p);
	json_decref(list);
	return 0;
}

/* ---- D-3, D-4: rotating load ---- */

/* Percent of the unloaded time more, without and with Dynamite's decider, where each host
 * was loaded for so many seconds at a time. */
struct published {
	const char *kernel;
	double without, with, turn;
};

/* What a decider needs until it has noticed and moved is lost once a turn. */
static void tell_turns(struct reproduce *r, double ours, double theirs,
		       double lost)
{
	reproduce_note(
		r, reproduce_text(
			   "hosts were loaded for %g s at a time, theirs for "
			   "%g: if each turn costs as much, those would cost "
			   "%.3f",
			   ours, theirs, lost * ours / theirs));
}

static void tell_kernel(struct reproduce *r, const json_t *list,
			const struct published *p, const char *policy)
{
	const struct kind k = { .kernel = p->kernel, .policy = policy };
	struct estimate e = ratio(r, list, &k, "decided", "loaded", "unloaded");
	struct estimate without =
		percent_more(ratio(r, list, &k, "loaded", "unloaded", NULL));

	double turn = mean_of(list, &k, "load");

	if (isnan(e.value) && strcmp(policy, "dynamite") != 0)
		return; /* theirs is asked for, others are there if measured */
	reproduce_measured(
		r,
		reproduce_text("%s, %s: time lost with the decider, "
			       "part of that without",
			       p->kernel, policy),
		-INFINITY, p->with / p->without, e,
		reproduce_text("without: %.0f %% more time, published "
			       "%g %%",
			       without.value, p->without));
	if (!isnan(e.value) && !isnan(turn))
		tell_turns(r, turn, p->turn, e.value);
}

static void tell_kernels(struct reproduce *r, const json_t *list,
			 const struct published *p)
{
	static const char *const policies[] = { "dynamite", "dynamic-sed",
						"stint" };

	for (; p->kernel; p++)
		for (size_t i = 0; i < 3; i++)
			tell_kernel(r, list, p, policies[i]);
}

static int d3(struct reproduce *r, struct error *err)
{
	static const struct published table[] = {
		{ "cg", 87, 24, 300 }, { "ep", 18, 9, 300 },
		{ "ft", 45, 20, 300 }, { "is", 12, 16, 300 },
		{ "mg", 40, 6, 300 },  { NULL, 0, 0, 0 }
	};
	json_t *list = NULL;
	int rc = read_lines(r, &list, err);

	if (!rc)
		tell_kernels(r, list, table);
	json_decref(list);
	return rc;
}

static int d4(struct reproduce *r, struct error *err)
{
	static const struct published table[] = { { "heat", 75, 34, 600 },
						  { NULL, 0, 0, 0 } };
	const struct kind any = { .kernel = NULL };
	json_t *list = NULL;
	int rc = read_lines(r, &list, err);

	if (rc < 0)
		return rc;
	tell_kernels(r, list, table);
	reproduce_measured(
		r, xstrdup("ranks that can move, % more time"), -INFINITY, 1.5,
		percent_more(ratio(r, list, &any, "movable", "bare", NULL)),
		NULL);
	reproduce_measured(
		r, xstrdup("monitor and decider, % more time"), -INFINITY, 2,
		percent_more(ratio(r, list, &any, "watched", "movable", NULL)),
		NULL);
	reproduce_measured(
		r, xstrdup("all of it, % more time"), -INFINITY, 5,
		percent_more(ratio(r, list, &any, "watched", "bare", NULL)),
		NULL);
	json_decref(list);
	return 0;
}

static const struct reproduce_entry entries[] = {
	{ "D-1",
	  "ranks that can move send messages 4 to 25 % slower, large ones 2 to 8 %",
	  d1 },
	{ "D-2", "the time of a move grows linearly with the size", d2 },
	{ "D-3",
	  "under rotating load the decider takes most of the time lost away, but for IS",
	  d3 },
	{ "D-4",
	  "the same of a solver, 75 to 34 %; what it costs where nothing is to be done",
	  d4 },
	{ NULL, NULL, NULL }
};

const struct reproduce_paper reproduce_dynamite = {
	.name = "dynamite",
	.title =
		"B. J. Overeinder, Dynamic Load Balancing: Automatic Control of Execution Threads, 2000",
	.method =
		"Measured live, by `make bench-dynamite` and `make bench-decider`, on test hosts of one\n"
		"machine; kernels of ours of the shapes of the NAS's (`bench/kernels.h`).  Less than what was\n"
		"published counts as met.",
	.measured = true,
	.entry = entries,
};
