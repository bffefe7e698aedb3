/*
 * send.h - the source's side of a move, in its parts
 *
 * Who owns what
 *   struct sending	 one move: the channel, the report, how far it has come
 *   struct common	 what the processes of a move share, and the
 *			 destination is told once (common.h)
 *   struct send_process what is one process's own (process.h), and in it
 *   struct track	 its memory, followed (track.h)
 *   struct handover	 its locks, on their way (handover.h)
 * Three more parts of the move are private to their files:
 *   struct precopy	 what the rounds measure, and what is lacking (precopy.h)
 *   struct ahead	 whose priorities are raised for it (ahead.h)
 *   struct throttle	 slowing the process down (throttle.h)
 * A function takes the narrowest of these that it needs.  doc/design/02 has the order of
 * steps.
 */
#ifndef MOVE_SEND_SEND_H
#define MOVE_SEND_SEND_H

#include <sched.h>

#include "core/channel.h"
#include "core/error.h"
#include "core/units.h"
#include "move/move.h"
#include "move/send/common.h"
#include "move/send/process.h"
#include "move/wire/frame.h"

struct sending {
	const struct move_source *src;
	struct channel *ch;
	struct frame frame; /* the last one received */
	struct move_report *report;
	struct watch *watch;
	struct send_process process; /* that moves */
	struct common common;
	struct {
		cpu_set_t cpus;
		ProtobufCBinaryData nodes; /* of memory */
		/* what the destination has of CPUs and memory nodes */
	} there;
	struct precopy *precopy;
	struct ahead *ahead;
	struct throttle *throttle; /* NULL: the process is not slowed down */
	usec_t started, frozen;
	usec_t deadline; /* in time of send_now(); 0: none */
	struct {
		usec_t began; /* the round under way; 0: there is none */
		usec_t flows; /* since when the first one's pages are sent; 0: not yet */
		uint64_t pages; /* that were sent by then */
	} first;		/* of halt.h */
	/* since when it stands still for the rest of the rounds; 0: it does not */
	usec_t halted;
	bool unplugged; /* freeze.c: its network is unplugged, to be undone */
	bool told;	/* the destination has begun to rebuild the process */
	bool held, recorded;
};

/* Microseconds that only grow. */
usec_t send_now(void);

/*
 * For page_sender_on_flush(): note progress, and bound the time of raised priorities.
 */
void send_tick(void *sending);

/* Notes for the watch: the process is held; it is being given away. */
enum { SEND_HELD = 1, SEND_DECIDES };
/* watch.c: start the watch over this engine; see proc/watch.h. */
int send_watch(struct sending *s, struct error *err) must_check;
/*
 * The process is about to stand still: from now on the watch expects signs of progress.
 */
void send_limit(struct sending *s);
/* It stands still to meet a deadline, while rounds go on. */
void send_limit_halted(struct sending *s);
/* It runs again, or its copy does: the watch expects nothing any more. */
void send_unwatched(struct sending *s);

/* Report a line of progress to the caller of the move. */
void send_progress(const struct move_source *src, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* hello.c: what the destination has to know of the process, and compare. */
/* Send HELLO, anew; *ret is the destination's answer, which may be what it lacks. */
int hello_ask(struct sending *s, Move__Hello **ret,
	      struct error *err) must_check;
/*
 * Is the mapped or open file of that path still the one that the destination was told
 * of?
 */
bool hello_stays(const struct common *c, pid_t pid, const char *path);

/*
 * To be called as soon as the answer has come: compute the offsets with which the
 * process's clocks go on at the destination. If that is another kernel, the clocks in
 * the answer are as old as the answer was under way, and the process's clocks may jump
 * ahead by as much; they never jump back. False: both ends are on one kernel, and the
 * offsets are exact.
 */
bool hello_clocks(struct send_process *p, const Move__Hello *there,
		  struct clocks *ret);

/*
 * freeze.c: everything that is done with all threads stopped, up to STATE. As long as
 * `told` is not set, it can be undone and called again.
 */
int freeze_send(struct sending *s, struct error *err) must_check;
/* Undo what freeze_send() has done; the process runs on. */
void freeze_undo(struct sending *s);

#endif
