/*
 * log.h - what daemons and commands say to those who run them
 *
 * Only drivers and commands log; libraries return errors.  One line a
 * message on stderr, "<prefix>: text", sd-daemon's "<3>" levels before it
 * when stderr is the journal.  Values go as key=value.
 */
#ifndef CORE_LOG_H
#define CORE_LOG_H

#include "core/error.h"

enum log_level { LOG_L_ERROR, LOG_L_WARN, LOG_L_INFO, LOG_L_DEBUG };

/* Who speaks ("stint agent n1"), and from which level on to be quiet. */
void log_init(const char *prefix, enum log_level most);

void log_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Append what the negative errno code means. */
void log_warn(int code, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void log_warnx(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_info(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_debug(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
