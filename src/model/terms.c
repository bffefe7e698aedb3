/* terms.c - an owner's terms: defaults and settings, see terms.h */
#include "model/terms.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/param.h"
#include "core/xalloc.h"

enum { MINUTES_OF_DAY = 1440, MINUTES_OF_QUARTER = 15, QUARTERS_OF_HOUR = 4 };

static const char *const day_names[] = { "sun", "mon", "tue", "wed",
					 "thu", "fri", "sat" };
static const char *const return_names[] = { "leave", "share", "freeze" };

const char owner_terms_names[] =
	"quiet, load, load-quiet, hours, memory, cores, disk, net, move-net, "
	"guests, guests-of, on-return, freeze, disturb, give-back";

struct moment moment_plain(usec_t now)
{
	usec_t day = now / USEC_PER_DAY;

	return (struct moment){
		.steady = now,
		.wall = now,
		.midnight = (day + 1) * USEC_PER_DAY,
		.weekday = (uint8_t)((day + 1) % 7),
		.minute = (uint16_t)(now % USEC_PER_DAY / (60 * USEC_PER_SEC)),
	};
}

void owner_terms_init(struct owner_terms *terms)
{
	*terms = (struct owner_terms){
		/* BOINC's, and the best of Arpaci 1995 section 4.2. */
		.quiet = 180 * USEC_PER_SEC,
		.load = 0.3, /* HTCondor's */
		.load_quiet = 60 * USEC_PER_SEC,
		.memory = UINT64_C(256) << 20,
		.guests = GUESTS_ANY,
		.on_return = RETURN_LEAVE,
		.freeze_most = 600 * USEC_PER_SEC,
		.disturb = 10, /* Arpaci 1995 section 5.3 */
		.give_back = 10 * USEC_PER_SEC,
	};
	memset(terms->hours, 0xff, sizeof(terms->hours));
}

void owner_terms_copy(struct owner_terms *to, const struct owner_terms *from)
{
	*to = *from;
	to->guests_of = from->guests_of ? xstrdup(from->guests_of) : NULL;
}

void owner_terms_clear(struct owner_terms *terms)
{
	free(terms->guests_of);
	terms->guests_of = NULL;
}

/* ---- hours: "mon-fri 19:00-7:00, sat, sun 8-12:30" ---- */

static int wrong_hours(const char *text, struct error *err)
{
	return error_set(err, -EINVAL,
			 "'%s' are no hours: write always, never or "
			 "mon-fri 19:00-7:00, sat, sun 8-12:30",
			 text);
}

/* A day's name at *at, which then is behind it; -1: none. */
static int take_day(const char **at)
{
	for (int d = 0; d < 7; d++) {
		if (strncasecmp(*at, day_names[d], 3))
			continue;
		*at += 3;
		return d;
	}
	return -1;
}

static unsigned take_number(const char **at, unsigned most)
{
	unsigned n = 0, digits = 0;

	for (; **at >= '0' && **at <= '9' && digits < 2; digits++)
		n = n * 10 + (unsigned)(*(*at)++ - '0');
	return digits && n <= most ? n : UINT32_MAX;
}

/* The quarter that "19:15" begins; -1: it is not one. */
static int take_quarter(const char **at)
{
	unsigned hour = take_number(at, 24), minute = 0;

	if (**at == ':') {
		++*at;
		minute = take_number(at, 59);
	}
	if (hour > 24 || minute % MINUTES_OF_QUARTER || minute > 59 ||
	    (hour == 24 && minute))
		return -1;
	return (int)(hour * QUARTERS_OF_HOUR + minute / MINUTES_OF_QUARTER);
}

static void open_quarters(uint8_t hours[7][TERMS_QUARTERS / 8], int day,
			  int from, int to)
{
	for (int q = from; q < to; q++)
		hours[day % 7][q / 8] |= (uint8_t)(1u << q % 8);
}

static const char *skip_blanks(const char *at)
{
	return at + strspn(at, " \t");
}

