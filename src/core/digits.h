/*
 * digits.h - numbers from text and to text, eight digits at a time
 *
 * Eight characters are one number here, the first of them its lowest byte.
 * What is done to that number is done to all eight, without a branch or a
 * loop, which is what a trace or a table of millions of numbers needs.
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

/* How many of the eight characters are digits before one that is none. */
static inline unsigned digits_count(uint64_t chars)
{
	uint64_t x = chars ^ DIGITS_EACH('0');
	/* A byte above 9 gets its highest bit, and may add 1 to those behind
	 * it, which do not matter any more. */
	uint64_t other = ((x + DIGITS_EACH(0x76)) | x) & DIGITS_EACH(0x80);

	return other ? (unsigned)__builtin_ctzll(other) / 8 : 8;
}

/* What the first n of the eight characters say, which are digits; n is 1 to 8.
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

/* Write those of the eight digits behind the first skip (0 to 7), and as many
 * bytes after them that mean nothing; returns where the digits end. */
static inline char *digits_store(char *to, uint64_t digits, unsigned skip)
{
	uint64_t chars = htole64((digits + DIGITS_EACH('0')) >> 8 * skip);

	memcpy(to, &chars, sizeof(chars));
	return to + 8 - skip;
}

/* Write u without zeros before it; returns where it ends.  At most 20 digits,
 * and up to 7 bytes after them that mean nothing. */
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
