/* test_cosched.c - the message-level model, on cases worked by hand */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/random.h"
#include "core/units.h"
#include "sim/cosched/cosched.h"

/* Ten of every 30, from 5 on. */
static const struct node turns = { .period = 30, .on = 10, .phase = 5 };

static void a_node_runs_in_its_turns(void **state)
{
	(void)state;
	assert_int_equal(node_runs(&turns, 0), 5);
	assert_int_equal(node_runs(&turns, 5), 5);
	assert_int_equal(node_runs(&turns, 14), 14);
	assert_int_equal(node_runs(&turns, 15), 35);
	assert_int_equal(node_stops(&turns, 14), 15);
	assert_int_equal(node_works(&turns, 0, 10), 15);
	assert_int_equal(node_works(&turns, 0, 11), 36);
	assert_int_equal(node_works(&turns, 8, 20), 68);
}

/*
 * The daemon takes 3 of every 20 from 7 on. In our turns that is 7-10, 47-50
 * (of 35-45: nothing) and 67-70.
 */
static void daemons_take_it_away(void **state)
{
	struct node n = turns;

	(void)state;
	n.daemon_each = 20;
	n.daemon_for = 3;
	n.daemon_phase = 7;
	assert_int_equal(node_runs(&n, 7), 10);
	assert_int_equal(node_stops(&n, 5), 7);
	assert_int_equal(node_works(&n, 0, 3), 11);
	assert_int_equal(node_works(&n, 0, 8), 36);
	n.period = 0;
	assert_int_equal(node_works(&n, 0, 8), 11);
}

/*
 * Compared with a step by step computation: each nanosecond in which the node
 * runs is one of work.
 */
static void work_is_what_it_has_of_its_turns(void **state)
{
	struct random_stream r;

	(void)state;
	random_init(&r, 1, "nodes", 0);
	for (int k = 0; k < 2000; k++) {
		struct node n = { .period = 2 + (nsec_t)random_below(&r, 30),
				  .phase = (nsec_t)random_below(&r, 40),
				  .daemon_each =
					  5 + (nsec_t)random_below(&r, 20),
				  .daemon_for = (nsec_t)random_below(&r, 5),
				  .daemon_phase =
					  (nsec_t)random_below(&r, 40) };
		nsec_t t = (nsec_t)random_below(&r, 50), at = t, work, left;

		n.on = 1 + (nsec_t)random_below(&r, (uint64_t)n.period - 1);
		/* Daemons that fall into some of our turns. */
		if (n.daemon_each % n.period == 0 ||
		    n.period % n.daemon_each == 0)
			continue;
		work = left = 1 + (nsec_t)random_below(&r, 40);
		while (left) {
			left -= node_runs(&n, at) == at;
			at++;
		}
		assert_int_equal(node_works(&n, t, work), at);
	}
}

static struct cosched_result run(const struct program *g,
				 const struct node *node, uint32_t nr,
				 uint32_t buffer, uint32_t rounds)
{
	const struct cosched c = {
		.program = g,
		.network = { .latency = 5, .overhead = 2, .buffer = buffer },
		.node = node,
		.nr = nr,
		.rounds = rounds,
		.seed = 3
	};
	struct cosched_result r;

	cosched_run(&c, &r);
	return r;
}

/*
 * No time between messages: what is left is computing, latencies and overheads.
 */
static void times_by_hand(void **state)
{
	static const struct node free_nodes[2];
	static const struct node apart[2] = {
		{ 0 }, { .period = 2000, .on = 1000, .phase = 1000 }
	};
	static const struct program store = {
		.compute = 100, .messages = 1, .bytes = 8, .together = true
	};
	struct program answer = store;
	struct cosched_result r;

	(void)state;
	answer.answer = true;
	/*
	 * Sent at 100, handled at 107; all nodes go on 5 later. In the second
	 * round the overhead of the first one's message is added.
	 */
	assert_int_equal(run(&store, free_nodes, 2, 8, 1).time, 112);
	assert_int_equal(run(&store, free_nodes, 2, 8, 2).time, 226);
	/* The answer comes at 112. */
	assert_int_equal(run(&answer, free_nodes, 2, 8, 1).time, 117);
	/*
	 * The second node runs from 1000 on: without messages it has computed
	 * at 1100, and its message is handled at 1107. The first node's message
	 * lay in the buffer.
	 */
	r = run(&store, apart, 2, 8, 1);
	assert_int_equal(r.time, 1112);
	assert_int_equal(r.messages, 2);
	assert_int_equal(r.buffered, 1);
	assert_int_equal(r.stalled, 0);
	/*
	 * Without room in the buffer the first message waits, and arrives at
	 * 1007, no later.
	 */
	r = run(&store, apart, 2, 7, 1);
	assert_int_equal(r.time, 1112);
	assert_int_equal(r.buffered, 0);
	assert_int_equal(r.stalled, 1);
}

