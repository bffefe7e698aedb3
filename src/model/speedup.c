/*
 * speedup.c - run time as a function of the number of processors
 */
#include "model/speedup.h"

#include <math.h>

double speedup_serial(double efficiency, uint32_t n)
{
	return n > 1 ? (1 - efficiency) / (efficiency * (n - 1)) : 0;
}

static double table_efficiency(const struct speedup_table *t, uint32_t m)
{
	uint32_t i = 0;

	while (i < t->nr_points && t->point[i].m < m)
		i++;
	if (i == t->nr_points)
		return t->point[i - 1].efficiency;
	if (i == 0 || t->point[i].m == m)
		return t->point[i].efficiency;
	return t->point[i - 1].efficiency +
	       (t->point[i].efficiency - t->point[i - 1].efficiency) *
		       (m - t->point[i - 1].m) /
		       (t->point[i].m - t->point[i - 1].m);
}

double speedup_ratio(const struct speedup *s, uint32_t n, uint32_t m)
{
	double ratio = (double)n / m;

	if (n == m)
		return 1;
	switch (s->kind) {
	case SPEEDUP_LINEAR:
		break;
	case SPEEDUP_MISP:
		ratio *= (s->serial * (m - 1.0) + 1) /
			 (s->serial * (n - 1.0) + 1);
		break;
	case SPEEDUP_TABLE:
		ratio *= table_efficiency(s->table, n) /
			 table_efficiency(s->table, m);
		break;
	}
	return ratio;
}

usec_t speedup_scale(const struct speedup *s, usec_t usec, uint32_t n,
		     uint32_t m)
{
	double x;

	if (n == m)
		return usec;
	x = (double)usec * speedup_ratio(s, n, m);
	return x >= 0x1p62 ? USEC_MAX / 2 : (usec_t)whole(x);
}
