/*
 * hooks.c - who on this host wants to see forwarded packets, see fast_path.h
 *
 * A dump of the netfilter hooks themselves would be exact, but distributions
 * do not all build it (NETFILTER_NETLINK_HOOK); so tables are what counts.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/pkt_sched.h>
#include <linux/xfrm.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/io.h"
#include "net/bpf.h"
#include "net/request.h"

struct finding {
	int uplink;
	bool found;
	char *what; /* NET_HOOK_TEXT */
};

static const char *attr_text(const struct nlattr *attr)
{
	return mnl_attr_validate(attr, MNL_TYPE_NUL_STRING) < 0
		       ? "?"
		       : mnl_attr_get_str(attr);
}

/* One netlink request over a socket of its own family; -errno or 0. */
static int ask_kernel(int family, struct net_request *req, net_reply *cb,
		      struct finding *f)
{
	struct net *net;
	int r = net_open_family(family, &net, NULL);

	if (r < 0)
		return r;
	r = net_request_call(net, req, cb, f);
	net_close(net);
	return r;
}

/* ---- nftables, also what iptables-nft makes */

static void see_table(const struct nlmsghdr *nlh, void *data)
{
	struct finding *f = data;
	const struct nlattr *attr;

	if (f->found)
		return;
	f->found = true;
	mnl_attr_for_each (attr, nlh, sizeof(struct nfgenmsg))
		if (mnl_attr_get_type(attr) == NFTA_TABLE_NAME)
			snprintf(f->what, NET_HOOK_TEXT,
				 "nftables has the table %.40s",
				 attr_text(attr));
}

static int find_nftables(struct finding *f)
{
	struct net_request req;
	int r;

	(void)net_request_init(&req,
			       NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_GETTABLE,
			       NLM_F_DUMP, sizeof(struct nfgenmsg));
	r = ask_kernel(NETLINK_NETFILTER, &req, see_table, f);
	/* A kernel without netfilter, or without nftables. */
	return r == -EPROTONOSUPPORT || r == -EINVAL ? 0 : r;
}

/* ---- iptables of old */

static int find_iptables(struct finding *f)
{
	char *text;
	ssize_t n = io_read_file(AT_FDCWD, "/proc/net/ip_tables_names", 4096,
				 &text);

	if (n == -ENOENT)
		return 0; /* its module is not there */
	if (n < 0)
		return (int)n;
	f->found = n > 0;
	if (n > 0)
		snprintf(f->what, NET_HOOK_TEXT, "iptables has the table %.*s",
			 (int)strcspn(text, "\n"), text);
	free(text);
	return 0;
}

/* ---- traffic control */

static void see_qdisc(const struct nlmsghdr *nlh, void *data)
{
	const struct tcmsg *tc = mnl_nlmsg_get_payload(nlh);
	struct finding *f = data;
	const struct nlattr *attr;

	/* The same number stands for clsact. */
	if (f->found || tc->tcm_ifindex != f->uplink ||
	    tc->tcm_parent != TC_H_INGRESS)
		return;
	f->found = true;
	mnl_attr_for_each (attr, nlh, sizeof(*tc))
		if (mnl_attr_get_type(attr) == TCA_KIND)
			snprintf(f->what, NET_HOOK_TEXT,
				 "the uplink has a qdisc %.40s",
				 attr_text(attr));
}

static int find_qdisc(struct finding *f)
{
	struct net_request req;

	(void)net_request_init(&req, RTM_GETQDISC, NLM_F_DUMP,
			       sizeof(struct tcmsg));
	return ask_kernel(NETLINK_ROUTE, &req, see_qdisc, f);
}

/*
 * Get the kernel's information about an object by its id; -errno if it no
 * longer exists.
 */
static int object_info(int get_fd, uint32_t id, void *ret, size_t size)
{
	union bpf_attr attr = { .start_id = id }; /* the place of every id */
	fd_auto fd = bpf_call(get_fd, &attr);

	if (fd < 0)
		return -errno;
	attr = (union bpf_attr){ 0 };
	attr.info.bpf_fd = (uint32_t)fd;
	attr.info.info_len = (uint32_t)size;
	attr.info.info = (uintptr_t)ret;
	return bpf_call(BPF_OBJ_GET_INFO_BY_FD, &attr) < 0 ? -errno : 0;
}

/* One of ours; -errno if it has gone meanwhile. */
static int is_ours(uint32_t id)
{
	struct bpf_prog_info info = { 0 };
	int r = object_info(BPF_PROG_GET_FD_BY_ID, id, &info, sizeof(info));

	return r < 0 ? r : !strcmp(info.name, FAST_PATH_NAME);
}

