/* record.c - records, and the sweep of what dead keepers left */
#include "cluster/capsule/record.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cluster/capsule/capsule.h"
#include "core/io.h"
#include "core/xalloc.h"
#include "net/net.h"

#define RECORD_MAX    65536
#define KEEPER_END_MS 5000

void record_clear(struct capsule_record *rec)
{
	for (unsigned i = 0; i < rec->nr_cgroups; i++)
		free(rec->cgroups[i]);
	memset(rec, 0, sizeof(*rec));
}

static void set_process(struct process_id *id, const char *value)
{
	unsigned long long start;
	int pid;

	if (sscanf(value, "%d %llu", &pid, &start) == 2)
		*id = (struct process_id){ pid, start };
}

static void set_word(char *to, size_t n, const char *value)
{
	snprintf(to, n, "%.*s", (int)strcspn(value, " "), value);
}

static void set_uid(struct capsule_record *rec, const char *value)
{
	rec->uid = (uid_t)strtoul(value, NULL, 10);
	rec->has_uid = true;
}

/*
 * Agents read all records whenever a rank comes or goes: sscanf() for each line and
 * key would be most of that.
 */
static void parse_line(char *line, struct capsule_record *rec)
{
	char *value = strchr(line, ' ');

	if (!value)
		return;
	*value++ = 0;
	if (!strcmp(line, "keeper"))
		set_process(&rec->keeper, value);
	else if (!strcmp(line, "init"))
		set_process(&rec->init, value);
	else if (!strcmp(line, "netns"))
		rec->netns = strtoull(value, NULL, 10);
	else if (!strcmp(line, "weight"))
		rec->cpu_weight = (unsigned)strtoul(value, NULL, 10);
	else if (!strcmp(line, "uid"))
		set_uid(rec, value);
	else if (!strcmp(line, "boot"))
		set_word(rec->boot, sizeof(rec->boot), value);
	else if (!strcmp(line, "link"))
		set_word(rec->link, sizeof(rec->link), value);
	else if (!strcmp(line, "uplink"))
		set_word(rec->uplink, sizeof(rec->uplink), value);
	else if (!strcmp(line, "address"))
		inet_pton(AF_INET, value, &rec->address);
	else if (!strcmp(line, "cgroup") && *value == '/' &&
		 rec->nr_cgroups < CGROUP_DIRS)
		rec->cgroups[rec->nr_cgroups++] = xstrdup(value);
}

int record_parse(const char *text, struct capsule_record *ret)
{
	struct capsule_record rec = { 0 };
	char *copy = xstrdup(text), *save, *line;

	for (line = strtok_r(copy, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save))
		parse_line(line, &rec);
	free(copy);
	if (rec.keeper.pid <= 0 || !rec.boot[0]) {
		record_clear(&rec);
		return -EBADMSG;
	}
	*ret = rec;
	return 0;
}

int record_read(const char *dir, struct capsule_record *ret)
{
	char *path = xasprintf("%s/record", dir), *text;
	ssize_t n = io_read_file(AT_FDCWD, path, RECORD_MAX, &text);
	int r;

	free(path);
	if (n < 0)
		return n;
	r = record_parse(text, ret);
	free(text);
	return r;
}

/* Of one length, whatever init is. */
static char *record_text(const struct capsule_record *rec)
{
	char *text, addr[NET_TEXT];
	size_t size;
	FILE *f = xmemstream(&text, &size);

	fprintf(f, "keeper %d %llu\ninit %-10d %-20llu\nboot %s\n",
		rec->keeper.pid, (unsigned long long)rec->keeper.start,
		rec->init.pid, (unsigned long long)rec->init.start, rec->boot);
	fprintf(f, "weight %u\n", rec->cpu_weight);
	if (rec->has_uid)
		fprintf(f, "uid %u\n", rec->uid);
	fprintf(f, "netns %llu\nlink %s\nuplink %s\naddress %s\n",
		(unsigned long long)rec->netns, rec->link, rec->uplink,
		net_addr_text(rec->address, addr));
	for (unsigned i = 0; i < rec->nr_cgroups; i++)
		fprintf(f, "cgroup %s\n", rec->cgroups[i]);
	if (fclose(f))
		abort();
	return text;
}

int record_write(const char *dir, const struct capsule_record *rec,
		 struct error *err)
{
	char *path = xasprintf("%s/record", dir), *text = record_text(rec);
	fd_auto fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	ssize_t n = fd < 0 ? -1 : pwrite(fd, text, strlen(text), 0);
	int r = 0;

	if (n < 0)
		r = error_sys(err, -errno, "cannot write %s", path);
	else if ((size_t)n < strlen(text))
		r = error_sys(err, -ENOSPC, "cannot write %s", path);
	free(text);
	free(path);
	return r;
}

void record_remove(const char *dir)
{
	char *path = xasprintf("%s/record", dir);

	unlink(path);
	rmdir(dir);
	free(path);
}

