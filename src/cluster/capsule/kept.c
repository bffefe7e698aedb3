/*
 * kept.c - what a capsule of this process leaves to its next one
 *
 * Its network, if nobody has used that (spare.c), with the sockets by which it is
 * changed; and its control groups, as far as these can be given another name (cgroup
 * v1 alone).  Groups go to a capsule of the same user with the same limits, and none
 * but that of processes; if nothing is in them, no limit was met, and they have the weight
 * that new ones have; that of memory is made anew.  Where both are kept, so is init, which is in that
 * network (lasting.c).  A capsule that was stopped or has moved leaves nothing.
 *
 * From their first rest on the groups are called "rest.PID.START", by this process: a record
 * of its own, RUN_DIR/capsules/.rest.PID, says so until it ends, and that of each capsule
 * that has them.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cluster/capsule/priv.h"
#include "cluster/capsule/record.h"
#include "core/io.h"
#include "core/xalloc.h"

enum { NEW_SHARES = 1024 }; /* the kernel's */

static struct {
	char *run_dir;		   /* NULL: nothing is kept */
	char *dir;		   /* of the record; NULL: there is none yet */
	char *groups[CGROUP_DIRS]; /* as they are called from then on */
	unsigned nr_groups;
	struct capsule_cgroup cg; /* with its doors; nr_dirs 0: none */
	uid_t uid;		  /* whose they are, */
	bool bound;
	struct limits limits;	  /* ... and with what */
	struct capsule_link link; /* spare.netns -1: none */
	struct {
		int pidfd; /* -1: none */
		int ctl, events;
		pid_t pid;
		gid_t gid;
		gid_t *groups;
		size_t nr_groups;
	} init; /* in that network; the groups of links and files are its */
} kept = { .cg = { .join = -1, .state = -1 },
	   .link = { .packet = -1, .spare = { .netns = -1 } },
	   .init = { .pidfd = -1 } };

void capsule_keep(const char *run_dir)
{
	free(kept.run_dir);
	kept.run_dir = xstrdup(run_dir);
}

bool kept_something(void)
{
	return kept.run_dir;
}

/* ---- groups ---- */

static size_t length_of_base(const char *dir)
{
	return (size_t)(strrchr(dir, '/') - dir);
}

/* Are they where those at rest are, and differ in their own names alone? */
static bool are_beside(char *const *dirs, unsigned n)
{
	if (n != kept.nr_groups)
		return false;
	for (unsigned i = 0; i < n; i++) {
		size_t len = length_of_base(dirs[i]);

		if (len != length_of_base(kept.groups[i]) ||
		    strncmp(dirs[i], kept.groups[i], len))
			return false;
	}
	return true;
}

/*
 * An owner who came meanwhile has lowered them, and nobody would raise them.  Of what
 * ran in the capsule, nothing can be in one of them alone; and that of memory is new.
 */
static bool are_as_new(void)
{
	const struct capsule_cgroup *cg = &kept.cg;

	for (unsigned i = 0; i < cg->nr_dirs; i++) {
		const char *dir = cg->dirs[i];

		if (cgroup_has(cg, i, "cpu") &&
		    cgroup_number(dir, "cpu.shares", "") != NEW_SHARES)
			return false;
		if (cgroup_has(cg, i, "pids") &&
		    (cgroup_number(dir, "pids.current", "") ||
		     cgroup_number(dir, "pids.events", "max")))
			return false;
	}
	return true;
}

static void drop_groups(void)
{
	(void)!cgroup_remove(kept.cg.dirs, kept.cg.nr_dirs);
	cgroup_clear(&kept.cg);
}

/* Before anything has the names that it says. */
static int write_names(const struct capsule_cgroup *cg,
		       const struct process_id *self, struct error *err)
{
	struct capsule_record rec = { .nr_cgroups = cg->nr_dirs,
				      .keeper = *self,
				      .cpu_weight = CGROUP_WEIGHT };
	fd_auto lock = record_lock(kept.run_dir, err);
	int r;

	if (lock < 0)
		return lock;
	memcpy(rec.cgroups, kept.groups, sizeof(rec.cgroups));
	if ((r = process_boot_id(rec.boot, err)) < 0 ||
	    (r = record_netns(&rec.netns, err)) < 0)
		return r;
	if (mkdir(kept.dir, 0700) < 0)
		return error_sys(err, -errno, "cannot make %s", kept.dir);
	return record_write(kept.dir, &rec, err);
}

