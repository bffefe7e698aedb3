/*
 * conf.c - configuration files by inih, see conf.h
 *
 * inih asks for lines through a function of ours, which so knows the number of
 * the line whose setting is being handled.
 */
#include "core/conf.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ini.h>

struct reading {
	FILE *file;
	int line, bad_line, code;
	conf_setting_fn setting;
	void *ctx;
	struct error why;
};

/*
 * inih would read the rest of a long line as a line of its own, end one at a
 * byte of 0, and take an indented one for more of the setting above it.
 */
static int check_line(const char *line, size_t n, size_t most,
		      struct error *err)
{
	if (memchr(line, 0, n))
		return error_set(err, -EINVAL, "a byte of 0 is in this line");
	if (n > most)
		return error_set(err, -E2BIG,
				 "this line has more than %zu bytes", most);
	return 0;
}

static char *next_line(char *buf, int size, void *arg)
{
	struct reading *r = arg;
	char *line = NULL;
	size_t cap = 0, blank;
	ssize_t n = r->code ? -1 : getline(&line, &cap, r->file);

	if (n >= 0) {
		r->line++;
		blank = strspn(line, " \t");
		r->code = check_line(line + blank, (size_t)n - blank,
				     (size_t)size - 1, &r->why);
		if (r->code)
			r->bad_line = r->line;
		else
			memcpy(buf, line + blank, (size_t)n - blank + 1);
	}
	free(line);
	return n < 0 || r->code ? NULL : buf;
}

/* inih's: nonzero is good. */
static int on_setting(void *arg, const char *section, const char *name,
		      const char *value)
{
	struct reading *r = arg;

	r->code = r->setting(r->ctx, section, name, value, &r->why);
	if (r->code < 0)
		r->bad_line = r->line;
	return r->code >= 0;
}

int conf_read(const char *path, conf_setting_fn setting, void *ctx,
	      struct error *err)
{
	struct reading r = { .file = fopen(path, "re"),
			     .setting = setting,
			     .ctx = ctx };
	int line;

	if (!r.file)
		return error_sys(err, -errno, "%s", path);
	line = ini_parse_stream(next_line, &r, on_setting, &r);
	fclose(r.file);
	if (r.code < 0 && (!line || r.bad_line <= line))
		return error_set(err, r.code, "%s:%d: %s", path, r.bad_line,
				 r.why.text);
	if (line)
		return error_set(err, -EINVAL,
				 "%s:%d: neither [section], name = value nor "
				 "a comment",
				 path, line);
	return 0;
}