/*
 * A buffer of 3: of ten messages to a node that does not run seven stall, one
 * after the other; then the receiver runs.
 */
static void a_full_buffer_stalls(void **state)
{
	static const struct node apart[2] = {
		{ 0 }, { .period = 2000, .on = 1000, .phase = 1000 }
	};
	static const struct program store = { .messages = 10, .bytes = 8 };
	struct cosched_result r = run(&store, apart, 2, 24, 1);

	(void)state;
	assert_int_equal(r.messages, 20);
	assert_int_equal(r.buffered, 3);
	assert_int_equal(r.stalled, 1);
}

/*
 * Of four messages three arrive while the receiver does not run, each at
 * another time: by then there is room for one again.
 */
static void a_buffer_is_emptied(void **state)
{
	static const struct node apart[2] = {
		{ 0 }, { .period = 2000, .on = 1000, .phase = 1000 }
	};
	static const struct program store = { .compute = 1001,
					      .messages = 1,
					      .bytes = 8 };
	struct cosched_result r = run(&store, apart, 2, 8, 4);

	(void)state;
	assert_int_equal(r.buffered, 3);
	assert_int_equal(r.stalled, 0);
}

/*
 * The node that sends first is done last: its message is not handled before the
 * other node runs again.
 */
static void who_sends_first_may_end_last(void **state)
{
	static const struct node apart[2] = { { 0 },
					      { .period = 1000, .on = 3 } };
	struct program store = { .messages = 1, .bytes = 8 };

	(void)state;
	assert_int_equal(run(&store, apart, 2, 8, 1).time, 1002);
	store.together = true;
	assert_int_equal(run(&store, apart, 2, 8, 1).time, 1007);
}

/* An answer that arrives at 12 is read when the reader's node runs again. */
static void an_answer_waits_for_its_reader(void **state)
{
	static const struct node apart[2] = { { .period = 1000, .on = 8 },
					      { 0 } };
	static const struct program ask = { .messages = 1,
					    .bytes = 8,
					    .answer = true };

	(void)state;
	assert_int_equal(run(&ask, apart, 2, 8, 1).time, 1000);
}

static void same_seed_same_time(void **state)
{
	struct node node[64];
	const struct program *g;

	(void)state;
	for (unsigned k = 0; (g = cosched_program(k)); k++) {
		struct cosched c = { .program = g,
				     .network = cosched_network(),
				     .node = node,
				     .nr = 64,
				     .rounds = 1,
				     .seed = 5 };
		struct cosched_result a, b, other;

		for (nsec_t i = 0; i < 64; i++)
			node[i] =
				(struct node){ .period = 200 * NSEC_PER_MSEC,
					       .on = 100 * NSEC_PER_MSEC,
					       .phase = i * 3 * NSEC_PER_MSEC };
		cosched_run(&c, &a);
		cosched_run(&c, &b);
		assert_memory_equal(&a, &b, sizeof(a));
		assert_true(a.messages > 1000);
		c.replication = 1;
		cosched_run(&c, &other);
		assert_true(other.time != a.time);
		/* It is faster if the nodes' turns coincide. */
		c.replication = 0;
		for (int i = 0; i < 64; i++)
			node[i].phase = 0;
		cosched_run(&c, &b);
		assert_true(b.time < a.time);
		assert_int_equal(b.messages, a.messages);
	}
	assert_null(cosched_program(5));
}

/* In a ring: who does not run gets the messages of the one before it, no others. */
static void neighbours_get_all(void **state)
{
	static const struct node five[5] = {
		[2] = { .period = 2000, .on = 1000, .phase = 1000 }
	};
	static const struct program ring = { .messages = 10,
					     .bytes = 8,
					     .near = 1 };
	struct cosched_result r = run(&ring, five, 5, 80, 1);

	(void)state;
	assert_int_equal(r.messages, 50);
	assert_int_equal(r.buffered, 10);
	assert_int_equal(r.stalled, 0);
}

/*
 * The first of a ring sends ten messages to the next two, of which the second runs from 1000
 * on.  By then the first does not run itself, until 100000: it has ended no sooner, whichever
 * message was its last one.
 */
static void all_of_its_messages_are_handled(void **state)
{
	static const struct node six[6] = {
		[0] = { .period = 100000, .on = 500 },
		[2] = { .period = 2000, .on = 1000, .phase = 1000 }
	};
	static const struct program ring = { .messages = 10,
					     .bytes = 8,
					     .near = 2 };
	struct cosched c = { .program = &ring,
			     .network = { .latency = 5, .buffer = 1000 },
			     .node = six,
			     .nr = 6,
			     .rounds = 1 };
	struct cosched_result r;

	(void)state;
	for (c.seed = 0; c.seed < 20; c.seed++) {
		cosched_run(&c, &r);
		assert_int_equal(r.time, 100000);
		assert_int_equal(r.stalled, 0);
	}
}

