/*
 * calendar.h - when hosts are closed for maintenance: a calendar
 *
 * A file of lines, the first words of which say when and which hosts, and the rest
 * why; "#" begins a comment:
 *
 *	sat 2:00-6:00 h1,h2 new kernel
 *	mon-fri 23:30-0:30 * backup
 *	2026-12-24 8:00-20:00 h3 the disk is replaced
 *
 * Times are those of the controller's local clock; if an end is before its beginning,
 * it is on the next day.
 */
#ifndef CLUSTER_CONTROLLER_HOSTS_CALENDAR_H
#define CLUSTER_CONTROLLER_HOSTS_CALENDAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/error.h"
#include "core/units.h"

/* A time during which a host is closed; instants since 1970. */
struct closure {
	usec_t from, to;
	const char *reason; /* as the calendar gives it; "" if it gives none */
};

struct calendar {
	struct calendar_line *line;
	size_t nr, cap;
};

/*
 * Read all of text, which is modified.  -EINVAL, with an error that begins with name
 * and the line's number, and *ret untouched; else calendar_clear() frees *ret.
 */
int calendar_parse(char *text, const char *name, struct calendar *ret,
		   struct error *err) must_check;
int calendar_read(const char *path, struct calendar *ret,
		  struct error *err) must_check;
void calendar_clear(struct calendar *c);

/*
 * The host's first closure that is not over; false: there is none within a fortnight.
 */
bool calendar_next(const struct calendar *c, const char *host, usec_t now,
		   struct closure *ret);

/*
 * Until when nothing of that changes, nor what is so from `lead` before it begins; where
 * there is none, it is looked at again a day later.
 */
usec_t calendar_same_until(const struct calendar *c, const char *host,
			   usec_t now, usec_t lead);

#endif
