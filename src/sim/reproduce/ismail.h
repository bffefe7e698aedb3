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

/* reproduce/ismail_orders.c */
int ismail_i5a(struct reproduce *r, struct error *err);
int ismail_i5b(struct reproduce *r, struct error *err);
int ismail_i5c(struct reproduce *r, struct error *err);
int ismail_i5d(struct reproduce *r, struct error *err);
int ismail_i5e(struct reproduce *r, struct error *err);
int ismail_i5f(struct reproduce *r, struct error *err);
int ismail_i5g(struct reproduce *r, struct error *err);

#endif
