/* sampler.c - see sampler.h */
#include "sim/reproduce/sampler.h"

#include <math.h>

const int sampler_seconds[SAMPLER_RATES] = { 1, 10, 30, 60 };

/* Looks in (from, to] at multiples of so many seconds after begin. */
static uint64_t looks(const struct sampler *s, int seconds, usec_t from,
		      usec_t to)
{
	usec_t each = seconds * USEC_PER_SEC;

	return (uint64_t)((to - s->begin) / each - (from - s->begin) / each);
}

/* What there was from last on lasted until now. */
static void take_samples(struct sampler *s, usec_t now)
{
	for (int i = 0; i < SAMPLER_RATES; i++) {
		uint64_t n = looks(s, sampler_seconds[i], s->last, now);

		s->n[i] += n;
		s->idle_sum[i] += (double)n * s->idle;
		s->skew_sum[i] += (double)n * s->skew;
	}
	s->last = now;
}

static void see(struct sampler *s, const struct view *view)
{
	double n = 0, sum = 0, squares = 0, mean;
	const struct host *h;

	s->idle = 0;
	for_each_host (h, view) {
		s->idle += (double)h->memory_free;
		if (h->reserved)
			continue;
		n++;
		sum += h->nr_active;
		squares += (double)h->nr_active * h->nr_active;
	}
	mean = n > 0 ? sum / n : 0;
	s->skew = n > 0 ? sqrt(fmax(squares / n - mean * mean, 0)) : 0;
}

void sampler_event(void *data, const struct view *view, const struct event *e)
{
	struct sampler *s = data;

	if (!s->begun) {
		s->begin = s->last = e->at;
		s->begun = true;
	}
	take_samples(s, e->at);
	see(s, view);
}

static double mean_of(double sum, uint64_t n)
{
	return n ? sum / (double)n : 0;
}

double sampler_idle(const struct sampler *s, int i)
{
	return mean_of(s->idle_sum[i], s->n[i]);
}

double sampler_skew(const struct sampler *s, int i)
{
	return mean_of(s->skew_sum[i], s->n[i]);
}
