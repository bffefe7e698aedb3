/* guests.c - the capsules of this host, looked at from outside, see guests.h */
#include "cluster/agent/guests.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cluster/agent/tree.h"
#include "cluster/capsule/cgroup.h"
#include "cluster/capsule/record.h"
#include "cluster/host/identity.h"
#include "cluster/host/process.h"
#include "core/claim.h"
#include "core/clock.h"
#include "core/io.h"
#include "core/procstat.h"
#include "core/xalloc.h"
#include "model/terms.h"

enum { PASSES = 8 };   /* over a tree that grows while it is walked */
#define CLAIM_REST 500 /* times what a look that finds nobody takes */

/* ---- processes and threads ---- */

struct changes {
	bool (*change)(pid_t tid, struct changes *c);
	pid_t keeper;
	unsigned nr;
	bool stopped; /* one was found that is traced by an engine */
};

static void change_thread(pid_t pid, pid_t tid, void *arg)
{
	struct changes *c = arg;

	c->nr += c->change(tid, c);
}

/* What was forked by a thread that had not been reached yet is found next. */
static void change_tree(struct changes *c, const struct process_id *top,
			pid_t skip, int passes)
{
	unsigned before;

	if (!top->pid || !process_alive(top))
		return;
	for (int i = 0; i < passes; i++) {
		before = c->nr;
		proctree_walk(top->pid, skip, change_thread, c);
		if (c->nr == before)
			break;
	}
}

/* Does an engine of that keeper trace it? */
static bool is_engines(pid_t tid, pid_t keeper)
{
	int64_t tracer, parent;

	return !process_status(tid, "TracerPid", &tracer) && tracer > 0 &&
	       !process_status((pid_t)tracer, "PPid", &parent) &&
	       parent == keeper;
}

static bool lower_rank(pid_t tid, struct changes *c)
{
	if (claim_is_idle(tid))
		return claim_mend(tid);
	if (!is_engines(tid, c->keeper))
		return claim_lower(tid);
	/* The engine puts it behind others when it lets it go. */
	c->stopped = true;
	return !claim_is_marked(tid) && claim_mark(tid);
}

static bool raise_rank(pid_t tid, struct changes *c)
{
	return claim_raise(tid);
}

static bool lower_keeper(pid_t tid, struct changes *c)
{
	return !claim_is_marked(tid) && claim_lower(tid);
}

static bool raise_keeper(pid_t tid, struct changes *c)
{
	return claim_raise_worker(tid);
}

/* ---- capsules ---- */

enum { NAMES = 8 };
#define NAME_HOLDS USEC_PER_SEC

/*
 * The user's name, "" if there is none.  All guests may be looked at 25 times a second, and a
 * user database may be another machine's: what it said holds for a second.
 */
static const char *name_of(uid_t uid)
{
	static struct {
		uid_t uid;
		char *name;
		usec_t asked;
	} known[NAMES];
	usec_t now = clock_usec(CLOCK_MONOTONIC);
	struct identity id = { .name = NULL };
	unsigned oldest = 0;

	for (unsigned i = 0; i < NAMES; i++) {
		if (known[i].name && known[i].uid == uid &&
		    now - known[i].asked < NAME_HOLDS)
			return known[i].name;
		if (known[i].asked < known[oldest].asked)
			oldest = i;
	}
	(void)!identity_by_uid(uid, &id, NULL);
	free(known[oldest].name);
	known[oldest].name = xstrdup(id.name ? id.name : "");
	known[oldest].uid = uid;
	known[oldest].asked = now;
	identity_clear(&id);
	return known[oldest].name;
}

/* Whose it is; of an older keeper, whose record does not say it, init runs as the submitter. */
static bool is_owners(const struct capsule_record *rec, const char *owners)
{
	const struct owner_terms named = { .guests_of = (char *)owners };
	const char *name;
	int64_t uid = rec->uid;

	if (!owners ||
	    (!rec->has_uid && process_status(rec->init.pid, "Uid", &uid) < 0))
		return false;
	name = name_of((uid_t)uid);
	return *name && owner_terms_admit(&named, name);
}

/* Has it a process besides init? */
static bool lives(const struct capsule_record *rec)
{
	return rec->init.pid && process_alive(&rec->init) &&
	       proctree_first_child(rec->init.pid);
}

/* Is that what the file says?  -ENOENT where there is none. */
static int says(const char *dir, const char *file, const char *text)
{
	char *path = xasprintf("%s/%s", dir, file), *line = io_read_line(path);
	int r = *line ? !strcmp(line, text) : -ENOENT;

	free(line);
	free(path);
	return r;
}

/*
 * By the cgroup freezer, or stopped where there is none.  On v1 one of its groups
 * is the freezer's, the last of them; on v2 it is not the last that is frozen.
 */
static bool is_frozen(const struct capsule_record *rec)
{
	bool frozen = false;

	for (unsigned i = rec->nr_cgroups; i-- > 0;) {
		int r = says(rec->cgroups[i], "freezer.state", "FROZEN");

		if (r >= 0)
			return r;
	}
	for (unsigned i = 0; i < rec->nr_cgroups; i++)
		frozen |= says(rec->cgroups[i], "cgroup.freeze", "1") > 0;
	return frozen;
}

