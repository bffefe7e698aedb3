/* up.c - make a testbed, see testbed.h */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "cluster/capsule/cgroup.h"
#include "cluster/testbed/priv.h"
#include "core/io.h"
#include "core/xalloc.h"
#include "net/net.h"

/*
 * Nobody sits at a test host (its agent reads a utmp of its own) unless somebody
 * says so, and what else runs on this machine, as slow as that may be, is no
 * owner's.
 */
#define TESTBED_CONF                                   \
	"[owner]\nquiet = 0\nload = any\nmemory = 0\n" \
	"disturb = 1000\ngive-back = 10min\n"
#define RT_MOST	     600000 /* of a second */
#define RT_LEAST     2000
#define QUOTA_PERIOD 20000 /* us: short, so that a slow host is not jerky */

/* ---- cgroups ---- */

static void plan_cgroups(struct testbed_record *rec, const char *name)
{
	char *bases[TESTBED_BASES_MAX];
	unsigned n = testbed_bases(name, bases);

	rec->cgroups = xcalloc(n * (rec->nr_hosts + 1) + 1, sizeof(char *));
	for (unsigned h = 1; h <= rec->nr_hosts; h++)
		for (unsigned i = 0; i < n; i++)
			rec->cgroups[rec->nr_cgroups++] =
				xasprintf("%s/h%u", bases[i], h);
	for (unsigned i = 0; i < n; i++)
		rec->cgroups[rec->nr_cgroups++] = bases[i];
}

/*
 * Cgroups of testbeds differ only by the testbed's name: one of the same name
 * in another directory would be taken down with ours.
 */
static int check_cgroups(const struct testbed_record *rec, struct error *err)
{
	for (size_t i = 0; i < rec->nr_cgroups; i++)
		if (!access(rec->cgroups[i], F_OK))
			return error_set(
				err, -EEXIST,
				"%s is there: a testbed of this name is up in another STINT_TESTBED_DIR, or that was deleted; take another --name, or remove it by rmdir",
				rec->cgroups[i]);
	return 0;
}

/* A cpuset is of no use before it has CPUs and memory; those around it do. */
static void inherit_cpuset(const char *dir)
{
	static const char *const files[] = { "cpuset.cpus", "cpuset.mems" };

	for (unsigned i = 0; i < 2; i++) {
		char *path = xasprintf("%s/../%s", dir, files[i]), *text;

		if (io_read_file(AT_FDCWD, path, 4096, &text) > 0) {
			(void)!cgroup_write(dir, files[i], text);
			free(text);
		}
		free(path);
	}
}

/*
 * Where the kernel schedules real-time by group (RT_GROUP_SCHED), a freeze can
 * only be hurried (core/hurry.h) in groups that have a share of it: up to 60 %
 * for the whole, so that other testbeds find some, equally for its hosts.
 */
static unsigned set_realtime(const char *dir, unsigned usec)
{
	char text[16];

	for (; usec >= RT_LEAST; usec /= 2) {
		snprintf(text, sizeof(text), "%u", usec);
		if (cgroup_write(dir, "cpu.rt_runtime_us", text) == 0)
			return usec;
	}
	return 0;
}

static int set_speed(const char *dir, double share, double speed,
		     struct error *err)
{
	char text[64];
	int r;

	snprintf(text, sizeof(text), "%d", (int)(share * 1024));
	(void)!cgroup_write(dir, "cpu.shares", text);
	snprintf(text, sizeof(text), "%d", (int)(share * 100));
	(void)!cgroup_write(dir, "cpu.weight", text);
	if (speed <= 0)
		return 0;
	snprintf(text, sizeof(text), "%d", QUOTA_PERIOD);
	if (!cgroup_write(dir, "cpu.cfs_period_us", text)) {
		snprintf(text, sizeof(text), "%d", (int)(speed * QUOTA_PERIOD));
		r = cgroup_write(dir, "cpu.cfs_quota_us", text);
	} else {
		snprintf(text, sizeof(text), "%d %d",
			 (int)(speed * QUOTA_PERIOD), QUOTA_PERIOD);
		r = cgroup_write(dir, "cpu.max", text);
	}
	/* Other hierarchies of v1 have no such file, and need none. */
	if (r < 0 && r != -ENOENT)
		return error_sys(err, r, "cannot limit %s to %g CPUs", dir,
				 speed);
	return 0;
}

