/* reproduce_schnor.h - what the files of Schnor's figures share */
#ifndef SIM_REPRODUCE_SCHNOR_H
#define SIM_REPRODUCE_SCHNOR_H

#include "sim/reproduce.h"

/* Moving n processes of 10 MB takes 10 + n * 12.7 s (Schnor 1997 §2.2.1). */
#define SCHNOR_MIGRATE	    (10 * USEC_PER_SEC)
#define SCHNOR_MIGRATE_RANK (12700 * USEC_PER_MSEC)

/* Chapter 2, reproduce_gang.c. */
int schnor_s2b(struct reproduce *r, struct error *err) must_check;
int schnor_s2c(struct reproduce *r, struct error *err) must_check;
int schnor_s2d(struct reproduce *r, struct error *err) must_check;
int schnor_s2e(struct reproduce *r, struct error *err) must_check;
int schnor_s2f(struct reproduce *r, struct error *err) must_check;
/* Chapter 4, reproduce_states.c and reproduce_sed.c. */
int schnor_s4a(struct reproduce *r, struct error *err) must_check;
int schnor_s4b(struct reproduce *r, struct error *err) must_check;
int schnor_s4c(struct reproduce *r, struct error *err) must_check;
int schnor_s4d(struct reproduce *r, struct error *err) must_check;
int schnor_s4e(struct reproduce *r, struct error *err) must_check;
int schnor_s4f(struct reproduce *r, struct error *err) must_check;
int schnor_s4g(struct reproduce *r, struct error *err) must_check;

#endif
