/* test_frames.c - frames that come in pieces, large ones, impossible ones */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cluster/conn/frames.h"

static void frames_in_pieces(void **state)
{
	static const uint8_t wire[] = { 0, 0, 0,   1,	'a', 0, 0,
					0, 3, 'b', 'c', 'd', 0 };

	for (size_t piece = 1; piece <= sizeof(wire); piece++) {
		struct frames_reader r = FRAMES_READER_INIT;
		char got[16] = "";
		size_t len = 0;
		const uint8_t *p;
		size_t n;

		for (size_t at = 0; at < sizeof(wire); at += piece) {
			size_t k = sizeof(wire) - at < piece ? sizeof(wire) - at
							     : piece;

			memcpy(frames_room(&r, k), wire + at, k);
			frames_added(&r, k);
			while (frames_next(&r, &p, &n, NULL) == 1) {
				assert_true(len + n + 2 <= sizeof(got));
				memcpy(got + len, p, n);
				len += n;
				got[len++] = '.';
			}
		}
		assert_string_equal(got, "a.bcd.");
		frames_clear(&r);
	}
}

/*
 * The memory for one large message is not kept for as long as the peer stays.
 */
static void room_of_a_large_message_is_given_back(void **state)
{
	struct frames_reader r = FRAMES_READER_INIT;
	const uint8_t *p;
	size_t n;

	frames_head(frames_room(&r, FRAMES_HEAD + FRAMES_MAX), FRAMES_MAX);
	frames_added(&r, FRAMES_HEAD + FRAMES_MAX);
	assert_int_equal(frames_next(&r, &p, &n, NULL), 1);
	assert_int_equal(n, FRAMES_MAX);
	frames_room(&r, 1);
	assert_in_range(r.cap, 1, FRAMES_KEPT);
	frames_clear(&r);
}

static void impossible_lengths(void **state)
{
	static const uint8_t bad[][4] = { { 0, 0, 0, 0 },
					  { 255, 255, 255, 255 },
					  { 0, 0x20, 0, 1 } };

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct frames_reader r = FRAMES_READER_INIT;
		struct error err;
		const uint8_t *p;
		size_t n;

		memcpy(frames_room(&r, 4), bad[i], 4);
		frames_added(&r, 4);
		assert_int_equal(frames_next(&r, &p, &n, &err), -EPROTO);
		frames_clear(&r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_in_pieces),
		cmocka_unit_test(room_of_a_large_message_is_given_back),
		cmocka_unit_test(impossible_lengths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
