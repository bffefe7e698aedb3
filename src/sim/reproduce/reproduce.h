/*
 * reproduce.h - published results, computed again
 *
 * A paper is a table of entries; an entry is an id of the specification, what
 * it claims, and a function that computes our figures and reports one row for
 * each published one.  A row is met when the interval of our figure overlaps
 * the published value, give or take its stated or visible precision; else it
 * is a difference, with a note that says how it depends on what the paper
 * leaves open.  Nothing is ever tuned to meet one.
 *
 * To add an entry, write its function and a line in its paper's table; to add
 * a paper, write sim/reproduce/PAPER.c ending in a `const struct
 * reproduce_paper reproduce_PAPER` and add its line to reproduce_papers[] in
 * sim/reproduce/reproduce.c.
 */
#ifndef SIM_REPRODUCE_REPRODUCE_H
#define SIM_REPRODUCE_REPRODUCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "core/error.h"
#include "sim/report/stats.h"
#include "sim/sweep/sweep.h"

struct reproduce_row {
	const char *id;	       /* of its entry */
	char *what;	       /* which of its figures: "L=0.2" */
	char *published;       /* as text: "1.2 +- 0.05" */
	char *ours;	       /* as text */
	struct estimate value; /* NaN where it is no number */
	bool met;
	bool lacking; /* nobody has measured it: neither met nor not */
	char *note;   /* or NULL */
};

/* A figure that was drawn. */
struct reproduce_drawn {
	const char *id; /* of the entry */
	char *file;	/* in the directory of figures */
};

struct reproduce {
	bool quick; /* shorter runs, wider intervals, no other readings */
	uint64_t seed;
	unsigned workers;
	double level;	     /* of confidence */
	const char *figures; /* directory for SVG files, or NULL */
	const char *link;    /* how a document finds that directory */
	const char *results; /* file that keeps every run of a sweep, or NULL */
	const char *measured; /* file of live measurements, or NULL */
	void (*progress)(void *arg, const char *id); /* or NULL */
	void *arg;

	struct reproduce_row *row; /* what was found so far */
	size_t nr, cap;
	struct reproduce_drawn *figure;
	size_t nr_figures, cap_figures;
	const char *id;	      /* of the entry that runs */
	const char *which;    /* as was asked for last */
	const char *left_out; /* a paper, for want of measurements; or NULL */
};

struct reproduce_entry {
	const char *id;
	const char *claim; /* one line */
	int (*run)(struct reproduce *r, struct error *err);
};

struct reproduce_paper {
	const char *name;
	const char *title;
	const char *method; /* a paragraph for people */
	bool measured;	    /* nothing is simulated: it reads r->measured */
	const struct reproduce_entry *entry; /* id NULL ends it */
};

/* The n-th paper; NULL beyond the last. */
const struct reproduce_paper *reproduce_nth(size_t n);

/*
 * Call visit for every entry that "PAPER", "PAPER:ID" or "all" means, until one
 * fails.  -EINVAL as reproduce_run().
 */
typedef int (*reproduce_visit)(void *arg, const struct reproduce_paper *paper,
			       const struct reproduce_entry *entry,
			       struct error *err);
int reproduce_each(const char *which, reproduce_visit visit, void *arg,
		   struct error *err) must_check;

/*
 * Compute "PAPER", "PAPER:ID" or "all" and append the rows.  -EINVAL with a
 * list if there is no such paper or id, or if a paper is of measurements and
 * there are none; "all" leaves such a paper out, and r->left_out is its name.
 */
int reproduce_run(struct reproduce *r, const char *which,
		  struct error *err) must_check;
void reproduce_clear(struct reproduce *r);

/* The ids of which (NULL: all) and what they claim; -EINVAL as above. */
int reproduce_print_list(const char *which, bool json, FILE *to,
			 struct error *err) must_check;

/*
 * What we think of an id's differences: whether our reading may be wrong, the
 * published figure is uncertain, or an assumption matters.  NULL: nothing has
 * been written, or nothing that matters where all its rows are met.  reproduce/cause.c.
 */
