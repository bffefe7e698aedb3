/*
 * capsule.c - making, freezing and removing capsules: the keeper's side
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cluster/capsule/bounds.h"
#include "cluster/capsule/priv.h"
#include "cluster/capsule/record.h"
#include "core/io.h"
#include "core/log.h"
#include "core/packet.h"
#include "core/xalloc.h"

#define TAKE_TRIES 20  /* of 10 ms, for a name */
#define DIE_MS	   300 /* for init to end all, as a rule; then it is hastened, */
#define DIE_TRIES  16  /* that often, before that is left to sweep */

/* ---- what is asked for ---- */

static int check_spec(const struct capsule_spec *spec, struct error *err)
{
	static const char ok[] = "abcdefghijklmnopqrstuvwxyz0123456789._-"
				 "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	size_t n = spec->name ? strlen(spec->name) : 0;

	if (!n || n > 48 || strspn(spec->name, ok) != n || spec->name[0] == '.')
		return error_set(err, -EINVAL, "'%s' cannot name a capsule",
				 n ? spec->name : "");
	if (!spec->run_dir)
		return error_set(err, -EINVAL, "a capsule needs a run_dir");
	if (spec->cpu_weight > 10000)
		return error_set(err, -EINVAL,
				 "CPU weight %u is not from 1 to 10000",
				 spec->cpu_weight);
	if (spec->hostname && strlen(spec->hostname) > 64)
		return error_set(err, -EINVAL, "host name %s is too long",
				 spec->hostname);
	if (geteuid() && spec->uid != geteuid())
		return error_set(err, -EPERM,
				 "only root can make capsules for other users");
	if (geteuid() && spec->net != CAPSULE_NET_NONE)
		return error_set(
			err, -EPERM,
			"only root gives capsules an address; use no network");
	return 0;
}

/* ---- creating ---- */

static int write_record(struct capsule *c, struct error *err)
{
	struct capsule_record rec = {
		.address = c->link.address,
		.nr_cgroups = c->cg.nr_dirs,
		.cpu_weight = c->weight,
		.has_uid = true,
		.uid = c->uid,
	};
	int r;

	memcpy(rec.cgroups, c->cg.dirs, sizeof(rec.cgroups));
	snprintf(rec.link, sizeof(rec.link), "%s", c->link.name);
	if (c->link.mode == CAPSULE_NET_ROUTED)
		snprintf(rec.uplink, sizeof(rec.uplink), "%s", c->link.uplink);
	if ((r = process_boot_id(rec.boot, err)) < 0 ||
	    (r = record_netns(&rec.netns, err)) < 0)
		return r;
	r = process_self(&c->keeper);
	if (!r && c->init_pid)
		r = process_identify(c->init_pid, &rec.init);
	rec.keeper = c->keeper;
	if (r < 0)
		return error_sys(err, r, "cannot read /proc");
	return record_write(c->dir, &rec, err);
}

/*
 * Take the directory if it is free, or after a sweep if a dead keeper had it.
 * Its first record is written at once, since a sweep removes directories
 * without one.
 */
static int take_dir(struct capsule *c, char *dir, struct error *err)
{
	int lock = record_lock(c->run_dir, err), r;

	if (lock < 0)
		return lock;
	if (mkdir(dir, 0700) < 0) {
		r = error_sys(err, -errno, "cannot make %s", dir);
	} else {
		c->dir = dir;
		r = write_record(c, err);
	}
	close(lock);
	if (r == -EEXIST && capsule_sweep(c->run_dir, err) < 0)
		return -EIO;
	return r;
}

static int make_dir(struct capsule *c, struct error *err)
{
	char *dir = xasprintf("%s/capsules/%s", c->run_dir, c->name);
	int r = -EEXIST;

	/* Tried for a while: a keeper that was killed may not be dead yet. */
	for (int i = 0; i < TAKE_TRIES && r == -EEXIST; i++) {
		if (i > 1)
			nanosleep(&(struct timespec){ .tv_nsec = 10000000 },
				  NULL);
		r = take_dir(c, dir, err);
	}
	if (r == -EEXIST)
		error_set(err, r, "the name is in use");
	if (!c->dir)
		free(dir);
	return r;
}

static int share_memory(struct capsule *c, const struct capsule_spec *spec,
			struct error *err)
{
	const int rw = PROT_READ | PROT_WRITE;

	c->shared = mmap(NULL, sizeof(*c->shared), rw,
			 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (c->shared == MAP_FAILED)
		c->shared = NULL;
	if (!c->shared)
		return error_sys(err, -ENOMEM, "cannot map");
	c->shared->disturbed = spec->lands;
	return 0;
}

/* A descriptor of its network namespace, or -errno. */
static int open_netns(const struct capsule *c)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/ns/net", c->init_pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static int make_link(struct capsule *c, const struct capsule_spec *spec,
		     struct error *err)
{
	fd_auto netns = -1;

	if (c->link.spare.netns >= 0)
		return link_make(&c->link, spec, c->link.spare.netns, err);
	netns = open_netns(c);
	return netns < 0 ? error_sys(err, netns, "cannot open its network")
			 : link_make(&c->link, spec, netns, err);
}