/* One of the parts that commas part, which ends at *at then. */
static bool take_hours(const char **at, uint8_t hours[7][TERMS_QUARTERS / 8])
{
	int first = take_day(at), last = first, from = 0, to = TERMS_QUARTERS;

	if (first >= 0 && **at == '-') {
		++*at;
		last = take_day(at);
	}
	if (first < 0 || last < 0)
		return false;
	*at = skip_blanks(*at);
	if (**at && **at != ',') {
		from = take_quarter(at);
		if (from < 0 || *(*at)++ != '-' ||
		    (to = take_quarter(at)) < 0 || from == to ||
		    from == TERMS_QUARTERS)
			return false;
	}
	if (last < first)
		last += 7;
	for (int d = first; d <= last; d++) {
		open_quarters(hours, d, from, to > from ? to : TERMS_QUARTERS);
		if (to < from) /* over midnight */
			open_quarters(hours, d + 1, 0, to);
	}
	return true;
}

static int set_hours(struct owner_terms *terms, const char *value,
		     struct error *err)
{
	uint8_t hours[7][TERMS_QUARTERS / 8] = { { 0 } };
	const char *at = skip_blanks(value);

	if (!strcasecmp(value, "always")) {
		memset(hours, 0xff, sizeof(hours));
	} else if (strcasecmp(value, "never")) {
		for (;;) {
			if (!take_hours(&at, hours))
				return wrong_hours(value, err);
			at = skip_blanks(at);
			if (!*at)
				break;
			if (*at++ != ',')
				return wrong_hours(value, err);
			at = skip_blanks(at);
		}
	}
	memcpy(terms->hours, hours, sizeof(hours));
	return 0;
}

static bool quarter_open(const struct owner_terms *t, unsigned day,
			 unsigned quarter)
{
	return t->hours[day % 7][quarter / 8] & 1u << quarter % 8;
}

bool owner_terms_hour(const struct owner_terms *terms, const struct moment *now)
{
	return quarter_open(terms, now->weekday,
			    now->minute % MINUTES_OF_DAY / MINUTES_OF_QUARTER);
}

/* All the week alike, as it is unless somebody says otherwise? */
static bool always_alike(const struct owner_terms *t)
{
	const uint8_t *first = &t->hours[0][0];

	return (*first == 0 || *first == UINT8_MAX) &&
	       !memcmp(first, first + 1, sizeof(t->hours) - 1);
}

usec_t owner_terms_next_hour(const struct owner_terms *terms,
			     const struct moment *now)
{
	const usec_t quarter = MINUTES_OF_QUARTER * 60 * USEC_PER_SEC;
	unsigned q = now->minute % MINUTES_OF_DAY / MINUTES_OF_QUARTER;
	bool open = owner_terms_hour(terms, now);
	/* Quarters begin at whole ones of wall, in every time zone there is. */
	usec_t at = now->steady + quarter - now->wall % quarter;

	if (always_alike(terms))
		return USEC_MAX;
	for (unsigned i = 1; i <= 7 * TERMS_QUARTERS; i++, at += quarter)
		if (quarter_open(terms, now->weekday + (q + i) / TERMS_QUARTERS,
				 (q + i) % TERMS_QUARTERS) != open)
			return at;
	return USEC_MAX;
}

/* ---- the other settings ---- */

static int set_load(struct owner_terms *terms, const char *value,
		    struct error *err)
{
	char *end;
	double v;

	if (!strcmp(value, "any")) {
		terms->load = LOAD_ANY;
		return 0;
	}
	v = strtod(value, &end);
	if (end == value || *end || !isfinite(v) || v < 0 || v > 1000)
		return error_set(err, -EINVAL,
				 "load: '%s' is not a load of one core: write "
				 "any, or a number from 0 on",
				 value);
	terms->load = v;
	return 0;
}

static int set_time(const char *name, const char *value, usec_t *ret,
		    struct error *err)
{
	int r = parse_usec(value, ret, err);

