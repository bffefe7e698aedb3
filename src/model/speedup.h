/*
 * speedup.h - how a job's run time depends on the processors it gets
 *
 * t(m) is the run time on m processors, n the size the job asked for
 * (Ismail 1995 section 1.5):
 *   linear  t(m) = n t(n) / m
 *   MISP    a serial fraction f: t(m) = n [f(m-1)+1] / (m [f(n-1)+1]) t(n)
 *   table   an efficiency at some m, interpolated linearly between them and
 *           held constant outside: t(m) = n e(n) / (m e(m)) t(n)
 * A struct speedup is a plain value; the table it may point to belongs to
 * whoever made it and outlives every job that uses it.
 */
#ifndef MODEL_SPEEDUP_H
#define MODEL_SPEEDUP_H

#include <stdint.h>

#include "core/units.h"

enum speedup_kind { SPEEDUP_LINEAR, SPEEDUP_MISP, SPEEDUP_TABLE };

struct speedup_point {
	uint32_t m;	   /* processors, increasing */
	double efficiency; /* on m of them, in (0, 1] */
};

struct speedup_table {
	uint32_t nr_points; /* at least 1 */
	struct speedup_point point[];
};

struct speedup {
	enum speedup_kind kind;
	float serial; /* MISP: the serial fraction f */
	const struct speedup_table *table;
};

/*
 * The serial fraction f = (1-e) / (e (n-1)) of a job whose efficiency on n
 * processors is e; 0 when n is 1.  Ismail discards draws with f > 0.5.
 */
double speedup_serial(double efficiency, uint32_t n);

/* t(m) / t(n): what to multiply a time on n processors by. */
double speedup_ratio(const struct speedup *s, uint32_t n, uint32_t m);

/* usec, a time on n processors, as a time on m: rounded to whole ones. */
usec_t speedup_scale(const struct speedup *s, usec_t usec, uint32_t n,
		     uint32_t m);

#endif
