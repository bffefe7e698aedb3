/*
 * store.h - the controller's persistent state
 *
 * It is one SQLite file in WAL mode, the only truth about jobs, their ranks, moves and
 * hosts.  The put functions write whole rows, inside a transaction that the first of
 * them opens; store_commit() makes it durable.  The controller commits before it sends
 * any byte that depends on the change (conn/conn.h: before_send). So what it has
 * acknowledged is on disk, and events that arrive together share one commit.
 *
 * Each file has STORE_RESERVE bytes preallocated, so that the state of running jobs can
 * be written even on a full disk.  If even that fails, for lack of room or because of a
 * disk error, the puts and the commit log that and try again until it works; no message
 * that depends on it is sent meanwhile.  A corrupt database ends the controller.  A
 * restarted controller continues from the last commit.
 *
 * Text and blobs in rows that get functions hand out are valid during the
 * callback; NULL text is stored as empty.
 */
#ifndef CLUSTER_CONTROLLER_STATE_STORE_H
#define CLUSTER_CONTROLLER_STATE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/error.h"
#include "core/units.h"

struct store;

struct store_job {
	uint64_t id; /* from 1 up, never used twice */
	bool stored; /* its row is there, and is changed: a new one costs more */
	int state;   /* Control__State */
	const void *spec;
	size_t spec_n; /* a packed Submit */
	const char *why;
	usec_t submit, start, end; /* since 1970 */
	int exit, bad_rank;
	int cause;		 /* of exit and why: enum ctl_cause */
	usec_t cause_at;	 /* 0: unknown */
	bool limit_met;		 /* a limit that was met is named in why */
	int reason;		 /* Control__Reason */
	const char *by;		 /* the user who caused that */
	uint64_t pmi_generation; /* barriers completed */
	const void *pmi_release; /* the union of the last one, packed */
	size_t pmi_release_n;
};

struct store_rank {
	uint64_t job;
	uint32_t rank;
	int state;
	const char *host;
	/* its capsule's address, in host byte order; 0: none */
	uint32_t address;
	uint64_t epoch;	     /* epoch of the keeper that has it */
	uint64_t last_epoch; /* the last epoch that was given out */
	/* the first since the last requeue; 0: there was none */
	uint64_t first_epoch;
	/* totals so far */
	uint64_t cpu_usec, max_rss, held_usec, stood_usec, moved_bytes;
	uint64_t returns, give_back_usec, late_usec;
	uint32_t late;
	int exit;
	uint32_t moves;
	usec_t downtime; /* downtime of the last move */
	uint64_t stdout_end, stderr_end;
};

/* Signals for a rank that it has not taken yet, as far as the controller knows. */
struct store_signals {
	uint64_t job;
	uint32_t rank;
	uint64_t waiting; /* bit signo-1 */
	uint32_t sent;	  /* the one that its keeper was sent last; 0: none */
	uint64_t number;  /* number of the last one that was sent */
};

enum store_move_state {
	MOVE_BEGUN,
	MOVE_COMMITTED, /* the rank belongs to the destination */
	MOVE_OVER
};

struct store_move {
	uint64_t job;
	uint32_t rank;
	uint64_t epoch;
	uint64_t source_epoch; /* epoch of the keeper that it leaves */
	const char *from, *to;
	int state;
	const void *moved; /* a packed Moved, once the move is over */
	size_t moved_n;
};

/* A piece of what a rank has printed. */
struct store_output {
	uint64_t seq; /* from 1 up, in order; filled in by the store */
	uint64_t job;
	uint32_t rank, stream;
	/* its keeper's epoch and number: the same piece is stored once */
	uint64_t epoch, number;
	uint64_t offset;
	const void *data;
	size_t n;
};

/* how many are kept of one job, whose user can do any number */
enum { STORE_ACTS = 256 };

/* What was done to a job. */
struct store_act {
	uint64_t job;
	usec_t at; /* since 1970 */
	const char *who, *what;
};

/* What an administrator did, or what was refused to somebody. */
struct store_audit {
	uint64_t seq; /* from 1 up, in order; filled in by the store */
	usec_t at;    /* since 1970 */
	const char *who, *what, *target, *detail;
	int code; /* 0: done; negative errno: refused, */
	const char *why;
};

/* of what was refused to one, so many are kept: nobody pushes others' acts out */
enum { STORE_REFUSED = 64 };

/* What a job that is over had asked for, and what it used. */
struct store_account {
	uint64_t job;
	const char *user;
	usec_t ended;	  /* since 1970 */
	const void *data; /* a packed Account */
	size_t n;
};

/* An array as a whole, also when its jobs are forgotten. */
struct store_array {
	uint64_t id, last; /* numbers of its first and of its last job */
	int exit,
		reason; /* of the first of its tasks that failed; 0: none has */
	usec_t ended;	/* since 1970; 0: not all are over */
};

struct store_host {
	const char *name;
	bool drain;
	const char *drain_who, *drain_reason;
	usec_t drain_at, drain_by; /* since 1970; 0: not known, any time */
	const char *boot_id;
};

/* A line of the record of events and plans (model/record.h). */
struct store_line {
	uint64_t seq; /* from 1 up, in order; filled in by the store */
	usec_t at;    /* since 1970 */
	uint64_t job; /* the job that it is about; 0: none */
	bool begin;   /* a segment begins here */
	const char *line;
};

