/*
 * spare.c - a network that capsules have one after the other
 *
 * To make a network namespace with its pair of links, and to take it down, costs the
 * kernel more than all else of a short job, and most short jobs do not speak to
 * anybody.  So the network of a capsule that begins here is made by its keeper,
 * outlives it, and is handed on if it is as new: no socket is left in it, and each of the kernel's
 * counters has the value that it had then.  Whoever sent or got a single packet, or failed
 * to, has used it, and it ends with its capsule, as the networks of ranks that
 * have moved do.
 *
 * Programs have no capabilities there.  So what they can leave in a network without a socket and
 * without a packet are IPv6 flow labels, which are looked at, too.  What
 * they can take out of it is a file of its /proc/net, handed to a process elsewhere,
 * and that would show what comes after: a network is handed on to capsules of the same user
 * only.
 *
 * Its owner is the host's user namespace, not its capsule's.  So nobody in the
 * capsule may restore a connection in it: a rank that lands has a network of its
 * own.
 */
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cluster/capsule/bounds.h"
#include "cluster/capsule/priv.h"
#include "core/io.h"

/* ---- has anybody used it? */

enum {
	SOCKETS,
	DEVICES,
	LABELS = SPARE_FILES - 1
}; /* of the files; after the first counters */
static const char *const names[SPARE_FILES] = { "sockstat", "dev",
						"snmp",	    "netstat",
						"snmp6",    "ip6_flowlabel" };

struct look {
	struct spare is; /* of which the text is filled in */
	int sockets;
};

/* In the network of this thread. */
static int open_files(void *arg, struct error *err)
{
	struct spare_files *files = arg;
	char path[64];

	for (int i = 0; i < SPARE_FILES; i++) {
		snprintf(path, sizeof(path), "/proc/thread-self/net/%s",
			 names[i]);
		files->fd[i] = open(path, O_RDONLY | O_CLOEXEC);
	}
	files->open = true;
	return 0;
}

/*
 * From its beginning, anew; a file that the kernel has not is left out.  To be told that
 * there is no more, the kernel would write all of it a second time: a list comes by pages,
 * and what is no list at once.
 */
static int read_file(int fd, bool list, char *to, size_t room)
{
	enum { LESS_THAN_A_PAGE = 2048 };
	size_t n = 0;
	ssize_t k;

	while (fd >= 0 && n < room &&
	       (k = pread(fd, to + n, room - n, (off_t)n)) > 0) {
		n += (size_t)k;
		if (!list || k < LESS_THAN_A_PAGE)
			break;
	}
	return n < room ? (int)n : -E2BIG;
}

static int count_sockets(int fd, int *ret)
{
	static const char used[] = "sockets: used ";
	char text[1024] = "";
	int k = read_file(fd, false, text, sizeof(text) - 1);

	if (k <= 0 || strncmp(text, used, sizeof(used) - 1))
		return -EOPNOTSUPP;
	*ret = (int)strtol(text + sizeof(used) - 1, NULL, 10);
	return 0;
}

static int look(struct capsule_spare *spare, struct look *l)
{
	struct spare_files *files = &spare->files;
	int r = files->open ? 0
			    : net_visit(spare->netns, open_files, files, NULL);

	if (!r)
		r = count_sockets(files->fd[SOCKETS], &l->sockets);
	l->is.n = 0;
	for (int i = SOCKETS + 1; i < SPARE_FILES && r >= 0; i++) {
		r = read_file(files->fd[i], i == DEVICES || i == LABELS,
			      l->is.text + l->is.n,
			      sizeof(l->is.text) - l->is.n);
		if (r > 0)
			l->is.n += (size_t)r;
	}
	return r < 0 ? r : 0;
}

static bool is_unused(struct capsule_spare *spare)
{
	enum { OURS = 1 }; /* by which we speak to the kernel */
	struct look l;

	return spare->is.n && !look(spare, &l) && l.sockets == OURS &&
	       l.is.n == spare->is.n &&
	       !memcmp(l.is.text, spare->is.text, l.is.n);
}

