/*
 * stats.h - means of independent replications, and how sure they are
 *
 * Every figure of a sweep is the mean of independent replications with its
 * confidence interval by Student's t (quantiles by GSL).  Two policies that
 * met the same jobs (common random numbers) are compared replication by
 * replication, which is far sharper than comparing two intervals.
 *
 * Sums are kept by Welford's recurrence, in the order of the replications, so
 * the same replications give the same bits.
 */
#ifndef SIM_REPORT_STATS_H
#define SIM_REPORT_STATS_H

#include <stddef.h>
#include <stdint.h>

/* A running mean and variance.  All zero is empty. */
struct stats {
	uint64_t n;
	double mean;
	double m2; /* sum of squared deviations from the mean */
};

void stats_add(struct stats *s, double x);

/* Sample variance; 0 below two values. */
double stats_variance(const struct stats *s);

/*
 * Half the width of the confidence interval of the mean at that level (0.95).
 * Infinite below two values.
 */
double stats_half_width(const struct stats *s, double level);

/* Student's t with df degrees of freedom, two-sided at level. */
double stats_t(double df, double level);

/* An estimate with its interval. */
struct estimate {
	double value, low, high;
};

struct estimate stats_estimate(const struct stats *s, double level);

/*
 * The same of what is positive: the interval is one of the logarithm, by linearization, so
 * that its ends are, too, however few values there are.
 */
struct estimate stats_estimate_positive(const struct stats *s, double level);

/*
 * mean(y) / mean(x) of n pairs, with the interval of a ratio of correlated
 * means by linearization (delta method): residuals y - r x, Student's t.
 * The interval is infinite below two pairs; x must not average 0.
 */
struct estimate stats_ratio(const double *y, const double *x, size_t n,
			    double level);

/* mean(y - x) of n pairs. */
struct estimate stats_difference(const double *y, const double *x, size_t n,
				 double level);

#endif
