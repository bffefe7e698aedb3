/* print_json.c - JSON on standard output */
#include "cmd/print_json.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

/* How many bytes from s on are one character; 0: none, in UTF-8. */
static size_t character(const char *s)
{
	for (size_t n = 1; n <= 4 && s[n - 1]; n++) {
		json_t *j = json_stringn(s, n);

		json_decref(j);
		if (j)
			return n;
	}
	return 0;
}

json_t *json_text(const char *s)
{
	json_t *j = json_string(s);
	char *text;
	size_t n;
	FILE *f;

	if (j)
		return j;
	f = open_memstream(&text, &n);
	if (!f)
		abort(); /* out of memory */
	for (; *s; s += n ? n : 1) {
		n = character(s);
		if (n)
			fwrite(s, 1, n, f);
		else
			fputs("\xef\xbf\xbd", f); /* U+FFFD */
	}
	fclose(f);
	j = json_string(text);
	free(text);
	return j;
}

void print_json(json_t *j)
{
	json_dumpf(j, stdout, JSON_COMPACT);
	putchar('\n');
	json_decref(j);
}
