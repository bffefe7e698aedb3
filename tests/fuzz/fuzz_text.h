/*
 * fuzz_text.h - the fuzzer's bytes as a string of their own
 */
#ifndef FUZZ_TEXT_H
#define FUZZ_TEXT_H

#include <stdint.h>
#include <string.h>

#include "core/xalloc.h"

/* Ended by a NUL byte; to be freed. */
static inline char *fuzz_text(const uint8_t *data, size_t size)
{
	char *text = xmalloc(size + 1);

	memcpy(text, data, size);
	text[size] = '\0';
	return text;
}

#endif
