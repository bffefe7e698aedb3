/* test_traffic.c - what a guest has sent, from look to look */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cluster/agent/traffic.h"
#include "core/xalloc.h"

#define A 1 /* peers */
#define B 2

static void look(struct traffic *t, const struct net_talk *talks, size_t nr,
		 bool anew)
{
	struct net_talk *copy = xcalloc(nr + 1, sizeof(*copy));

	memcpy(copy, talks, nr * sizeof(*talks));
	traffic_feed(t, copy, nr, anew);
}

/* What was sent to that peer, and how many peers there are. */
static void check(const struct traffic *t, size_t nr, in_addr_t peer,
		  uint64_t bytes, uint64_t segments)
{
	assert_int_equal(t->nr_sent, nr);
	for (size_t i = 0; i < nr; i++)
		if (t->sent[i].peer.s_addr == peer) {
			assert_int_equal(t->sent[i].bytes, bytes);
			assert_int_equal(t->sent[i].segments, segments);
			return;
		}
	fail();
}

static void take_all(struct traffic *t)
{
	struct sent sent[8];

	assert_int_equal(traffic_take(t, sent, 8) + t->nr_sent, 2);
	assert_int_equal(t->nr_sent, 0);
}

/* Peers to which little was sent wait for their turn, and nothing is lost. */
static void the_most_is_taken_first(void **state)
{
	struct traffic t = { .nr_known = 0 };
	struct net_talk talks[] = { { 1, { A }, 7, 1 }, { 2, { B }, 9, 1 } };
	struct sent sent;

	look(&t, talks, 2, true);
	assert_int_equal(traffic_take(&t, &sent, 1), 1);
	assert_int_equal(sent.peer.s_addr, B);
	assert_int_equal(sent.bytes, 9);
	talks[0].bytes += 10;
	look(&t, talks, 2, true);
	assert_int_equal(traffic_take(&t, &sent, 1), 1);
	assert_int_equal(sent.peer.s_addr, A);
	assert_int_equal(sent.bytes, 17);
	assert_int_equal(traffic_take(&t, &sent, 1), 0);
	traffic_clear(&t);
}

/* The peers that were left out are found again, whatever was sent to each. */
static void who_waits_is_one_peer_still(void **state)
{
	struct traffic t = { .nr_known = 0 };
	struct net_talk talks[] = { { 1, { 1 }, 10, 1 },
				    { 2, { 2 }, 20, 1 },
				    { 3, { 3 }, 30, 1 },
				    { 4, { 4 }, 40, 1 } };
	struct sent sent;

	look(&t, talks, 4, true);
	assert_int_equal(traffic_take(&t, &sent, 1), 1);
	assert_int_equal(sent.peer.s_addr, 4);
	for (int i = 0; i < 3; i++)
		talks[i].bytes += 100;
	look(&t, talks, 4, true);
	check(&t, 3, 1, 110, 1);
	check(&t, 3, 2, 120, 1);
	check(&t, 3, 3, 130, 1);
	traffic_clear(&t);
}

static void connections_to_a_peer_are_added_up(void **state)
{
	struct traffic t = { .nr_known = 0 };
	struct net_talk talks[] = { { 30, { A }, 100, 2 },
				    { 10, { B }, 7, 1 },
				    { 20, { A }, 50, 1 } };

	look(&t, talks, 3, true);
	check(&t, 2, A, 150, 3);
	check(&t, 2, B, 7, 1);
	take_all(&t);
	/* Only the new bytes are counted; the order does not matter. */
	talks[2].bytes += 1000;
	talks[2].segments += 5;
	look(&t, talks, 3, true);
	check(&t, 1, A, 1000, 5);
	talks[0].bytes += 1;
	look(&t, talks, 3, true);
	check(&t, 1, A, 1001, 5);
	traffic_clear(&t);
}

/* The agent before this one has reported these bytes already. */
static void what_is_older_than_we_is_not_counted(void **state)
{
	struct traffic t = { .nr_known = 0 };
	struct net_talk talks[] = { { 1, { A }, 1000000, 900 },
				    { 2, { A }, 3, 1 } };

	look(&t, talks, 1, false);
	assert_int_equal(t.nr_sent, 0);
	talks[0].bytes += 10;
	look(&t, talks, 2, true);
	check(&t, 1, A, 13, 1);
	traffic_clear(&t);
}

/* A new socket to the same peer, as after a move, begins at 0. */
static void another_socket_is_another_count(void **state)
{
	struct traffic t = { .nr_known = 0 };
	struct net_talk talks[] = { { 5, { B }, 500, 5 } };

	look(&t, talks, 1, true);
	look(&t, talks, 0, true);
	talks[0] = (struct net_talk){ 6, { B }, 20, 1 };
	look(&t, talks, 1, true);
	check(&t, 1, B, 520, 6);
	traffic_clear(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(connections_to_a_peer_are_added_up),
		cmocka_unit_test(the_most_is_taken_first),
		cmocka_unit_test(who_waits_is_one_peer_still),
		cmocka_unit_test(what_is_older_than_we_is_not_counted),
		cmocka_unit_test(another_socket_is_another_count),
	};

	return cmocka_run_group_tests_name("traffic", tests, NULL, NULL);
}
