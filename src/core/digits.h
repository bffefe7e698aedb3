/*
 * digits.h - numbers from text and to text, eight digits at a time
 *
 * Eight characters are held in one 64-bit number, the first in its lowest byte.
 * One operation on that number works on all eight characters, without a branch
 * or a loop: fast enough for traces and tables of millions of numbers.
 */
#ifndef CORE_DIGITS_H
#define CORE_DIGITS_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

#define DIGITS_EACH(byte) (UINT64_C(0x0101010101010101) * (byte))

static inline uint64_t digits_load(const char *text)
{
	uint64_t x;

	memcpy(&x, text, sizeof(x));
	return le64toh(x);
}

/*
 * The number of digits before the first of the eight characters that is not
 * one.
 */
static inline unsigned digits_count(uint64_t chars)
{
	uint64_t x = chars ^ DIGITS_EACH('0');
	/*
	 * A byte above 9 gets its highest bit set; a carry from it may spoil
	 * later bytes, which no longer matter.
	 */
	uint64_t other = ((x + DIGITS_EACH(0x76)) | x) & DIGITS_EACH(0x80);

	return other ? (unsigned)__builtin_ctzll(other) / 8 : 8;
}

/* The value of the first n (1 to 8) of the eight characters, which are digits.
 */
static inline uint32_t digits_value(uint64_t chars, unsigned n)
{
	uint64_t x = (chars ^ DIGITS_EACH('0')) << (64 - 8 * n);

	x = (x * 10 + (x >> 8)) & UINT64_C(0x00ff00ff00ff00ff);
	x = (x * 100 + (x >> 16)) & UINT64_C(0x0000ffff0000ffff);
	return (uint32_t)(x * 10000 + (x >> 32));
}

/* The eight digits of u < 10^8, as values of 0 to 9: all halves at once, then
 * all quarters, then all eighths. */
static inline uint64_t digits_of(uint32_t u)
{
	uint64_t x = u / 10000 | (uint64_t)(u % 10000) << 32, y;

	y = (x * 5243 >> 19) & UINT64_C(0x0000007f0000007f); /* x / 100 */
	x = y | (x - 100 * y) << 16;
	y = (x * 103 >> 10) & UINT64_C(0x000f000f000f000f); /* x / 10 */
	return y | (x - 10 * y) << 8;
}

/*
 * Write the eight digits without the first `skip` (0 to 7) of them.  Always
 * stores eight bytes: the last `skip` are garbage.  Returns the end of the
 * digits.
 */
static inline char *digits_store(char *to, uint64_t digits, unsigned skip)
{
	uint64_t chars = htole64((digits + DIGITS_EACH('0')) >> 8 * skip);

	memcpy(to, &chars, sizeof(chars));
	return to + 8 - skip;
}

/*
 * Write u without leading zeros; returns the end of the digits.  Needs room for
 * 20 digits and 7 bytes of garbage behind them.
 */
static inline char *digits_put(char *to, uint64_t u)
{
	uint64_t digits;

	if (u < 10) {
		*to = (char)('0' + u);
		return to + 1;
	}
	if (u >= 100000000) {
		to = digits_put(to, u / 100000000);
		return digits_store(to, digits_of(u % 100000000), 0);
	}
	digits = digits_of((uint32_t)u);
	return digits_store(to, digits, (unsigned)__builtin_ctzll(digits) / 8);
}

#endif
