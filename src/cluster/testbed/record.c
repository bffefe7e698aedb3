/* record.c - where testbeds lie, and what they have made */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cluster/capsule/cgroup.h"
#include "cluster/testbed/priv.h"
#include "core/io.h"
#include "core/xalloc.h"

static const char *base_dir(void)
{
	const char *dir = getenv("STINT_TESTBED_DIR");

	return dir && *dir ? dir : "/run/stint-testbed";
}

int testbed_check_name(const char *name, struct error *err)
{
	static const char ok[] = "abcdefghijklmnopqrstuvwxyz0123456789_-"
				 "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	size_t n = strlen(name);

	if (!n || n > TESTBED_NAME_MAX || strspn(name, ok) != n)
		return error_set(
			err, -EINVAL,
			"'%s' cannot name a testbed: 1 to %d letters, digits, - or _",
			name, TESTBED_NAME_MAX);
	return 0;
}

char *testbed_path(const char *name, const char *fmt, ...)
{
	char rest[128];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(rest, sizeof(rest), fmt, ap);
	va_end(ap);
	return xasprintf("%s/%s%s%s", base_dir(), name, *rest ? "/" : "", rest);
}

char *testbed_dir(const char *name)
{
	return testbed_path(name, "%s", "");
}

char *testbed_run_dir(const char *name, const char *host)
{
	return testbed_path(name, "%s/run", host);
}

int testbed_lock(struct error *err)
{
	return io_lock_dir(base_dir(), 0755, err);
}

static const char *const controllers[] = { "cpu",  "cpuset",  "memory",
					   "pids", "freezer", "blkio" };

/* From the outermost inwards, as each passes on only what it was passed. */
static void pass_on_to(char *dir)
{
	for (char *at = dir; (at = strchr(at + 1, '/')); *at = '/') {
		*at = '\0';
		cgroup_pass_on_all(dir);
	}
	cgroup_pass_on_all(dir);
}

/*
 * The group at or around our own that can pass on controllers.  That of a login
 * session cannot, as the shell is in it; that of its user, around it, can.
 */
static char *own_v2(void)
{
	char *own = cgroup_own(""), *dir = own ? xstrdup(own) : NULL, *slash;

	if (dir)
		pass_on_to(dir);
	while (dir && !cgroup_passes_on(dir, "memory") &&
	       (slash = strrchr(dir, '/')) && slash > dir)
		*slash = '\0';
	if (!dir || !cgroup_passes_on(dir, "memory")) {
		free(dir);
		return own;
	}
	free(own);
	return dir;
}

unsigned testbed_bases(const char *name, char *ret[TESTBED_BASES_MAX])
{
	unsigned n = 0;
	char *own;

	for (unsigned i = 0; i < TESTBED_BASES_MAX - 1; i++) {
		own = cgroup_own(controllers[i]);
		if (own && !access(own, W_OK))
			ret[n++] = xasprintf("%s/stint-testbed.%s", own, name);
		free(own);
	}
	own = n ? NULL : own_v2();
	if (own && !access(own, W_OK))
		ret[n++] = xasprintf("%s/stint-testbed.%s", own, name);
	free(own);
	return n;
}

int testbed_record_write(const char *name, const struct testbed_record *rec,
			 struct error *err)
{
	char *path = testbed_path(name, "record"), *text;
	size_t size;
	FILE *f = xmemstream(&text, &size);
	int r;

	fprintf(f, "boot %s\nhosts %u\n", rec->boot, rec->nr_hosts);
	for (size_t i = 0; i < rec->nr_cgroups; i++)
		fprintf(f, "cgroup %s\n", rec->cgroups[i]);
	if (fclose(f))
		abort();
	r = io_replace_file(path, text, err);
	/* `stint testbed list` is for everybody. */
	if (!r && chmod(path, 0644) < 0)
		r = error_sys(err, -errno, "%s", path);
	free(text);
	free(path);
	return r;
}

static void parse_line(char *line, struct testbed_record *rec, size_t *cap)
{
	unsigned n;
	int at = 0;

	if (sscanf(line, "boot %36s", rec->boot) == 1)
		return;
	if (sscanf(line, "hosts %u", &n) == 1 && n <= TESTBED_HOSTS_MAX)
		rec->nr_hosts = n;
	else if (!sscanf(line, "cgroup %n", &at) && at && line[at] == '/') {
		array_room(rec->cgroups, rec->nr_cgroups, cap);
		rec->cgroups[rec->nr_cgroups++] = xstrdup(line + at);
	}
}

int testbed_record_read(const char *name, struct testbed_record *ret)
{
	char *path = testbed_path(name, "record"), *text, *save, *line;
	struct testbed_record rec = { 0 };
	ssize_t n = io_read_file(AT_FDCWD, path, 1 << 20, &text);
	size_t cap = 0;

	free(path);
	if (n < 0)
		return n;
	for (line = strtok_r(text, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save))
		parse_line(line, &rec, &cap);
	free(text);
	if (!rec.boot[0]) {
		testbed_record_clear(&rec);
		return -EBADMSG;
	}
	*ret = rec;
	return 0;
}

void testbed_record_clear(struct testbed_record *rec)
{
	for (size_t i = 0; i < rec->nr_cgroups; i++)
		free(rec->cgroups[i]);
	free(rec->cgroups);
	memset(rec, 0, sizeof(*rec));
}
