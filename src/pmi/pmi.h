/*
 * pmi.h - PMI-1, the wire-up protocol of MPICH, for one rank
 *
 * An MPICH rank reaches its launcher through a socket, whose descriptor is in
 * PMI_FD.  It sends lines of "key=value" words and expects one line back: it
 * puts what others need to reach it (its "business card") under a key, enters a
 * barrier, and gets the others' keys.  This is the launcher's side for one
 * rank.  It does no I/O: received bytes go in by pmi_server_feed(), bytes to
 * send come out of pmi_server_output(), and what concerns the other ranks goes
 * through an exchange that the caller supplies.
 *
 * Exchange.  The ranks of a job share keys only at barriers.  When the rank
 * enters barrier g = 0, 1, 2, ... exchange->fence() is called with g and what
 * the rank has put since the previous barrier.  When the fences g of all ranks
 * have been collected (pmi/gather.h), the caller calls pmi_server_release(g,
 * union of their puts), and the rank goes on.  Both may be repeated: a release
 * for a barrier that the rank is not in is ignored, and pmi_server_refence()
 * sends the fence again. A job of one rank needs no exchange and calls none.
 *
 * The state moves with a rank: pmi_server_save() and pmi_server_load() carry it
 * as bytes, half-read commands and unsent answers included.
 *
 * What a rank sends cannot grow memory without bound or reach another rank
 * unchecked: lines, keys, values, the number of puts (for a barrier and in all)
 * and unread answers are limited, and a violation of the protocol ends the
 * conversation.
 *
 * Unsupported requests (spawn, name publishing) are answered with an error, as
 * the protocol provides, which the rank's MPI reports.
 *
 * Blobs.  Open MPI's wire-up, PMIx, is spoken inside the rank
 * (pmi/preload/pmix.c); only its exchange of bytes between all ranks comes
 * here. The rank puts its bytes as hex under PMI_BLOB_KEY, in pieces that begin
 * with '+', the last one with '.', and sends "cmd=fence_in": a barrier that is
 * answered by a line "cmd=blob value=HEX" for each piece of each rank in order,
 * and then "cmd=fence_out rc=0".  Keys that begin with "blob." can be put by the
 * rank alone that they name.
 */
#ifndef PMI_PMI_H
#define PMI_PMI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/error.h"

#define PMI_BLOB_BEGIN "blob.%u."	   /* of a rank */
#define PMI_BLOB_KEY   PMI_BLOB_BEGIN "%u" /* its piece, from 0 */

enum {
	PMI_KVSNAME_MAX =
		256, /* each including the NUL, as the protocol counts */
	PMI_KEY_MAX = 64,
	PMI_VALUE_MAX = 1024,
	PMI_LINE_MAX = 4096,
	PMI_PUTS_MAX = 1024,		  /* by one rank for one barrier */
	PMI_KEYS_MAX = 16 * PMI_PUTS_MAX, /* and for all of them */
	PMI_ALL_MAX = 1 << 16,		  /* of all ranks, at each */
	PMI_UNION_MAX = 8 << 20,   /* bytes by all ranks for one barrier */
	PMI_UNTAKEN_MAX = 1 << 20, /* bytes of answers; then no more is asked */
	PMI_SIZE_MAX = 1 << 20,
};

struct pmi_put {
	const char *key;
	const char *value;
};

struct pmi_exchange {
	/*
	 * The rank waits in barrier `generation`.  puts is valid only during
	 * the call.
	 */
	void (*fence)(void *ctx, uint64_t generation,
		      const struct pmi_put *puts, size_t n);
	/* MPI_Abort: the caller must end the rank, and have the job ended. */
	void (*abort)(void *ctx, int code, const char *text);
};

/* A rank that ends in PMI_BEGUN has deserted its job: a failure. */
enum pmi_phase { PMI_NONE, PMI_BEGUN, PMI_OVER };

struct pmi_server;

/*
 * A server for rank of size.  kvsname is one word, the same for all ranks of a
 * job, shorter than PMI_KVSNAME_MAX.  exchange must outlive the server.
 * Returns -EINVAL for invalid numbers or an invalid name.
 */
int pmi_server_create(uint32_t rank, uint32_t size, const char *kvsname,
		      const struct pmi_exchange *exchange, void *ctx,
		      struct pmi_server **ret, struct error *err) must_check;
void pmi_server_destroy(struct pmi_server *s); /* NULL is allowed */

/*
 * Process n bytes from the rank.  -EPROTO when they violate PMI-1: then close
 * the rank's socket, as the server is out of service.  May call the exchange.
 */
int pmi_server_feed(struct pmi_server *s, const void *p, size_t n,
		    struct error *err) must_check;

/* Bytes to send to the rank, valid until the next call on s; *ret_n may be 0.
 */
const void *pmi_server_output(const struct pmi_server *s, size_t *ret_n);
/* The first n of them were sent. */
void pmi_server_sent(struct pmi_server *s, size_t n);

/*
 * A part of the union of all ranks' puts for barrier `generation`; the part
 * without `more` releases the rank.  -EPROTO for an oversized key or value;
 * then the rank stays in the barrier.
 */
int pmi_server_release(struct pmi_server *s, uint64_t generation,
		       const struct pmi_put *puts, size_t n, bool more,
		       struct error *err) must_check;

/*
 * Send again the fence that the rank waits in; does nothing if it does not
 * wait.
 */
void pmi_server_refence(struct pmi_server *s);

enum pmi_phase pmi_server_phase(const struct pmi_server *s);
/* Barriers passed so far, and whether the rank waits in the next one. */
uint64_t pmi_server_generation(const struct pmi_server *s, bool *ret_waits);

/* The whole state as bytes (malloc'd), and a server made from such bytes. */
void pmi_server_save(const struct pmi_server *s, void **ret, size_t *ret_n);
int pmi_server_load(const void *p, size_t n,
		    const struct pmi_exchange *exchange, void *ctx,
		    struct pmi_server **ret, struct error *err) must_check;

/*
 * The environment an MPICH rank needs, appended to env (a NULL-terminated array
 * of malloc'd strings, itself malloc'd; *env may move): PMI_FD, PMI_RANK,
 * PMI_SIZE, what keeps UCX on TCP over `device`, and, unless NULL, `preload` in
 * front of LD_PRELOAD (pmi/preload/preload.c).  Variables that PMI needs
 * replace existing ones; those that only tune UCX are left as the user set
 * them.
 */
void pmi_env_add(char ***env, int fd, uint32_t rank, uint32_t size,
		 const char *device, const char *preload);

/*
 * What any program may want to know of itself, likewise: STINT_JOB_ID, STINT_RANK
 * and STINT_RANKS, how many there are.
 */
void pmi_env_name(char ***env, const char *job, uint32_t rank, uint32_t size);

#endif
