/*
 * send.h - the source's side of a move, in its parts
 *
 * Who owns what
 *   struct sending	 one move: the channel, the report, how far it has got
 *   struct common	 what processes that move together share, and the
 *			 destination is told once (common.h)
 *   struct send_process what is one process's own (process.h), and in it
 *   struct track	 its memory, followed (track.h)
 *   struct handover	 its locks, on their way (handover.h)
 * and of the move again, each known to its own file alone
 *   struct precopy	 what the rounds measure, and what lacks (precopy.h)
 *   struct ahead	 who is ahead of others for it (ahead.h)
 *   struct throttle	 who is slowed down for it (throttle.h)
 * A function takes the narrowest of these that it can do with.  doc/design/02
 * tells the order of steps.
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
	struct frame frame; /* the last that came */
	struct move_report *report;
	struct watch *watch;
	struct send_process process; /* that moves */
	struct common common;
	struct {
		cpu_set_t cpus;
		ProtobufCBinaryData nodes; /* of memory */
	} there;			   /* what the destination has */
	struct precopy *precopy;
	struct ahead *ahead;
	struct throttle *throttle; /* NULL: nobody is slowed down */
	usec_t started, frozen;
	usec_t deadline; /* of send_now(); 0: none */
	usec_t halted;	 /* it stands still for that, since then; 0: not */
	bool unplugged;	 /* freeze.c's: to be undone */
	bool told;	 /* the destination has begun to rebuild the process */
	bool held, recorded;
};

/* Microseconds that only grow. */
usec_t send_now(void);

/* For page_sender_on_flush(): it gets on, and is not ahead for too long. */
void send_tick(void *sending);

/* What the watch is told: the process is held, and then given away. */
enum { SEND_HELD = 1, SEND_DECIDES };
/* watch.c: who looks after this engine; see proc/watch.h. */
int send_watch(struct sending *s, struct error *err) must_check;
/* The process is about to stand still: for so long at most, without a word. */
void send_limit(struct sending *s);
/* It stands still for a deadline, and rounds go on. */
void send_limit_halted(struct sending *s);
/* It runs, or it is not our part any more that it does. */
void send_unwatched(struct sending *s);

/* One line to whoever watches. */
void send_progress(const struct move_source *src, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* hello.c: what the destination has to know and compare. */
/* Tell it, anew; *ret is what the destination answers, which may be lack. */
int hello_ask(struct sending *s, Move__Hello **ret,
	      struct error *err) must_check;
/* Is that file, mapped or open, still the one that was told? */
bool hello_stays(const struct common *c, pid_t pid, const char *path);

/*
 * The moment the answer has come: which offsets make the process's clocks go
 * on there.  Where the kernels are two, the answer's clocks are as old as its
 * way took, and by so much the process's clocks may jump ahead.  They never
 * jump back.  False: the kernels are one, and the offsets certain.
 */
bool hello_clocks(struct send_process *p, const Move__Hello *there,
		  struct clocks *ret);

/*
 * freeze.c: everything with all threads stopped, up to STATE.  As long as
 * `told` is not set, it can be undone and called again.
 */
int freeze_send(struct sending *s, struct error *err) must_check;
/* Undo what freeze_send() has done; the process runs on. */
void freeze_undo(struct sending *s);

#endif
