/* activity_import.c - see activity_import.h */
#include "sim/workload/activity_import.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/xalloc.h"
#include "sim/workload/inflate.h"
#include "sim/workload/script.h"

/* ---- the Failure Trace Archive ---- */

static void take_events(const struct sim_script *s, struct activity *to)
{
	for (uint32_t i = 0; i < s->nr_hosts; i++) {
		char *name = xasprintf("h%u", i + 1);

		activity_add_host(to, name);
		free(name);
	}
	for (size_t i = 0; i < s->nr; i++) {
		const struct script_event *e = &s->event[i];

		(void)activity_add(to, e->at, (uint32_t)e->target,
				   ACTIVITY_OWNER, e->type == SCRIPT_DOWN);
	}
}

int activity_import_fta(const char *path, struct activity *ret,
			struct error *err)
{
	struct activity made = ACTIVITY_INIT;
	struct sim_script script;
	int r = script_read_fta(path, &script, err);

	if (r < 0)
		return r;
	if (script.nr_hosts > ACTIVITY_HOSTS_MAX)
		r = error_set(err, -EINVAL,
			      "%s: %u nodes; a script has %d hosts at most",
			      path, script.nr_hosts, ACTIVITY_HOSTS_MAX);
	if (!r) {
		take_events(&script, &made);
		*ret = made;
	}
	script_clear(&script);
	return r;
}

/* ---- samples ---- */

struct samples {
	double *percent;
	size_t nr, cap;
};

static int parse_samples(char *text, const char *path, struct samples *ret,
			 struct error *err)
{
	size_t number = 0;
	char *line;

	while ((line = strsep(&text, "\n"))) {
		size_t n = strlen(line);
		double v;

		number++;
		while (n && strchr(" \t\r", line[n - 1]))
			line[--n] = '\0';
		if (!n)
			continue;
		if (parse_real(line, 0, 100, &v, NULL) < 0)
			return error_set(err, -EINVAL,
					 "%s:%zu: '%.30s' is no percentage: a "
					 "number from 0 to 100",
					 path, number, line);
		array_room(ret->percent, ret->nr, &ret->cap);
		ret->percent[ret->nr++] = v;
	}
	return ret->nr ? 0
		       : error_set(err, -EINVAL, "%s: no sample in it", path);
}

static int read_samples(const char *path, struct samples *ret,
			struct error *err)
{
	char *text;
	size_t size;
	int r = inflate_read(path, &text, &size, err);

	if (r < 0)
		return r;
	if (strlen(text) != size)
		r = error_set(err, -EINVAL,
			      "%s: this is not a text file: there is a NUL in "
			      "it; of an archive, unpack the files first",
			      path);
	else
		r = parse_samples(text, path, ret, err);
	free(text);
	return r;
}

/* The file's name, made fit for a host's. */
static int add_host(struct activity *to, const char *path, struct error *err)
{
	const char *slash = strrchr(path, '/');
	char name[ACTIVITY_NAME_MAX + 1];

	snprintf(name, sizeof(name), "%s", slash ? slash + 1 : path);
	for (char *c = name; *c; c++) {
		const char one[] = { *c, '\0' };

		if (!activity_name_good(one))
			*c = '_';
	}
	if (!activity_name_good(name))
		return error_set(err, -EINVAL, "%s: a host cannot be called so",
				 path);
	if (activity_find(to, name) != UINT32_MAX)
		return error_set(err, -EINVAL,
				 "%s: there is a host %s already: files are "
				 "told apart by their names alone",
				 path, name);
	activity_add_host(to, name);
	return 0;
}

static void merge(const struct samples *host, size_t nr, usec_t every,
		  struct activity *to)
{
	size_t longest = 0;

	for (size_t h = 0; h < nr; h++)
		if (host[h].nr > longest)
			longest = host[h].nr;
	for (size_t i = 0; i < longest; i++)
		for (size_t h = 0; h < nr; h++)
			if (i < host[h].nr)
				(void)activity_add(to, (usec_t)i * every,
						   (uint32_t)h, ACTIVITY_LOAD,
						   host[h].percent[i] / 100);
}

int activity_import_samples(char *const *path, size_t nr, usec_t every,
			    struct activity *ret, struct error *err)
{
	struct samples *host = xcalloc(nr, sizeof(*host));
	struct activity made = ACTIVITY_INIT;
	int r = 0;

	if (nr > ACTIVITY_HOSTS_MAX)
		r = error_set(err, -EINVAL,
			      "%zu files; a script has %d hosts at most", nr,
			      ACTIVITY_HOSTS_MAX);
	for (size_t h = 0; h < nr && !r; h++) {
		r = add_host(&made, path[h], err);
		if (!r)
			r = read_samples(path[h], &host[h], err);
		if (!r && every > USEC_MAX / (usec_t)host[h].nr)
			r = error_set(
				err, -ERANGE,
				"%s: %zu percentages of %.6g s each are more "
				"time than can be counted",
				path[h], host[h].nr, usec_to_seconds(every));
	}
	if (!r) {
		merge(host, nr, every, &made);
		*ret = made;
	} else {
		activity_clear(&made);
	}
	for (size_t h = 0; h < nr; h++)
		free(host[h].percent);
	free(host);
	return r;
}
