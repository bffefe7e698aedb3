/*
 * conf.c - configuration files by inih, see conf.h
 *
 * inih asks for lines through a function of ours, which so knows the number of
 * the line whose setting is being handled.
 */
#include "core/conf.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <ini.h>

struct reading {
	FILE *file;
	int line, bad_line, code;
	conf_setting_fn setting;
	void *ctx;
	struct error why;
};

static char *next_line(char *buf, int size, void *arg)
{
	struct reading *r = arg;

	if (r->code || !fgets(buf, size, r->file))
		return NULL;
	r->line++;
	return buf;
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
	if (r.code < 0 && r.bad_line <= line)
		return error_set(err, r.code, "%s:%d: %s", path, r.bad_line,
				 r.why.text);
	if (line)
		return error_set(err, -EINVAL,
				 "%s:%d: neither [section], name = value nor "
				 "a comment",
				 path, line);
	return 0;
}