/* Where the group is one that limits memory. */
static bool set_memory(const char *dir, uint64_t bytes)
{
	return cgroup_set(dir, "memory.limit_in_bytes", bytes) ||
	       cgroup_set(dir, "memory.max", bytes);
}

static int limit_memory(const struct testbed_spec *spec,
			const struct testbed_record *rec, struct error *err)
{
	unsigned each = rec->nr_cgroups / (rec->nr_hosts + 1);

	for (unsigned h = 0; h < rec->nr_hosts; h++) {
		bool set = false;

		for (unsigned i = 0; spec->memory[h] && i < each; i++)
			set |= set_memory(rec->cgroups[h * each + i],
					  spec->memory[h]);
		if (spec->memory[h] && !set)
			return error_set(err, -EOPNOTSUPP,
					 "no control group here can limit "
					 "memory: leave --memory away");
	}
	return 0;
}

/* Of a v2 group, for the host's processes. */
static int make_leaf(const char *dir, struct error *err)
{
	char *leaf = cgroup_leaf(dir), *v2 = xasprintf("%s/cgroup.type", dir);
	int r = 0;

	if (!access(v2, F_OK) && mkdir(leaf, 0755) < 0 && errno != EEXIST)
		r = error_sys(err, -errno, "cannot make %s", leaf);
	free(v2);
	free(leaf);
	return r;
}

static int make_cgroups(const struct testbed_spec *spec,
			const struct testbed_record *rec, struct error *err)
{
	unsigned each = rec->nr_cgroups / (rec->nr_hosts + 1), h;
	unsigned realtime = 0, got;
	int r = 0;

	for (size_t i = rec->nr_cgroups; !r && i-- > 0;) {
		const char *dir = rec->cgroups[i];

		if (mkdir(dir, 0755) < 0 && errno != EEXIST)
			return error_sys(err, -errno, "cannot make %s", dir);
		inherit_cpuset(dir);
		h = i / each;
		if (h < rec->nr_hosts) {
			(void)set_realtime(dir, realtime / rec->nr_hosts);
			r = make_leaf(dir, err);
			r = r ? r
			      : set_speed(dir,
					  spec->share[h] ? spec->share[h] : 1,
					  spec->speed[h], err);
		} else {
			got = set_realtime(dir, RT_MOST);
			realtime = got ? got : realtime;
			/* v2: lets the hosts' groups have limits */
			cgroup_pass_on_all(dir);
			r = set_speed(dir, 1, spec->whole, err);
		}
	}
	return r < 0 ? r : limit_memory(spec, rec, err);
}

/* ---- networks ---- */

static int put_file(const char *path, const char *text, struct error *err)
{
	fd_auto fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	int r = fd < 0 ? -errno : io_write_full(fd, text, strlen(text));

	return r < 0 ? error_sys(err, r, "cannot write %s", path) : 0;
}

/*
 * A new network namespace, held by a mount at path; the caller is in it when
 * this returns its descriptor.
 */
static int make_netns(const char *path, struct error *err)
{
	int r = put_file(path, "", err), fd;

	if (r < 0)
		return r;
	if (unshare(CLONE_NEWNET) < 0)
		return error_sys(err, -errno,
				 "cannot make a network namespace");
	if (mount("/proc/thread-self/ns/net", path, NULL, MS_BIND, NULL) < 0)
		return error_sys(err, -errno,
				 "cannot hold a network namespace at %s", path);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? error_sys(err, -errno, "cannot open %s", path) : fd;
}

/* What the LAN's end of the making needs. */
struct lan {
	struct net *net; /* a socket in its namespace */
	int bridge;
};

static int make_lan(const char *name, struct lan *ret, struct error *err)
{
	char *path = testbed_path(name, "lan");
	fd_auto fd = make_netns(path, err);
	int r = fd;

	free(path);
	if (r < 0 || (r = net_open(&ret->net, err)) < 0)
		return r;
	r = net_bridge_create(ret->net, TESTBED_BRIDGE, err);
	if (r < 0)
		return r;
	ret->bridge = r;
	return net_link_up(ret->net, ret->bridge, true, err);
}

