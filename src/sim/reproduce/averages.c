/*
 * averages.c - what Schnor 1997 published: section 3.3, delay factors and load
 * averages
 *
 * What was measured on Suns cannot be measured again; here its own tables are
 * put into the formulas that the text draws from them, which are those of our
 * hosts and load averages.
 */
#include <math.h>

#include "model/average.h"
#include "model/host.h"
#include "sim/reproduce/schnor.h"

#define NR(array) (sizeof(array) / sizeof(*(array)))

static struct estimate exactly(double x)
{
	return (struct estimate){ x, x, x };
}

/* ---- avenrun ---- */

/* An idle system's average over b, sampled each 5 s, when a process has run for so
 * many seconds. */
static double average_after(usec_t b, int seconds)
{
	struct average a = { .over = b };
	double value = average_feed(&a, 0, 0);

	for (int t = 5; t <= seconds; t += 5)
		value = average_feed(&a, 1, t * USEC_PER_SEC);
	return value;
}

static void tell_averages(struct reproduce *r)
{
	reproduce_number(
		r, reproduce_text("1-minute average, weight of the new load"),
		0.08, 0.005, exactly(average_after(60 * USEC_PER_SEC, 5)),
		NULL);
	reproduce_number(
		r, reproduce_text("1-minute average, weight of the old value"),
		0.92, 0.005, exactly(1 - average_after(60 * USEC_PER_SEC, 5)),
		NULL);
	reproduce_number(r,
			 reproduce_text("Figure 3.4, 1-minute average when a "
					"process has run for 60 s"),
			 0.6, 0.05,
			 exactly(average_after(60 * USEC_PER_SEC, 60)), NULL);
	reproduce_range(r,
			reproduce_text("the 30-second average is nearer to 1 "
				       "than that, by"),
			0, INFINITY,
			exactly(average_after(30 * USEC_PER_SEC, 60) -
				average_after(60 * USEC_PER_SEC, 60)),
			NULL);
	reproduce_number(r, reproduce_text("the run queue as it is, after 5 s"),
			 1, 0, exactly(average_after(0, 5)), NULL);
}

/* ---- Table 3.1 ---- */

static double delay_of(double alpha, double load)
{
	const struct host h = { .speed = alpha, .cores = 1 };

	return host_delay(&h, load);
}

static void tell_factors(struct reproduce *r)
{
	/* Of an idle ELC to which a process comes; the SLC is 1. */
	static const double latex = 0.70, mandelbrot = 0.34;

	reproduce_number(r,
			 reproduce_text("delay of a process beside one on an "
					"ELC, by the factor of LaTeX"),
			 1.4, 0.005, exactly(delay_of(latex, 1)), NULL);
	reproduce_number(r,
			 reproduce_text("the same by that of Mandelbrot sets"),
			 0.68, 0.005, exactly(delay_of(mandelbrot, 1)), NULL);
}

/* ---- Tables 3.2 and 3.3 ---- */

struct measured {
	double queue, latex, gcc;
};

/* Is the order of the machine's loads that of their delays? */
static bool same_order(const struct measured *m, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if ((delay_of(1, m[i].queue) > delay_of(1, m[i - 1].queue)) !=
			    (m[i].latex > m[i - 1].latex) ||
		    (m[i].latex > m[i - 1].latex) != (m[i].gcc > m[i - 1].gcc))
			return false;
	return true;
}

static void tell_machines(struct reproduce *r)
{
	static const struct {
		const char *name;
		struct measured load[3];
	} table[] = {
		{ "SS2",
		  { { 1.12, 2.03, 1.28 },
		    { 2.17, 2.66, 1.60 },
		    { 3.13, 3.50, 1.87 } } },
		{ "ELC",
		  { { 0.98, 1.90, 1.41 },
		    { 2.13, 2.73, 1.77 },
		    { 3.01, 3.65, 2.13 } } },
		{ "IPC",
		  { { 1.00, 1.92, 1.51 },
		    { 2.01, 2.79, 2.03 },
		    { 2.96, 3.66, 2.43 } } },
		{ "SLC",
		  { { 0.99, 1.89, 1.49 },
		    { 1.97, 2.74, 1.99 },
		    { 2.96, 3.70, 2.49 } } },
	};

	for (size_t i = 0; i < NR(table); i++) {
		const struct measured *m = table[i].load;
		bool same = same_order(m, 3);

		reproduce_fact(r,
			       reproduce_text("Table 3.3, %s, order of loads "
					      "by 1 + run queue and by "
					      "measured delay",
					      table[i].name),
			       "the same",
			       reproduce_text("%s; LaTeX %.2f, %.2f, %.2f "
					      "where the factor is %.2f, "
					      "%.2f, %.2f",
					      same ? "the same" : "another",
					      m[0].latex, m[1].latex,
					      m[2].latex,
					      delay_of(1, m[0].queue),
					      delay_of(1, m[1].queue),
					      delay_of(1, m[2].queue)),
			       same, NULL);
	}
}

/* A queue for the disk says little: the same delay at loads far apart. */
static void tell_disk(struct reproduce *r)
{
	static const struct {
		double disk, delay;
	} server[] = { { 0.92, 1.22 }, { 1.75, 1.28 }, { 2.76, 1.31 } },
	  diskless[] = { { 0.03, 1.26 }, { 0.08, 1.37 }, { 0.87, 1.50 } };
	double most = 0;

	/* By a factor of 1 + disk queue. */
	for (size_t i = 0; i < NR(server); i++)
		most = fmax(most,
			    (delay_of(1, server[i].disk) /
			     delay_of(1, diskless[i].disk)) /
				    (server[i].delay / diskless[i].delay));
	reproduce_range(
		r,
		reproduce_text("Table 3.2, how far a factor of 1 + disk "
			       "queue is from the measured ratio of two "
			       "hosts, times"),
		1.5, INFINITY, exactly(most),
		reproduce_text("\"especially misleading\""));
}

int schnor_s5b(struct reproduce *r, struct error *err)
{
	(void)err;
	tell_averages(r);
	tell_factors(r);
	tell_disk(r);
	tell_machines(r);
	return 0;
}