	return r < 0 ? error_prefix(err, r, "%s", name) : 0;
}

static int set_count(const char *name, const char *value, int64_t least,
		     uint32_t *ret, struct error *err)
{
	int64_t n;
	int r = parse_int(value, least, 1000000, name, &n, err);

	if (r < 0)
		return r;
	*ret = (uint32_t)n;
	return 0;
}

static int set_guests(struct owner_terms *terms, const char *value,
		      struct error *err)
{
	if (strcmp(value, "any"))
		return set_count("guests", value, 0, &terms->guests, err);
	terms->guests = GUESTS_ANY;
	return 0;
}

static int set_guests_of(struct owner_terms *terms, const char *value,
			 struct error *err)
{
	bool any = !strcmp(value, "anybody");

	if (!any && !value[strspn(value, ", \t")])
		return error_set(err, -EINVAL,
				 "guests-of: nobody is named: write anybody, "
				 "or users with commas between them");
	free(terms->guests_of);
	terms->guests_of = any ? NULL : xstrdup(value);
	return 0;
}

static int set_memory(struct owner_terms *terms, const char *value,
		      struct error *err)
{
	int r = parse_size(value, &terms->memory, err);

	return r < 0 ? error_prefix(err, r, "memory") : 0;
}

/* Slower than this a disk or link would stand still for what uses it. */
#define RATE_LEAST (UINT64_C(1) << 20)

static int set_rate(const char *name, const char *value, uint64_t *ret,
		    struct error *err)
{
	uint64_t rate = 0;
	int r = strcmp(value, "any") ? parse_size(value, &rate, err) : 0;

	if (r < 0)
		return error_prefix(err, r, "%s", name);
	if (rate && rate < RATE_LEAST)
		return error_set(err, -ERANGE,
				 "%s: %s a second is too little: write 1M or "
				 "more, or any",
				 name, value);
	*ret = rate;
	return 0;
}

static int set_on_return(struct owner_terms *terms, const char *value,
			 struct error *err)
{
	for (int i = RETURN_LEAVE; i <= RETURN_FREEZE; i++) {
		if (strcmp(value, return_names[i]))
			continue;
		terms->on_return = (enum on_return)i;
		return 0;
	}
	return error_set(err, -EINVAL,
			 "on-return: '%s' is none of leave, share, freeze",
			 value);
}

int owner_terms_set(struct owner_terms *terms, const char *name,
		    const char *value, struct error *err)
{
	const struct {
		const char *name;
		usec_t *to;
	} times[] = {
		{ "quiet", &terms->quiet },
		{ "load-quiet", &terms->load_quiet },
		{ "freeze", &terms->freeze_most },
		{ "give-back", &terms->give_back },
	};

	for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++)
		if (!strcmp(name, times[i].name))
			return set_time(name, value, times[i].to, err);
	if (!strcmp(name, "load"))
		return set_load(terms, value, err);
	if (!strcmp(name, "hours"))
		return set_hours(terms, value, err);
	if (!strcmp(name, "memory"))
		return set_memory(terms, value, err);
	if (!strcmp(name, "disk"))
		return set_rate(name, value, &terms->disk, err);
	if (!strcmp(name, "net"))
		return set_rate(name, value, &terms->net, err);
	if (!strcmp(name, "move-net"))
		return set_rate(name, value, &terms->move_net, err);
	if (!strcmp(name, "cores"))
		return set_count(name, value, 0, &terms->cores, err);
	if (!strcmp(name, "disturb"))
		return set_count(name, value, 0, &terms->disturb, err);
	if (!strcmp(name, "guests"))
		return set_guests(terms, value, err);
	if (!strcmp(name, "guests-of"))
		return set_guests_of(terms, value, err);
	if (!strcmp(name, "on-return"))
		return set_on_return(terms, value, err);
	return -ENOENT;
}

bool owner_terms_admit(const struct owner_terms *terms, const char *user)
{
	return !terms->guests_of || list_has(terms->guests_of, user);
}
