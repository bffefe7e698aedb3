/* plain.c - texts without control characters, see plain.h */
#include "core/plain.h"

#include <stdint.h>

/* How many bytes follow that first one; -1: it is none. */
static int nr_following(unsigned char c)
{
	return c < 0x80		       ? 0
	       : c >= 0xc2 && c < 0xe0 ? 1
	       : c >= 0xe0 && c < 0xf0 ? 2
	       : c >= 0xf0 && c < 0xf5 ? 3
				       : -1;
}

/* No character has that code: halves of UTF-16's pairs, and what is beyond Unicode. */
static bool is_none(uint32_t code)
{
	return (code >= 0xd800 && code <= 0xdfff) || code > 0x10ffff;
}

/* The code of the bytes at c; 0 where they are no UTF-8 of that length. */
static uint32_t decode(const unsigned char *c, int following)
{
	static const uint32_t least[] = { 0, 0x80, 0x800, 0x10000 };
	uint32_t code = following ? *c & (0x3fu >> following) : *c;

	for (int i = 1; i <= following; i++) {
		if ((c[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (c[i] & 0x3f);
	}
	return code < least[following] || is_none(code) ? 0 : code;
}

static bool is_obeyed(uint32_t code)
{
	static const uint32_t ranges[][2] = {
		{ 0x00, 0x1f },	    { 0x7f, 0x9f },	{ 0x61c, 0x61c },
		{ 0x200e, 0x200f }, { 0x2028, 0x202e }, { 0x2066, 0x2069 },
	};

	for (unsigned i = 0; i < sizeof(ranges) / sizeof(*ranges); i++)
		if (code >= ranges[i][0] && code <= ranges[i][1])
			return true;
	return false;
}

size_t plain_char(const char *text, bool *ret_obeyed)
{
	const unsigned char *c = (const unsigned char *)text;
	int following = nr_following(*c);
	uint32_t code = following < 0 ? 0 : decode(c, following);

	/* Terminals of 8 bits, and some of UTF-8, obey these bytes, too. */
	if (!code) {
		*ret_obeyed = *c >= 0x80 && *c <= 0x9f;
		return 1;
	}
	*ret_obeyed = is_obeyed(code);
	return (size_t)following + 1;
}

void plain_text(char *text)
{
	const char *from = text;
	bool obeyed;

	while (*from) {
		size_t n;

		if (*from >= ' ' && *from <= '~') {
			*text++ = *from++; /* nearly always */
			continue;
		}
		n = plain_char(from, &obeyed);

		if (obeyed)
			*text++ =
				*from == '\n' || *from == '\r' || *from == '\t'
					? ' '
					: '?';
		for (size_t i = 0; i < n && !obeyed; i++)
			*text++ = from[i];
		from += n;
	}
	/* What has no text in a message points to a constant "". */
	if (text != from)
		*text = 0;
}

bool plain_is(const char *text)
{
	bool obeyed = false;

	while (*text && !obeyed)
		text += plain_char(text, &obeyed);
	return !obeyed;
}
