/* units.c - reading times and numbers, see units.h */
#include "core/units.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const struct unit {
	const char *name;
	double factor;
} time_units[] = {
	{ "", 1e6 },	  { "us", 1 },	  { "ms", 1e3 }, { "s", 1e6 },
	{ "sec", 1e6 },	  { "min", 6e7 }, { "m", 6e7 },	 { "h", 3.6e9 },
	{ "d", 8.64e10 }, { NULL, 0 },
};

/* Microseconds, or -1 if text is no time. */
static double time_of(const char *text)
{
	const struct unit *u = time_units;
	char *end;
	double v;

	if (!isdigit((unsigned char)*text) && *text != '.')
		return -1;
	v = strtod(text, &end);
	if (end == text || strpbrk(text, "xX"))
		return -1;
	while (u->name && strcasecmp(end, u->name))
		u++;
	return u->name ? v * u->factor : -1;
}

int parse_usec(const char *text, usec_t *ret, struct error *err)
{
	double v = time_of(text);

	if (!(v >= 0 && v < 0x1p62))
		return error_set(err, -EINVAL,
				 "'%s' is not a time: write 90, 1.5s, 250ms, "
				 "30min, 2h or 1d",
				 text);
	*ret = whole(v);
	return 0;
}

static const char size_units[] = "KMGT";

/* The factor of "", "K", "KB", "KiB" and so on; 0 if it is not one of them. */
static double size_factor(const char *unit)
{
	const char *at;

	if (!*unit)
		return 1;
	at = strchr(size_units, toupper((unsigned char)*unit));
	unit++;
	if (!at || (*unit && strcasecmp(unit, "B") && strcasecmp(unit, "iB")))
		return 0;
	return (double)(UINT64_C(1) << 10 * (at - size_units + 1));
}

int parse_size(const char *text, uint64_t *ret, struct error *err)
{
	double v = -1;
	char *end;

	/* Not what else strtod() reads: "nan", "0x1p3". */
	if (isdigit((unsigned char)*text) && !strpbrk(text, "xXeE")) {
		v = strtod(text, &end);
		v *= size_factor(end) > 0 ? size_factor(end) : -1;
	}
	if (!(v >= 0 && v < 0x1p62))
		return error_set(err, -EINVAL,
				 "'%s' is not a size: write 65536, 64K, 256M, "
				 "1.5G or 2T",
				 text);
	*ret = (uint64_t)whole(v);
	return 0;
}

const char *size_text(uint64_t bytes, char ret[SIZE_TEXT])
{
	double v = bytes;
	int unit = -1;

	while (v >= 1024 && size_units[unit + 1])
		v /= 1024, unit++;
	if (unit < 0)
		snprintf(ret, SIZE_TEXT, "%.0f bytes", v);
	else
		snprintf(ret, SIZE_TEXT,
			 v == floor(v) ? "%.0f %ciB" : "%.1f %ciB", v,
			 size_units[unit]);
	return ret;
}

int parse_int(const char *text, int64_t min, int64_t max, const char *what,
	      int64_t *ret, struct error *err)
{
	long long v;
	char *end;

	errno = 0;
	v = strtoll(text, &end, 10);
	if (end == text || *end || isspace((unsigned char)*text))
		return error_set(err, -EINVAL, "%s: '%s' is not a whole number",
				 what, text);
	if (errno || v < min || v > max)
		return error_set(err, -ERANGE,
				 "%s: %s is out of range, from %lld to %lld",
				 what, text, (long long)min, (long long)max);
	*ret = v;
	return 0;
}

int parse_real(const char *text, double min, double max, double *ret,
	       struct error *err)
{
	char *end;
	double v = strtod(text, &end);

	if (end == text || *end || isspace((unsigned char)*text) ||
	    !(v >= min && v <= max))
		return error_set(err, -EINVAL,
				 "'%.30s' is not a number in %g..%g", text, min,
				 max);
	*ret = v;
	return 0;
}

const char *real_text(double v, char ret[REAL_TEXT])
{
	for (int digits = 6; digits <= 17; digits++) {
		snprintf(ret, REAL_TEXT, "%.*g", digits, v);
		if (strtod(ret, NULL) == v)
			break;
	}
	return ret;
}

usec_t onward(struct onward *o, usec_t clock, usec_t tick)
{
	usec_t least = o->last + (tick - o->tick);

	o->last = clock > least ? clock : least;
	o->tick = tick;
	return o->last;
}
