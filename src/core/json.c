/* json.c - one object a line, see json.h */
#include "core/json.h"

#include <jansson.h>
#include <math.h>
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
	json_t *j = s ? json_string(s) : json_null();
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

json_t *json_number(double v)
{
	return isfinite(v) ? json_real(v) : json_null();
}

void json_line(json_t *j, FILE *to)
{
	/* not json_dumpf(), which calls fwrite() for each comma */
	char *text = json_dumps(j, JSON_COMPACT | JSON_REAL_PRECISION(12));

	if (!text)
		abort(); /* out of memory */
	fputs(text, to);
	fputc('\n', to);
	free(text);
	json_decref(j);
}