/* Has the engine that moves it stopped it?  It is its leader that says so. */
static bool is_held(const struct capsule_record *rec)
{
	pid_t leader = proctree_first_child(rec->init.pid);
	struct procstat s;

	return leader && !procstat_read(leader, &s) && s.state == 't' &&
	       is_engines(leader, rec->keeper.pid);
}

void guests_each(const char *run_dir, const char *owners, guest_fn *fn,
		 void *arg)
{
	char *dir = xasprintf("%s/capsules", run_dir), *capsule;
	DIR *d = opendir(dir);
	struct capsule_record rec;
	const struct dirent *e;

	while (d && (e = readdir(d))) {
		if (*e->d_name == '.')
			continue;
		capsule = xasprintf("%s/%s", dir, e->d_name);
		if (!record_read(capsule, &rec)) {
			if (!is_owners(&rec, owners))
				fn(e->d_name, &rec, arg);
			record_clear(&rec);
		}
		free(capsule);
	}
	if (d)
		closedir(d);
	free(dir);
}

int guest_is(const char *run_dir, const char *owners, const char *name)
{
	char *capsule = xasprintf("%s/capsules/%s", run_dir, name);
	struct capsule_record rec;
	int r = owners ? record_read(capsule, &rec) : 1;

	if (!r) {
		r = !rec.init.pid ? -EAGAIN : !is_owners(&rec, owners);
		record_clear(&rec);
	} else if (r < 0) {
		r = access(capsule, F_OK) < 0 ? -ENOENT : -EAGAIN;
	}
	free(capsule);
	return r;
}

static bool capsule_lives(char *capsule)
{
	struct capsule_record rec;
	bool is = !record_read(capsule, &rec);

	if (is) {
		is = lives(&rec);
		record_clear(&rec);
	}
	free(capsule);
	return is;
}

/* A rank's first keeper names it without its epoch. */
bool guest_lives(const char *run_dir, const char *job, uint32_t rank,
		 uint64_t epoch)
{
	return capsule_lives(xasprintf("%s/capsules/%s.%" PRIu32, run_dir, job,
				       rank)) ||
	       capsule_lives(xasprintf("%s/capsules/%s.%" PRIu32 ".%" PRIu64,
				       run_dir, job, rank, epoch));
}

static void count_one(const char *name, const struct capsule_record *rec,
		      void *arg)
{
	struct guests *g = arg;

	if (!lives(rec))
		return;
	g->nr++;
	if (is_frozen(rec))
		return;
	g->running++;
	g->held += is_held(rec);
}

void guests_count(const char *run_dir, const char *owners, struct guests *ret)
{
	*ret = (struct guests){ .nr = 0 };
	guests_each(run_dir, owners, count_one, ret);
}

struct claim {
	bool low;
	unsigned changed;
	struct large *large;
};

static void claim_group(const struct claim *c, const struct capsule_record *rec)
{
	cgroup_claim(rec->cgroups, rec->nr_cgroups, rec->cpu_weight, c->low);
}

/*
 * Its threads once in a while again, as some may have been made while they were walked.  Of
 * a rank that moves the leader is stopped, too.
 */
static void claim_large(struct claim *c, const struct capsule_record *rec,
			struct large_guest *g, struct changes *ranks)
{
	usec_t from = clock_usec(CLOCK_MONOTONIC);
	int done = c->low ? 1 : 2;

	ranks->stopped = is_engines(proctree_first_child(rec->init.pid),
				    rec->keeper.pid);
	if (!ranks->stopped)
		claim_group(c, rec);
	if (g->value == done ? !large_may(c->large, g) : !large_must(c->large))
		return;
	change_tree(ranks, &rec->init, 0, 1);
	g->value = done;
	large_looked(c->large, g, from);
}

static void claim_one(const char *name, const struct capsule_record *rec,
		      void *arg)
{
	struct claim *c = arg;
	struct changes ranks = { c->low ? lower_rank : raise_rank,
				 rec->keeper.pid };
	struct changes keepers = { c->low ? lower_keeper : raise_keeper };
	struct large_guest *large = large_guest(c->large, rec);

	if (large) {
		claim_large(c, rec, large, &ranks);
	} else {
		change_tree(&ranks, &rec->init, 0, PASSES);
		if (!ranks.stopped)
			claim_group(c, rec);
	}
	change_tree(&keepers, &rec->keeper, rec->init.pid, PASSES);
	c->changed += ranks.nr + keepers.nr;
}

unsigned guests_claim(const char *run_dir, const char *owners, bool low,
		      struct large *large)
{
	struct claim c = { .low = low, .large = large };

	large_begin(large);
	guests_each(run_dir, owners, claim_one, &c);
	large_end(large);
	return c.changed;
}

unsigned guests_reclaim(const char *run_dir, const char *owners, bool low,
			struct large *large, usec_t *at)
{
	usec_t now = clock_usec(CLOCK_MONOTONIC);
	usec_t began = clock_usec(CLOCK_THREAD_CPUTIME_ID);
	unsigned n;

	if (now < *at)
		return 0;
	n = guests_claim(run_dir, owners, low, large);
	*at = n || large->more
		      ? 0
		      : now + CLAIM_REST *
					(clock_usec(CLOCK_THREAD_CPUTIME_ID) -
					 began);
	return n;
}