static int plan_groups(struct capsule *c, const struct capsule_spec *spec,
		       struct error *err)
{
	char *guests;
	int r;

	c->took_groups = kept_take_groups(c, spec);
	if (c->took_groups)
		return 0;
	guests = spec->bound ? bounds_name(spec->run_dir) : NULL;
	r = cgroup_plan(c->name, guests, &c->cg, err);
	free(guests);
	return r;
}

static int give_groups(struct capsule *c, const struct capsule_spec *spec,
		       struct error *err)
{
	if (c->took_groups)
		return 0;
	lasting_end(c);
	return cgroup_make(&c->cg, &c->limits, c->weight, spec->lands, err);
}

/* The one that is there, or a new one, which the record is to name. */
static int give_init(struct capsule *c, const struct capsule_spec *spec,
		     struct error *err)
{
	int r;

	c->renewed = c->init >= 0 && !lasting_renew(c, spec, err);
	if (c->renewed)
		return 0;
	lasting_end(c);
	r = birth_init(c, spec, err);
	return r < 0 ? r : write_record(c, err);
}

/* Not with the one that was there? Then with another. */
static int await_init(struct capsule *c, const struct capsule_spec *spec,
		      struct error *err)
{
	int r = birth_hear(c, err);

	if (c->renewed && lasting_failed(r)) {
		lasting_end(c);
		r = give_init(c, spec, err);
		r = r < 0 ? r : birth_hear(c, err);
	}
	/* What it says too late would be taken for its next answer. */
	c->mute = r < 0;
	return r;
}

static int make_capsule(struct capsule *c, const struct capsule_spec *spec,
			struct error *err)
{
	struct error why = ERROR_INIT;
	bool in_spare;
	int r, linked;

	if ((r = link_plan(&c->link, spec, err)) < 0 ||
	    (r = spare_take(&c->link, spec, err)) < 0)
		return r;
	in_spare = c->link.spare.netns >= 0;
	if ((r = plan_groups(c, spec, err)) < 0)
		return r;
	c->lasting = c->cg.beside =
		kept_something() && lasting_may(c, spec, c->cg.kind);
	if ((r = share_memory(c, spec, err)) < 0)
		return r;
	if (kept_take_init(c))
		log_debug("capsule=%s has init %d of one before", c->name,
			  c->init_pid);
	if ((r = make_dir(c, err)) < 0 || (r = give_groups(c, spec, err)) < 0 ||
	    (r = give_init(c, spec, err)) < 0 ||
	    (!in_spare && (r = birth_hear(c, err)) < 0))
		return r;
	/* While init is at its mounts. */
	linked = make_link(c, spec, &why);
	r = await_init(c, spec, err);
	if (!r && linked < 0) {
		r = linked;
		if (err)
			*err = why;
	}
	return r < 0 || in_spare ? r : link_await(&c->link, err);
}

static gid_t *copy_groups(const struct capsule_spec *spec)
{
	gid_t *to = xcalloc(spec->nr_groups + 1, sizeof(*to));

	if (spec->nr_groups)
		memcpy(to, spec->groups, spec->nr_groups * sizeof(*to));
	return to;
}

int capsule_create(const struct capsule_spec *spec, struct capsule **ret,
		   struct error *err)
{
	struct capsule *c;
	int r = check_spec(spec, err);

	if (r < 0)
		return r;
	c = xcalloc(1, sizeof(*c));
	c->name = xstrdup(spec->name);
	c->run_dir = xstrdup(spec->run_dir);
	c->patience = spec->patience ? spec->patience : CAPSULE_PATIENCE;
	c->limits = spec->limits;
	c->weight = spec->cpu_weight ? spec->cpu_weight : CGROUP_WEIGHT;
	c->uid = spec->uid;
	c->gid = spec->gid;
	c->groups = copy_groups(spec);
	c->nr_groups = spec->nr_groups;
	c->bound = spec->bound;
	c->ctl = c->events = c->init = -1;
	c->cg.join = c->cg.state = c->link.packet = c->link.spare.netns = -1;
	r = make_capsule(c, spec, err);
	if (r < 0) {
		error_prefix(err, r, "capsule %s", spec->name);
		capsule_destroy(c);
		return r;
	}
	*ret = c;
	return 0;
}

/* ---- removing ---- */

static bool has_died(const struct capsule *c, int ms)
{
	struct pollfd p = { .fd = c->init, .events = POLLIN };

	return poll(&p, 1, ms) > 0;
}

static bool dies_soon(struct capsule *c)
{
	for (int i = 0; i < DIE_TRIES; i++) {
		if (has_died(c, DIE_MS))
			return true;
		capsule_hasten(c);
	}
	return has_died(c, DIE_MS);
}

/*
 * Ask init to end everything; if it cannot, do it ourselves.  When it is dead
 * all in its pid namespace are.
 */
