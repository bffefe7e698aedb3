/*
 * test_load.h - a process whose connections move while they carry a load
 *
 * Four network namespaces: a switch (the main process), a peer, and two
 * "hosts" with the same address and MAC, of which at most one is plugged.
 * The rank is a process in one of them; its loop's whole state is in shared
 * memory and in its descriptors, so that a process that gets only the
 * descriptors goes on with it.  It stops at a safe point when asked to.
 */
#ifndef MOVE_FD_TEST_LOAD_H
#define MOVE_FD_TEST_LOAD_H

#include <netinet/in.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LOAD_CONNS_MAX 16
/* Queues of 6 + 4 MB a connection and direction, as the kernel lets them grow.
 */
#define LOAD_BLOB_MAX  ((size_t)512 << 20)

enum load_kind {
	LOAD_STREAM, /* both ways, at a rate */
	LOAD_PING,   /* one small message at a time */
	LOAD_LAZY,   /* both write all they can and read little */
	LOAD_KINDS,
};

struct load_flow {
	uint64_t sent, got, bad;
	uint64_t owed;	/* LOAD_STREAM: bytes that may be sent now */
	uint64_t last;	/* us, when something came */
	uint64_t worst; /* us, longest wait since it was reset */
};

struct load {
	unsigned nr_conns;
	uint64_t rate;	     /* bytes/s of each stream and direction */
	_Atomic bool stop;   /* the rank shall stop at a safe point */
	_Atomic bool finish; /* the rank shall send no more */
	_Atomic bool connected;
	_Atomic unsigned reset; /* peer: forget the longest wait */
	struct load_flow rank[LOAD_CONNS_MAX], peer[LOAD_CONNS_MAX];
	size_t blob_n;
	unsigned char blob[LOAD_BLOB_MAX];
};

static inline enum load_kind load_kind(unsigned conn)
{
	return conn % LOAD_KINDS;
}

uint64_t load_now(void); /* us */

/* The numbers of the rank's descriptors. */
enum { LOAD_EPOLL = 10, LOAD_TIMER, LOAD_LISTEN4, LOAD_LISTEN6, LOAD_CONN };

void load_rank_start(struct load *l);
void load_rank_loop(struct load *l) __attribute__((noreturn));
void load_peer(struct load *l) __attribute__((noreturn));

/* The namespaces.  Errors end the process. */
enum { LOAD_PEER, LOAD_A, LOAD_B, LOAD_NETS };
void load_net_create(int rto_min_us);
void load_net_enter(int net);
void load_net_plug(int net, bool on);
void load_die(const char *what) __attribute__((noreturn));

#define LOAD_PORT 7000

#endif
