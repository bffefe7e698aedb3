/*
 * line.c - cutting PMI-1 lines into words
 */
#include "pmi/line.h"

#include <errno.h>
#include <string.h>

int pmi_line_parse(char *text, struct pmi_line *ret, struct error *err)
{
	struct pmi_line line = { .nr = 0 };
	char *p = text, *end, *eq;

	for (;; p = end) {
		p += strspn(p, " \t\r");
		if (!*p)
			break;
		end = p + strcspn(p, " \t\r");
		if (*end)
			*end++ = '\0';
		eq = strchr(p, '=');
		if (!eq || eq == p)
			return error_set(err, -EPROTO,
					 "PMI: '%.40s' is not key=value", p);
		if (line.nr == PMI_WORDS_MAX)
			return error_set(err, -EPROTO,
					 "PMI: more than %d words in a line",
					 PMI_WORDS_MAX);
		*eq = '\0';
		line.word[line.nr].key = p;
		line.word[line.nr++].value = eq + 1;
	}
	*ret = line;
	return 0;
}

const char *pmi_line_get(const struct pmi_line *line, const char *key)
{
	for (size_t i = 0; i < line->nr; i++)
		if (!strcmp(line->word[i].key, key))
			return line->word[i].value;
	return NULL;
}
