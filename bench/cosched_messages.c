/*
 * cosched_messages.c - messages a CPU second of the message-level model, one process: em3d
 * on 64 nodes, scheduled locally beside one competitor
 */
#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "core/random.h"
#include "sim/cosched/cosched.h"

#define MSEC INT64_C(1000000)

enum { NODES = 64, TIMES = 5, ROUNDS = 500 };

int main(void)
{
	const double asked = 5e6;
	struct random_stream random;
	struct cosched_result result;
	struct node node[NODES];
	double best = 0;

	random_init(&random, 1, "bench", 0);
	for (int i = 0; i < NODES; i++)
		node[i] = (struct node){ .period = 200 * MSEC,
					 .on = 100 * MSEC,
					 .phase = (nsec_t)random_below(
						 &random, 200 * MSEC) };
	for (int i = 0; i < TIMES; i++) {
		const struct cosched c = { .program = cosched_program(0),
					   .network = cosched_network(),
					   .node = node,
					   .nr = NODES,
					   .rounds = ROUNDS,
					   .seed = 1 };
		clock_t start = clock();
		double rate;

		cosched_run(&c, &result);
		rate = (double)result.messages * CLOCKS_PER_SEC /
		       (double)(clock() - start);
		if (rate > best)
			best = rate;
	}
	printf("{\"what\": \"cosched: messages per CPU second\", "
	       "\"value\": %.0f, \"unit\": \"1/s\", \"peer\": \"asked: %g\", "
	       "\"ratio\": %.3f, \"n\": %d}\n",
	       best, asked, best / asked, TIMES);
	return 0;
}