static int find_tcx(struct finding *f)
{
	uint32_t ids[64]; /* as many as a link can have */
	union bpf_attr attr = { 0 };
	int r;

	attr.query.target_fd = (uint32_t)f->uplink;
	attr.query.attach_type = BPF_TCX_INGRESS_TYPE;
	attr.query.prog_ids = (uintptr_t)ids;
	attr.query.prog_cnt = sizeof(ids) / sizeof(ids[0]);
	if (bpf_call(BPF_PROG_QUERY, &attr) < 0)
		/* No program is attached, or the kernel has no tcx. */
		return errno == ENOENT || errno == EINVAL ? 0 : -errno;
	for (uint32_t i = 0; i < attr.query.prog_cnt && !f->found; i++) {
		r = is_ours(ids[i]);
		if (r == -ENOENT)
			continue;
		if (r < 0)
			return r;
		f->found = !r;
	}
	if (f->found)
		snprintf(f->what, NET_HOOK_TEXT,
			 "the uplink has a tcx program that is not Stint's");
	return 0;
}

/* ---- BPF programs at netfilter's hooks */

/* -errno if it has gone meanwhile. */
static int is_at_netfilter(uint32_t id)
{
	struct bpf_link_info info = { 0 };
	int r = object_info(BPF_LINK_GET_FD_BY_ID, id, &info, sizeof(info));

	return r < 0 ? r : info.type == BPF_NETFILTER_LINK;
}

/* The kernel does not tell in which network namespace: all of them count. */
static int find_netfilter_bpf(struct finding *f)
{
	union bpf_attr attr = { 0 };
	int r;

	while (!f->found && !bpf_call(BPF_LINK_GET_NEXT_ID, &attr)) {
		r = is_at_netfilter(attr.next_id);
		if (r < 0 && r != -ENOENT)
			return r;
		f->found = r > 0;
		attr = (union bpf_attr){ .start_id = attr.next_id };
	}
	if (f->found)
		snprintf(f->what, NET_HOOK_TEXT, "netfilter has a BPF program");
	return f->found || errno == ENOENT ? 0 : -errno;
}

/* ---- IPVS */

/* Its table has three lines before the first service. */
static int find_ipvs(struct finding *f)
{
	char *text, *line;
	ssize_t n = io_read_file(AT_FDCWD, "/proc/net/ip_vs", 1 << 20, &text);

	if (n == -ENOENT)
		return 0; /* its module is not there */
	if (n < 0 && n != -EFBIG)
		return (int)n;
	line = n < 0 ? NULL : text;
	for (int i = 0; i < 3 && line; i++) {
		line = strchr(line, '\n');
		line = line ? line + 1 : NULL;
	}
	f->found = n < 0 || (line && *line);
	if (f->found)
		snprintf(f->what, NET_HOOK_TEXT, "IPVS has services");
	if (n >= 0)
		free(text);
	return 0;
}

/* ---- IPsec */

static void see_policies(const struct nlmsghdr *nlh, void *data)
{
	struct finding *f = data;
	const struct nlattr *attr;
	const struct xfrmu_spdinfo *info;

	mnl_attr_for_each (attr, nlh, sizeof(uint32_t)) {
		if (mnl_attr_get_type(attr) != XFRMA_SPD_INFO ||
		    mnl_attr_get_payload_len(attr) < sizeof(*info))
			continue;
		info = mnl_attr_get_payload(attr);
		f->found = info->incnt || info->outcnt || info->fwdcnt;
	}
	if (f->found)
		snprintf(f->what, NET_HOOK_TEXT, "IPsec has policies");
}

static int find_ipsec(struct finding *f)
{
	struct net_request req;
	int r;

	(void)net_request_init(&req, XFRM_MSG_GETSPDINFO, 0, sizeof(uint32_t));
	r = ask_kernel(NETLINK_XFRM, &req, see_policies, f);
	return r == -EPROTONOSUPPORT ? 0 : r;
}

int net_hooks_find(int uplink, char what[NET_HOOK_TEXT], struct error *err)
{
	static const struct {
		const char *name;
		int (*find)(struct finding *f);
	} kinds[] = {
		{ "nftables", find_nftables },
		{ "iptables", find_iptables },
		{ "traffic control", find_qdisc },
		{ "tcx", find_tcx },
		{ "BPF programs of netfilter", find_netfilter_bpf },
		{ "IPVS", find_ipvs },
		{ "IPsec", find_ipsec },
	};
	char text[NET_HOOK_TEXT] = "";
	struct finding f = { .uplink = uplink, .what = text };
	int r;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		r = kinds[i].find(&f);
		if (r < 0)
			return error_sys(err, r, "cannot look for %s",
					 kinds[i].name);
		if (!f.found)
			continue;
		memcpy(what, text, sizeof(text));
		return 1;
	}
	return 0;
}

void net_hooks_look(int uplink, struct net_hooks *ret)
{
	char what[NET_HOOK_TEXT] = "";
	struct error err = ERROR_INIT;

	ret->uplink = uplink;
	ret->found = net_hooks_find(uplink, what, &err);
	snprintf(ret->text, sizeof(ret->text), "%.*s",
		 (int)sizeof(ret->text) - 1, ret->found < 0 ? err.text : what);
}
