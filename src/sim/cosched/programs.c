/*
 * programs.c - the five programs of Arpaci 1995 section 2.1
 *
 * What the text says of each: the time between messages, their size, how often
 * all wait for all.  What it does not say is chosen: em3d, sample and column
 * store (nobody waits for an answer before the round ends), connect and cholesky
 * read; compute and communicate for a second each in the sorting ones.
 */
#include <stddef.h>

#include "core/units.h"
#include "sim/cosched/cosched.h"

static const struct program programs[] = {
	{ .name = "em3d",
	  .gap = 100 * NSEC_PER_USEC,
	  .messages = 80,
	  .bytes = 32,
	  .together = true },
	{ .name = "connect",
	  .gap = 40 * NSEC_PER_USEC,
	  .messages = 5000,
	  .bytes = 20,
	  .answer = true,
	  .together = true,
	  .imbalance = 0.3,
	  .busy_first = true },
	{ .name = "cholesky",
	  .gap = 300 * NSEC_PER_USEC,
	  .messages = 700,
	  .bytes = 70,
	  .answer = true,
	  .imbalance = 0.5 },
	{ .name = "column",
	  .compute = 1000 * NSEC_PER_MSEC,
	  .gap = 2 * NSEC_PER_MSEC,
	  .messages = 500,
	  .bytes = 20 * 1024,
	  .together = true },
	{ .name = "sample",
	  .compute = 1000 * NSEC_PER_MSEC,
	  .gap = 50 * NSEC_PER_USEC,
	  .messages = 20000,
	  .bytes = 20,
	  .together = true,
	  .imbalance = 0.3,
	  .busy_first = true },
};

const struct program *cosched_program(unsigned n)
{
	return n < sizeof(programs) / sizeof(*programs) ? &programs[n] : NULL;
}

/* The overhead of active messages on the CM-5 is 2 us (section 3.4); its network
 * takes a few; "small, fixed-size" buffers of 1 KiB are our choice. */
struct network cosched_network(void)
{
	return (struct network){ .latency = 5 * NSEC_PER_USEC,
				 .overhead = 2 * NSEC_PER_USEC,
				 .buffer = 1024 };
}
