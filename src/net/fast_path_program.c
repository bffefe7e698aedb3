/*
 * fast_path_program.c - the fast path's two programs, see fast_path.h
 *
 * One is made for each direction and each capsule, with its address and links
 * as constants.  Both ask the same of a packet, with the words exchanged:
 *
 *		inwards			outwards
 *	near	destination		source: must be the capsule's
 *	far	source			destination
 *
 * The host's routes are asked for the way from the capsule to the far end, which
 * is half of what a program costs; for FAST_PATH_FOUND the answer is that of
 * packets alike, too.  Inwards that is the check of a strict rp_filter, so no
 * sender is believed who would not be without us.
 */
#include <assert.h>
#include <linux/if_packet.h>
#include <netinet/if_ether.h>
#include <netinet/ip.h>
#include <netinet/tcp.h>
#include <string.h>

#include "net/bpf.h"

#define TCX_NEXT (-1) /* the ordinary way */
/* Jumps, put right when it is known where to: the ordinary way; to ask the routes;
 * to let the packet go */
#define NEXT	 INT16_MAX
#define ASK	 (INT16_MAX - 1)
#define TAKE	 (INT16_MAX - 2)

#define INSN(c, d, s, o, i)                 \
	((struct bpf_insn){ .code = (c),    \
			    .dst_reg = (d), \
			    .src_reg = (s), \
			    .off = (o),     \
			    .imm = (i) })
#define SET(reg, value)	 INSN(BPF_ALU64 | BPF_MOV | BPF_K, reg, 0, 0, value)
#define COPY(reg, from)	 INSN(BPF_ALU64 | BPF_MOV | BPF_X, reg, from, 0, 0)
#define ADD(reg, value)	 INSN(BPF_ALU64 | BPF_ADD | BPF_K, reg, 0, 0, value)
#define PLUS(reg, other) INSN(BPF_ALU64 | BPF_ADD | BPF_X, reg, other, 0, 0)
#define AND(reg, value)	 INSN(BPF_ALU64 | BPF_AND | BPF_K, reg, 0, 0, value)
#define SHIFT(reg, n)	 INSN(BPF_ALU64 | BPF_RSH | BPF_K, reg, 0, 0, n)
#define TIMES(reg, n)	 INSN(BPF_ALU64 | BPF_MUL | BPF_K, reg, 0, 0, n)
#define CALL(helper)	 INSN(BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_##helper)
#define EXIT		 INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0)

