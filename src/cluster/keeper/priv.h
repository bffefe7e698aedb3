/*
 * priv.h - the keeper's inside, shared by its files alone
 *
 * One struct keeper, one event loop, one thread.  Each part below has its own
 * file and touches the others through the functions listed here.  What is of
 * the rank is in struct keeper_rank, and functions that concern nothing else
 * take that: nothing in them knows that a keeper has one rank.
 *
 *	keeper.c   life: set-up, the loop
 *	agent.c    the agent's connection, requests to functions by a table
 *	in.c       a landing: the listener, the destination's engine
 *	out.c      a move away: the source's engine and its ops
 *	move.c     what both ends of a move are told
 *	engine.c   the socket between the keeper and its engine
 *	saved.c    what the new keeper must know, as bytes
 *	start.c    capsule and program
 *	io.c       stdin, stdout, stderr
 *	finish.c   the end of the rank, and of the keeper
 *	pmi.c      the rank's PMI socket, fences
 *	fast.c     the capsule's fast path, looked after every second
 *	talk.c     what keepers say to each other
 *	tell.c     what the agent is told
 *	ends.c     the ends of pipes and sockets
 *
 * Each calls those below it only.
 *
 * Quiet: from the moment a leaving rank stands still until the outcome is
 * known, and in a landing keeper until its rank runs, nothing is written to
 * the rank (stdin, PMI): the engine carries its unread bytes.
 */
#ifndef CLUSTER_KEEPER_PRIV_H
#define CLUSTER_KEEPER_PRIV_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <systemd/sd-event.h>

#include "cluster/capsule/capsule.h"
#include "cluster/conn/keeper.pb-c.h"
#include "cluster/host/arguments.h"
#include "cluster/keeper/keeper.h"
#include "cluster/keeper/queue.h"
#include "cluster/keeper/record.h"
#include "core/error.h"
#include "core/tls.h"
#include "move/move.h"
#include "pmi/pmi.h"

#define KEEPER_STDIN_MAX  (64 * 1024)  /* taken from the agent, unwritten */
#define KEEPER_OUTPUT_MAX (256 * 1024) /* unacked events, then pause */

/* A descriptor of the rank whose far end is ours, as the engine knows it. */
enum { EXT_STDIN, EXT_STDOUT, EXT_STDERR, EXT_PMI, EXT_MAX };

/*
 * One far end.  near is the rank's end: closed here once the rank has it, but
 * its (dev, ino) stays to recognize it by.
 */
struct keeper_end {
	int far, near;
	dev_t dev;
	ino_t ino;
	sd_event_source *source;
};

struct keeper_io {
	uint64_t in_offset; /* taken from the agent so far */
	uint8_t in[KEEPER_STDIN_MAX];
	size_t nr_in; /* of these, not yet in the pipe */
	bool in_eof;
	uint64_t out_offset[2]; /* read from stdout, stderr */
	uint64_t out_last
		[2]; /* without a capsule: so much is still to be read */
};

/* fast.c's: what is known of the capsule's fast path. */
struct keeper_fast {
	bool wanted;
	sd_event_source *timer;
	usec_t heard; /* when the agent wrote the word last taken */
	int told;     /* last: as capsule_fast_path() */
	char *why_slow;
};

struct keeper;

/* A rank, from its START or landing here until it has ended or left. */
struct keeper_rank {
	struct keeper *k;
	struct keeper_id id;
	Keeper__State state;
	bool quiet;
	bool ending;	  /* KILL came, */
	usec_t ending_at; /* ... at this time of CLOCK_REALTIME */

	/* start.c, finish.c: what it lives in, and what it may take */
	struct capsule *capsule;
	struct capsule *remains; /* of it: nothing runs there any more */
	sd_event_source *capsule_source, *burial;
	struct keeper_fast fast;
	struct limits limits;
	struct limits_met met; /* where it was before */
	bool owners;	       /* its user's own host: it is no guest */
	char **keep_tmp;       /* paths below /tmp that the capsule shows */
	char *hostname;

	/* start.c: the program */
	pid_t pid;
	char **argv, **env; /* of START, while it comes in pieces */
	size_t nr_argv, nr_env;
	struct arguments given; /* all of them */
	bool skips;		/* the rest of a START that was refused */
	uint64_t signals;	/* number of the last one it was given */
	uint64_t used_cpu, used_memory; /* of a copy that has left */
	bool have_exit;
	bool exit_killed; /* KILL had come by then */
	struct capsule_event exit;

	/* io.c, pmi.c: what it says and hears */
	struct keeper_end end[EXT_MAX];
	struct keeper_io io;
	struct pmi_server *pmi;
};

/* agent.c's and tell.c's: the agent, and what it is to be told. */
struct keeper_agent {
	int listen_fd, fd;
	char *path; /* of the socket */
	sd_event_source *listen_source, *source;
	bool ready; /* has said HELLO */
	usec_t lonely_after;
	sd_event_source *lonely; /* while there is no agent */
	struct keeper_queue *queue;
};

