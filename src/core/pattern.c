/* pattern.c - names of output files, see pattern.h */
#include "core/pattern.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/plain.h"
#include "core/xalloc.h"

int pattern_check(const char *pattern, struct error *err)
{
	size_t n = strlen(pattern);

	if (!n || pattern[n - 1] == '/')
		return error_set(err, -EINVAL, "'%s' names no file", pattern);
	if (n > PATTERN_MAX)
		return error_set(err, -ENAMETOOLONG,
				 "a name of %zu bytes: %d at most", n,
				 PATTERN_MAX);
	if (!plain_is(pattern))
		return error_set(err, -EINVAL,
				 "'%s': a name has nothing that a terminal "
				 "obeys",
				 pattern);
	for (const char *p = pattern; (p = strchr(p, '%')); p += 2)
		if (!p[1] || !strchr("jaArxN%", p[1]))
			return error_set(
				err, -EINVAL,
				"'%s': after %% comes one of j, a, A, r, "
				"x, N and %%",
				pattern);
	return 0;
}

/* Ends before the slash that the first % comes after. */
static size_t folder_length(const char *pattern)
{
	size_t n = strcspn(pattern, "%");

	while (n && pattern[n - 1] != '/')
		n--;
	return n;
}

static void put_value(FILE *to, const char *value)
{
	bool obeyed;

	for (size_t n; *value; value += n) {
		n = plain_char(value, &obeyed);
		if (obeyed || *value == '/')
			fputc('_', to);
		else
			fwrite(value, 1, n, to);
	}
}

static void put_one(FILE *to, char what, const struct pattern_values *v)
{
	switch (what) {
	case 'j':
		fprintf(to, "%" PRIu64, v->job);
		break;
	case 'r':
		fprintf(to, "%" PRIu32, v->rank);
		break;
	case 'x':
		put_value(to, v->name);
		break;
	case 'N':
		put_value(to, v->host);
		break;
	case 'A':
		fprintf(to, "%" PRIu64, v->array ? v->array : v->job);
		break;
	case 'a':
		fprintf(to, "%" PRIu32, v->task);
		break;
	default:
		fputc('%', to);
		break;
	}
}

int pattern_expand(const char *pattern, const struct pattern_values *v,
		   char **folder, char **path, struct error *err)
{
	size_t n = folder_length(pattern), size;
	int r = pattern_check(pattern, err);
	char *text;
	FILE *to;

	if (r < 0)
		return r;
	to = xmemstream(&text, &size);
	for (const char *p = pattern + n; *p; p++)
		if (*p == '%')
			put_one(to, *++p, v);
		else
			fputc(*p, to);
	fclose(to);
	if (size > PATTERN_MAX) {
		free(text);
		return error_set(err, -ENAMETOOLONG,
				 "'%s' becomes a name of more than %d bytes",
				 pattern, PATTERN_MAX);
	}
	*path = text;
	*folder = n > 1 ? xasprintf("%.*s", (int)n - 1, pattern)
			: xstrdup(n ? "/" : ".");
	return 0;
}

char *pattern_of_job(const char *pattern, const struct pattern_values *v)
{
	size_t size;
	char *text;
	FILE *to = xmemstream(&text, &size);

	for (const char *p = pattern; *p; p++)
		if (*p != '%') {
			fputc(*p, to);
		} else if (strchr("rN%", *++p)) {
			fputc('%', to);
			fputc(*p, to);
		} else {
			put_one(to, *p, v);
		}
	fclose(to);
	return text;
}
