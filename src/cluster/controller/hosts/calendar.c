/*
 * calendar.c - read the lines of a calendar, and compute times from them; see
 * calendar.h
 */
#include "cluster/controller/hosts/calendar.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "core/io.h"
#include "core/param.h"
#include "core/plain.h"
#include "core/xalloc.h"

enum { DAYS_AHEAD = 14, REASON_MAX = 200, FILE_MAX = 1 << 20 };

struct calendar_line {
	/* a bit for each day of the week, Sunday first; or */
	uint8_t days;
	int year, month, day; /* ... a single day: days is 0 */
	/* in minutes of the day; `to` may be on the next day */
	int from, to;
	char *hosts; /* names with commas; "*": all hosts */
	char *reason;
};

static const char *const day_names[] = { "sun", "mon", "tue", "wed",
					 "thu", "fri", "sat" };

/* ---- reading ---- */

static int find_day(const char *text, size_t n)
{
	for (int d = 0; d < 7; d++)
		if (n == 3 && !strncasecmp(text, day_names[d], 3))
			return d;
	return -1;
}

static bool is_date(int year, int month, int day)
{
	struct tm tm = { .tm_year = year - 1900,
			 .tm_mon = month - 1,
			 .tm_mday = day,
			 .tm_hour = 12,
			 .tm_isdst = -1 };

	return mktime(&tm) != -1 && tm.tm_mon == month - 1 && tm.tm_mday == day;
}

/* "sat", "mon-fri", "daily" or "2026-12-24" */
static bool parse_days(const char *text, struct calendar_line *ret)
{
	const char *dash = strchr(text, '-');
	int first, last, end = 0;

	if (sscanf(text, "%4d-%2d-%2d%n", &ret->year, &ret->month, &ret->day,
		   &end) == 3 &&
	    !text[end])
		return is_date(ret->year, ret->month, ret->day);
	if (!strcasecmp(text, "daily")) {
		ret->days = 0x7f;
		return true;
	}
	first = find_day(text, dash ? (size_t)(dash - text) : strlen(text));
	last = dash ? find_day(dash + 1, strlen(dash + 1)) : first;
	if (first < 0 || last < 0)
		return false;
	for (int d = first; d != last; d = (d + 1) % 7)
		ret->days |= (uint8_t)(1 << d);
	ret->days |= (uint8_t)(1 << last);
	return true;
}

/* "2:00-6:00" */
static bool parse_span(const char *text, struct calendar_line *ret)
{
	int h[2], m[2], end = 0;

	if (sscanf(text, "%2d:%2d-%2d:%2d%n", &h[0], &m[0], &h[1], &m[1],
		   &end) != 4 ||
	    text[end])
		return false;
	for (int i = 0; i < 2; i++)
		if (h[i] < 0 || m[i] < 0 || m[i] > 59 ||
		    h[i] * 60 + m[i] > 24 * 60)
			return false;
	ret->from = h[0] * 60 + m[0];
	ret->to = h[1] * 60 + m[1];
	if (ret->to < ret->from)
		ret->to += 24 * 60;
	return ret->to > ret->from;
}

static char *next_word(char **text)
{
	char *word = *text + strspn(*text, " \t");

	*text = word + strcspn(word, " \t");
	if (**text)
		*(*text)++ = '\0';
	return word;
}

static int parse_line(char *text, struct calendar_line *ret, struct error *err)
{
	const char *days = next_word(&text), *span = next_word(&text);
	const char *hosts = next_word(&text);
	size_t n;

	text += strspn(text, " \t");
	for (n = strlen(text); n && strchr(" \t\r", text[n - 1]); n--)
		text[n - 1] = '\0';
	if (!parse_days(days, ret))
		return error_set(err, -EINVAL,
				 "'%.30s' is no day: write sat, mon-fri, daily "
				 "or 2026-12-24",
				 days);
	if (!parse_span(span, ret))
		return error_set(err, -EINVAL,
				 "'%.30s' are no times: write 2:00-6:00", span);
	if (!*hosts)
		return error_set(err, -EINVAL,
				 "no hosts are named: write h1,h2 or *");
	if (n > REASON_MAX || !plain_is(text))
		return error_set(err, -EINVAL,
				 "a reason is one line of at most %d bytes",
				 REASON_MAX);
	ret->hosts = xstrdup(hosts);
	ret->reason = xstrdup(text);
	return 0;
}

