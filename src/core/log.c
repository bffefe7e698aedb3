/*
 * log.c - messages to stderr, one write each, see log.h
 *
 * A full file is copied and cut, not renamed: keepers, which outlive many agents,
 * have it open as their stderr.  Both files are held open, so that nothing is looked
 * up by name in whatever root a child may have.
 */
#include "core/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/io.h"
#include "core/plain.h"
#include "core/units.h"

static struct {
	char prefix[64];
	enum log_level most;
	pid_t owner; /* which process bounds the file; 0: none does */
	int old_fd;
	off_t file_most;
	off_t unseen; /* bytes that we have written since its size was looked at */
} conf = { .prefix = "stint", .most = LOG_L_INFO, .old_fd = -1 };

static struct {
	bool counted;
	char line[2048];
	unsigned more; /* times, since it was said */
	usec_t said;
} last;

static struct {
	bool on;
	size_t n;
	char text[16 << 10];
} held;

void log_init(const char *prefix, enum log_level most)
{
	snprintf(conf.prefix, sizeof(conf.prefix), "%s", prefix);
	conf.most = most;
}

void log_count_repeats(void)
{
	last.counted = true;
}

/* A symbolic link in a directory that others write to is not followed. */
static int open_log(const char *file, int flags, struct error *err)
{
	int fd = open(file, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | flags,
		      0600);

	return fd < 0 ? error_sys(err, -errno, "log %s", file) : fd;
}

int log_to(const char *file, off_t most, struct error *err)
{
	char old[4096];
	int fd, old_fd;

	if (snprintf(old, sizeof(old), "%s.old", file) >= (int)sizeof(old))
		return error_set(err, -ENAMETOOLONG, "log %s", file);
	fd = open_log(file, O_APPEND, err);
	if (fd < 0)
		return fd;
	old_fd = open_log(old, 0, err);
	if (old_fd < 0) {
		close(fd);
		return old_fd;
	}
	dup2(fd, STDERR_FILENO);
	close(fd);
	io_close(&conf.old_fd);
	conf.old_fd = old_fd;
	conf.file_most = most;
	conf.owner = getpid();
	return 0;
}

/* All of it from the beginning, or as much as there is room for. */
static void copy_to_old(off_t n)
{
	off_t at = 0;

	if (ftruncate(conf.old_fd, 0) < 0)
		return;
	while (at < n && copy_file_range(STDERR_FILENO, &at, conf.old_fd, NULL,
					 (size_t)(n - at), 0) > 0)
		continue;
}

/* Others write to it, too, so it is looked at now and then, not for each line. */
enum { LOOKS = 256 };

static void bound_file(size_t n)
{
	struct stat st;

	conf.unseen += (off_t)n;
	if (!conf.owner || conf.owner != getpid() ||
	    conf.unseen < conf.file_most / LOOKS)
		return;
	conf.unseen = 0;
	if (fstat(STDERR_FILENO, &st) < 0 || st.st_size < conf.file_most)
		return;
	lseek(conf.old_fd, 0, SEEK_SET);
	copy_to_old(st.st_size);
	/* Even if the copy failed on a full disk, the file must be cut. */
	if (ftruncate(STDERR_FILENO, 0) < 0)
		conf.owner = 0;
}

static void put_text(const char *text, size_t n)
{
	bound_file(n);
	if (write(STDERR_FILENO, text, n) < 0)
		return; /* nobody to tell */
}

static void put_held(void)
{
	if (held.n)
		put_text(held.text, held.n);
	held.n = 0;
}

static void put_line(const char *line, size_t n)
{
	if (!held.on) {
		put_text(line, n);
		return;
	}
	if (held.n + n > sizeof(held.text))
		put_held();
	memcpy(held.text + held.n, line, n);
	held.n += n;
}

void log_hold(void)
{
	held.on = true;
}

void log_release(void)
{
	held.on = false;
	put_held();
}

static void tell_repeats(void)
{
	char text[128];
	int n;

	if (!last.more)
		return;
	n = snprintf(text, sizeof(text),
		     "%s%s: the line before came %u more times\n",
		     getenv("JOURNAL_STREAM") ? "<6>" : "", conf.prefix,
		     last.more);
	last.more = 0;
	put_line(text, (size_t)n);
}

/* Was the same line logged just now?  Then it is only counted. */
static bool is_repeated(const char *line)
{
	usec_t now = clock_usec(CLOCK_MONOTONIC);

	if (!last.counted)
		return false;
	if (!strcmp(line, last.line) && now - last.said < 60 * USEC_PER_SEC) {
		last.more++;
		return true;
	}
	tell_repeats();
	snprintf(last.line, sizeof(last.line), "%s", line);
	last.said = now;
	return false;
}

static void log_line(enum log_level level, int code, const char *fmt,
		     va_list ap)
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
	line[n] = 0;
	if (is_repeated(line))
		return;
	line[n++] = '\n';
	put_line(line, n);
	if (level <= LOG_L_WARN)
		put_held(); /* it may be the last word */
}

#define SAY(level, code)                        \
	do {                                    \
		va_list ap;                     \
		va_start(ap, fmt);              \
		log_line(level, code, fmt, ap); \
		va_end(ap);                     \
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
