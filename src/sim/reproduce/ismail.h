/* ismail.h - entries of Ismail 1995, by chapter */
#ifndef SIM_REPRODUCE_ISMAIL_H
#define SIM_REPRODUCE_ISMAIL_H

#include "sim/reproduce/reproduce.h"

/* What to note where a ratio that should be 1 or more is not, and yet so close
 * that the thesis could not see it; else NULL. */
static inline const char *ismail_too_small(struct estimate ratio)
{
	return ratio.high < 1 && ratio.low > 0.95
		       ? "by less than the 5 % to which the thesis knew its "
			 "means"
		       : NULL;
}

/*
 * For the note of a row that is the mean response of policy a to that of b: between which
 * bounds such ratios lie if the means are known to 5 % (reproduce/ismail_notes.c).
 */
void ismail_as_known(struct reproduce *r, const struct reproduce_grid *g,
		     size_t a, size_t b, size_t load);
/* For the note of a row: the mean response of the first policy to that of the second at
 * other loads. */
int ismail_by_load(struct reproduce *r, const char *const *policies,
		   const char *workload, const double *loads, size_t nr,
		   struct error *err) must_check;

/* reproduce/ismail_folding.c */
int ismail_i3a(struct reproduce *r, struct error *err);
int ismail_i3b(struct reproduce *r, struct error *err);
int ismail_i3c(struct reproduce *r, struct error *err);
int ismail_i3d(struct reproduce *r, struct error *err);
int ismail_i3e(struct reproduce *r, struct error *err);
int ismail_i3f(struct reproduce *r, struct error *err);

/* reproduce/ismail_dynamic.c */
int ismail_i4a(struct reproduce *r, struct error *err);
int ismail_i4b(struct reproduce *r, struct error *err);
int ismail_i4c(struct reproduce *r, struct error *err);
int ismail_i4d(struct reproduce *r, struct error *err);
int ismail_i4e(struct reproduce *r, struct error *err);

/* For the note of a row: how many figures of DSMJF are met under each of its orders
 * (reproduce/ismail_smallest.c). */
int ismail_smallest(struct reproduce *r, struct error *err) must_check;

/* reproduce/ismail_orders.c */
int ismail_i5a(struct reproduce *r, struct error *err);
int ismail_i5b(struct reproduce *r, struct error *err);
int ismail_i5c(struct reproduce *r, struct error *err);
int ismail_i5d(struct reproduce *r, struct error *err);
int ismail_i5e(struct reproduce *r, struct error *err);
int ismail_i5f(struct reproduce *r, struct error *err);
int ismail_i5g(struct reproduce *r, struct error *err);

#endif
