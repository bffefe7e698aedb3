/*
 * log.h - messages of daemons and commands on stderr
 *
 * Only drivers and commands log; libraries return errors.  Each message is one
 * line on stderr, "<prefix>: text", preceded by sd-daemon's "<3>" levels when
 * stderr is the journal.  Values go as key=value.
 *
 * A daemon's log may go to a file (log_to()), whose size is bounded: when it is
 * full, its content is copied to FILE.old and it is emptied.
 * log_count_repeats() collapses repeated lines.
 */
#ifndef CORE_LOG_H
#define CORE_LOG_H

#include <sys/types.h>

#include "core/error.h"

enum log_level { LOG_L_ERROR, LOG_L_WARN, LOG_L_INFO, LOG_L_DEBUG };

/* The prefix ("stint agent n1"), and the least severe level that is printed. */
void log_init(const char *prefix, enum log_level most);

/*
 * Print a line that repeats once, and how often it came when another line comes
 * or a minute has passed.
 */
void log_count_repeats(void);

/*
 * Where thousands of lines are made one after the other: they are written together, at
 * the latest by log_release(), and before anything worse than them.
 */
void log_hold(void);
void log_release(void);

/*
 * From now on stderr is that file, opened for appending, limited to `most`
 * bytes in it and `most` in FILE.old.  Children that inherit it append to the
 * same file; only this process truncates it, when it logs something.
 */
#define LOG_MOST (8 << 20)
int log_to(const char *file, off_t most, struct error *err) must_check;

void log_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Appends the text of the negative errno `code`. */
void log_warn(int code, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void log_warnx(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_info(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_debug(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
