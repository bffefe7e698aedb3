/*
 * frame.h - the messages of a move, on the wire
 *
 * Every frame is a head of FRAME_HEAD_SIZE bytes (little endian, as all of
 * it: x86-64 moves to x86-64) and a payload whose XXH3 the head carries, or 0
 * under TLS, which authenticates every byte.
 * The peer is not trusted to be well-formed: lengths are bounded per type
 * before anything is allocated, and frame_check() looks at every offset of a
 * payload before anybody uses one.
 *
 *	source			destination
 *	HELLO	->			who I am, what I move
 *			<-	HELLO	who I am; or ABORT with the reason
 *				(if it names a file that is not there: again)
 *	MAP TREE UNMAP ZAP PUNCH PAGES ...	->
 *	PATHS		->			files opened since HELLO
 *	SYNC(round)	->	<-	LACK ... SYNC(round)
 *				all before it is there, but for this
 *	HURRY(1)	->		it is about to stand still
 *	MAP TREE UNMAP ZAP PUNCH PAGES ...	->
 *	[SYNC]		->	<-	LACK ... SYNC	if files are among it
 *	[PATHS SYNC]	->	<-	LACK ... SYNC	if some were just opened
 *	FDS QUEUE ...	->		long queues, as the set has them
 *	SAVED		->
 *	DONE(epoch)	->		no more pages
 *	STATE		->
 *			<-	LOCKS(0)	if some are handed over:
 *	LOCKS(0)	->	<-	LOCKS(1)	see send/handover.c
 *	LOCKS(1)	->	<-	LOCKS(2)
 *	LOCKS(2)	->
 *			<-	READY(epoch)
 *	COMMIT(epoch)	->
 *			<-	RUNNING(epoch)
 *	ABORT		either way, before COMMIT; with a text
 *			<-	BEAT	at any time: it gets on
 */
#ifndef MOVE_WIRE_FRAME_H
#define MOVE_WIRE_FRAME_H

#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "core/channel.h"
#include "core/error.h"
#include "core/units.h"

#define FRAME_VERSION	 10
#define FRAME_HEAD_SIZE	 24
#define FRAME_PAGE	 4096
#define FRAME_PAGES_DATA (1u << 20) /* most bytes of pages in one frame */
#define FRAME_PAGES_RUNS 1024
#define FRAME_QUEUE_DATA (1u << 20)
#define FRAME_TEXT	 500

/*
 * To add one: its line here, before FRAME_TYPES, and in the picture above; its
 * name and bounds in the table at the head of frame.c, and its shape in
 * frame_check() if it is more than a length; who sends it, and a case in
 * receive/receive.c (and in needs_landing() there, if it may come before the first
 * MAP).  If an older peer would not know what to do with it, FRAME_VERSION goes
 * up.  tests/fuzz/corpus-moveframe gets an example, of a head and a payload.
 */
enum frame_type {
	FRAME_HELLO = 1, /* protobuf Move__Hello */
	FRAME_MAP,	 /* protobuf Move__Layout */
	FRAME_UNMAP,	 /* struct frame_range[] */
	FRAME_ZAP,	 /* struct frame_range[] */
	FRAME_PAGES,	 /* struct frame_pages, runs, data */
	FRAME_SYNC,	 /* u64 */
	FRAME_DONE,	 /* u64 epoch */
	FRAME_STATE,	 /* protobuf Move__State */
	FRAME_FDS,	 /* what fds_capture() made */
	FRAME_SAVED,	 /* what move_source_ops.save() made */
	FRAME_READY,	 /* u64 epoch */
	FRAME_COMMIT,	 /* u64 epoch */
	FRAME_RUNNING,	 /* u64 epoch */
	FRAME_ABORT,	 /* text */
	FRAME_HURRY,	 /* u64 1, or 0: not any more */
	FRAME_TREE,	 /* path, NUL, protobuf Tree__Change */
	FRAME_LACK,	 /* struct frame_range (0, 0: of PATHS), text why */
	FRAME_PATHS,	 /* what fds_look() or fds_untold() made */
	FRAME_PUNCH,	 /* struct frame_range[], of shared memory */
	FRAME_LOCKS,	 /* u64: which turn of handing locks over */
	FRAME_BEAT,	 /* nothing */
	FRAME_QUEUE,	 /* bytes */
	FRAME_TYPES,
};