/*
 * With the time at which this process began: what a dead one of the same pid has left may
 * be removed while we have ours.
 */
static bool have_names(const struct capsule_cgroup *cg)
{
	struct process_id self;

	if (kept.dir || process_self(&self) < 0)
		return kept.nr_groups;
	kept.dir = xasprintf("%s/capsules/.rest.%d", kept.run_dir, self.pid);
	for (unsigned i = 0; i < cg->nr_dirs; i++)
		kept.groups[i] = xasprintf(
			"%.*s/rest.%d.%llu", (int)length_of_base(cg->dirs[i]),
			cg->dirs[i], self.pid, (unsigned long long)self.start);
	if (write_names(cg, &self, NULL) >= 0)
		kept.nr_groups = cg->nr_dirs;
	return kept.nr_groups;
}

static void call_by(struct capsule_cgroup *cg, unsigned i, const char *name)
{
	char *was = cg->dirs[i];

	cg->dirs[i] = xstrdup(name);
	for (unsigned k = 0; k < cg->nr_whole; k++)
		if (cg->whole[k] == was)
			cg->whole[k] = cg->dirs[i];
	if (cg->frozen == was)
		cg->frozen = cg->dirs[i];
	free(was);
}

/* What has been renamed goes by its new name, until it is removed. */
static bool rename_groups(struct capsule_cgroup *cg)
{
	for (unsigned i = 0; i < cg->nr_dirs; i++) {
		if (!strcmp(cg->dirs[i], kept.groups[i]))
			continue;
		if (rename(cg->dirs[i], kept.groups[i]) < 0)
			return false;
		call_by(cg, i, kept.groups[i]);
	}
	return true;
}

/* The one to a group that was made anew. */
static bool open_door_anew(struct capsule_cgroup *cg, const char *dir)
{
	char *path = xasprintf("%s/tasks", dir);
	bool open_now = true;

	for (unsigned i = 0; i < cg->nr_whole && i < cg->nr_doors; i++)
		if (cg->whole[i] == dir) {
			io_close(&cg->doors[i]);
			cg->doors[i] = open(path, O_WRONLY | O_CLOEXEC);
			cg->renewed |= 1u << i;
			open_now = cg->doors[i] >= 0;
		}
	free(path);
	return open_now;
}

/*
 * The kernel counts in a group of memory what its processes had at most and how often they
 * faulted, for good, and a job can read that.  So this one is made anew.
 */
static bool renew_memory(struct capsule_cgroup *cg)
{
	for (unsigned i = 0; i < cg->nr_dirs; i++) {
		const char *dir = cg->dirs[i];

		if (cgroup_has(cg, i, "memory") &&
		    (dir == cg->frozen || rmdir(dir) < 0 ||
		     mkdir(dir, 0755) < 0 || !open_door_anew(cg, dir)))
			return false;
	}
	return true;
}

static void keep_groups(struct capsule *c)
{
	if (kept.cg.nr_dirs || c->cg.kind != CGROUP_FREEZER_V1 ||
	    c->limits.memory || c->limits.cpus || c->weight != CGROUP_WEIGHT ||
	    !have_names(&c->cg) || !are_beside(c->cg.dirs, c->cg.nr_dirs) ||
	    !renew_memory(&c->cg) || !rename_groups(&c->cg))
		return;
	kept.cg = c->cg;
	kept.limits = c->limits;
	memset(&c->cg, 0, sizeof(c->cg));
	c->cg.join = c->cg.state = -1;
}

static bool fit(const struct capsule *c, const struct capsule_spec *spec)
{
	return !spec->lands && kept.uid == spec->uid &&
	       kept.bound == spec->bound && c->weight == CGROUP_WEIGHT &&
	       kept.cg.beside == lasting_may(c, spec, kept.cg.kind) &&
	       !memcmp(&kept.limits, &c->limits, sizeof(c->limits)) &&
	       cgroup_is_as_planned(&kept.cg);
}

