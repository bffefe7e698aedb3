/* error.c - one-line error texts, see error.h */
#include "core/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/plain.h"

/* One line, and nothing that a terminal obeys: a peer's words may be in it. */
static void put_text(struct error *err, const char *fmt, va_list ap)
{
	vsnprintf(err->text, sizeof(err->text), fmt, ap);
	plain_text(err->text);
}

int error_set(struct error *err, int code, const char *fmt, ...)
{
	va_list ap;

	if (err) {
		va_start(ap, fmt);
		put_text(err, fmt, ap);
		va_end(ap);
	}
	return code;
}

int error_sys(struct error *err, int code, const char *fmt, ...)
{
	va_list ap;
	size_t n;

	if (err) {
		va_start(ap, fmt);
		put_text(err, fmt, ap);
		va_end(ap);
		n = strlen(err->text);
		snprintf(err->text + n, sizeof(err->text) - n, ": %s",
			 strerror(-code));
	}
	return code;
}

int error_prefix(struct error *err, int code, const char *fmt, ...)
{
	struct error old;
	va_list ap;
	size_t n;

	if (err) {
		old = *err;
		va_start(ap, fmt);
		put_text(err, fmt, ap);
		va_end(ap);
		n = strlen(err->text);
		snprintf(err->text + n, sizeof(err->text) - n, ": %s",
			 old.text);
	}
	return code;
}