/* Where this is not done, or they cannot be read, it will not be handed on. */
static void remember(struct capsule_spare *spare)
{
	struct look l;

	if (look(spare, &l) < 0)
		return;
	memcpy(spare->is.text, l.is.text, l.is.n);
	spare->is.n = l.is.n;
}

/* ---- making one */

/* Spares outlive who has made them, and their pid may be another's by then. */
static void choose_name(struct capsule_link *l, bool bound)
{
	static unsigned count;

	do
		snprintf(l->name, sizeof(l->name), "%s%dy%u",
			 bound ? BOUNDS_LINKS : "sto", getpid(),
			 count++ % 10000);
	while (if_nametoindex(l->name));
}

/*
 * By IGMPv3 and MLDv2 the kernel tells of a membership in a group some ms after it began, and
 * again a second later, even if its socket was closed at once: until then all
 * counters are as new, and what tells of it would tell the next job.  By the versions before,
 * who leaves a group takes along what was not yet told, or has told it by then.
 * Nobody but the host's end of the pair hears any of it.
 */
static int tell_of_groups_at_once(void *arg, struct error *err)
{
	int v4 = net_sysctl("conf/all/force_igmp_version", "2");
	int v6 = net_sysctl("../ipv6/conf/all/force_mld_version", "1");

	/* A kernel without IPv6 has no groups of it. */
	return v4 < 0 ? v4 : v6 == -ENOENT ? 0 : v6;
}

/*
 * Both ends, up.  The host speaks no IPv6 by it: what it tells all who are there
 * would be counted.
 */
static int furnish(struct capsule_link *l, struct error *err)
{
	char key[64];
	int r = net_open_at(l->spare.netns, &l->inside, err);

	if (!r)
		r = link_make_pair(l, l->spare.netns, err);
	if (r < 0)
		return r;
	snprintf(key, sizeof(key), "../ipv6/conf/%s/disable_ipv6", l->name);
	(void)!net_sysctl(key, "1");
	if ((r = net_link_up(l->inside, l->eth0, true, err)) < 0 ||
	    (r = net_link_up_forwarding(l->host, l->index, err)) < 0 ||
	    (r = link_await(l, err)) < 0)
		return r;
	memcpy(l->spare.is.name, l->name, sizeof(l->name));
	l->spare.is.index = l->index;
	l->spare.is.eth0 = l->eth0;
	l->spare.new = true;
	if (net_visit(l->spare.netns, tell_of_groups_at_once, NULL, NULL) >= 0)
		remember(&l->spare);
	return 0;
}

static int make(struct capsule_link *l, struct error *err)
{
	int r = birth_netns(&l->spare.netns, err);

	if (r < 0)
		return r;
	choose_name(l, l->spare.is.bound);
	return furnish(l, err);
}

/* ---- having one */

int spare_take(struct capsule_link *l, const struct capsule_spec *spec,
	       struct error *err)
{
	struct spare *is = &l->spare.is;
	int r;

	if (l->mode != CAPSULE_NET_ROUTED || spec->lands || !store_is_there() ||
	    !birth_has_cradle())
		return 0;
	kept_lend_socket(l);
	if ((r = link_look_at_host(l, spec, -1, err)) < 0)
		return r;
	is->uid = spec->uid;
	is->bound = spec->bound;
	is->mtu = l->mtu;
	if (!kept_take_network(l) && !store_ask(&l->spare))
		return make(l, err);
	memcpy(l->name, is->name, sizeof(l->name));
	l->index = is->index;
	l->eth0 = is->eth0;
	return l->inside ? 0 : net_open_at(l->spare.netns, &l->inside, err);
}

bool spare_clean(struct capsule_link *l)
{
	if (l->spare.netns < 0 || !l->cut ||
	    (l->fast && fast_path_attached(l->fast)))
		return false;
	/* With the only address go all routes and neighbours. */
	return net_address_delete(l->inside, l->eth0, l->address, 32, NULL) >=
		       0 &&
	       is_unused(&l->spare);
}

void spare_hand_on(struct capsule_link *l)
{
	store_give(&l->spare);
}