int record_lock(const char *run_dir, struct error *err)
{
	char *dir = xasprintf("%s/capsules", run_dir);
	int fd = io_lock_dir(dir, 0700, err);

	free(dir);
	return fd;
}

int record_netns(uint64_t *ret, struct error *err)
{
	struct stat st;

	if (stat("/proc/thread-self/ns/net", &st) < 0)
		return error_sys(err, -errno,
				 "cannot look at /proc/thread-self/ns/net");
	*ret = st.st_ino;
	return 0;
}

/* ---- sweep ---- */

struct sweep {
	char *dir; /* RUN_DIR/capsules */
	char boot[PROCESS_BOOT_LEN];
	uint64_t netns;
};

static bool is_live(const struct sweep *s, const struct capsule_record *rec)
{
	return !strcmp(rec->boot, s->boot) && process_alive(&rec->keeper);
}

/* Has another live capsule here the same address (it moved back)? */
static bool address_in_use(const struct sweep *s, struct in_addr address)
{
	DIR *d = opendir(s->dir);
	struct capsule_record rec;
	struct dirent *e;
	bool used = false;

	while (d && !used && (e = readdir(d))) {
		char *dir = xasprintf("%s/%s", s->dir, e->d_name);

		if (e->d_name[0] != '.' && !record_read(dir, &rec)) {
			used = is_live(s, &rec) &&
			       rec.address.s_addr == address.s_addr;
			record_clear(&rec);
		}
		free(dir);
	}
	if (d)
		closedir(d);
	return used;
}

static void sweep_net(const struct sweep *s, const struct capsule_record *rec)
{
	struct net_link link;
	struct net *net;

	/* A capsule of another boot or namespace went with it. */
	if (strcmp(rec->boot, s->boot) || rec->netns != s->netns ||
	    net_open(&net, NULL) < 0)
		return;
	if (rec->link[0] && !net_link_find(net, rec->link, &link, NULL))
		(void)!net_link_delete(net, link.index, NULL);
	if (rec->uplink[0] && !address_in_use(s, rec->address) &&
	    !net_link_find(net, rec->uplink, &link, NULL))
		(void)!net_proxy_delete(net, link.index, rec->address, NULL);
	net_close(net);
}

/* Is it a dead one that cannot be removed yet? */
static bool sweep_one(const struct sweep *s, const char *dir)
{
	struct capsule_record rec = { 0 };
	char *path;
	int r = 0;

	/* The lock is ours: without a record nothing was made yet. */
	if (!record_read(dir, &rec)) {
		bool live = is_live(s, &rec);

		if (!live && !strcmp(rec.boot, s->boot)) {
			sweep_net(s, &rec);
			r = cgroup_remove(rec.cgroups, rec.nr_cgroups);
			if (process_end(&rec.init, SIGKILL, 5000) < 0)
				r = -EBUSY;
		}
		record_clear(&rec);
		if (live)
			return false;
	}
	if (r < 0)
		return true;
	for (unsigned i = 0; i < 2; i++) {
		/* The second is what older versions wrote first. */
		path = xasprintf("%s/%s", dir, i ? "record.new" : "record");
		unlink(path);
		free(path);
	}
	return rmdir(dir) < 0;
}

/* What processes keep between two capsules begins with a dot (kept.c). */
static bool is_record(const char *name)
{
	return strcmp(name, ".") && strcmp(name, "..") && strcmp(name, ".lock");
}

/* How often fn() is true, or -errno. */
static int for_each_record(const char *run_dir,
			   bool (*fn)(const struct sweep *s, const char *dir),
			   struct error *err)
{
	fd_auto lock = record_lock(run_dir, err);
	struct sweep s = { 0 };
	struct dirent *e;
	int r, n = 0;
	DIR *d;

	if (lock < 0)
		return lock;
	if ((r = process_boot_id(s.boot, err)) < 0 ||
	    (r = record_netns(&s.netns, err)) < 0)
		return r;
	s.dir = xasprintf("%s/capsules", run_dir);
	d = opendir(s.dir);
	if (!d)
		r = error_sys(err, -errno, "cannot read %s", s.dir);
	while (d && (e = readdir(d))) {
		char *dir = xasprintf("%s/%s", s.dir, e->d_name);

		if (is_record(e->d_name))
			n += fn(&s, dir);
		free(dir);
	}
	if (d)
		closedir(d);
	free(s.dir);
	return r < 0 ? r : n;
}

int capsule_sweep(const char *run_dir, struct error *err)
{
	return for_each_record(run_dir, sweep_one, err);
}

static bool end_keeper(const struct sweep *s, const char *dir)
{
	struct capsule_record rec;
	bool ended = false;

	if (record_read(dir, &rec) < 0)
		return false;
	if (is_live(s, &rec))
		ended = !process_end(&rec.keeper, SIGKILL, KEEPER_END_MS);
	record_clear(&rec);
	return ended;
}

int capsule_end_keepers(const char *run_dir, struct error *err)
{
	return for_each_record(run_dir, end_keeper, err);
}