/* Alone it is the first: all of its 1000, or half. */
static void the_first_has_most_to_do(void **state)
{
	static const struct node one;
	struct program g = { .compute = 1000,
			     .messages = 1,
			     .bytes = 8,
			     .imbalance = 0.5,
			     .busy_first = true };

	(void)state;
	assert_int_equal(run(&g, &one, 1, 8, 1).time, 1007);
	g.busy_first = false;
	assert_int_equal(run(&g, &one, 1, 8, 1).time, 507);
}

/* ---- laws of random programs ---- */

/* One that has its node for itself, on a network without latencies. */
static nsec_t alone(const struct program *g, nsec_t overhead, uint32_t rounds,
		    uint64_t seed)
{
	static const struct node one;
	const struct cosched c = { .program = g,
				   .network = { .overhead = overhead,
						.buffer = 1 },
				   .node = &one,
				   .nr = 1,
				   .rounds = rounds,
				   .seed = seed };
	struct cosched_result r;

	cosched_run(&c, &r);
	assert_int_equal(r.messages, (uint64_t)g->messages * rounds);
	assert_int_equal(r.buffered + r.stalled, 0);
	return r.time;
}

static struct program draw_program(struct random_stream *r)
{
	return (struct program){
		.compute = (nsec_t)random_below(r, 100000),
		.gap = 10 + (nsec_t)random_below(r, 2000),
		.messages = 1 + (uint32_t)random_below(r, 200),
		.bytes = (uint32_t)random_below(r, 100),
		.answer = random_below(r, 2),
		.together = random_below(r, 2),
	};
}

/*
 * The CPU that it needs is what its parameters say: each round's computing and, on
 * average, a gap for each message, never less than half of one nor more than one and a half.
 * Handling messages comes on top of that.
 */
static void cpu_is_as_the_program_says(void **state)
{
	struct random_stream r;
	double got = 0, wanted = 0;

	(void)state;
	random_init(&r, 1, "programs", 0);
	for (uint64_t k = 0; k < 500; k++) {
		struct program g = draw_program(&r);
		nsec_t rounds = 1 + (nsec_t)random_below(&r, 5);
		nsec_t n = rounds * g.messages, o = 1 + (nsec_t)(k % 50);
		nsec_t t = alone(&g, 0, (uint32_t)rounds, k);
		nsec_t gaps = t - rounds * g.compute;

		assert_in_range(gaps, n * (g.gap / 2), n * (g.gap / 2 + g.gap));
		if (n > 100)
			assert_in_range(gaps * 100, n * g.gap * 83 - 100 * n,
					n * g.gap * 117);
		got += (double)gaps;
		wanted += (double)(n * g.gap);
		/* A message that comes is work, and who asked waits for that. */
		assert_int_equal(alone(&g, o, (uint32_t)rounds, k) - t,
				 (n - 1) * o + (g.answer ? n : rounds) * o);
	}
	assert_true(got > 0.99 * wanted && got < 1.01 * wanted);
}

/* Of one message: as likely anything from half of the gap to one and a half. */
static void gaps_are_spread_around_the_mean(void **state)
{
	const struct program g = { .gap = 1000, .messages = 1 };
	unsigned tenth[10] = { 0 };

	(void)state;
	for (uint64_t k = 0; k < 10000; k++) {
		nsec_t t = alone(&g, 0, 1, k);

		assert_in_range(t, 500, 1500);
		tenth[t == 1500 ? 9 : (t - 500) / 100]++;
	}
	for (int i = 0; i < 10; i++)
		assert_in_range(tenth[i], 850, 1150);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_node_runs_in_its_turns),
		cmocka_unit_test(daemons_take_it_away),
		cmocka_unit_test(work_is_what_it_has_of_its_turns),
		cmocka_unit_test(times_by_hand),
		cmocka_unit_test(a_full_buffer_stalls),
		cmocka_unit_test(a_buffer_is_emptied),
		cmocka_unit_test(who_sends_first_may_end_last),
		cmocka_unit_test(an_answer_waits_for_its_reader),
		cmocka_unit_test(same_seed_same_time),
		cmocka_unit_test(neighbours_get_all),
		cmocka_unit_test(all_of_its_messages_are_handled),
		cmocka_unit_test(the_first_has_most_to_do),
		cmocka_unit_test(cpu_is_as_the_program_says),
		cmocka_unit_test(gaps_are_spread_around_the_mean),
	};

	return cmocka_run_group_tests_name("cosched", tests, NULL, NULL);
}
