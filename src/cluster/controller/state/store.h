/*
 * store.h - the controller's persistent state
 *
 * One SQLite file in WAL mode, the only truth about jobs, their ranks, moves
 * and hosts.  The put functions write whole rows, inside a transaction that the
 * first of them opens; store_commit() makes it durable.  The controller commits
 * before it sends any byte that depends on it (conn/conn.h: before_send), so
 * what it has acknowledged is on disk, and events that arrive together share
 * one commit.
 *
 * Each file has STORE_RESERVE bytes preallocated, so that the state of running
 * jobs can be written on a full disk, too.  Where even that fails, for want of
 * room or by an error of the disk, the puts and the commit say so in the log
 * and try again until it works: nothing leaves meanwhile that tells of it.  A
 * corrupt database ends the controller; a restarted one continues from the last
 * commit.
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
	int state;   /* Control__State */
	const void *spec;
	size_t spec_n; /* a packed Submit */
	const char *why;
	usec_t submit, start, end; /* since 1970 */
	int exit, bad_rank;
	int cause;		 /* of these: enum ctl_cause */
	usec_t cause_at;	 /* 0: unknown */
	bool limit_met;		 /* why tells of it */
	int reason;		 /* Control__Reason */
	const char *by;		 /* whose doing that was */
	uint64_t pmi_generation; /* barriers completed */
	const void *pmi_release; /* the last one's union, packed */
	size_t pmi_release_n;
};

struct store_rank {
	uint64_t job;
	uint32_t rank;
	int state;
	const char *host;
	uint32_t address;     /* of its capsule, in host byte order; 0: none */
	uint64_t epoch;	      /* of the keeper that has it */
	uint64_t last_epoch;  /* the last that was given out */
	uint64_t first_epoch; /* since its job began anew; 0: it never did */
	uint64_t cpu_usec, max_rss, stood_usec, moved_bytes; /* so far */
	int exit;
	uint32_t moves;
	usec_t downtime; /* of the last move */
	uint64_t stdout_end, stderr_end;
};

/* Signals for a rank that it has not taken yet, as far as we know. */
struct store_signals {
	uint64_t job;
	uint32_t rank;
	uint64_t waiting; /* bit signo-1 */
	uint32_t sent;	  /* signo of the one its keeper was sent; 0: none */
	uint64_t number;  /* of the last that was sent */
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
	uint64_t source_epoch; /* of the keeper it leaves */
	const char *from, *to;
	int state;
	const void *moved; /* a packed Moved, once over */
	size_t moved_n;
};

/* A piece of what a rank has printed. */
struct store_output {
	uint64_t seq; /* from 1 up, in order; filled in by the store */
	uint64_t job;
	uint32_t rank, stream;
	uint64_t epoch, number; /* its keeper's: the same is stored once */
	uint64_t offset;
	const void *data;
	size_t n;
};

enum { STORE_ACTS = 256 }; /* of one job: its user can do any number */

/* What was done to a job. */
struct store_act {
	uint64_t job;
	usec_t at; /* since 1970 */
	const char *who, *what;
};

/* What a job that is over asked for and had. */
struct store_account {
	uint64_t job;
	const char *user;
	const void *data; /* a packed Account */
	size_t n;
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
	uint64_t job; /* that it tells of; 0: of none */
	bool begin;   /* what comes before can be left out */
	const char *line;
};

/*
 * Open or make the file.  -EBUSY when another process has it open for
 * writing: there is one controller.  One of an earlier version is brought up
 * to date, and a copy of it as it was kept as PATH.vN; one of a later version
 * is refused, and left as it is.
 */
int store_open(const char *path, struct store **ret,
	       struct error *err) must_check;
void store_close(struct store *s); /* commits; NULL is allowed */

void store_put_job(struct store *s, const struct store_job *job);
void store_put_rank(struct store *s, const struct store_rank *rank);
void store_put_signals(struct store *s, const struct store_signals *signals);
void store_put_move(struct store *s, const struct store_move *move);
void store_put_host(struct store *s, const struct store_host *host);
void store_put_line(struct store *s, const struct store_line *line);
/* Remove what comes before the last begin that has `least` lines after it; all
 * if least is 0. */
void store_trim_lines(struct store *s, uint64_t least);
void store_put_output(struct store *s, const struct store_output *piece);
/* Of a job's pieces the last ones stay that are so many bytes together. */
void store_trim_output(struct store *s, uint64_t job, size_t bytes);
/* The last STORE_ACTS of a job stay. */
void store_put_act(struct store *s, const struct store_act *act);
void store_put_account(struct store *s, const struct store_account *account);
/* Of accounts, and acts of jobs before them, the last so many stay. */
void store_trim_accounts(struct store *s, uint64_t most);
void store_commit(struct store *s);

/* Is there room for new jobs?  Also takes back what the reserve lacks. */
#define STORE_RESERVE (8u << 20)
enum store_room {
	STORE_ROOM,	/* enough */
	STORE_ROOM_LOW, /* somebody should know */
	STORE_ROOM_NONE /* the reserve is not whole: for what runs only */
};
enum store_room store_room(struct store *s);

/* Remove a job and all that belongs to it; its id is not given out again. */
void store_forget_job(struct store *s, uint64_t id);

/* The highest job id ever given out; 0 for none. */
uint64_t store_last_job(struct store *s);

/* Each row, ordered by key. */
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
/* The one that was over last, if there is one. */
void store_last_move(struct store *s, uint64_t job, uint32_t rank,
		     void (*last)(void *ctx, const struct store_move *),
		     void *ctx);
/* Those that are not over. */
void store_each_move(struct store *s,
		     void (*each)(void *ctx, const struct store_move *),
		     void *ctx);
/* The first and last line there are; 0 for none. */
void store_lines(struct store *s, uint64_t *first, uint64_t *last);
/* Lines from seq `from` on, of all jobs (0) or one, until each says false. */
void store_each_line(struct store *s, uint64_t from, uint64_t job,
		     bool (*each)(void *ctx, const struct store_line *),
		     void *ctx);
/* A piece counts as so many bytes more than it has. */
#define STORE_PIECE 64u
size_t store_output_bytes(struct store *s, uint64_t job);
/* A job's pieces from seq `from` on, until each says false. */
void store_each_output(struct store *s, uint64_t job, uint64_t from,
		       bool (*each)(void *ctx, const struct store_output *),
		       void *ctx);
void store_each_act(struct store *s, uint64_t job,
		    void (*each)(void *ctx, const struct store_act *),
		    void *ctx);
/* From that job on, until each says false. */
void store_each_account(struct store *s, uint64_t from,
			bool (*each)(void *ctx, const struct store_account *),
			void *ctx);
void store_each_host(struct store *s,
		     void (*each)(void *ctx, const struct store_host *),
		     void *ctx);

#endif
