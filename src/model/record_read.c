/* record_read.c - lines of a record, read, see record.h */
#include "model/record.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/xalloc.h"

static int unescape(char *text, struct error *err)
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

/* The next word of the line, or an error that says what is missing. */
static int word(char **line, const char *what, char **ret, struct error *err)
{
	char *w = strsep(line, " ");

	if (!w || !*w)
		return error_set(err, -EINVAL, "%s is missing", what);
	*ret = w;
	return 0;
}

static int number(char **line, const char *what, int64_t max, int64_t *ret,
		  struct error *err)
{
	char *w = NULL;
	int r = word(line, what, &w, err);

	return r < 0 ? r : parse_int(w, 0, max, what, ret, err);
}

static int number32(char **line, const char *what, int64_t max, uint32_t *ret,
		    struct error *err)
{
	int64_t v;
	int r = number(line, what, max, &v, err);

	if (!r)
		*ret = (uint32_t)v;
	return r;
}

static int bytes(const char *text, uint64_t *ret, struct error *err)
{
	char *end;

	errno = 0;
	*ret = strtoull(text, &end, 10);
	if (end == text || *end || *text == '-' || errno)
		return error_set(err, -EINVAL, "'%.30s' is not a size", text);
	return 0;
}

static int parse_on(char *text, struct record_line *l, struct error *err)
{
	int64_t ix;
	char *w;

	l->n = 0;
	while ((w = strsep(&text, ","))) {
		if (l->n == RECORD_SIZE_MAX)
			return error_set(err, -EINVAL, "too many hosts");
		if (parse_int(w, 0, RECORD_HOSTS_MAX, "host", &ix, err) < 0)
			return -EINVAL;
		array_room(l->on, l->n, &l->cap_on);
		l->on[l->n++] = (uint32_t)ix;
	}
	return 0;
}

/* One of a job's fields, whose place is said by what begins with its name. */
static int job_field(const char *key, char *value, struct record_line *l,
		     struct error *err)
{
	struct {
		const char *name;
		int64_t min, max, value;
	} f[] = { { "job", 1, INT64_MAX, l->job },
		  { "size", 1, RECORD_SIZE_MAX, l->asked.size },
		  { "min", 1, RECORD_SIZE_MAX, l->asked.min_size },
		  { "submit", 0, RECORD_TIME_MAX, l->asked.submit },
		  { "estimate", 0, RECORD_ESTIMATE_MAX, l->asked.estimate },
		  { "user", -1, INT32_MAX, l->asked.user },
		  { "requeue", 0, 1, l->asked.requeue },
		  { "rank", 0, RECORD_SIZE_MAX, l->rank },
		  { "to", 0, RECORD_HOSTS_MAX, l->host },
		  { "cost", 0, RECORD_ESTIMATE_MAX, l->cost },
		  { "refused", 0, 1, l->refused } };
	size_t i = 0, n = sizeof(f) / sizeof(*f);

	while (i < n && strcmp(f[i].name, key))
		i++;
	if (i == n)
		return error_set(err, -EINVAL, "unknown field '%.20s'", key);
	if (parse_int(value, f[i].min, f[i].max, key, &f[i].value, err) < 0)
		return -EINVAL;
	l->job = f[0].value;
	l->asked.size = (uint32_t)f[1].value;
	l->asked.min_size = (uint32_t)f[2].value;
	l->asked.submit = f[3].value;
	l->asked.estimate = f[4].value;
	l->asked.user = (int32_t)f[5].value;
	l->asked.requeue = f[6].value;
	l->rank = (uint32_t)f[7].value;
	l->host = (uint32_t)f[8].value;
	l->cost = f[9].value;
	l->refused = f[10].value;
	return 0;
}

static int parse_outcome(const char *value, struct record_line *l,
			 struct error *err)
{
	const char *name;

