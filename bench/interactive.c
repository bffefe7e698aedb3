/*
 * interactive.c - what somebody at a host feels: a millisecond of work every
 * five, as of a desktop that redraws
 *
 *	interactive SECONDS
 *
 * At the end it prints a line for each: when it should have woken, by
 * CLOCK_MONOTONIC, how much later it did, and how long its work took from then
 * on; all in microseconds.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define PERIOD 5000000 /* ns */
#define WORK   1000000

struct wake {
	int64_t due, late, took;
};

static int64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000 + t.tv_nsec;
}

static volatile double sink;

static void work(long steps)
{
	double sum = 0;

	for (long i = 1; i <= steps; i++)
		sum += 1.0 / (double)i;
	sink = sum;
}

/* So many steps take as long as they should on a processor of one's own. */
static long calibrate(void)
{
	int64_t best = INT64_MAX;
	const long steps = 200000;

	for (int i = 0; i < 20; i++) {
		int64_t begin = now();

		work(steps);
		if (now() - begin < best)
			best = now() - begin;
	}
	return (long)((double)steps * WORK / (double)best);
}

static void live(struct wake *wake, long nr, long steps)
{
	int64_t due = now() + PERIOD;

	for (long i = 0; i < nr; i++, due += PERIOD) {
		const struct timespec t = { due / 1000000000,
					    due % 1000000000 };
		int64_t woke;

		/*
		 * If the next step is late as well, wait for the one after it.
		 */
		if (now() > due)
			due = now();
		else
			clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t,
					NULL);
		woke = now();
		work(steps);
		wake[i] = (struct wake){ due, woke - due, now() - woke };
	}
}

int main(int argc, char **argv)
{
	long nr = argc == 2 ? (long)(atof(argv[1]) * 1e9 / PERIOD) : 0;
	struct wake *wake;

	if (nr < 1) {
		fprintf(stderr, "usage: interactive SECONDS\n");
		return 2;
	}
	wake = calloc((size_t)nr, sizeof(*wake));
	if (!wake)
		return 1;
	live(wake, nr, calibrate());
	for (long i = 0; i < nr; i++)
		printf("%lld %lld %lld\n", (long long)wake[i].due / 1000,
		       (long long)wake[i].late / 1000,
		       (long long)wake[i].took / 1000);
	free(wake);
	return 0;
}
