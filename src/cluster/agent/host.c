/* host.c - what an agent's host is, and what it gives */
#include <errno.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cluster/agent/priv.h"
#include "cluster/capsule/cgroup.h"
#include "cluster/host/identity.h"
#include "cluster/host/process.h"
#include "core/io.h"
#include "core/log.h"
#include "core/xalloc.h"
#include "net/net.h"

/* The benchmark's result, measured once for each processor model. */
static double cached_score(const char *run_dir)
{
	char *path = xasprintf("%s/score", run_dir), *line = io_read_line(path);
	double score = strtod(line, NULL);
	FILE *f;

	free(line);
	if (!(score > 0 && score < 1e9)) {
		score = host_score();
		f = fopen(path, "we");
		if (f) {
			fprintf(f, "%.3f\n", score);
			fclose(f);
		}
	}
	free(path);
	return score;
}

/* SIOCGIFADDR or SIOCGIFNETMASK of a link; false: it has none. */
static bool ask_link(const char *link, unsigned long what, struct in_addr *ret)
{
	struct ifreq q = { .ifr_flags = 0 };
	fd_auto fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct sockaddr_in sin;

	snprintf(q.ifr_name, sizeof(q.ifr_name), "%s", link);
	if (fd < 0 || ioctl(fd, what, &q) < 0)
		return false;
	memcpy(&sin, &q.ifr_addr, sizeof(sin));
	*ret = sin.sin_addr;
	return true;
}

/* The IPv4 address of a link. */
static char *address_of(const char *link)
{
	struct in_addr addr;
	char text[NET_TEXT];

	return ask_link(link, SIOCGIFADDR, &addr)
		       ? xstrdup(net_addr_text(addr, text))
		       : NULL;
}

unsigned agent_prefix(const struct agent *a)
{
	const char *link = a->conf->uplink;
	struct in_addr mask;

	return link && ask_link(link, SIOCGIFNETMASK, &mask)
		       ? (unsigned)__builtin_popcount(mask.s_addr)
		       : 0;
}

uint64_t agent_link_bits(const struct agent *a)
{
	struct ethtool_cmd cmd = { .cmd = ETHTOOL_GSET };
	struct ifreq q = { .ifr_data = (void *)&cmd };
	fd_auto fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	uint32_t megabits;

	if (!a->conf->uplink || fd < 0)
		return 0;
	snprintf(q.ifr_name, sizeof(q.ifr_name), "%s", a->conf->uplink);
	if (ioctl(fd, SIOCETHTOOL, &q) < 0)
		return 0;
	megabits = ethtool_cmd_speed(&cmd);
	return megabits == (uint32_t)SPEED_UNKNOWN ? 0 : megabits * 1000000ull;
}

/*
 * Limits that the configuration sets must be enforceable. The built-in default
 * number of processes is dropped if the kernel or an agent without root cannot
 * enforce it.
 */
static int settle_terms(struct agent *a, struct error *err)
{
	struct limit_terms t = a->conf->terms;
	bool memory = t.given.memory || t.most.memory;
	int r = limit_terms_check(&t, err);

	if (r < 0)
		return r;
	if (memory && !cgroup_can_limit("memory"))
		return error_set(err, -EOPNOTSUPP,
				 "memory-default and memory-max: no control "
				 "group with the memory controller may be made "
				 "here");
	a->limits_cpus = cgroup_can_limit("cpu");
	if ((t.given.cpus || t.most.cpus) && !a->limits_cpus)
		return error_set(err, -EOPNOTSUPP,
				 "cpus-default and cpus-max: no control group "
				 "with the cpu controller may be made here");
	if (!cgroup_can_limit("pids")) {
		if (t.most.pids ||
		    (t.given.pids && t.given.pids != LIMITS_PIDS_DEFAULT))
			return error_set(
				err, -EOPNOTSUPP,
				"pids-default and pids-max: no control "
				"group with the pids controller may be "
				"made here");
		if (t.given.pids)
			log_warnx(
				"pids-default=none why=\"no control group with the "
				"pids controller may be made here\"");
		t.given.pids = 0;
	}
	a->terms = limit_terms_text(&t);
	return 0;
}

/*
 * The service of an agent has it for all hosts, those with cgroup v1's
 * controllers among them.
 */
const char *agent_find_home(const struct agent_conf *conf)
{
	struct error err = ERROR_INIT;

	if (!conf->cgroup)
		return NULL;
	if (!cgroup_set_home(conf->cgroup, &err) &&
	    !cgroup_settle(conf->cgroup, &err))
		return conf->cgroup;
	log_warnx("cgroup=own why=\"%s\"", err.text);
	return NULL;
}

int agent_describe(struct agent *a, struct error *err)
{
	const struct agent_conf *conf = a->conf;
	bool uplink = conf->uplink && *conf->uplink;
	char boot[PROCESS_BOOT_LEN];
	int r = process_boot_id(boot, err);

	if (r < 0)
		return r;
	a->boot_id = xstrdup(boot);
	a->address = conf->address ? xstrdup(conf->address)
		     : uplink	   ? address_of(conf->uplink)
				   : xstrdup("127.0.0.1");
	if (!a->address)
		return error_set(err, -ENODEV,
				 "the uplink %s has no IPv4 address: give it "
				 "one, or --address=ADDRESS",
				 conf->uplink);
	a->net = conf->net ? conf->net : geteuid() ? "none" : "routed";
	a->cores = conf->cores ? conf->cores : host_cores();
	a->score = conf->score > 0 ? conf->score : cached_score(conf->run_dir);
	a->load = host_load_create(conf->run_dir, conf->load_average);
	/* Without root ranks can only run as the agent's own user. */
	if (!geteuid()) {
		a->min_uid = conf->min_uid < 0 ? identity_first("UID_MIN")
					       : (uint32_t)conf->min_uid;
		a->min_gid = conf->min_gid < 0 ? identity_first("GID_MIN")
					       : (uint32_t)conf->min_gid;
	}
	return settle_terms(a, err);
}
