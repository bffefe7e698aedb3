/*
 * test_fast_path.c - which packets the fast path takes, and what stops it
 *
 * The kernel runs the programs on packets made here (BPF_PROG_TEST_RUN), in
 * a network namespace of the test's own.  Skipped where that is forbidden.
 */
#include <arpa/inet.h>
#include <linux/pkt_cls.h>
#include <net/ethernet.h>
#include <netinet/ip.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/io.h"
#include "core/scratch.h"
#include "net/bpf.h"
#include "net/net.h"

#define CAPSULE "10.9.0.7"
#define PEER	"10.8.0.2" /* a peer that is reached by the uplink */

/* The host: an uplink to 10.8.0.0/24 and the capsule's pair. */
static struct {
	struct net *net;
	struct net_link uplink, end;
	int map, prog[2]; /* outwards, inwards */
	volatile struct fast_path_doors *doors;
} host;

struct packet {
	struct ether_header eth;
	struct iphdr ip;
	struct tcphdr tcp;
	uint8_t data[1460];
} __attribute__((packed));

/* Its exit status. */
static int shell(const char *command)
{
	int status = -1;
	pid_t pid = fork();

	if (!pid) {
		execl("/bin/sh", "sh", "-c", command, NULL);
		_exit(127);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static struct in_addr ip(const char *text)
{
	struct in_addr a;

	assert_int_equal(inet_pton(AF_INET, text, &a), 1);
	return a;
}

static void make_link(const char *name, struct net_link *ret)
{
	char other[NET_NAME_LEN];
	struct net_veth_end a = { .name = name, .netns = -1 };
	struct net_veth_end b = { .name = other, .netns = -1 };
	struct net_link peer;
	int r;

	snprintf(other, sizeof(other), "%s-peer", name);
	r = net_veth_create(host.net, &a, &b, 0, NULL);
	assert_true(r > 0);
	assert_int_equal(net_link_find(host.net, other, &peer, NULL), 0);
	assert_int_equal(net_link_up(host.net, r, true, NULL), 0);
	assert_int_equal(net_link_up(host.net, peer.index, true, NULL), 0);
	assert_int_equal(net_link_get(host.net, r, ret, NULL), 0);
	assert_int_equal(net_sysctl_link("conf", name, "forwarding", "1"), 0);
}

static void make_map(void)
{
	union bpf_attr attr = {
		.map_type = BPF_MAP_TYPE_ARRAY,
		.map_flags = BPF_F_MMAPABLE,
		.key_size = 4,
		.value_size = sizeof(*host.doors),
		.max_entries = 1,
	};

	host.map = bpf_call(BPF_MAP_CREATE, &attr);
	assert_true(host.map >= 0);
	host.doors = mmap(NULL, sizeof(*host.doors), PROT_READ | PROT_WRITE,
			  MAP_SHARED, host.map, 0);
	assert_true(host.doors != MAP_FAILED);
}

static int load(bool inwards)
{
	const struct fast_path_spec spec = {
		.uplink = host.uplink.index,
		.index = host.end.index,
		.address = ip(CAPSULE),
	};
	struct bpf_insn insn[FAST_PATH_INSNS];
	union bpf_attr attr = {
		.prog_type = BPF_PROG_TYPE_SCHED_CLS,
		.insns = (uintptr_t)insn,
		.insn_cnt = (uint32_t)fast_path_program(insn, inwards, host.map,
							&spec),
		.license = (uintptr_t) "GPL",
	};

	return bpf_call(BPF_PROG_LOAD, &attr);
}

static int set_up(void **state)
{
	struct net_route route = { .dst = ip(CAPSULE), .prefix = 32 };

	assert_int_equal(net_open(&host.net, NULL), 0);
	make_link("up", &host.uplink);
	make_link("end", &host.end);
	assert_int_equal(net_address_put(host.net, host.uplink.index,
					 ip("10.8.0.1"), 24, NULL),
			 0);
	route.index = host.end.index;
	assert_int_equal(net_route_put(host.net, &route, NULL), 0);
	make_map();
	for (int in = 0; in < 2; in++) {
		host.prog[in] = load(in);
		assert_true(host.prog[in] >= 0);
	}
	return 0;
}

/* A segment of n bytes that the program for its direction takes. */
static struct packet segment(bool inwards)
{
	const struct net_link *at = inwards ? &host.uplink : &host.end;
	struct packet p = {
		.eth.ether_type = htons(ETHERTYPE_IP),
		.ip = { .version = 4, .ihl = 5, .ttl = 64, .protocol = 6 },
		.tcp = { .doff = 5 },
	};

	memcpy(p.eth.ether_dhost, at->mac, NET_MAC_LEN);
	p.ip.frag_off = htons(IP_DF);
	p.ip.saddr = ip(inwards ? PEER : CAPSULE).s_addr;
	p.ip.daddr = ip(inwards ? CAPSULE : PEER).s_addr;
	return p;
}

/* Does the program take the packet? gso: the size of its segments, or 0. */
static bool taken(bool inwards, struct packet *p, unsigned n, unsigned gso)
{
	struct __sk_buff skb = {
		.ifindex = (uint32_t)(inwards ? host.uplink : host.end).index,
		.gso_size = gso,
		.gso_segs = gso ? n / gso + 1 : 0,
	};
	union bpf_attr attr = { 0 };

	p->ip.tot_len = htons((uint16_t)(40 + n));
	attr.test.prog_fd = (uint32_t)host.prog[inwards];
	attr.test.data_in = (uintptr_t)p;
	attr.test.data_size_in = offsetof(struct packet, data) + n;
	attr.test.ctx_in = (uintptr_t)&skb;
	attr.test.ctx_size_in = sizeof(skb);
	assert_int_equal(bpf_call(BPF_PROG_TEST_RUN, &attr), 0);
	assert_true((int)attr.test.retval == -1 ||
		    attr.test.retval == TC_ACT_REDIRECT);
	return attr.test.retval == TC_ACT_REDIRECT;
}

static void open_doors(void)
{
	*host.doors = (struct fast_path_doors){ .plugged = 1, .allowed = 1 };
}

static void doors(void **state)
{
	for (int in = 0; in < 2; in++) {
		struct packet p = segment(in);

		for (unsigned plugged = 0; plugged < 2; plugged++)
			for (unsigned allowed = 0; allowed < 2; allowed++) {
				host.doors->plugged = plugged;
				host.doors->allowed = allowed;
				assert_int_equal(taken(in, &p, 1, 0),
						 plugged && allowed);
			}
	}
}

static void set_end(struct packet *p, bool source, const char *address)
{
	if (source)
		p->ip.saddr = ip(address).s_addr;
	else
		p->ip.daddr = ip(address).s_addr;
}

static void addresses(void **state)
{
	static const char *const far[] = {
		"10.7.0.1", /* no route */
		"10.8.0.1", /* the host's own address */
		CAPSULE,    /* not reached by the uplink */
		"127.0.0.1", "10.8.0.255", "224.0.0.1",
	};
	struct packet p;

	open_doors();
	for (int in = 0; in < 2; in++) {
		p = segment(in);
		assert_true(taken(in, &p, 1, 0));
		set_end(&p, !in, "10.9.0.8"); /* of another capsule */
		assert_false(taken(in, &p, 1, 0));
		for (size_t i = 0; i < sizeof(far) / sizeof(far[0]); i++) {
			p = segment(in);
			set_end(&p, in, far[i]);
			assert_false(taken(in, &p, 1, 0));
		}
	}
}

/* Change one thing about the packet. */
static void spoil(struct packet *p, int what)
{
	switch (what) {
	case 0:
		p->eth.ether_dhost[5] ^= 1; /* nobody's, as when unplugged */
		break;
	case 1:
		memset(p->eth.ether_dhost, 0xff, NET_MAC_LEN);
		break;
	case 2:
		p->eth.ether_type = htons(ETHERTYPE_IPV6);
		break;
	case 3:
		p->ip.ihl = 6;
		break;
	case 4:
		p->ip.frag_off = htons(IP_MF);
		break;
	case 5:
		p->ip.frag_off = htons(3);
		break;
	case 6:
		p->ip.ttl = 1;
		break;
	case 7:
		p->ip.protocol = IPPROTO_ICMP;
		break;
	default:
		p->ip.protocol = IPPROTO_UDP;
	}
}

static void others(void **state)
{
	struct packet p;

	open_doors();
	for (int in = 0; in < 2; in++) {
		p = segment(in);
		p.ip.frag_off = 0;
		assert_true(taken(in, &p, 1400, 0));
		for (int what = 0; what < 9; what++) {
			p = segment(in);
			spoil(&p, what);
			if (taken(in, &p, 1, 0))
				fail_msg("%swards, %d", in ? "in" : "out",
					 what);
		}
	}
}

/*
 * Outwards: no packet, nor any segment of a large one, above the route's MTU is
 * taken.
 */
static void sizes(void **state)
{
	struct packet p = segment(false);

	open_doors();
	assert_true(taken(false, &p, 1460, 0));
	assert_true(taken(false, &p, 1460, 1460));
	p.tcp.doff = 8;
	assert_true(taken(false, &p, 1460, 1448));
	assert_false(taken(false, &p, 1460, 1449));
	assert_int_equal(shell("ip link set dev up mtu 1499"), 0);
	assert_false(taken(false, &p, 1460, 0));
	assert_true(taken(false, &p, 1459, 0));
	assert_false(taken(false, &p, 1460, 1448));
	assert_int_equal(shell("ip link set dev up mtu 1500"), 0);
}

/* Pretend that each CPU has cached what one of them found, valid until then. */
static void hold_found(bool inwards, uint64_t until)
{
	volatile struct fast_path_found *all = host.doors->found[!inwards];
	struct fast_path_found one = { 0 };

	for (int cpu = 0; cpu < FAST_PATH_CPUS; cpu++)
		if (all[cpu].until)
			one = all[cpu];
	assert_true(one.until);
	one.until = until;
	for (int cpu = 0; cpu < FAST_PATH_CPUS; cpu++)
		all[cpu] = one;
}

/* Change the packet, so that what was found for the former one does not fit. */
static void change(struct packet *p, bool inwards, int what)
{
	switch (what) {
	case 0:
		set_end(p, inwards, "10.8.0.3");
		break;
	case 1:
		p->tcp.source++;
		break;
	case 2:
		p->tcp.dest++;
		break;
	default:
		p->ip.tos = 8;
	}
}

/*
 * What was found of a route is used again for packets alike, and for a while.
 */
static void found(void **state)
{
	struct packet p;

	for (int in = 0; in < 2; in++) {
		open_doors();
		p = segment(in);
		assert_true(taken(in, &p, 100, 0));
		hold_found(in, UINT64_MAX);
		assert_int_equal(shell("ip route del 10.8.0.0/24"), 0);
		assert_true(taken(in, &p, 100, 0));
		assert_int_equal(taken(in, &p, 101, 0), in);
		assert_true(taken(in, &p, 99, 0));
		for (int what = 0; what < 4; what++) {
			p = segment(in);
			change(&p, in, what);
			assert_false(taken(in, &p, 100, 0));
		}
		p = segment(in);
		assert_true(taken(in, &p, 100, 0));
		host.doors->plugged = 0;
		assert_false(taken(in, &p, 100, 0));
		host.doors->plugged = 1;
		hold_found(in, 1); /* long ago */
		assert_false(taken(in, &p, 100, 0));
		assert_int_equal(shell("ip route add 10.8.0.0/24 dev up "
				       "proto kernel scope link src 10.8.0.1"),
				 0);
		assert_true(taken(in, &p, 100, 0));
	}
}

/*
 * Things that a host's owner may set up, and for which the fast path must make
 * way.
 */
static void hooks(void **state)
{
	static const struct {
		const char *on, *off, *what;
	} owner[] = {
		{ "nft add table ip6 a", "nft delete table ip6 a",
		  "nftables has the table a" },
		{ "tc qdisc add dev up ingress", "tc qdisc del dev up ingress",
		  "the uplink has a qdisc ingress" },
		{ "ip xfrm policy add dir fwd src 10.1.0.0/16",
		  "ip xfrm policy flush", "IPsec has policies" },
	};
	char what[NET_HOOK_TEXT];
	int up = host.uplink.index;

	assert_int_equal(net_hooks_find(up, what, NULL), 0);
	assert_int_equal(shell("tc qdisc add dev end ingress"), 0);
	assert_int_equal(net_hooks_find(up, what, NULL), 0);
	for (size_t i = 0; i < sizeof(owner) / sizeof(owner[0]); i++) {
		assert_int_equal(shell(owner[i].on), 0);
		assert_int_equal(net_hooks_find(up, what, NULL), 1);
		assert_string_equal(what, owner[i].what);
		assert_int_equal(shell(owner[i].off), 0);
		assert_int_equal(net_hooks_find(up, what, NULL), 0);
	}
}

/*
 * A BPF program at the netfilter hook of this namespace alone; -1 if the kernel
 * has no such.
 */
static int netfilter_link(void)
{
	const struct bpf_insn accept[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .imm = 1 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr attr = {
		.prog_type = BPF_NETFILTER_PROGRAM,
		.expected_attach_type = BPF_NETFILTER_ATTACH,
		.insns = (uintptr_t)accept,
		.insn_cnt = 2,
		.license = (uintptr_t) "GPL",
	};
	/* struct { pf, hook, priority, flags }, which <linux/bpf.h> lacks */
	const int at[] = { 2, 2, -128, 0 };
	fd_auto prog = bpf_call(BPF_PROG_LOAD, &attr);

	if (prog < 0)
		return -1;
	attr = (union bpf_attr){ 0 };
	attr.link_create.prog_fd = (uint32_t)prog;
	attr.link_create.attach_type = BPF_NETFILTER_ATTACH;
	memcpy((char *)&attr + 16, at, sizeof(at));
	return bpf_call(BPF_LINK_CREATE, &attr);
}

static void netfilter_program(void **state)
{
	char what[NET_HOOK_TEXT];
	int link = netfilter_link();

	if (link < 0) {
		print_message("# no BPF links of netfilter here\n");
		return;
	}
	assert_int_equal(net_hooks_find(host.uplink.index, what, NULL), 1);
	assert_string_equal(what, "netfilter has a BPF program");
	close(link);
}

/*
 * The table of IPVS, written as the kernel's module writes it, which need not
 * be loaded here.
 */
static void ipvs(void **state)
{
	static const char head[] =
		"IP Virtual Server version 1.2.1 (size=4096)\n"
		"Prot LocalAddress:Port Scheduler Flags\n"
		"  -> RemoteAddress:Port Forward Weight ActiveConn InActConn\n";
	char dir[SCRATCH_MAX], path[SCRATCH_MAX + 8], what[NET_HOOK_TEXT];
	int up = host.uplink.index;
	FILE *f;

	scratch_dir(dir, "/tmp");
	snprintf(path, sizeof(path), "%s/ip_vs", dir);
	assert_non_null(f = fopen(path, "w"));
	fputs(head, f);
	fflush(f);
	assert_int_equal(unshare(CLONE_NEWNS), 0);
	assert_int_equal(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), 0);
	assert_int_equal(mount(dir, "/proc/self/net", NULL, MS_BIND, NULL), 0);
	assert_int_equal(net_hooks_find(up, what, NULL), 0);
	fputs("TCP  0A000001:0050 rr  \n", f);
	fclose(f);
	assert_int_equal(net_hooks_find(up, what, NULL), 1);
	assert_string_equal(what, "IPVS has services");
	assert_int_equal(umount2("/proc/self/net", MNT_DETACH), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(doors),
		cmocka_unit_test(addresses),
		cmocka_unit_test(others),
		cmocka_unit_test(sizes),
		cmocka_unit_test(found),
		cmocka_unit_test(hooks),
		cmocka_unit_test(netfilter_program),
		cmocka_unit_test(ipvs),
	};

	if (geteuid() || unshare(CLONE_NEWNET) < 0) {
		printf("1..0 # SKIP needs root\n");
		return 0;
	}
	return cmocka_run_group_tests(tests, set_up, NULL);
}
