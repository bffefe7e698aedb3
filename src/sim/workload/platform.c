/* platform.c - see platform.h */
#include "sim/workload/platform.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/names.h"
#include "core/units.h"
#include "core/xalloc.h"
#include "sim/workload/inflate.h"
#include "sim/workload/plain_host.h"

enum column {
	COLUMN_NAME,
	COLUMN_COUNT,
	COLUMN_CORES,
	COLUMN_SPEED,
	COLUMN_MEMORY,
	NR_COLUMNS
};

static const char *const columns[NR_COLUMNS] = { "name", "count", "cores",
						 "speed", "memory" };

enum { NAME_MAX_LENGTH = 64 };

struct kind {
	const char *name; /* in the text that is read */
	int64_t count, cores;
	double speed;
	uint64_t memory;
};

struct reader {
	const char *path;
	size_t line;
	int column[NR_COLUMNS]; /* which column the n-th field is */
	int nr_columns;
	struct kind *kind;
	size_t nr, cap;
	int64_t hosts; /* of all kinds */
	struct error *err;
};

/* Without blanks around it. */
static char *trim(char *text)
{
	size_t n;

	text += strspn(text, " \t\r");
	n = strlen(text);
	while (n && strchr(" \t\r", text[n - 1]))
		text[--n] = '\0';
	return text;
}

static int add_column(struct reader *r, const char *name)
{
	for (int c = 0; c < NR_COLUMNS; c++) {
		if (strcmp(columns[c], name) != 0)
			continue;
		for (int i = 0; i < r->nr_columns; i++)
			if (r->column[i] == c)
				return error_set(r->err, -EINVAL,
						 "%s:%zu: '%s' is there twice",
						 r->path, r->line, name);
		r->column[r->nr_columns++] = c;
		return 0;
	}
	return error_set(
		r->err, -EINVAL,
		"%s:%zu: column '%.30s' is none of name, count, cores, "
		"speed and memory",
		r->path, r->line, name);
}

static int read_head(struct reader *r, char *line)
{
	bool name = false, speed = false;
	char *word;
	int rc = 0;

	while (!rc && (word = strsep(&line, ",")))
		rc = add_column(r, trim(word));
	for (int i = 0; i < r->nr_columns; i++) {
		name |= r->column[i] == COLUMN_NAME;
		speed |= r->column[i] == COLUMN_SPEED;
	}
	if (!rc && !(name && speed))
		rc = error_set(r->err, -EINVAL,
			       "%s:%zu: the first line names the columns, such "
			       "as name,count,cores,speed,memory; name and "
			       "speed must be among them",
			       r->path, r->line);
	return rc;
}

/* Good for messages and pictures: no blank, nothing that would need quotes. */
static bool name_good(const char *name)
{
	return *name && strlen(name) <= NAME_MAX_LENGTH &&
	       !name[strspn(name, "abcdefghijklmnopqrstuvwxyz"
				  "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_")];
}

static int set_field(struct kind *k, enum column c, const char *text)
{
	switch (c) {
	case COLUMN_NAME:
		k->name = text;
		return name_good(text) ? 0 : -EINVAL;
	case COLUMN_COUNT:
		return parse_int(text, 1, PLAIN_HOSTS_MAX, "", &k->count, NULL);
	case COLUMN_CORES:
		return parse_int(text, 1, 65536, "", &k->cores, NULL);
	case COLUMN_SPEED:
		return parse_real(text, 1e-9, 1e18, &k->speed, NULL);
	case COLUMN_MEMORY:
		return *text && (parse_size(text, &k->memory, NULL) ||
				 !k->memory)
			       ? -EINVAL
			       : 0;
	case NR_COLUMNS:
		break;
	}
	return -EINVAL;
}

