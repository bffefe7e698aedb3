/* stats.c - confidence intervals, see stats.h */
#include "sim/report/stats.h"

#include <math.h>

#include <gsl/gsl_cdf.h>

void stats_add(struct stats *s, double x)
{
	double d = x - s->mean;

	s->n++;
	s->mean += d / (double)s->n;
	s->m2 += d * (x - s->mean);
}

double stats_variance(const struct stats *s)
{
	return s->n > 1 ? s->m2 / (double)(s->n - 1) : 0;
}

double stats_t(double df, double level)
{
	return gsl_cdf_tdist_Pinv((1 + level) / 2, df);
}

double stats_half_width(const struct stats *s, double level)
{
	if (s->n < 2)
		return INFINITY;
	return stats_t((double)(s->n - 1), level) *
	       sqrt(stats_variance(s) / (double)s->n);
}

struct estimate stats_estimate(const struct stats *s, double level)
{
	double h = stats_half_width(s, level);

	return (struct estimate){ s->mean, s->mean - h, s->mean + h };
}

struct estimate stats_estimate_positive(const struct stats *s, double level)
{
	double factor = exp(stats_half_width(s, level) / s->mean);

	return (struct estimate){ s->mean, s->mean / factor, s->mean * factor };
}

struct estimate stats_ratio(const double *y, const double *x, size_t n,
			    double level)
{
	struct stats sx = { 0 }, sy = { 0 }, residual = { 0 };
	double r, h;

	for (size_t i = 0; i < n; i++) {
		stats_add(&sx, x[i]);
		stats_add(&sy, y[i]);
	}
	r = sy.mean / sx.mean;
	for (size_t i = 0; i < n; i++)
		stats_add(&residual, y[i] - r * x[i]);
	h = stats_half_width(&residual, level) / fabs(sx.mean);
	return (struct estimate){ r, r - h, r + h };
}

struct estimate stats_difference(const double *y, const double *x, size_t n,
				 double level)
{
	struct stats s = { 0 };

	for (size_t i = 0; i < n; i++)
		stats_add(&s, y[i] - x[i]);
	return stats_estimate(&s, level);
}
