/* record_read.c - lines of a record, read, see record.h */
#include "model/record.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/xalloc.h"
#include "model/record_priv.h"

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
		  { "refused", 0, 1, l->refused },
		  { "untried", 0, 1, l->untried } };
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
	l->untried = f[11].value;
	return 0;
}

static int parse_seen(char *text, struct rank_seen *ret, struct error *err)
{
	static const char what[] = "what was seen of a move";
	int64_t value[4];

	for (int i = 0; i < 4; i++) {
		char *w = strsep(&text, ":");

		if (!w)
			return error_set(err, -EINVAL,
					 "%s is STOOD:PREDICTED:WRITTEN:IN",
					 what);
		if (parse_int(w, 0, RECORD_ESTIMATE_MAX, what, &value[i], err) <
		    0)
			return -EINVAL;
	}
	*ret = (struct rank_seen){ .stood = value[0],
				   .predicted = value[1],
				   .written = (uint64_t)value[2],
				   .written_in = value[3] };
	return text ? error_set(err, -EINVAL, "%s has four numbers", what) : 0;
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

static int parse_pair(char *text, struct job_talk *ret, struct error *err)
{
	int64_t rank[2] = { 0 };
	char *word[4];

	for (int i = 0; i < 4; i++)
		if (!(word[i] = strsep(&text, i ? ":" : "-")))
			return error_set(err, -EINVAL,
					 "a pair is A-B:BYTES:SEGMENTS");
	for (int i = 0; i < 2; i++)
		if (parse_int(word[i], 0, RECORD_SIZE_MAX - 1, "a rank",
			      &rank[i], err) < 0)
			return -EINVAL;
	if (text || rank[0] >= rank[1])
		return error_set(err, -EINVAL, "a pair is two ranks, A < B");
	ret->a = (uint32_t)rank[0];
	ret->b = (uint32_t)rank[1];
	return parse_real(word[2], 0, RECORD_RATE_MAX, &ret->bytes, err) < 0 ||
			       parse_real(word[3], 0, RECORD_RATE_MAX,
					  &ret->segments, err) < 0
		       ? -EINVAL
		       : 0;
}

static int parse_pairs(char *value, struct record_line *l, struct error *err)
{
	char *one;
	int r = 0;

	l->n = 0;
	while (!r && value && *value && (one = strsep(&value, ","))) {
		array_room(l->talk, l->n, &l->cap_talk);
		r = parse_pair(one, &l->talk[l->n++], err);
	}
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
			r = record_host_field(w, value, l, err);
		else if (!strcmp(w, "on"))
			r = parse_on(value, l, err);
		else if (!strcmp(w, "outcome"))
			r = parse_outcome(value, l, err);
		else if (!strcmp(w, "pairs"))
			r = parse_pairs(value, l, err);
		else if (!strcmp(w, "seen"))
			r = parse_seen(value, &l->seen, err);
		else if (!strcmp(w, "bytes"))
			r = record_bytes(value, &l->bytes, err);
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
	       type == EVENT_DEMAND || type == EVENT_TALK ||
	       type == EVENT_TIMER;
}

int record_line_parse(char *line, struct record_line *ret, struct error *err)
{
	struct record_line l = { .on = ret->on,
				 .cap_on = ret->cap_on,
				 .talk = ret->talk,
				 .cap_talk = ret->cap_talk };
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
		r = l.kind == RECORD_STATE ? record_unescape(l.text, err) : 0;
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
	ret->talk = l.talk;
	ret->cap_talk = l.cap_talk;
	if (!r)
		*ret = l;
	return r;
}

void record_line_clear(struct record_line *line)
{
	free(line->on);
	free(line->talk);
	*line = (struct record_line){ .kind = RECORD_NONE };
}

bool record_same_plan(const char *live, const char *ours)
{
	const char *why = strstr(ours, ": ");

	if (strchr(live, '\t') || !why)
		return !strcmp(live, ours);
	return !strncmp(live, ours, (size_t)(why - ours) + 2);
}