static int read_kind(struct reader *r, char *line)
{
	struct kind k = { .count = 1, .cores = 1 };
	char *word;
	int n = 0;

	for (; (word = strsep(&line, ",")); n++) {
		if (n == r->nr_columns)
			break;
		word = trim(word);
		if (set_field(&k, (enum column)r->column[n], word) < 0)
			return error_set(r->err, -EINVAL,
					 "%s:%zu: %s is '%.40s'", r->path,
					 r->line, columns[r->column[n]], word);
	}
	if (word || n < r->nr_columns)
		return error_set(r->err, -EINVAL,
				 "%s:%zu: %s fields than the first line names "
				 "(%d)",
				 r->path, r->line, word ? "more" : "fewer",
				 r->nr_columns);
	r->hosts += k.count;
	if (r->hosts > PLAIN_HOSTS_MAX)
		return error_set(r->err, -EINVAL, "%s:%zu: more than %d hosts",
				 r->path, r->line, PLAIN_HOSTS_MAX);
	array_room(r->kind, r->nr, &r->cap);
	r->kind[r->nr++] = k;
	return 0;
}

static int read_text(struct reader *r, char *text)
{
	char *line;
	int rc = 0;

	while (!rc && (line = strsep(&text, "\n"))) {
		r->line++;
		line = trim(line);
		if (*line && *line != '#')
			rc = r->nr_columns ? read_kind(r, line)
					   : read_head(r, line);
	}
	if (!rc && !r->nr)
		rc = error_set(r->err, -EINVAL, "%s: no host in it", r->path);
	return rc;
}

/* The fastest has 1; who is slower than a thousandth of it is a mistake. */
static int set_alphas(const struct reader *r, double *ret_max)
{
	double max = 0;

	for (size_t i = 0; i < r->nr; i++)
		if (r->kind[i].speed > max)
			max = r->kind[i].speed;
	for (size_t i = 0; i < r->nr; i++)
		if (max > 1000 * r->kind[i].speed)
			return error_set(r->err, -EINVAL,
					 "%s: %s is more than a thousand times "
					 "slower than the fastest",
					 r->path, r->kind[i].name);
	*ret_max = max;
	return 0;
}

static void name_host(char *to, size_t room, const struct kind *k, int64_t j)
{
	if (k->count > 1)
		snprintf(to, room, "%s%" PRId64, k->name, j);
	else
		snprintf(to, room, "%s", k->name);
}

/* The names lie behind the hosts, in one piece. */
static struct host *make_hosts(const struct reader *r, double max)
{
	enum { ROOM = NAME_MAX_LENGTH + 12 };
	size_t nr = (size_t)r->hosts, n = 0;
	struct host *host = xcalloc(nr, sizeof(*host) + ROOM);
	char *name = (char *)(host + nr);

	for (size_t i = 0; i < r->nr; i++) {
		const struct kind *k = &r->kind[i];

		for (int64_t j = 1; j <= k->count; j++, name += ROOM) {
			name_host(name, ROOM, k, j);
			host[n++] = plain_host(name, max / k->speed,
					       (uint32_t)k->cores, k->memory);
		}
	}
	return host;
}

/* Messages, activity and events tell hosts apart by their names. */
static int check_names(const struct reader *r, const struct host *host)
{
	struct names names = { .table = NULL };
	int rc = 0;

	for (int64_t i = 0; !rc && i < r->hosts; i++)
		if (names_add(&names, host[i].name) != i)
			rc = error_set(r->err, -EINVAL,
				       "%s: two hosts are called '%s'", r->path,
				       host[i].name);
	names_clear(&names);
	return rc;
}

int platform_read(const char *path, struct host **ret, uint32_t *ret_n,
		  struct error *err)
{
	struct reader r = { .path = path, .err = err };
	struct host *host = NULL;
	double max = 0;
	size_t size;
	char *text;
	int rc = inflate_read(path, &text, &size, err);

	if (rc < 0)
		return rc;
	if (strlen(text) != size)
		rc = error_set(err, -EINVAL,
			       "%s: this is not a text file: there is a NUL in "
			       "it",
			       path);
	if (!rc)
		rc = read_text(&r, text);
	if (!rc)
		rc = set_alphas(&r, &max);
	if (!rc)
		host = make_hosts(&r, max);
	if (!rc)
		rc = check_names(&r, host);
	if (!rc) {
		*ret = host;
		*ret_n = (uint32_t)r.hosts;
	} else {
		free(host);
	}
	free(r.kind);
	free(text);
	return rc;
}