static bool end_all(struct capsule *c)
{
	struct request req = { .type = REQUEST_DIE };
	siginfo_t info;

	if (c->init < 0)
		return true;
	if ((c->spared = lasting_clean(c)))
		return true;
	if (c->mute)
		pidfd_send_signal(c->init, SIGKILL, NULL, 0);
	else
		(void)!packet_send(c->ctl, &req, sizeof(req), &c->init, 1);
	if (!dies_soon(c)) {
		pidfd_send_signal(c->init, SIGKILL, NULL, 0);
		if (!has_died(c, 0))
			return false; /* cgroup_remove() kills and thaws */
	}
	waitid(P_PIDFD, c->init, &info, WEXITED | __WALL | WNOHANG);
	return true;
}

bool capsule_end(struct capsule *c)
{
	bool plugged = c->shared && c->shared->plugged;

	if (c->ended)
		return true;
	link_cut(&c->link, plugged);
	/* From now on the address may be another's. */
	if (plugged)
		c->shared->plugged = false;
	c->ended = end_all(c);
	return c->ended;
}

void capsule_destroy(struct capsule *c)
{
	bool clean;
	int left = 0;

	if (!c)
		return;
	clean = capsule_end(c) && c->dir && spare_clean(&c->link);
	kept_put(c, clean);
	if (c->spared)
		lasting_end(c);
	link_close(&c->link, clean);
	io_close(&c->cg.join);
	io_close(&c->cg.state);
	if (c->dir || c->took_groups)
		left = cgroup_remove(c->cg.dirs, c->cg.nr_dirs);
	if (c->dir) {
		if (!clean)
			link_remove(&c->link);
		if (!left)
			record_remove(c->dir);
	}
	/* The record named its link: a sweep would have removed it. */
	if (clean && !left && c->link.spare.netns >= 0)
		spare_hand_on(&c->link);
	link_forget(&c->link);
	cgroup_clear(&c->cg);
	io_close(&c->ctl);
	io_close(&c->events);
	io_close(&c->init);
	if (c->shared)
		munmap(c->shared, sizeof(*c->shared));
	free(c->dir);
	free(c->run_dir);
	free(c->groups);
	free(c->name);
	free(c);
}

/* ---- standing still ---- */

static int freeze_by_signal(struct capsule *c, bool on, struct error *err)
{
	struct request req = { .type = on ? REQUEST_STOP : REQUEST_CONT };

	return request_call(c->ctl, &req, NULL, 0, NULL, err);
}

/* A limit of processors that cannot be lifted makes it slower, no more. */
static void hold_back(struct capsule *c, bool on)
{
	struct error err;

	if (cgroup_hold_back(&c->cg, &c->limits, on, &err) < 0)
		log_warnx("%s", err.text);
}

int capsule_freeze(struct capsule *c, struct error *err)
{
	int r;

	c->shared->disturbed = true;
	hold_back(c, false);
	r = c->cg.kind ? cgroup_freeze(&c->cg, err)
		       : freeze_by_signal(c, true, err);
	if (r < 0)
		hold_back(c, true);
	return r;
}

int capsule_thaw(struct capsule *c, struct error *err)
{
	hold_back(c, true);
	return c->cg.kind ? cgroup_thaw(&c->cg, err)
			  : freeze_by_signal(c, false, err);
}

void capsule_stir(struct capsule *c, bool on)
{
	cgroup_stir(c->cg.dirs, c->cg.nr_dirs, c->weight, on);
}

void capsule_hasten(struct capsule *c)
{
	cgroup_hasten(c->cg.dirs, c->cg.nr_dirs);
}

const char *capsule_freezer(const struct capsule *c)
{
	static const char *const names[] = { "signals", "v1", "v2" };

	return names[c->cg.kind];
}

/* ---- limits ---- */

int capsule_ease(struct capsule *c, bool move, struct error *err)
{
	c->shared->disturbed |= move;
	if (move) {
		link_need_doors(&c->link, c->shared->plugged);
		cgroup_allow_realtime(&c->cg);
	}
	return cgroup_limit(&c->cg, &c->limits, move, err);
}

/*
 * By the kernel, for want of memory: nobody else can, but root.  Its socket is closed before
 * its processes end, and it with them.
 */
static bool init_was_killed(const struct capsule *c)
{
	struct pollfd socket = { .fd = c->events };
	siginfo_t info = { 0 };

	return poll(&socket, 1, 0) > 0 && socket.revents & POLLHUP &&
	       has_died(c, DIE_MS) &&
	       !waitid(P_PIDFD, (id_t)c->init, &info,
		       WEXITED | __WALL | WNOHANG | WNOWAIT) &&
	       info.si_code == CLD_KILLED && info.si_status == SIGKILL &&
	       cgroup_number("/proc", "vmstat", "oom_kill");
}

void capsule_met(const struct capsule *c, struct limits_met *ret)
{
	cgroup_met(&c->cg, &c->limits, ret);
	/* An init that lasts is in none of its groups. */
	if (c->lasting && c->init >= 0 && !ret->kills && init_was_killed(c))
		ret->kills++;
}

/* ---- looking at it ---- */

int capsule_event_fd(const struct capsule *c)
{
	return c->events;
}

pid_t capsule_init_pid(const struct capsule *c)
{
	return c->init_pid;
}
