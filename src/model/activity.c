/* activity.c - activity scripts, read and written; see activity.h */
#include "model/activity.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/xalloc.h"

#define HEAD	"time,host,what,value"
#define COLUMNS 4

static const struct {
	const char *name;
	const char *word[2]; /* for 0 and 1; or it is a number */
} whats[ACTIVITY_WHATS] = {
	[ACTIVITY_OWNER] = { "owner", { "away", "here" } },
	[ACTIVITY_KEYBOARD] = { "keyboard", { "idle", "busy" } },
	[ACTIVITY_LOAD] = { .name = "load" },
	[ACTIVITY_MEMORY] = { .name = "memory" },
	[ACTIVITY_USERS] = { .name = "users" },
	[ACTIVITY_OWN] = { .name = "own" },
};

bool activity_name_good(const char *name)
{
	size_t n = strlen(name);

	for (const char *c = name; *c; c++)
		if (!isalnum((unsigned char)*c) && !strchr(".-_", *c))
			return false;
	return n && n <= ACTIVITY_NAME_MAX;
}

void activity_host_init(struct activity_host *host)
{
	*host = (struct activity_host){ .keyboard = ACTIVITY_AGES_AGO };
}

uint32_t activity_find(const struct activity *activity, const char *name)
{
	return names_find(&activity->names, name);
}

uint32_t activity_add_host(struct activity *activity, const char *name)
{
	uint32_t ix = names_add(&activity->names, name);

	assert(activity_name_good(name));
	if (ix < activity->nr_hosts)
		return ix;
	array_room(activity->host, activity->nr_hosts, &activity->cap_hosts);
	activity_host_init(&activity->host[activity->nr_hosts]);
	activity->host[activity->nr_hosts].name = xstrdup(name);
	return activity->nr_hosts++;
}

void activity_apply(const struct activity_change *change,
		    struct activity_host *host)
{
	host->value[change->what] = change->value;
	if (change->what == ACTIVITY_KEYBOARD)
		host->keyboard = change->value > 0 ? USEC_MAX : change->at;
}

bool activity_add(struct activity *activity, usec_t at, uint32_t host,
		  enum activity_what what, double value)
{
	struct activity_change c = {
		.at = at, .host = host, .what = what, .value = value
	};

	assert(host < activity->nr_hosts);
	assert(!activity->nr || activity->change[activity->nr - 1].at <= at);
	if (activity->host[host].value[what] == value)
		return false;
	activity_apply(&c, &activity->host[host]);
	array_room(activity->change, activity->nr, &activity->cap);
	activity->change[activity->nr++] = c;
	return true;
}

static int parse_word(const char *text, const char *const word[2], double *ret,
		      struct error *err)
{
	for (int i = 0; i < 2; i++)
		if (!strcmp(text, word[i]))
			return *ret = i, 0;
	return error_set(err, -EINVAL, "'%.30s' is neither %s nor %s", text,
			 word[1], word[0]);
}

static int parse_own(const char *text, double *ret, struct error *err)
{
	int64_t user = -1;
	int r = strcmp(text, "nobody")
			? parse_int(text, 0, INT32_MAX, "own", &user, err)
			: 0;

	*ret = (double)(user + 1);
	return r;
}

static int parse_value(enum activity_what what, const char *text, double *ret,
		       struct error *err)
{
	uint64_t bytes = 0;
	int64_t users = 0;
	int r;

	if (whats[what].word[0])
		return parse_word(text, whats[what].word, ret, err);
	switch (what) {
	case ACTIVITY_MEMORY:
		r = parse_size(text, &bytes, err);
		*ret = (double)bytes;
		return r;
	case ACTIVITY_USERS:
		r = parse_int(text, 0, ACTIVITY_USERS_MAX, "users", &users,
			      err);
		*ret = (double)users;
		return r;
	case ACTIVITY_OWN:
		return parse_own(text, ret, err);
	default:
		return parse_real(text, 0, ACTIVITY_LOAD_MAX, ret, err);
	}
}

static int parse_what(const char *text, enum activity_what *ret,
		      struct error *err)
{
	for (*ret = 0; *ret < ACTIVITY_WHATS; ++*ret)
		if (!strcmp(whats[*ret].name, text))
			return 0;
	return error_set(err, -EINVAL,
			 "'%.30s' is none of owner, keyboard, load, memory, "
			 "users and own",
			 text);
}

static int split_line(char *line, char *f[COLUMNS], struct error *err)
{
	unsigned n = 0;

	for (char *word; (word = strsep(&line, ",")); n++)
		if (n < COLUMNS)
			f[n] = word;
	if (n == COLUMNS)
		return 0;
	return error_set(err, -EINVAL, "%u columns; the first line names %d", n,
			 COLUMNS);
}