const char *reproduce_cause(const char *id, bool met);

/* For people, for programs, and for doc/reproduction.md. */
void reproduce_print(const struct reproduce *r, FILE *to);
void reproduce_print_json(const struct reproduce *r, FILE *to);
void reproduce_print_markdown(const struct reproduce *r, FILE *to);

/* What the functions of entries use (check.c). */

/* A number, published with a precision; what and note are printf formats'
 * results: use reproduce_text(). */
void reproduce_number(struct reproduce *r, char *what, double published,
		      double precision, struct estimate ours, char *note);
/* A number, published as lying between two. */
void reproduce_range(struct reproduce *r, char *what, double low, double high,
		     struct estimate ours, char *note);
/* The same of what was to be measured: NaN says that nobody has. */
void reproduce_measured(struct reproduce *r, char *what, double low,
			double high, struct estimate ours, char *note);
/* A statement, and what we found. */
void reproduce_fact(struct reproduce *r, char *what, const char *published,
		    char *ours, bool met, char *note);
/* Add to the note of the row that was reported last. */
void reproduce_note(struct reproduce *r, char *text);
/* Fresh text for the rows, which own it. */
char *reproduce_text(const char *fmt, ...)
	__attribute__((format(printf, 1, 2), returns_nonnull));
/* Where several estimates are one text: what is printed of each, and its arguments. */
#define ESTIMATE_FMT	 "%.4g (%.4g to %.4g)"
#define ESTIMATE_ARGS(e) (e).value, (e).low, (e).high

/*
 * Policies x loads on one workload, the same replications for all policies at
 * a load (pairs).  Cell of policy p at load l: result[p * nr_loads + l].
 */
struct reproduce_grid {
	const char *const *policy; /* NULL-terminated */
	const char *workload;
	const char *paging; /* NULL: the workload's */
	const double *load;
	size_t nr_loads;
	struct sim_costs costs;
	double precision; /* of the mean response; 0: 2 % */
	uint64_t nr_jobs; /* a run; 0: the workload's, fewer if quick */
	uint32_t runs;	  /* exactly so many; 0: as the precision asks */

	/* Filled in by reproduce_grid_run(), freed by _clear(). */
	size_t nr_policies;
	struct sweep sweep;
	struct sweep_result *result;
};

int reproduce_grid_run(struct reproduce *r, struct reproduce_grid *grid,
		       struct error *err) must_check;
void reproduce_grid_clear(struct reproduce_grid *grid); /* zeroed is fine */

/* Means, ratios and differences of cells, at r->level. */
struct estimate reproduce_mean(const struct reproduce *r,
			       const struct reproduce_grid *g, size_t policy,
			       size_t load, int metric);
struct estimate reproduce_ratio(const struct reproduce *r,
				const struct reproduce_grid *g, size_t a,
				size_t b, size_t load, int metric);
struct estimate reproduce_difference(const struct reproduce *r,
				     const struct reproduce_grid *g, size_t a,
				     size_t b, size_t load, int metric);

/*
 * Another reading of what the paper leaves open, for the note of a row: the
 * ratio of the first policy to the second under it.
 */
struct reproduce_reading {
	const char *text; /* "with N = 32 in the load"; NULL ends a table */
	const char *const *policy;
	const char *workload;
	struct sim_costs costs;
};

/* Was the row that was reported last met? */
bool reproduce_met(const struct reproduce *r);

/* Compute each reading at load, and add it to the note of the last row. */
int reproduce_readings(struct reproduce *r,
		       const struct reproduce_reading *reading, double load,
		       int metric, struct error *err) must_check;

/* The figure of a grid as ID-NAME.svg, if figures are wanted. */
int reproduce_figure(struct reproduce *r, const struct reproduce_grid *g,
		     const char *name, int metric,
		     struct error *err) must_check;

/*
 * Where a curve first comes from above to zero, by straight lines between its
 * points; the interval is where its lower and upper bounds do.  NaN where it
 * does not, infinite where a bound does not.
 */
struct estimate reproduce_crossing(const double *x, const struct estimate *y,
				   size_t nr);

#endif