struct frame_range {
	uint64_t start, end;
};

struct frame_run {
	uint64_t start;
	uint64_t nr_pages;
};

/* Payload of PAGES: nr_runs runs follow, then the pages in order. */
struct frame_pages {
	uint64_t nr_runs;
};

struct frame {
	enum frame_type type;
	size_t size;
	unsigned char *data; /* owned; size bytes and a NUL behind */
	size_t room;
	/*
	 * A BEAT says that the peer gets on, however slowly, and is passed over:
	 * each is told here, and all of them keep a wait up for so long at most.
	 */
	struct frame_beats {
		usec_t most; /* 0: FRAME_PATIENCE */
		void (*told)(void *arg);
		void *arg;
	} beats;
};

/*
 * What a TCP connection needs to carry a move, besides move_prepare_socket():
 * no frame waits for the acknowledgement of the one before.
 *
 * A peer that vanishes or hangs must not keep the process frozen: from now on
 * no read or write waits longer than FRAME_PATIENCE seconds, and a read from a
 * host that cannot be reached some ten; both give -ETIMEDOUT.  There is no
 * TCP_USER_TIMEOUT: it also ends a connection whose peer answers, and only has
 * had no processor to read with.
 */
#define FRAME_PATIENCE 30
void frame_set_link(struct channel *ch);
/* Set the longest time that any later read or write waits. */
void frame_set_patience(struct channel *ch, usec_t limit);

/* Whoever is waited for says so that often, and the source hears it. */
#define FRAME_BEAT_EVERY (500 * USEC_PER_MSEC)

/* One frame of the pieces iov[0..n), n <= 8. */
int frame_send(struct channel *ch, enum frame_type type,
	       const struct iovec *iov, int n, struct error *err) must_check;
int frame_send_u64(struct channel *ch, enum frame_type type, uint64_t x,
		   struct error *err) must_check;
/* Best effort: the other side may be gone. */
void frame_send_abort(struct channel *ch, const char *why);

/*
 * The next frame but BEAT, checked; f is reused from call to call and freed by
 * frame_clear().  -EPIPE when the peer has closed, -EPROTO when the frame is
 * malformed, -ECANCELED with its reason in err when it sent ABORT.
 */
int frame_recv(struct channel *ch, struct frame *f,
	       struct error *err) must_check;
/* The next frame, which must be of that type. */
int frame_expect(struct channel *ch, struct frame *f, enum frame_type type,
		 struct error *err) must_check;
/* ... and carry that number. */
int frame_expect_u64(struct channel *ch, struct frame *f, enum frame_type type,
		     uint64_t x, struct error *err) must_check;
void frame_clear(struct frame *f);

/*
 * After sending the last frame, such as ABORT: read and discard what the peer
 * still sends, for 5 s at most, until it closes.  Closing a connection with
 * unread bytes would reset it, and the peer might never read the last frame.
 */
void frame_hear_out(struct channel *ch);

uint64_t frame_u64(const struct frame *f);

/* The head: type and size, or -EPROTO. */
int frame_parse_head(const unsigned char head[FRAME_HEAD_SIZE],
		     enum frame_type *ret_type, size_t *ret_size,
		     uint64_t *ret_hash, struct error *err) must_check;
/*
 * Is the payload well-formed for its type?  A pure function, which the fuzzer
 * calls.
 */
int frame_check(enum frame_type type, const unsigned char *p, size_t n,
		struct error *err) must_check;

const char *frame_name(enum frame_type type);

#endif