static int parse_host(struct activity *a, const char *name, uint32_t *ret,
		      struct error *err)
{
	if (!activity_name_good(name))
		return error_set(err, -EINVAL,
				 "'%.30s' is no name of a host: letters, "
				 "digits and .-_, at most %d",
				 name, ACTIVITY_NAME_MAX);
	if (a->nr_hosts == ACTIVITY_HOSTS_MAX &&
	    activity_find(a, name) == UINT32_MAX)
		return error_set(err, -E2BIG, "more than %d hosts",
				 ACTIVITY_HOSTS_MAX);
	*ret = activity_add_host(a, name);
	return 0;
}

/* *last: the time of the line before. */
static int parse_change(struct activity *a, char *line, usec_t *last,
			struct error *err)
{
	enum activity_what what = ACTIVITY_OWNER;
	double value = 0;
	uint32_t host = 0;
	char *f[COLUMNS];
	usec_t at = 0;
	int r = split_line(line, f, err);

	if (!r)
		r = parse_usec(f[0], &at, err);
	if (!r && at < *last)
		r = error_set(err, -EINVAL,
			      "time goes back: sort the lines by their times");
	if (!r)
		r = parse_host(a, f[1], &host, err);
	if (!r)
		r = parse_what(f[2], &what, err);
	if (!r)
		r = parse_value(what, f[3], &value, err);
	if (r)
		return r;
	*last = at;
	activity_add(a, at, host, what, value);
	return 0;
}

static int parse_lines(struct activity *a, char *text, size_t *line_nr,
		       struct error *err)
{
	bool headed = false;
	usec_t last = 0;
	char *line;

	while ((line = strsep(&text, "\n"))) {
		size_t n = strlen(line);
		int r = 0;

		++*line_nr;
		if (n && line[n - 1] == '\r')
			line[--n] = '\0';
		if (!n || *line == '#')
			continue;
		if (headed)
			r = parse_change(a, line, &last, err);
		else if (strcmp(line, HEAD))
			r = error_set(err, -EINVAL,
				      "the first line must be " HEAD);
		if (r)
			return r;
		headed = true;
	}
	return headed ? 0 : error_set(err, -EINVAL, "there is no line " HEAD);
}

int activity_parse(char *text, size_t size, const char *name,
		   struct activity *ret, struct error *err)
{
	struct activity a = ACTIVITY_INIT;
	size_t line = 0;
	int r;

	if (strlen(text) != size)
		return error_set(
			err, -EINVAL,
			"%s: this is not a text file: there is a NUL in it",
			name);
	r = parse_lines(&a, text, &line, err);
	if (r < 0) {
		activity_clear(&a);
		return error_prefix(err, r, "%s:%zu", name, line);
	}
	*ret = a;
	return 0;
}

void activity_clear(struct activity *activity)
{
	for (uint32_t i = 0; i < activity->nr_hosts; i++)
		free(activity->host[i].name);
	free(activity->host);
	free(activity->change);
	names_clear(&activity->names);
	*activity = (struct activity)ACTIVITY_INIT;
}

static void write_change(const struct activity_change *change, const char *name,
			 FILE *to)
{
	const char *const *word = whats[change->what].word;
	usec_t s = change->at / USEC_PER_SEC, rest = change->at % USEC_PER_SEC;
	char value[REAL_TEXT];

	fprintf(to, "%" PRId64, s);
	if (rest)
		fprintf(to, ".%06" PRId64, rest);
	if (*word)
		snprintf(value, sizeof(value), "%s", word[change->value > 0]);
	else if (change->what == ACTIVITY_LOAD)
		real_text(change->value, value);
	else if (change->what == ACTIVITY_OWN && change->value <= 0)
		snprintf(value, sizeof(value), "nobody");
	else
		snprintf(value, sizeof(value), "%.0f",
			 change->value - (change->what == ACTIVITY_OWN));
	fprintf(to, ",%s,%s,%s\n", name, whats[change->what].name, value);
}

static void write_line(const struct activity *a,
		       const struct activity_change *c, bool anonymous,
		       FILE *to)
{
	char number[16];

	snprintf(number, sizeof(number), "h%" PRIu32, c->host + 1);
	write_change(c, anonymous ? number : a->host[c->host].name, to);
}

static bool is_told(const struct activity_change *c, bool anonymous)
{
	return !anonymous || c->what != ACTIVITY_OWN;
}

/* Hosts of which nothing is told are there, too: they are as all were before. */
static void write_still(const struct activity *a, bool anonymous, FILE *to)
{
	bool *told = xcalloc(a->nr_hosts + 1, sizeof(*told));

	for (size_t i = 0; i < a->nr; i++)
		told[a->change[i].host] |= is_told(&a->change[i], anonymous);
	for (uint32_t h = 0; h < a->nr_hosts; h++)
		if (!told[h])
			write_line(a,
				   &(struct activity_change){
					   .host = h, .what = ACTIVITY_OWNER },
				   anonymous, to);
	free(told);
}

void activity_write(const struct activity *activity, bool anonymous, FILE *to)
{
	fputs(HEAD "\n", to);
	write_still(activity, anonymous, to);
	for (size_t i = 0; i < activity->nr; i++)
		if (is_told(&activity->change[i], anonymous))
			write_line(activity, &activity->change[i], anonymous,
				   to);
}
