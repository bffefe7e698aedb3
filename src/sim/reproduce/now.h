/*
 * now.h - Arpaci 1995 on hosts that belong to people: many simulated days, and the
 * entries that ask for them
 */
#ifndef SIM_REPRODUCE_NOW_H
#define SIM_REPRODUCE_NOW_H

#include "sim/reproduce/runs.h"
#include "sim/size/days.h"

/* One kind of day.  Zeroes are those of days_init(). */
struct now_cell {
	const char *
		owners; /* parameters of owners_law.h; NULL: as the paper has it */
	const char *choose; /* of borrow; NULL: its default */
	const char *policy; /* another one; NULL: borrow, in slices of 2 s */
	uint32_t hosts;
	double quiet, move; /* seconds; quiet < 0: from the first instant on */
	uint32_t delays;    /* a day, that owners bear; 0: any number */
	bool cpu_alone;	    /* who only types is not taken to be there */
	bool requeue;	    /* jobs may begin anew */
};

enum now_value {
	NOW_RESPONSE,	  /* mean response to that on the dedicated machine */
	NOW_MOVES,	  /* of ranks */
	NOW_DELAYS_MOST,  /* on a day, of the most disturbed owner */
	NOW_DELAYS_THIRD, /* of the third of them */
	NOW_VALUES
};

/* The same n days of each cell, so that cells are compared day by day. */
struct now_days {
	struct runs runs; /* of the values above; now_days_clear() frees it */
};

int now_days_run(const struct reproduce *r, const struct now_cell *cells,
		 size_t nr, uint32_t n, struct now_days *ret,
		 struct error *err) must_check;
void now_days_clear(struct now_days *d); /* zeroed is fine */

/* The mean of a cell's values. */
struct estimate now_mean(const struct reproduce *r, const struct now_days *d,
			 size_t cell, enum now_value v);
/* The mean of one cell's values to that of another's. */
struct estimate now_ratio(const struct reproduce *r, const struct now_days *d,
			  size_t a, size_t b, enum now_value v);

/* Owners' laws that agree with the paper, and the two choices of hosts: for notes. */
struct now_reading {
	const char *text, *owners, *choose;
};

/* The n-th, of which 0 is the one that rows have; NULL beyond the last. */
const struct now_reading *now_reading(size_t n);

/*
 * Parts of entries, of cells from first on.
 *
 * N-2, a cell each recruitment threshold: the best one, in seconds, low and high being those
 * that cannot be told from it; by how many percent jobs take longer with the k-th.
 */
enum { NOW_THRESHOLDS = 6 };
struct estimate now_best_threshold(const struct reproduce *r,
				   const struct now_days *d, size_t first);
double now_threshold_loss(const struct reproduce *r, const struct now_days *d,
			  size_t first, size_t k, double best);

/* N-5, a cell each number of hosts: that from which on jobs are slowed down by no more than
 * on the paper's 60. */
enum { NOW_FEWEST = 40, NOW_STEP = 4, NOW_SIZES = 11 };
struct estimate now_enough(const struct reproduce *r, const struct now_days *d,
			   size_t first);

int now_n1(struct reproduce *r, struct error *err) must_check;
int now_n2(struct reproduce *r, struct error *err) must_check;
int now_n3(struct reproduce *r, struct error *err) must_check;
int now_n4(struct reproduce *r, struct error *err) must_check;
int now_n5(struct reproduce *r, struct error *err) must_check;
int now_n6(struct reproduce *r, struct error *err) must_check;
int now_n11(struct reproduce *r, struct error *err) must_check;
int now_n12(struct reproduce *r, struct error *err) must_check;

#endif
