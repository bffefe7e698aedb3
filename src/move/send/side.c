/* side.c - small functions that all parts of the source use; see send.h */
#include <stdarg.h>
#include <stdio.h>
#include <time.h>

#include "core/clock.h"
#include "move/send/send.h"

usec_t send_now(void)
{
	return clock_usec(CLOCK_MONOTONIC_RAW);
}

void send_progress(const struct move_source *src, const char *fmt, ...)
{
	char line[256];
	va_list ap;

	if (!src->progress)
		return;
	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	src->progress(src->ctx, line);
}