/* out.c's or in.c's: a move under way, with its engine; pid 0: none. */
struct keeper_move {
	uint64_t epoch;
	bool out;  /* from here; else a landing */
	pid_t pid; /* of the engine */
	int sock;  /* to it; -1: closed */
	sd_event_source *source, *child;
	void (*ended)(struct keeper *k); /* as in keeper_engine_fork() */
	bool have_result;
	struct move_report report;
	int code;
	struct error why;
	char *to; /* "ADDRESS:PORT", for the record */
	usec_t budget;
	usec_t leave_by; /* CLOCK_MONOTONIC; 0: no matter */
	bool cancelled;
	struct tls_key key;
	uint64_t last_epoch, committed_epoch;
	/* landing only */
	bool landed, committed; /* named by ops */
	int hold_fd;		/* with which move_release() works */
	pid_t landed_pid;	/* inside */
};

/* in.c's: waiting for a rank that is to come. */
struct keeper_landing {
	struct conn_server *door; /* NULL: it waits no more */
	uint32_t port;		  /* its */
	sd_event_source *patience;
	Keeper__Receive *receive;
};

struct keeper {
	uint64_t first_epoch;		/* of the command line */
	uint32_t min_uid, min_gid;	/* as in struct keeper_config */
	const char *guests_of, *owners; /* likewise */
	struct limit_terms terms;	/* of this host */
	sd_event *event;
	struct keeper_agent agent;
	struct keeper_rank rank;
	struct keeper_move move;
	struct keeper_landing landing;
	bool over; /* the agent knows all of it */
};

/* ---- tell.c */
/* CPU time of all threads, and resident bytes, from procfs; else untouched. */
void keeper_usage(pid_t pid, uint64_t *cpu_usec, uint64_t *memory);
/*
 * Queue an event (see keeper_queue_add()) and send what can be sent.  re: the request
 * that it answers, or 0; body: what that case points to.
 */
void keeper_tell(struct keeper *k, uint64_t re, Keeper__Event__BodyCase what,
		 void *body, bool keep);
void keeper_answer_ok(struct keeper *k, uint64_t re);
void keeper_answer_failed(struct keeper *k, uint64_t re, int code,
			  const struct error *err);
void keeper_answer_not_started(struct keeper *k, uint64_t re, int code,
			       Keeper__Begun begun, const struct error *err);
void keeper_tell_doubt(struct keeper *k);
void keeper_tell_done(struct keeper *k, Keeper__Outcome outcome,
		      const char *why);
/* Its queue to the agent, as far as that reads. */
void keeper_flush(struct keeper *k);
/* The agent is gone: who never got a rank does not wait for ever. */
void keeper_hang_up(struct keeper *k);
void keeper_watch_loneliness(struct keeper *k);

/* ---- ends.c */
/* As one keeper calls an end when the rank moves, and the other knows it. */
extern const char *const keeper_end_name[EXT_MAX];
/* All ends of pipes and the PMI socket, near and far; but of standard output and
 * error none where files say so. */
int keeper_make_ends(struct keeper_rank *rank, bool pmi, const bool files[2],
		     struct error *err) must_check;
void keeper_close_near(struct keeper_rank *rank);
void keeper_end_close(struct keeper_end *e);
/* Bytes that the rank has written and nobody has read; 0 if it is closed. */
uint64_t keeper_io_unread(const struct keeper_rank *rank, int ext);
/*
 * The capsule is gone: what lies in its pipes now is all that the rank has
 * printed.  Somebody outside may have been handed an end of them (SCM_RIGHTS),
 * and must not keep the job from ending, nor print on in its name.
 */
void keeper_io_last(struct keeper_rank *rank);
bool keeper_io_drained(const struct keeper_rank *rank);
bool keeper_end_is_open(const struct keeper_rank *rank, int ext);

/* ---- talk.c */
/* One key for one move, into k->move.key. */
void keeper_move_key(struct keeper *k, uint64_t epoch, const uint8_t *secret);
/* The passport and its answer, length-prefixed messages over the channel. */
int keeper_send_msg(struct channel *ch, const ProtobufCMessage *msg,
		    struct error *err) must_check;
ProtobufCMessage *keeper_recv_msg(struct channel *ch,
				  const ProtobufCMessageDescriptor *type,
				  struct error *err);

/* ---- finish.c */
/* SIGKILL; EXITED follows. */
void keeper_kill_rank(struct keeper_rank *rank);
/* How often the rank met its limits, wherever it was. */
struct limits_met keeper_met(const struct keeper_rank *rank);
/* Room for a move in its limits, or no longer (capsule_ease()). */
void keeper_ease(struct keeper_rank *rank, bool move);
/* The capsule and everything in it ends, and is gone. */
void keeper_drop_capsule(struct keeper_rank *rank);
/* The rank has ended and nothing is left to read: say so. */
void keeper_maybe_exited(struct keeper_rank *rank);
/* Nothing to do any more, nothing to hand out: end the loop. */
void keeper_maybe_end(struct keeper *k);

/* ---- agent.c */
int keeper_agent_open(struct keeper *k, struct error *err) must_check;
/* Say that it listens: HELLO by fd, if that is a socket, else a newline; -1: to nobody. */
int keeper_agent_ready(struct keeper *k, int fd, struct error *err) must_check;
void keeper_agent_close(struct keeper *k);