static struct in_addr host_address(unsigned number)
{
	struct in_addr addr;
	char text[NET_TEXT];

	snprintf(text, sizeof(text), TESTBED_HOST_ADDRESS, number);
	inet_pton(AF_INET, text, &addr);
	return addr;
}

/* A cable from the bridge to a host that the caller is in, as its eth0. */
static int plug_host(const struct lan *lan, unsigned number, int netns,
		     struct error *err)
{
	char port[NET_NAME_LEN];
	uint8_t mac[NET_MAC_LEN];
	struct net_veth_end a = { .name = port, .netns = -1 };
	struct net_veth_end b = { .name = TESTBED_UPLINK,
				  .mac = mac,
				  .netns = netns };
	int r;

	net_mac_of(host_address(number), mac);
	snprintf(port, sizeof(port), "h%u", number);
	r = net_veth_create(lan->net, &a, &b, 0, err);
	if (r < 0)
		return r;
	if (net_link_set_master(lan->net, r, lan->bridge, err) < 0)
		return -EIO;
	return net_link_up(lan->net, r, true, err);
}

static int up_link(struct net *net, const char *name, int *ret_index,
		   struct error *err)
{
	struct net_link link;
	int r = net_link_find(net, name, &link, err);

	*ret_index = link.index;
	return r < 0 ? r : net_link_up(net, link.index, true, err);
}

/* In the host's namespace: addresses, and what routed capsules need. */
static int set_up_host(struct net *net, unsigned number, bool bridge,
		       struct error *err)
{
	const char *uplink = bridge ? TESTBED_BRIDGE : TESTBED_UPLINK;
	struct in_addr pool;
	unsigned prefix;
	int r, lo, eth0, index;

	if ((r = net_parse_cidr(TESTBED_POOL, &pool, &prefix, err)) < 0 ||
	    (r = up_link(net, "lo", &lo, err)) < 0 ||
	    (r = up_link(net, TESTBED_UPLINK, &eth0, err)) < 0)
		return r;
	index = eth0;
	if (bridge) {
		r = net_bridge_create(net, TESTBED_BRIDGE, err);
		if (r < 0)
			return r;
		index = r;
		if ((r = net_link_set_master(net, eth0, index, err)) < 0 ||
		    (r = net_link_up(net, index, true, err)) < 0)
			return r;
	}
	r = net_address_put(net, index, host_address(number),
			    TESTBED_LAN_PREFIX, err);
	return r < 0 ? r : net_host_prepare(net, uplink, pool, prefix, err);
}

/*
 * In memory, as /run is: on a disk each file and socket of a short job would cost
 * what it does on no host.
 */
static int make_run_dir(const char *path, struct error *err)
{
	struct statfs fs;

	if (mkdir(path, 0700) < 0)
		return error_sys(err, -errno, "cannot make %s", path);
	if (!statfs(path, &fs) && fs.f_type == TMPFS_MAGIC)
		return 0;
	return mount("tmpfs", path, "tmpfs", MS_NOSUID | MS_NODEV,
		     "mode=0700") < 0
		       ? error_sys(err, -errno, "cannot mount %s", path)
		       : 0;
}

static int make_host_dirs(const char *name, unsigned number, unsigned nr_hosts,
			  struct error *err)
{
	char *dir = testbed_path(name, "h%u", number);
	char *run = testbed_path(name, "h%u/run", number);
	char *hosts = testbed_path(name, "h%u/hosts", number);
	char *conf = testbed_path(name, "h%u/stint.conf", number);
	char *text = xstrdup("127.0.0.1 localhost\n::1 localhost\n"), *more;
	int r = 0;

	for (unsigned h = 1; h <= nr_hosts; h++) {
		more = xasprintf("%s" TESTBED_HOST_ADDRESS " h%u\n", text, h,
				 h);
		free(text);
		text = more;
	}
	r = mkdir(dir, 0755) < 0 ? error_sys(err, -errno, "cannot make %s", dir)
				 : make_run_dir(run, err);
	if (!r)
		r = put_file(hosts, text, err);
	if (!r)
		r = put_file(conf, TESTBED_CONF, err);
	free(conf);
	free(text);
	free(hosts);
	free(run);
	free(dir);
	return r;
}

