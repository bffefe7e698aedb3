/* plain.h - make text from other users safe to print on a terminal */
#ifndef CORE_PLAIN_H
#define CORE_PLAIN_H

#include <stdbool.h>
#include <stddef.h>

/*
 * What a terminal obeys instead of showing it: control characters, also those
 * from 0x80 on (C1), whether encoded or as single bytes, and what turns the
 * direction of writing, so that a line reads as another one than it is.
 */

/* Make text one line without these, in place: white space becomes a blank,
 * every other one '?'.  "" is not written to. */
void plain_text(char *text);

/* Is there none in it, and no line end? */
bool plain_is(const char *text);

/* The length of the character at text, which is not its end; a byte that
 * begins none is one by itself. */
size_t plain_char(const char *text, bool *ret_obeyed);

#endif