bool kept_take_groups(struct capsule *c, const struct capsule_spec *spec)
{
	if (!kept.cg.nr_dirs || !fit(c, spec) || !are_as_new()) {
		drop_groups();
		return false;
	}
	c->cg = kept.cg;
	memset(&kept.cg, 0, sizeof(kept.cg));
	kept.cg.join = kept.cg.state = -1;
	return true;
}

/* ---- init ---- */

static void keep_init(struct capsule *c)
{
	kept.init.pidfd = c->init;
	kept.init.ctl = c->ctl;
	kept.init.events = c->events;
	kept.init.pid = c->init_pid;
	kept.init.gid = c->gid;
	kept.init.groups = c->groups;
	kept.init.nr_groups = c->nr_groups;
	c->init = c->ctl = c->events = -1;
	c->groups = NULL;
	c->spared = false;
}

static void give_init(struct capsule *c)
{
	c->init = kept.init.pidfd;
	c->ctl = kept.init.ctl;
	c->events = kept.init.events;
	c->init_pid = kept.init.pid;
	free(kept.init.groups);
	kept.init.groups = NULL;
	kept.init.pidfd = -1;
}

static void drop_init(void)
{
	struct capsule c = { .init = -1 };

	if (kept.init.pidfd < 0)
		return;
	give_init(&c);
	lasting_end(&c);
}

bool kept_take_init(struct capsule *c)
{
	bool fits = c->lasting && kept.init.pidfd >= 0 &&
		    kept.link.spare.netns < 0 && kept.uid == c->uid &&
		    kept.init.gid == c->gid &&
		    kept.init.nr_groups == c->nr_groups &&
		    !memcmp(kept.init.groups, c->groups,
			    c->nr_groups * sizeof(*c->groups));

	if (fits)
		give_init(c);
	else
		drop_init();
	return fits;
}

/* ---- the network ---- */

/* And who is in it. */
static void drop_network(void)
{
	drop_init();
	if (kept.link.spare.netns >= 0)
		store_give(&kept.link.spare);
	link_close(&kept.link, false);
	link_forget(&kept.link);
}

static void keep_network(struct capsule_link *l)
{
	if (kept.link.spare.netns >= 0)
		return;
	fast_path_destroy(l->fast);
	l->fast = NULL;
	io_close(&l->packet);
	link_forget(&kept.link);
	kept.link = *l;
	memset(l, 0, sizeof(*l));
	l->packet = l->spare.netns = -1;
}

void kept_lend_socket(struct capsule_link *l)
{
	if (!l->host) {
		l->host = kept.link.host;
		kept.link.host = NULL;
	}
}

bool kept_take_network(struct capsule_link *l)
{
	const struct spare *is = &kept.link.spare.is, *want = &l->spare.is;

	if (kept.link.spare.netns < 0)
		return false;
	if (is->uid != want->uid || is->bound != want->bound ||
	    is->mtu != want->mtu) {
		drop_network();
		return false;
	}
	l->spare = kept.link.spare;
	l->spare.new = false;
	l->inside = kept.link.inside;
	kept.link.inside = NULL;
	kept.link.spare.netns = -1;
	kept.link.spare.files.open = false;
	return true;
}

/* ---- all of it ---- */

void kept_put(struct capsule *c, bool clean)
{
	if (!kept.run_dir || c->init < 0 || !c->ended || c->shared->disturbed)
		return;
	if (kept.uid != c->uid || kept.bound != c->bound)
		capsule_keep_nothing();
	kept.uid = c->uid;
	kept.bound = c->bound;
	keep_groups(c);
	if (clean)
		keep_network(&c->link);
	/* Both are the ones that it has. */
	if (c->spared && clean && c->link.spare.netns < 0 && !c->cg.nr_dirs)
		keep_init(c);
}

void capsule_keep_nothing(void)
{
	drop_network();
	drop_groups();
}

void capsule_keep_end(void)
{
	capsule_keep_nothing();
	if (kept.dir)
		record_remove(kept.dir);
}