	for (enum event_outcome i = 0; (name = event_outcome_name(i)); i++)
		if (!strcmp(name, value)) {
			l->outcome = i;
			return 0;
		}
	return error_set(err, -EINVAL, "no outcome '%.20s'", value);
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
		return unescape(value, err);
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
		return bytes(value, &h->memory, err);
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
		return bytes(value, &h->memory_free, err);
	case RECORD_LOAD:
		return parse_real(value, 0, 1e9, &h->load, err);
	case RECORD_FAULTS:
		return parse_real(value, 0, 1e9, &h->faults, err);
	case RECORD_USERS:
		r = host_number(value, 0, INT32_MAX, &v, err);
		h->users = (uint32_t)v;
		return r;
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

static int host_field(const char *key, char *value, struct record_line *l,
		      struct error *err)
{
	static const char *const names[] = {
		"name",	  "speed", "cores", "slots",  "memory", "free",
		"load",	  "users", "owner", "idle",   "up",	"drain",
		"closed", "by",	   "until", "freeze", "faults", "own"
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

/* key=value ... [planned] */
static int parse_fields(char *line, struct record_line *l, bool host,
			struct error *err)
{
	char *w, *value;
	int r = 0;

	while (!r && (w = strsep(&line, " "))) {
		value = strchr(w, '=');
		if (!value && !strcmp(w, "planned")) {
			l->told = false;
			continue;
		}
		if (!value)
			return error_set(err, -EINVAL,
					 "'%.20s' is not NAME=VALUE", w);
		*value++ = '\0';
		if (host)
			r = host_field(w, value, l, err);
		else if (!strcmp(w, "on"))
			r = parse_on(value, l, err);
		else if (!strcmp(w, "outcome"))
			r = parse_outcome(value, l, err);
		else if (!strcmp(w, "bytes"))
			r = bytes(value, &l->bytes, err);
		else
			r = job_field(w, value, l, err);
	}
	return r;
}

static int parse_event(char *line, struct record_line *l, struct error *err)
{
	bool on_host = l->type == EVENT_HOST || l->type == EVENT_RESERVE ||
		       l->type == EVENT_RELEASE;
	int r = number(&line, "the time", RECORD_TIME_MAX, &l->at, err);

	l->told = true;
	if (!r && on_host)
		r = number32(&line, "the host", RECORD_HOSTS_MAX, &l->host,
			     err);
	if (!r)
		r = parse_fields(line, l, on_host, err);
	if (r < 0)
		return r;
	if (!on_host && l->type != EVENT_TIMER && !l->job)
		return error_set(err, -EINVAL, "the job is missing");
	if (l->type == EVENT_ARRIVE && (!l->asked.size || !l->asked.min_size ||
					l->asked.min_size > l->asked.size))
		return error_set(err, -EINVAL, "1 <= min <= size must hold");
	if (l->type == EVENT_START && !l->n)
		return error_set(err, -EINVAL, "the hosts are missing");
	if (l->type == EVENT_HOST && (l->given & RECORD_NAME))
		return error_set(err, -EINVAL, "a host keeps its name");
	if (!l->told && l->type != EVENT_START && l->type != EVENT_RESERVE &&
	    l->type != EVENT_RELEASE && l->type != EVENT_FREEZE &&
	    l->type != EVENT_THAW)
		return error_set(err, -EINVAL, "no policy plans that");
	return 0;
}

static int parse_begin(char *line, struct record_line *l, struct error *err)
{
	int64_t seed;
	int r = number(&line, "the time", RECORD_TIME_MAX, &l->at, err);

	if (!r)
		r = number32(&line, "the number of hosts", RECORD_HOSTS_MAX,
			     &l->n, err);
	if (!r)
		r = number(&line, "the seed", INT64_MAX, &seed, err);
	if (!r && (!line || !*line))
		r = error_set(err, -EINVAL, "the policy is missing");
	if (r < 0)
		return r;
	l->seed = (uint64_t)seed;
	l->text = line;
	return 0;
}

static int parse_define(char *line, struct record_line *l, struct error *err)
{
	int r = number32(&line, "the host", RECORD_HOSTS_MAX, &l->host, err);

	if (!r)
		r = parse_fields(line, l, true, err);
	if (!r && (l->given & RECORD_LEAST) != RECORD_LEAST)
		r = error_set(err, -EINVAL, "a host's field is missing");
	return r;
}

static int parse_pass(char *line, struct record_line *l, struct error *err)
{
	int r = number(&line, "the time", RECORD_TIME_MAX, &l->at, err);

	if (!r)
		r = number32(&line, "the number of entries", INT32_MAX, &l->n,
			     err);
	return r;
}

/* Is it an event that a live driver records? */
static bool is_recorded(enum event_type type)
{
	return type == EVENT_ARRIVE || type == EVENT_START ||
	       type == EVENT_MIGRATE || type == EVENT_REQUEUE ||
	       type == EVENT_FREEZE || type == EVENT_THAW ||
	       type == EVENT_END || type == EVENT_HOST ||
	       type == EVENT_RESERVE || type == EVENT_RELEASE ||
	       type == EVENT_DEMAND || type == EVENT_TIMER;
}

int record_line_parse(char *line, struct record_line *ret, struct error *err)
{
	struct record_line l = { .on = ret->on, .cap_on = ret->cap_on };
	const char *w = strsep(&line, " ");
	const char *name;
	int r = -EINVAL;

	l.asked.user = -1;
	if (!*w || *w == '#') {
		r = 0;
	} else if (!strcmp(w, "begin")) {
		l.kind = RECORD_BEGIN;
		r = parse_begin(line, &l, err);
	} else if (!strcmp(w, "define")) {
		l.kind = RECORD_DEFINE;
		r = parse_define(line, &l, err);
	} else if (!strcmp(w, "pass")) {
		l.kind = RECORD_PASS;
		r = parse_pass(line, &l, err);
	} else if (!strcmp(w, "state") || !strcmp(w, "plan")) {
		l.kind = *w == 's' ? RECORD_STATE : RECORD_PLAN;
		l.text = line ? line : (char *)w + strlen(w);
		r = l.kind == RECORD_STATE ? unescape(l.text, err) : 0;
	} else {
		l.kind = RECORD_EVENT;
		for (l.type = 0; (name = event_name(l.type)); l.type++)
			if (!strcmp(name, w) && is_recorded(l.type))
				break;
		r = name ? parse_event(line, &l, err)
			 : error_set(err, -EINVAL, "unknown event '%.20s'", w);
	}
	ret->on = l.on;
	ret->cap_on = l.cap_on;
	if (!r)
		*ret = l;
	return r;
}

void record_line_clear(struct record_line *line)
{
	free(line->on);
	*line = (struct record_line){ .kind = RECORD_NONE };
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
}

bool record_same_plan(const char *live, const char *ours)
{
	const char *why = strstr(ours, ": ");

	if (strchr(live, '\t') || !why)
		return !strcmp(live, ours);
	return !strncmp(live, ours, (size_t)(why - ours) + 2);
}
