/*
 * line.h - one line of PMI-1: "cmd=put kvsname=a key=b value=c"
 */
#ifndef PMI_LINE_H
#define PMI_LINE_H

#include <stddef.h>

#include "core/error.h"

enum { PMI_WORDS_MAX = 32 };

struct pmi_line {
	size_t nr;
	struct {
		const char *key, *value; /* into the text parsed */
	} word[PMI_WORDS_MAX];
};

/*
 * Split text (NUL-terminated, without newline) in place into key=value words
 * separated by blanks.  -EPROTO for a word without '=' or too many words.
 */
int pmi_line_parse(char *text, struct pmi_line *ret,
		   struct error *err) must_check;

/* The value of the first word with that key, or NULL. */
const char *pmi_line_get(const struct pmi_line *line, const char *key);

#endif