/* reg = size bits (B, H, W, DW) at [at + off], and the reverse */
#define LOAD(size, reg, at, off) \
	INSN(BPF_LDX | BPF_MEM | BPF_##size, reg, at, off, 0)
#define STORE(size, at, off, reg) \
	INSN(BPF_STX | BPF_MEM | BPF_##size, at, reg, off, 0)
#define STORE_VALUE(size, at, off, value) \
	INSN(BPF_ST | BPF_MEM | BPF_##size, at, 0, off, value)

/* The ordinary way if reg OP value; of 32 bits, since addresses have no sign */
#define NEXT_IF(reg, op, value) \
	INSN(BPF_JMP32 | BPF_##op | BPF_K, reg, 0, NEXT, value)
#define NEXT_IF_ABOVE(reg, other) \
	INSN(BPF_JMP | BPF_JGT | BPF_X, reg, other, NEXT, 0)

/* Ask the routes unless both are the same, or if one is above the other. */
#define ASK_UNLESS(reg, other) \
	INSN(BPF_JMP32 | BPF_JNE | BPF_X, reg, other, ASK, 0)
#define ASK_IF_ABOVE(reg, other) \
	INSN(BPF_JMP | BPF_JGT | BPF_X, reg, other, ASK, 0)

/* Registers: 0 is a result, 1 to 5 are arguments and lost in a call. */
enum { CTX = 6, DATA = 7, FOUND = 8, NOW = 9, FP = 10 };

#define SKB(field) offsetof(struct __sk_buff, field)
#define IP(field)  (ETH_HLEN + (int)offsetof(struct iphdr, field))
#define TCP(field) (ETH_HLEN + 20 + (int)offsetof(struct tcphdr, field))
enum {
	IP_FIRST = ETH_HLEN,		 /* version and header length */
	TCP_LENGTH = ETH_HLEN + 20 + 12, /* of its header, high half */
	HEADERS = ETH_HLEN + 20 + 20,	 /* the least there must be */
	FIB = -(int)sizeof(struct bpf_fib_lookup), /* on the stack */
	HOP = FIB - 24,	  /* a struct bpf_redir_neigh */
	LENGTH = HOP - 8, /* the packet's: the lookup writes over its own */
};
#define FOUND_AT(field) offsetof(struct fast_path_found, field)
#define FIB_AT(field)	(FIB + (int)offsetof(struct bpf_fib_lookup, field))
#define HOP_AT(field)	(HOP + (int)offsetof(struct bpf_redir_neigh, field))

struct text {
	struct bpf_insn *insn;
	size_t n;
};

static void add_insn(struct text *t, const struct bpf_insn *insn, size_t n)
{
	assert(t->n + n <= FAST_PATH_INSNS);
	memcpy(t->insn + t->n, insn, n * sizeof(*insn));
	t->n += n;
}
#define PUT(t, ...)                                           \
	add_insn(t, (struct bpf_insn[]){ __VA_ARGS__ },       \
		 sizeof((struct bpf_insn[]){ __VA_ARGS__ }) / \
			 sizeof(struct bpf_insn))

/* Those that wait for this place. */
static void put_label(struct text *t, int16_t label)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->insn[i].off == label)
			t->insn[i].off = (int16_t)(t->n - i - 1);
}

/* Both doors are open. */
static void put_doors(struct text *t, int map)
{
	PUT(t, COPY(CTX, 1),
	    INSN(BPF_LD | BPF_DW | BPF_IMM, 1, BPF_PSEUDO_MAP_VALUE, 0, map),
	    INSN(0, 0, 0, 0, 0), /* the address takes two; offset 0 */
	    LOAD(W, 2, 1, offsetof(struct fast_path_doors, plugged)),
	    NEXT_IF(2, JEQ, 0),
	    LOAD(W, 2, 1, offsetof(struct fast_path_doors, allowed)),
	    NEXT_IF(2, JEQ, 0));
}

/*
 * Untagged IPv4 to this link's own MAC (which an unplugged capsule's frames are
 * not), with no options, no fragment, TTL left, and TCP in it.
 */
static void put_packet(struct text *t)
{
	PUT(t, LOAD(W, 2, CTX, SKB(protocol)), NEXT_IF(2, JNE, htons(ETH_P_IP)),
	    LOAD(W, 2, CTX, SKB(pkt_type)), NEXT_IF(2, JNE, PACKET_HOST),
	    LOAD(W, 2, CTX, SKB(vlan_present)), NEXT_IF(2, JNE, 0),
	    LOAD(W, DATA, CTX, SKB(data)), LOAD(W, 3, CTX, SKB(data_end)),
	    COPY(4, DATA), ADD(4, HEADERS), NEXT_IF_ABOVE(4, 3),
	    LOAD(B, 2, DATA, IP_FIRST), NEXT_IF(2, JNE, 0x45),
	    LOAD(H, 2, DATA, IP(frag_off)), AND(2, htons(~IP_DF & 0xffff)),
	    NEXT_IF(2, JNE, 0), LOAD(B, 2, DATA, IP(ttl)), NEXT_IF(2, JLE, 1),
	    LOAD(B, 2, DATA, IP(protocol)), NEXT_IF(2, JNE, IPPROTO_TCP));
}

/* In 3, its length for the MTU: of the longest segment it will be cut into. */
static void put_length(struct text *t)
{
	PUT(t, LOAD(W, 3, CTX, SKB(gso_size)),
	    INSN(BPF_JMP | BPF_JNE | BPF_K, 3, 0, 3, 0),
	    LOAD(W, 3, CTX, SKB(len)), ADD(3, -ETH_HLEN),
	    INSN(BPF_JMP | BPF_JA, 0, 0, 5, 0),
	    /* with gso_size: the headers are added */
	    LOAD(B, 2, DATA, TCP_LENGTH), SHIFT(2, 2), AND(2, 0x3c), PLUS(3, 2),
	    ADD(3, 20));
}

/*
 * What this CPU has found, if the packet is like that one.  A program is not
 * interrupted by another one of its CPU, so that nobody else writes there.
 */
static void put_found(struct text *t, bool inwards, int map)
{
	int far = inwards ? IP(saddr) : IP(daddr);
	int at = inwards ? offsetof(struct fast_path_doors, found[0])
			 : offsetof(struct fast_path_doors, found[1]);

	PUT(t, CALL(get_smp_processor_id), NEXT_IF(0, JGE, FAST_PATH_CPUS),
	    AND(0, FAST_PATH_CPUS - 1), /* says it to the verifier */
	    TIMES(0, sizeof(struct fast_path_found)),
	    INSN(BPF_LD | BPF_DW | BPF_IMM, FOUND, BPF_PSEUDO_MAP_VALUE, 0,
		 map),
	    INSN(0, 0, 0, 0, at), PLUS(FOUND, 0), CALL(ktime_get_ns),
	    COPY(NOW, 0));
	if (inwards)
		PUT(t, SET(3, 0));
	else
		put_length(t);
	PUT(t, LOAD(DW, 2, FOUND, FOUND_AT(until)), ASK_IF_ABOVE(NOW, 2),
	    LOAD(W, 2, FOUND, FOUND_AT(length)), ASK_IF_ABOVE(3, 2),
	    LOAD(W, 2, FOUND, FOUND_AT(far)), LOAD(W, 4, DATA, far),
	    ASK_UNLESS(2, 4), LOAD(W, 2, FOUND, FOUND_AT(ports)),
	    LOAD(W, 4, DATA, TCP(source)), ASK_UNLESS(2, 4),
	    LOAD(B, 2, FOUND, FOUND_AT(tos)), LOAD(B, 4, DATA, IP(tos)),
	    ASK_UNLESS(2, 4), INSN(BPF_JMP | BPF_JA, 0, 0, TAKE, 0));
}

/* The next hop is what the lookup has left in 4.  The time comes last, and
 * nothing counts before it is there. */
static void put_remember(struct text *t, bool inwards)
{
	int far = inwards ? IP(saddr) : IP(daddr);

	PUT(t, STORE_VALUE(DW, FOUND, FOUND_AT(until), 0),
	    STORE(W, FOUND, FOUND_AT(hop), 4), LOAD(H, 2, FP, LENGTH),
	    STORE(W, FOUND, FOUND_AT(length), 2), LOAD(W, 2, DATA, far),
	    STORE(W, FOUND, FOUND_AT(far), 2), LOAD(W, 2, DATA, TCP(source)),
	    STORE(W, FOUND, FOUND_AT(ports), 2), LOAD(B, 2, DATA, IP(tos)),
	    STORE(B, FOUND, FOUND_AT(tos), 2), ADD(NOW, FAST_PATH_FOUND),
	    STORE(DW, FOUND, FOUND_AT(until), NOW));
}

/* It is the capsule's. */
static void put_near(struct text *t, bool inwards,
		     const struct fast_path_spec *spec)
{
	PUT(t, LOAD(W, 2, DATA, inwards ? IP(daddr) : IP(saddr)),
	    NEXT_IF(2, JNE, (int)spec->address.s_addr));
}

/* The way from capsule to far end leaves by the uplink. */
static void put_route(struct text *t, bool inwards,
		      const struct fast_path_spec *spec)
{
	int far = inwards ? IP(saddr) : IP(daddr);
	int near_port = inwards ? TCP(dest) : TCP(source);
	int far_port = inwards ? TCP(source) : TCP(dest);

	for (int at = FIB; at < 0; at += 8)
		PUT(t, STORE_VALUE(DW, FP, at, 0));
	PUT(t, STORE(H, FP, FIB_AT(tot_len), 3), STORE(H, FP, LENGTH, 3),
	    STORE_VALUE(W, FP, FIB_AT(ipv4_src), (int)spec->address.s_addr),
	    LOAD(W, 2, DATA, far), STORE(W, FP, FIB_AT(ipv4_dst), 2),
	    STORE_VALUE(B, FP, FIB_AT(family), AF_INET),
	    STORE_VALUE(B, FP, FIB_AT(l4_protocol), IPPROTO_TCP),
	    LOAD(H, 2, DATA, near_port), STORE(H, FP, FIB_AT(sport), 2),
	    LOAD(H, 2, DATA, far_port), STORE(H, FP, FIB_AT(dport), 2),
	    STORE_VALUE(W, FP, FIB_AT(ifindex), spec->index),
	    LOAD(B, 2, DATA, IP(tos)), STORE(B, FP, FIB_AT(tos), 2));
	PUT(t, COPY(1, CTX), COPY(2, FP), ADD(2, FIB),
	    SET(3, sizeof(struct bpf_fib_lookup)),
	    SET(4, BPF_FIB_LOOKUP_SKIP_NEIGH), CALL(fib_lookup),
	    NEXT_IF(0, JNE, BPF_FIB_LKUP_RET_SUCCESS),
	    LOAD(W, 2, FP, FIB_AT(ifindex)), NEXT_IF(2, JNE, spec->uplink));
	if (!inwards)
		PUT(t, LOAD(B, 2, FP, FIB_AT(family)),
		    NEXT_IF(2, JNE, AF_INET));
	PUT(t, LOAD(W, 4, FP, FIB_AT(ipv4_dst)));
}

static void put_inwards(struct text *t, const struct fast_path_spec *spec)
{
	PUT(t, SET(1, spec->index), SET(2, 0), CALL(redirect_peer), EXIT);
}

/* To the next hop that the route named: the neighbours' part is as always. */
static void put_outwards(struct text *t, const struct fast_path_spec *spec)
{
	PUT(t, STORE_VALUE(W, FP, HOP_AT(nh_family), AF_INET),
	    LOAD(W, 2, FOUND, FOUND_AT(hop)),
	    STORE(W, FP, HOP_AT(ipv6_nh[0]), 2),
	    STORE_VALUE(W, FP, HOP_AT(ipv6_nh[1]), 0),
	    STORE_VALUE(W, FP, HOP_AT(ipv6_nh[2]), 0),
	    STORE_VALUE(W, FP, HOP_AT(ipv6_nh[3]), 0), SET(1, spec->uplink),
	    COPY(2, FP), ADD(2, HOP), SET(3, sizeof(struct bpf_redir_neigh)),
	    SET(4, 0), CALL(redirect_neigh), EXIT);
}

size_t fast_path_program(struct bpf_insn *insn, bool inwards, int map,
			 const struct fast_path_spec *spec)
{
	struct text t = { .insn = insn };

	put_doors(&t, map);
	put_packet(&t);
	put_near(&t, inwards, spec);
	put_found(&t, inwards, map);
	put_label(&t, ASK);
	put_route(&t, inwards, spec);
	put_remember(&t, inwards);
	put_label(&t, TAKE);
	if (inwards)
		put_inwards(&t, spec);
	else
		put_outwards(&t, spec);
	put_label(&t, NEXT);
	PUT(&t, SET(0, TCX_NEXT), EXIT);
	return t.n;
}
