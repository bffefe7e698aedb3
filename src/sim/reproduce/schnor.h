/* schnor.h - what the files of Schnor's figures share */
#ifndef SIM_REPRODUCE_SCHNOR_H
#define SIM_REPRODUCE_SCHNOR_H

#include "sim/reproduce/reproduce.h"

/* Moving n processes of 10 MB takes 10 + n * 12.7 s (Schnor 1997 §2.2.1). */
#define SCHNOR_MIGRATE	    (10 * USEC_PER_SEC)
#define SCHNOR_MIGRATE_RANK (12700 * USEC_PER_MSEC)

/* Load of so many jobs in 1000 s on system 2, which does 22.5 s of work a
 * second. */
#define SCHNOR_RATE2(rate, demand) ((rate) / 1000 * (demand) / 22.5)

/* Policies x loads of chapter 4, with the costs of a migration. */
struct reproduce_grid schnor_grid4(const char *const *policies,
				   const char *workload, const double *loads,
				   size_t nr_loads);

/*
 * What the text leaves open about migration: run the grid again under each reading, and note
 * what tell, whose text is to be freed, says of it.
 */
typedef char *(*schnor_tell)(const struct reproduce *r,
			     const struct reproduce_grid *g);
int schnor_note_readings(struct reproduce *r, const struct reproduce_grid *like,
			 schnor_tell tell, struct error *err) must_check;

/* Chapter 2, reproduce/gang.c. */
int schnor_s2b(struct reproduce *r, struct error *err) must_check;
int schnor_s2c(struct reproduce *r, struct error *err) must_check;
int schnor_s2d(struct reproduce *r, struct error *err) must_check;
int schnor_s2e(struct reproduce *r, struct error *err) must_check;
int schnor_s2f(struct reproduce *r, struct error *err) must_check;
/* Chapter 4, reproduce/states.c, reproduce/proof.c, reproduce/sed.c and
 * reproduce/sed_gaps.c. */
int schnor_s4a(struct reproduce *r, struct error *err) must_check;
int schnor_s4b(struct reproduce *r, struct error *err) must_check;
int schnor_s4c(struct reproduce *r, struct error *err) must_check;
int schnor_s4d(struct reproduce *r, struct error *err) must_check;
int schnor_s4e(struct reproduce *r, struct error *err) must_check;
int schnor_s4f(struct reproduce *r, struct error *err) must_check;
int schnor_s4g(struct reproduce *r, struct error *err) must_check;
/* What was added later (S-5): reproduce/slices.c, reproduce/averages.c,
 * reproduce/sizes.c, reproduce/stable.c and reproduce/institute_rows.c. */
int schnor_s5a(struct reproduce *r, struct error *err) must_check;
int schnor_s5b(struct reproduce *r, struct error *err) must_check;
int schnor_s5c(struct reproduce *r, struct error *err) must_check;
int schnor_s5d(struct reproduce *r, struct error *err) must_check;
int schnor_s5e(struct reproduce *r, struct error *err) must_check;
int schnor_s5f(struct reproduce *r, struct error *err) must_check;
int schnor_s5g(struct reproduce *r, struct error *err) must_check;
int schnor_s5h(struct reproduce *r, struct error *err) must_check;
/* The part of S-5h that is no statistics, reproduce/long_jobs.c. */
int schnor_pmax(struct reproduce *r, struct error *err) must_check;

#endif
