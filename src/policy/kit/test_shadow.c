/* test_shadow.c - when the head can start beside reservations, by hand */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "policy/kit/shadow.h"

#define S USEC_PER_SEC

/*
 * Eight processors, six of which come free at 100; the head asks for four
 * processors for 50 seconds.
 */
static void expect(const struct reservation *r, uint32_t nr, usec_t at,
		   int64_t spare)
{
	const struct job head = { .size = 4, .estimate = 50 * S };
	struct ends ends = ENDS_INIT;
	struct shadow s;
	struct view v;

	view_init(&v, 8);
	v.reservations = r;
	v.nr_reservations = nr;
	ends_insert(&ends, 1, 100 * S, 6);
	s = shadow_of(&ends, &v, &head, 2);
	assert_int_equal(s.at / S, at);
	assert_int_equal(s.spare, spare);
	ends_clear(&ends);
	view_clear(&v);
}

static void beside_reservations(void **state)
{
	struct reservation r[2] = { { .id = 1 }, { .id = 2 } };

	(void)state;
	expect(NULL, 0, 100, 4);
	/*
	 * A reservation that is in the way from the start; one that begins
	 * before the head ends.
	 */
	r[0] = (struct reservation){ 1, 90 * S, 200 * S, 6, false };
	expect(r, 1, 200, 4);
	r[0] = (struct reservation){ 1, 120 * S, 200 * S, 6, false };
	expect(r, 1, 200, 4);
	/*
	 * Beside this reservation there is room; after the end of the next one
	 * nothing is lost.
	 */
	r[0] = (struct reservation){ 1, 120 * S, 200 * S, 3, false };
	expect(r, 1, 100, 1);
	r[0] = (struct reservation){ 1, 10 * S, 20 * S, 2, false };
	expect(r, 1, 100, 4);
	r[0] = (struct reservation){ 1, 150 * S, 200 * S, 8, false };
	expect(r, 1, 100, 4);
	/*
	 * A reservation that is held now gives its processors back before the
	 * next one begins.
	 */
	r[0] = (struct reservation){ 1, 0, 60 * S, 2, true };
	expect(r, 1, 60, 0);
	r[1] = (struct reservation){ 2, 80 * S, 130 * S, 7, false };
	expect(r, 2, 130, 6);
	/*
	 * A reservation that never ends, and leaves too few processors until it
	 * begins.
	 */
	r[0] = (struct reservation){ 1, 90 * S, USEC_MAX, 6, false };
	expect(r, 1, USEC_MAX / S, 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(beside_reservations),
	};

	return cmocka_run_group_tests_name("shadow", tests, NULL, NULL);
}