int calendar_parse(char *text, const char *name, struct calendar *ret,
		   struct error *err)
{
	struct calendar c = { .nr = 0 };
	unsigned nr = 0;
	char *line;

	while ((line = strsep(&text, "\n"))) {
		struct calendar_line l = { .days = 0 };
		int r;

		nr++;
		line += strspn(line, " \t\r");
		if (!*line || *line == '#')
			continue;
		r = parse_line(line, &l, err);
		if (r < 0) {
			calendar_clear(&c);
			return error_prefix(err, r, "%s:%u", name, nr);
		}
		array_room(c.line, c.nr, &c.cap);
		c.line[c.nr++] = l;
	}
	*ret = c;
	return 0;
}

int calendar_read(const char *path, struct calendar *ret, struct error *err)
{
	char *text;
	ssize_t n = io_read_file(AT_FDCWD, path, FILE_MAX, &text);
	int r;

	if (n < 0)
		return error_sys(err, (int)n, "%s", path);
	r = calendar_parse(text, path, ret, err);
	free(text);
	return r;
}

void calendar_clear(struct calendar *c)
{
	for (size_t i = 0; i < c->nr; i++) {
		free(c->line[i].hosts);
		free(c->line[i].reason);
	}
	free(c->line);
	*c = (struct calendar){ .nr = 0 };
}

/* ---- when ---- */

/*
 * The time of that minute of a local day; mktime() knows of days with 23 or 25 hours.
 */
static usec_t minute_of(const struct tm *day, int minute)
{
	struct tm tm = { .tm_year = day->tm_year,
			 .tm_mon = day->tm_mon,
			 .tm_mday = day->tm_mday,
			 .tm_min = minute % 60,
			 .tm_hour = minute / 60,
			 .tm_isdst = -1 };

	return (usec_t)mktime(&tm) * USEC_PER_SEC;
}

static bool begins_on(const struct calendar_line *l, const struct tm *day)
{
	if (l->days)
		return l->days & 1 << day->tm_wday;
	return l->year == day->tm_year + 1900 && l->month == day->tm_mon + 1 &&
	       l->day == day->tm_mday;
}

static bool is_for(const struct calendar_line *l, const char *host)
{
	return !strcmp(l->hosts, "*") || list_has(l->hosts, host);
}

static void see_day(const struct calendar *c, const char *host, usec_t now,
		    const struct tm *day, struct closure *best)
{
	for (size_t i = 0; i < c->nr; i++) {
		const struct calendar_line *l = &c->line[i];
		struct closure is;

		if (!is_for(l, host) || !begins_on(l, day))
			continue;
		is = (struct closure){ minute_of(day, l->from),
				       minute_of(day, l->to), l->reason };
		if (is.to > now && (!best->to || is.from < best->from))
			*best = is;
	}
}

bool calendar_next(const struct calendar *c, const char *host, usec_t now,
		   struct closure *ret)
{
	time_t t = (time_t)(now / USEC_PER_SEC);
	struct closure best = { .to = 0 };
	struct tm today;

	localtime_r(&t, &today);
	/* From yesterday on: what began then may not be over yet. */
	for (int d = -1; d <= DAYS_AHEAD; d++) {
		struct tm day = today;

		day.tm_mday += d;
		day.tm_hour = 12;
		day.tm_isdst = -1;
		(void)mktime(&day);
		see_day(c, host, now, &day, &best);
		if (best.to && d > 0)
			break;
	}
	if (best.to)
		*ret = best;
	return best.to;
}

usec_t calendar_same_until(const struct calendar *c, const char *host,
			   usec_t now, usec_t lead)
{
	struct closure is;

	if (!calendar_next(c, host, now, &is))
		return now + USEC_PER_DAY;
	return now < is.from - lead ? is.from - lead : is.to;
}
