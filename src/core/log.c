/* log.c - messages to stderr, one write each, see log.h */
#include "core/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/plain.h"

static struct {
	char prefix[64];
	enum log_level most;
} conf = { .prefix = "stint", .most = LOG_L_INFO };

void log_init(const char *prefix, enum log_level most)
{
	snprintf(conf.prefix, sizeof(conf.prefix), "%s", prefix);
	conf.most = most;
}

static void say(enum log_level level, int code, const char *fmt, va_list ap)
{
	static const char *const journal[] = { "<3>", "<4>", "<6>", "<7>" };
	char line[2048];
	size_t n, max = sizeof(line) - 1;

	if (level > conf.most)
		return;
	n = snprintf(line, max,
		     "%s%s: ", getenv("JOURNAL_STREAM") ? journal[level] : "",
		     conf.prefix);
	vsnprintf(line + n, max - n, fmt, ap);
	plain_text(line + n); /* no line is forged by what is in it */
	n += strlen(line + n);
	if (code)
		n += snprintf(line + n, max - n, ": %s", strerror(-code));
	if (n >= max)
		n = max - 1;
	line[n++] = '\n';
	if (write(STDERR_FILENO, line, n) < 0)
		return; /* nobody to tell */
}

#define SAY(level, code)                   \
	do {                               \
		va_list ap;                \
		va_start(ap, fmt);         \
		say(level, code, fmt, ap); \
		va_end(ap);                \
	} while (0)

void log_error(const char *fmt, ...)
{
	SAY(LOG_L_ERROR, 0);
}

void log_warn(int code, const char *fmt, ...)
{
	SAY(LOG_L_WARN, code);
}

void log_warnx(const char *fmt, ...)
{
	SAY(LOG_L_WARN, 0);
}

void log_info(const char *fmt, ...)
{
	SAY(LOG_L_INFO, 0);
}

void log_debug(const char *fmt, ...)
{
	SAY(LOG_L_DEBUG, 0);
}
