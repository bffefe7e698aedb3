/*
 * bpf.h - bpf(2) and its instructions, inside the room only
 *
 * Debian 12 has the <linux/bpf.h> of Linux 6.1; constants of newer kernels (tcx
 * of 6.6, netfilter links of 6.4) are defined below.
 */
#ifndef NET_BPF_H
#define NET_BPF_H

#include <linux/bpf.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "net/fast_path.h"

#define BPF_TCX_INGRESS_TYPE 46 /* enum bpf_attach_type, BPF_TCX_INGRESS */

#define BPF_NETFILTER_PROGRAM 32 /* enum bpf_prog_type */
#define BPF_NETFILTER_ATTACH  45 /* enum bpf_attach_type, BPF_NETFILTER */
#define BPF_NETFILTER_LINK    10 /* enum bpf_link_type */

/* The result, or -1 and errno. */
static inline int bpf_call(int cmd, union bpf_attr *attr)
{
	return (int)syscall(SYS_bpf, cmd, attr, sizeof(*attr));
}

/* The name of our programs, by which net_hooks_find() recognizes them. */
#define FAST_PATH_NAME "stint_fast_path"

/*
 * What a direction's program has last found by asking the routes, on one CPU: a
 * packet like this goes, until that time of CLOCK_MONOTONIC in nanoseconds.
 * Words of a packet are as they are in it.
 */
struct fast_path_found {
	uint64_t until;
	uint32_t far, ports, length; /* the longest that the route took */
	uint32_t hop;		     /* outwards: IPv4 address */
	uint8_t tos;
} __attribute__((aligned(64)));

/* From that CPU on packets are forwarded. */
#define FAST_PATH_CPUS	256
/* Nanoseconds: for so long a changed route may be unknown to the fast path. */
#define FAST_PATH_FOUND 200000

/* The value of the map that the programs read. */
struct fast_path_doors {
	uint32_t plugged, allowed;
	struct fast_path_found found[2][FAST_PATH_CPUS]; /* inwards first */
};

/*
 * Write the program for one direction into insn[], which has room for
 * FAST_PATH_INSNS; returns its length.  map holds one struct fast_path_doors.
 */
#define FAST_PATH_INSNS 192
size_t fast_path_program(struct bpf_insn *insn, bool inwards, int map,
			 const struct fast_path_spec *spec);

#endif
