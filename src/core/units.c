/* units.c - reading times, sizes and numbers, see units.h */
#include "core/units.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct unit {
	const char *name;
	double factor;
};

static const struct unit time_units[] = {
	{ "", 1e6 },	  { "us", 1 },	  { "ms", 1e3 }, { "s", 1e6 },
	{ "sec", 1e6 },	  { "min", 6e7 }, { "m", 6e7 },	 { "h", 3.6e9 },
	{ "d", 8.64e10 }, { NULL, 0 },
};

static const struct unit byte_units[] = {
	{ "", 1 },	 { "B", 1 },	    { "K", 0x1p10 }, { "KiB", 0x1p10 },
	{ "M", 0x1p20 }, { "MiB", 0x1p20 }, { "G", 0x1p30 }, { "GiB", 0x1p30 },
	{ "T", 0x1p40 }, { "TiB", 0x1p40 }, { NULL, 0 },
};

static int parse_unit(const char *text, const struct unit *u, double max,
		      double *ret)
{
	char *end;
	double v;

	if (!isdigit((unsigned char)*text) && *text != '.')
		return -EINVAL;
	v = strtod(text, &end);
	if (end == text || strpbrk(text, "xX"))
		return -EINVAL;
	for (; u->name; u++)
		if (!strcasecmp(end, u->name))
			break;
	if (!u->name)
		return -EINVAL;
	v *= u->factor;
	if (!(v >= 0 && v < max))
		return -ERANGE;
	*ret = v;
	return 0;
}

int parse_usec(const char *text, usec_t *ret, struct error *err)
{
	double v;

	if (parse_unit(text, time_units, 0x1p62, &v) < 0)
		return error_set(err, -EINVAL,
				 "'%s' is no time: write 90, 1.5s, 250ms, "
				 "30min, 2h or 1d",
				 text);
	*ret = llround(v);
	return 0;
}

int parse_bytes(const char *text, uint64_t *ret, struct error *err)
{
	double v;

	if (parse_unit(text, byte_units, 0x1p63, &v) < 0)
		return error_set(err, -EINVAL,
				 "'%s' is no size: write 4096, 16K, 1.5G or "
				 "2TiB",
				 text);
	*ret = (uint64_t)v;
	return 0;
}

int parse_int(const char *text, int64_t min, int64_t max, const char *what,
	      int64_t *ret, struct error *err)
{
	long long v;
	char *end;

	errno = 0;
	v = strtoll(text, &end, 10);
	if (errno || end == text || *end || isspace((unsigned char)*text))
		return error_set(err, -EINVAL, "%s: '%s' is no whole number",
				 what, text);
	if (v < min || v > max)
		return error_set(err, -ERANGE,
				 "%s: %s is out of range, from %lld to %lld",
				 what, text, (long long)min, (long long)max);
	*ret = v;
	return 0;
}