/* ---- start.c */
void keeper_on_start(struct keeper *k, const Keeper__Request *req);
/* What has come of a START in pieces: another agent sends all of it anew. */
void keeper_forget_start(struct keeper_rank *rank);
/* A capsule for this keeper out of what the agent said, and rank->limits. */
int keeper_make_capsule(struct keeper_rank *rank, const Keeper__Capsule *cap,
			uint32_t uid, uint32_t gid, const uint32_t *groups,
			size_t nr_groups, struct error *err) must_check;
/* And all else that belongs to a rank: as if none had been here. */
void keeper_clear_rank(struct keeper_rank *rank);

/* ---- fast.c */
/*
 * Once the rank runs here, and has begun here if it is fresh; until
 * keeper_fast_path_end().
 */
void keeper_fast_path_begin(struct keeper_rank *rank, bool fresh);
void keeper_fast_path_end(struct keeper_rank *rank);

/* ---- io.c */
int keeper_io_begin(struct keeper_rank *rank, struct error *err) must_check;
void keeper_io_update(
	struct keeper_rank *rank); /* what is watched, after a change */
void keeper_on_stdin(struct keeper *k, const Keeper__Request *req);

/* ---- pmi.c */
extern const struct pmi_exchange keeper_pmi_exchange; /* ctx: rank */
int keeper_pmi_begin(struct keeper_rank *rank, struct error *err) must_check;
void keeper_pmi_update(struct keeper_rank *rank);
/* Read and deal with what the rank has already sent. */
void keeper_pmi_drain(struct keeper_rank *rank);
void keeper_on_pmi_release(struct keeper *k, const Keeper__Request *req);

/* ---- saved.c */
void keeper_save(struct keeper_rank *rank, uint8_t **ret, size_t *ret_n);
int keeper_load(struct keeper_rank *rank, const void *p, size_t n,
		struct error *err) must_check;

/* ---- engine.c */
/* What the engine says, and asks; payloads travel in a memfd beside it. */
enum keeper_word {
	WORD_QUIET = 1, /* the rank stands: be quiet; answered */
	WORD_LOUD,	/* it runs again */
	WORD_SAVE,	/* answered with the bytes */
	WORD_LOAD,	/* bytes */
	WORD_HOLD_FD,	/* a descriptor to release a landed copy with */
	WORD_LANDED,	/* complete and waiting; number is its pid; answered */
	WORD_COMMITTED, /* about to be released; answered */
	WORD_PROGRESS,
	WORD_RESULT,
	WORD_DONE, /* the answer */
};

struct keeper_note {
	uint32_t word;
	int32_t code;
	int64_t number;
	struct move_report report; /* of WORD_RESULT */
	char text[sizeof(struct error)];
};

/*
 * Fork the engine: run(k, sock) in the child, whose result ends the process.
 * The keeper hears its notes; ended() comes behind the last of them, when it
 * has died, and is all that is done with how it ended.
 */
int keeper_engine_fork(struct keeper *k,
		       void (*run)(struct keeper *k, int sock),
		       void (*ended)(struct keeper *k),
		       struct error *err) must_check;
/*
 * In the engine: the stream of the move keeps the rate of this host's owner, and
 * that of the other, as the welcome tells it (0: any).
 */
void keeper_engine_pace(const struct keeper *k, struct channel *ch,
			uint64_t there);
/* Of this host, for a rank that is there; to be closed. */
struct pace *keeper_pace(const struct keeper_rank *rank);
void keeper_engine_kill(struct keeper *k);
/* Hear no more of it. */
void keeper_engine_close(struct keeper *k);
/* In the engine.  fd: -1 or goes along.  The second waits for WORD_DONE. */
int keeper_engine_say(int sock, const struct keeper_note *note, int fd);
int keeper_engine_ask(int sock, struct keeper_note *note, int fd, int *ret_fd,
		      struct error *err) must_check;
/* A memfd of these bytes, and back; -errno. */
int keeper_bytes_to_fd(const void *p, size_t n);
int keeper_fd_to_bytes(int fd, uint8_t **ret, size_t *ret_n);
/* In the engine: put its keeper ahead of others (core/hurry.h), or back. */
void keeper_engine_hurry(bool on);
/* Say how it ended, as the last note. */
void keeper_engine_result(int sock, int code, const struct move_report *report,
			  const struct error *err);

/* ---- out.c */
void keeper_on_migrate_out(struct keeper *k, const Keeper__Request *req);
void keeper_on_migrate_cancel(struct keeper *k, const Keeper__Request *req);
void keeper_out_verdict(struct keeper *k, bool at_destination);

/* ---- in.c */
void keeper_on_receive(struct keeper *k, const Keeper__Request *req);
/* At the keeper's end. */
void keeper_in_close(struct keeper *k);
void keeper_in_verdict(struct keeper *k, bool at_destination);

/* ---- move.c */
void keeper_on_verdict(struct keeper *k, const Keeper__Request *req);
/* Killed: whatever the answer would be, the copy held here ends. */
void keeper_end_doubt(struct keeper *k);

#endif
