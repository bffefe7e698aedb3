/* record_host.c - a host's fields in a line of a record, read, see record.h */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/xalloc.h"
#include "model/record_priv.h"

int record_unescape(char *text, struct error *err)
{
	char *to = text, hex[3] = "";

	for (const char *c = text; *c; c++) {
		if (*c != '%') {
			*to++ = *c;
			continue;
		}
		if (strspn(c + 1, "0123456789abcdef") < 2)
			return error_set(err, -EINVAL, "'%.8s' is not %%XX", c);
		memcpy(hex, c + 1, 2);
		*to = (char)strtoul(hex, NULL, 16);
		if (!*to++)
			return error_set(err, -EINVAL, "a NUL in a name");
		c += 2;
	}
	*to = '\0';
	return 0;
}

int record_bytes(const char *text, uint64_t *ret, struct error *err)
{
	char *end;

	errno = 0;
	*ret = strtoull(text, &end, 10);
	if (end == text || *end || *text == '-' || errno)
		return error_set(err, -EINVAL, "'%.30s' is not a size", text);
	return 0;
}

static int host_number(const char *value, int64_t min, int64_t max,
		       int64_t *ret, struct error *err)
{
	return parse_int(value, min, max, "a host's field", ret, err);
}

static int parse_closed(const char *value, uint8_t *ret, struct error *err)
{
	const char *name;

	for (enum closed i = CLOSED_NOT; (name = closed_name(i)); i++)
		if (!strcmp(name, value)) {
			*ret = (uint8_t)i;
			return 0;
		}
	return error_set(err, -EINVAL, "closed for no '%.20s'", value);
}

/* What the host is. */
static int set_host_size(unsigned field, char *value, struct record_line *l,
			 struct error *err)
{
	struct host *h = &l->fresh;
	int64_t v = 0;
	int r;

	switch (field) {
	case RECORD_NAME:
		l->text = value;
		return record_unescape(value, err);
	case RECORD_SPEED:
		return parse_real(value, 1, RECORD_SPEED_MAX, &h->speed, err);
	case RECORD_CORES:
		r = host_number(value, 1, RECORD_CORES_MAX, &v, err);
		h->cores = (uint32_t)v;
		return r;
	case RECORD_SLOTS:
		r = host_number(value, 0, INT32_MAX, &v, err);
		h->slots = (uint32_t)v;
		return r;
	default:
		return record_bytes(value, &h->memory, err);
	}
}

/* How it stands, as a number that its owner's terms have, or a word of theirs. */
static int set_host_terms(unsigned field, char *value, struct host *h,
			  struct error *err)
{
	int64_t v = 0;
	int r;

	if (field == RECORD_CLOSED)
		return parse_closed(value, &h->closed, err);
	r = host_number(value, 0, RECORD_TIME_MAX, &v, err);
	*(field == RECORD_LEAVE	  ? &h->leave_by
	  : field == RECORD_UNTIL ? &h->freeze_until
				  : &h->freeze_most) = v;
	return r;
}

/* "1000,1001", or nothing. */
static int owners(char *value, struct host *h, struct error *err)
{
	char *rest = value;
	const char *one;
	int64_t v = 0;
	int r = 0;

	h->nr_owners = 0;
	while (!r && *value && (one = strsep(&rest, ","))) {
		if (h->nr_owners == HOST_OWNERS)
			return error_set(err, -EINVAL,
					 "a host has more than %d owners",
					 HOST_OWNERS);
		r = parse_int(one, 0, INT32_MAX, "own", &v, err);
		h->owner[h->nr_owners++] = (int32_t)v;
	}
	return r;
}

/* How it stands otherwise. */
static int set_host_state(unsigned field, char *value, struct host *h,
			  struct error *err)
{
	int64_t v = 0;
	int r;

	switch (field) {
	case RECORD_OWNERS:
		return owners(value, h, err);
	case RECORD_FREE:
		return record_bytes(value, &h->memory_free, err);
	case RECORD_LOAD:
		return parse_real(value, 0, 1e9, &h->load, err);
	case RECORD_FAULTS:
		return parse_real(value, 0, 1e9, &h->faults, err);
	case RECORD_LINK:
		return parse_real(value, 0, RECORD_RATE_MAX, &h->link, err);
	case RECORD_USERS:
		r = host_number(value, 0, INT32_MAX, &v, err);
		h->users = (uint32_t)v;
		return r;
	case RECORD_OPEN:
		return host_number(value, 0, RECORD_TIME_MAX, &h->open_until,
				   err);
	case RECORD_IDLE:
		return host_number(value, INT64_MIN, INT64_MAX, &h->idle_since,
				   err);
	default:
		r = host_number(value, 0, 1, &v, err);
		*(field == RECORD_OWNER ? &h->owner_active
		  : field == RECORD_UP	? &h->up
					: &h->drain) = v;
		return r;
	}
}

int record_host_field(const char *key, char *value, struct record_line *l,
		      struct error *err)
{
	static const char *const names[] = {
		"name",	  "speed",  "cores",  "slots", "memory",
		"free",	  "load",   "users",  "owner", "idle",
		"up",	  "drain",  "closed", "by",    "until",
		"freeze", "faults", "own",    "link",  "open"
	};
	unsigned i = 0, n = sizeof(names) / sizeof(*names);
	int r;

	while (i < n && strcmp(names[i], key))
		i++;
	if (i == n)
		return error_set(err, -EINVAL, "unknown field '%.20s'", key);
	switch (1 << i) {
	case RECORD_NAME:
	case RECORD_SPEED:
	case RECORD_CORES:
	case RECORD_SLOTS:
	case RECORD_MEMORY:
		r = set_host_size(1u << i, value, l, err);
		break;
	case RECORD_CLOSED:
	case RECORD_LEAVE:
	case RECORD_UNTIL:
	case RECORD_FREEZE:
		r = set_host_terms(1u << i, value, &l->fresh, err);
		break;
	default:
		r = set_host_state(1u << i, value, &l->fresh, err);
	}
	l->given |= 1u << i;
	return r;
}

void record_host(const struct record_line *line, struct host *host)
{
	const struct host *f = &line->fresh;

	if (line->given & RECORD_SPEED)
		host->speed = f->speed;
	if (line->given & RECORD_CORES)
		host->cores = f->cores;
	if (line->given & RECORD_SLOTS)
		host->slots = f->slots;
	if (line->given & RECORD_MEMORY)
		host->memory = f->memory;
	if (line->given & RECORD_FREE)
		host->memory_free = f->memory_free;
	if (line->given & RECORD_LOAD)
		host->load = f->load;
	if (line->given & RECORD_USERS)
		host->users = f->users;
	if (line->given & RECORD_OWNER)
		host->owner_active = f->owner_active;
	if (line->given & RECORD_IDLE)
		host->idle_since = f->idle_since;
	if (line->given & RECORD_UP)
		host->up = f->up;
	if (line->given & RECORD_DRAIN)
		host->drain = f->drain;
	if (line->given & RECORD_CLOSED)
		host->closed = f->closed;
	if (line->given & RECORD_LEAVE)
		host->leave_by = f->leave_by;
	if (line->given & RECORD_UNTIL)
		host->freeze_until = f->freeze_until;
	if (line->given & RECORD_FREEZE)
		host->freeze_most = f->freeze_most;
	if (line->given & RECORD_FAULTS)
		host->faults = f->faults;
	if (line->given & RECORD_OWNERS)
		host_set_owners(host, f->owner, f->nr_owners);
	if (line->given & RECORD_LINK)
		host->link = f->link;
	if (line->given & RECORD_OPEN)
		host->open_until = f->open_until;
}
