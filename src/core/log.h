/*
 * log.h - what daemons and commands say to those who run them
 *
 * Only drivers and commands log; libraries return errors.  One line a
 * message on stderr, "<prefix>: text", sd-daemon's "<3>" levels before it
 * when stderr is the journal.  Values go as key=value.
 *
 * A daemon's log may go to a file (log_to()), which is bounded: full, its
 * content goes to FILE.old and it begins anew.  A line that a daemon says again and
 * again is counted, and the count said.
 */
#ifndef CORE_LOG_H
#define CORE_LOG_H

#include <sys/types.h>

#include "core/error.h"

enum log_level { LOG_L_ERROR, LOG_L_WARN, LOG_L_INFO, LOG_L_DEBUG };

/* Who speaks ("stint agent n1"), and from which level on to be quiet. */
void log_init(const char *prefix, enum log_level most);

/* Say what is repeated once, and how often when something else is said or a
 * minute has passed. */
void log_count_repeats(void);

/*
 * From here on stderr is that file, appended to, at most `most` bytes of it and
 * `most` in FILE.old.  Children that have inherited it append to the same, and
 * are cut with it when this process says something; they never cut it.
 */
#define LOG_MOST (8 << 20)
int log_to(const char *file, off_t most, struct error *err) must_check;

void log_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Append what the negative errno code means. */
void log_warn(int code, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void log_warnx(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_info(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_debug(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