/*
 * Open or create the file.  -EBUSY if another process has it open for writing: there is
 * one controller.  A file of an earlier version is brought up to date, after a copy was
 * kept as PATH.vN; one of a later version is refused and left as it is.
 */
int store_open(const char *path, struct store **ret,
	       struct error *err) must_check;
void store_close(struct store *s); /* commits first; NULL is allowed */

void store_put_job(struct store *s, const struct store_job *job);
void store_put_rank(struct store *s, const struct store_rank *rank);
void store_put_signals(struct store *s, const struct store_signals *signals);
void store_put_move(struct store *s, const struct store_move *move);
void store_put_host(struct store *s, const struct store_host *host);
void store_put_line(struct store *s, const struct store_line *line);
/*
 * Remove all lines before the last segment's beginning that has at least `least` lines
 * after it; all lines if least is 0.
 */
void store_trim_lines(struct store *s, uint64_t least);
void store_put_output(struct store *s, const struct store_output *piece);
/*
 * Keep the last pieces of a job's output that have so many bytes together; remove the
 * others.
 */
void store_trim_output(struct store *s, uint64_t job, size_t bytes);
/* Store an act; the last STORE_ACTS of a job are kept. */
void store_put_act(struct store *s, const struct store_act *act);
/* Acts of the job are a part of its account now, and removed. */
void store_put_account(struct store *s, const struct store_account *account);
/*
 * Of the accounts that are beyond the last `most`, or of jobs that ended before that
 * time, remove the oldest, `rows` at most; false if there are no more of them.
 */
bool store_prune_accounts(struct store *s, uint64_t most, usec_t before,
			  unsigned rows);
/*
 * Kept as long as any job of it is remembered, or an account of a job that ended when it did.
 */
void store_put_array(struct store *s, const struct store_array *array);
/* False: there is no row of it. */
bool store_find_array(struct store *s, uint64_t id, struct store_array *ret);
void store_put_audit(struct store *s, const struct store_audit *act);
/* As store_prune_accounts(). */
bool store_prune_audit(struct store *s, uint64_t most, usec_t before,
		       unsigned rows);
/* The identity has a key from now on, or none any more: false if that was known. */
bool store_know_key(struct store *s, const char *identity);
bool store_unknow_key(struct store *s, const char *identity);
void store_commit(struct store *s);

/* Is there room for new jobs?  This also preallocates again what the reserve lacks. */
#define STORE_RESERVE (8u << 20)
enum store_room {
	STORE_ROOM,	/* there is enough room */
	STORE_ROOM_LOW, /* an administrator should be told */
	/* the reserve is not complete: room for running jobs only */
	STORE_ROOM_NONE
};
enum store_room store_room(struct store *s);

/*
 * Remove a job and all that belongs to it.  Its id is not given out again.  What has moved or
 * printed has a rank's row.
 */
void store_forget_job(struct store *s, uint64_t id);

/* The highest job id ever given out; 0 for none. */
uint64_t store_last_job(struct store *s);

/* Call fn for each row, in the order of keys. */
void store_each_job(struct store *s,
		    void (*each)(void *ctx, const struct store_job *),
		    void *ctx);
void store_each_rank(struct store *s, uint64_t job,
		     void (*each)(void *ctx, const struct store_rank *),
		     void *ctx);
void store_each_signals(struct store *s, uint64_t job,
			void (*each)(void *ctx, const struct store_signals *),
			void *ctx);
/* Has the keeper of that epoch ever been asked to be there? */
bool store_was_there(struct store *s, uint64_t job, uint32_t rank,
		     uint64_t epoch, const char *host);
/* The last move of the rank that has ended, if there is one. */
void store_last_move(struct store *s, uint64_t job, uint32_t rank,
		     void (*last)(void *ctx, const struct store_move *),
		     void *ctx);
/* Moves that have not ended. */
void store_each_move(struct store *s,
		     void (*each)(void *ctx, const struct store_move *),
		     void *ctx);
/* Sequence numbers of the first and the last line; 0 if there are none. */
void store_lines(struct store *s, uint64_t *first, uint64_t *last);
/*
 * Call each() for the lines from seq `from` on, of all jobs (0) or of one, until it
 * returns false.
 */
void store_each_line(struct store *s, uint64_t from, uint64_t job,
		     bool (*each)(void *ctx, const struct store_line *),
		     void *ctx);
/* Each piece counts as so many bytes more than it has. */
#define STORE_PIECE 64u
size_t store_output_bytes(struct store *s, uint64_t job);
/* Call each() for a job's pieces from seq `from` on, until it returns false. */
void store_each_output(struct store *s, uint64_t job, uint64_t from,
		       bool (*each)(void *ctx, const struct store_output *),
		       void *ctx);
void store_each_act(struct store *s, uint64_t job,
		    void (*each)(void *ctx, const struct store_act *),
		    void *ctx);
/* Call each() for the accounts from that job on, until it returns false. */
void store_each_account(struct store *s, uint64_t from,
			bool (*each)(void *ctx, const struct store_account *),
			void *ctx);
/* Call each() for the acts from seq `from` on, until it returns false. */
void store_each_audit(struct store *s, uint64_t from,
		      bool (*each)(void *ctx, const struct store_audit *),
		      void *ctx);
/* Who had a key when that was last looked at. */
void store_each_key(struct store *s,
		    void (*each)(void *ctx, const char *identity), void *ctx);
void store_each_host(struct store *s,
		     void (*each)(void *ctx, const struct store_host *),
		     void *ctx);

#endif
