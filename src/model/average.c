/* average.c - a load averaged over a time, see average.h */
#include "model/average.h"

#include <math.h>

double average_feed(struct average *a, double load, usec_t now)
{
	double keep = a->fed && a->over > 0
			      ? exp(-(double)(now - a->last) / (double)a->over)
			      : 0;

	a->value = keep * a->value + (1 - keep) * load;
	a->last = now;
	a->fed = true;
	return a->value;
}
