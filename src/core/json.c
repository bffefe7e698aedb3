/* json.c - one object a line, see json.h */
#include "core/json.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

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

/* not json_dumpf(), which calls fwrite() for each comma */
static void put_tree(json_t *j, FILE *to)
{
	char *text = json_dumps(j, JSON_COMPACT | JSON_REAL_PRECISION(12) |
					   JSON_ENCODE_ANY);

	if (!text)
		abort(); /* out of memory */
	fputs(text, to);
	free(text);
	json_decref(j);
}

void json_line(json_t *j, FILE *to)
{
	put_tree(j, to);
	fputc('\n', to);
}

/* ---- one value after the other ---- */

static void put(struct json_out *o, const char *s, size_t n)
{
	fwrite_unlocked(s, 1, n, o->to);
}

/* What comes before a value. */
static void put_key(struct json_out *o, const char *key)
{
	if (o->more)
		putc_unlocked(',', o->to);
	o->more = true;
	if (!key)
		return;
	putc_unlocked('"', o->to);
	put(o, key, strlen(key));
	put(o, "\":", 2);
}

void json_out_open(struct json_out *o, const char *key, char bracket)
{
	put_key(o, key);
	putc_unlocked(bracket, o->to);
	o->more = false;
}

void json_out_close(struct json_out *o, char bracket)
{
	putc_unlocked(bracket, o->to);
	o->more = true;
}

void json_out_tree(struct json_out *o, const char *key, json_t *j)
{
	put_key(o, key);
	put_tree(j, o->to);
}

/* Of how many bytes is the text if each stands for itself?  SIZE_MAX: not each does. */
static size_t as_it_is(const char *s)
{
	size_t n = 0;

	for (; s[n]; n++)
		if (s[n] < ' ' || s[n] > '~' || s[n] == '"' || s[n] == '\\')
			return SIZE_MAX;
	return n;
}

void json_out_text(struct json_out *o, const char *key, const char *s)
{
	size_t n = s ? as_it_is(s) : SIZE_MAX;

	if (n == SIZE_MAX) {
		json_out_tree(o, key, json_text(s));
		return;
	}
	put_key(o, key);
	putc_unlocked('"', o->to);
	put(o, s, n);
	putc_unlocked('"', o->to);
}

void json_out_int(struct json_out *o, const char *key, int64_t v)
{
	char text[24], *at = text + sizeof(text);
	uint64_t left = v < 0 ? -(uint64_t)v : (uint64_t)v;

	do
		*--at = (char)('0' + left % 10);
	while (left /= 10);
	if (v < 0)
		*--at = '-';
	put_key(o, key);
	put(o, at, (size_t)(text + sizeof(text) - at));
}

void json_out_number(struct json_out *o, const char *key, double v)
{
	/* most are 0 */
	if (v == 0 && !signbit(v)) {
		put_key(o, key);
		put(o, "0.0", 3);
	} else {
		json_out_tree(o, key, json_number(v));
	}
}

void json_out_bool(struct json_out *o, const char *key, bool v)
{
	put_key(o, key);
	put(o, v ? "true" : "false", v ? 4 : 5);
}
