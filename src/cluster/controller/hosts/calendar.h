/*
 * calendar.h - when hosts are not to be had: a calendar of maintenance
 *
 * A file of lines, the first words of which say when and which hosts, and the rest
 * why; "#" begins a comment:
 *
 *	sat 2:00-6:00 h1,h2 new kernel
 *	mon-fri 23:30-0:30 * backup
 *	2026-12-24 8:00-20:00 h3 the disk is replaced
 *
 * Times are those of the controller's local clock; one that ends before it begins
 * ends on the next day.
 */
#ifndef CLUSTER_CONTROLLER_HOSTS_CALENDAR_H
#define CLUSTER_CONTROLLER_HOSTS_CALENDAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/error.h"
#include "core/units.h"

/* A time at which a host is not to be had, since 1970. */
struct closure {
	usec_t from, to;
	const char *reason; /* the calendar's; "" if none is given */
};

struct calendar {
	struct calendar_line *line;
	size_t nr, cap;
};

/*
 * All of text, which is changed.  -EINVAL, with the line's number behind name, and
 * nothing in *ret; else calendar_clear() frees it.
 */
int calendar_parse(char *text, const char *name, struct calendar *ret,
		   struct error *err) must_check;
int calendar_read(const char *path, struct calendar *ret,
		  struct error *err) must_check;
void calendar_clear(struct calendar *c);

/* The first of that host that is not over; false: none within a fortnight. */
bool calendar_next(const struct calendar *c, const char *host, usec_t now,
		   struct closure *ret);

#endif
