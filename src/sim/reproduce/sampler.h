/* sampler.h - averages over a run as one who looks now and then sees them */
#ifndef SIM_REPRODUCE_SAMPLER_H
#define SIM_REPRODUCE_SAMPLER_H

#include "model/event.h"

enum { SAMPLER_RATES = 4 };
/* 1, 10, 30, 60: it looks each so many seconds. */
extern const int sampler_seconds[SAMPLER_RATES];

/* All zero is one who has not looked. */
struct sampler {
	usec_t begin, last;
	bool begun;
	double idle, skew; /* since last */
	double idle_sum[SAMPLER_RATES], skew_sum[SAMPLER_RATES];
	uint64_t n[SAMPLER_RATES];
};

/* For struct sim_observer; data is the sampler. */
void sampler_event(void *data, const struct view *view, const struct event *e);

/* Bytes that are idle of all hosts, and the standard deviation of the jobs that
 * run on a host not held back: means of what was seen at rate i. */
double sampler_idle(const struct sampler *s, int i);
double sampler_skew(const struct sampler *s, int i);

#endif