static int make_host(const struct testbed_spec *spec, const struct lan *lan,
		     unsigned number, struct error *err)
{
	int r = make_host_dirs(spec->name, number, spec->nr_hosts, err);
	char *path = testbed_path(spec->name, "h%u/netns", number);
	struct net *net = NULL;
	fd_auto fd = -1;

	if (!r)
		r = fd = make_netns(path, err);
	free(path);
	if (r < 0 || (r = net_open(&net, err)) < 0)
		return r;
	r = plug_host(lan, number, fd, err);
	if (!r)
		r = set_up_host(net, number, spec->bridge, err);
	net_close(net);
	return r < 0 ? error_prefix(err, r, "host h%u", number) : 0;
}

/* Leaves the caller in some namespace of the testbed: testbed_up() returns. */
static int make_networks(const struct testbed_spec *spec, struct error *err)
{
	struct lan lan = { 0 };
	int r = make_lan(spec->name, &lan, err);

	for (unsigned h = 1; !r && h <= spec->nr_hosts; h++)
		r = make_host(spec, &lan, h, err);
	net_close(lan.net);
	return r;
}

/* ---- all of it ---- */

static int check_free(const char *name, struct error *err)
{
	struct testbed_info *list;
	size_t n;
	int r = testbed_list(&list, &n, err);

	if (r < 0)
		return r;
	for (size_t i = 0; i < n; i++)
		if (!strcmp(list[i].name, name) && list[i].up)
			r = error_set(
				err, -EEXIST,
				"testbed %s is up; end it with: stint testbed down --name %s",
				name, name);
	free(list);
	return r < 0 ? r : testbed_remove(name, err);
}

static int make_all(const struct testbed_spec *spec, struct testbed_record *rec,
		    struct error *err)
{
	char *dir = testbed_dir(spec->name);
	int r;

	r = check_cgroups(rec, err);
	if (!r && mkdir(dir, 0755) < 0)
		r = error_sys(err, -errno, "cannot make %s", dir);
	else if (!r && !(r = testbed_record_write(spec->name, rec, err))) {
		r = make_cgroups(spec, rec, err);
		if (!r)
			r = make_networks(spec, err);
		/*
		 * Clean up now: later the record may be gone, as a test's
		 * directory is deleted.
		 */
		if (r < 0)
			(void)!cgroup_remove(rec->cgroups, rec->nr_cgroups);
	}
	free(dir);
	return r;
}

/* Without this file it is a broken one. */
static int mark_up(const char *name, struct error *err)
{
	char *path = testbed_path(name, "up");
	int r = put_file(path, "", err);

	free(path);
	return r;
}

/* The lock is held, and nothing of that name is there. */
static int bring_up(const struct testbed_spec *spec, struct error *err)
{
	struct testbed_record rec = { .nr_hosts = spec->nr_hosts };
	fd_auto home = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	int r = process_boot_id(rec.boot, err);

	if (r < 0)
		return r;
	plan_cgroups(&rec, spec->name);
	r = make_all(spec, &rec, err);
	if (home < 0 || setns(home, CLONE_NEWNET) < 0)
		r = error_sys(err, -errno,
			      "cannot return to our own network namespace");
	testbed_record_clear(&rec);
	if (!r && !spec->bare)
		r = testbed_serve(spec, err);
	return r < 0 ? r : mark_up(spec->name, err);
}

int testbed_up(const struct testbed_spec *spec, struct error *err)
{
	fd_auto lock = -1;
	int r;

	if (geteuid())
		return error_set(err, -EPERM, "only root can make a testbed");
	if (!spec->nr_hosts || spec->nr_hosts > TESTBED_HOSTS_MAX)
		return error_set(err, -EINVAL, "a testbed has 1 to %d hosts",
				 TESTBED_HOSTS_MAX);
	r = testbed_check_name(spec->name, err);
	if (r < 0)
		return r;
	lock = testbed_lock(err);
	if (lock < 0)
		return lock;
	r = check_free(spec->name, err);
	if (r < 0)
		return r;
	r = bring_up(spec, err);
	if (r < 0)
		(void)!testbed_remove(spec->name, NULL);
	return r;
}
