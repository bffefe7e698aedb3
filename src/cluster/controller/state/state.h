/*
 * state.h - what the controller's files share
 *
 * The controller's state is that of its store plus what is not persistent:
 * connections, and which keepers have reported.  It is a driver: state changes
 * go through model_apply() to the view that the policy sees (sched/tell.c),
 * effects are requests to keepers (hear/keeper.c).
 *
 *   job ─── rank ─┬─ klink of the keeper that has it (epoch == rank->epoch)
 *                 ├─ klinks of others: one a rank is landing in, old ones that
 *                 │  still hand out output
 *                 └─ move under way, or none
 *
 * A klink is the controller's side of one keeper: created when the keeper is
 * asked for or first reports, destroyed when its agent reports that the keeper
 * is gone.
 *
 * All files may read all of it.  Each object has one owner, which alone creates,
 * changes, stores and destroys it, and whose functions others call:
 *
 *	peer    front/peer.c     which job it is of a client: the job it is attached to: job/client.c
 *	waiter  state/waiters.c
 *	host    hosts/host.c     made and stored by state/host.c
 *	klink   keepers/link.c   whether it is heard, and what was said to it: hear/
 *	rank    state/rank.c     its move: state/move.c
 *	job     state/job.c      how and why it ends: job/; model: sched/
 *	move    rank_move/       made and stored by state/move.c
 *
 * A struct within an object belongs to the part that its comment names.
 */
#ifndef CLUSTER_CONTROLLER_STATE_STATE_H
#define CLUSTER_CONTROLLER_STATE_STATE_H

#include <netinet/in.h>
#include <sys/queue.h>
#include <uthash.h>

#include "cluster/conn/control.pb-c.h"
#include "cluster/conn/keeper.pb-c.h"
#include "cluster/conn/message.h"
#include "cluster/controller/state/conf.h"
#include "cluster/controller/state/skew.h"
#include "cluster/controller/state/store.h"
#include "cluster/controller/state/use.h"
#include "cluster/host/identity.h"
#include "cluster/host/limit.h"
#include "model/contract.h"
#include "model/host.h"
#include "model/job.h"
#include "model/pause.h"
#include "model/presence.h"
#include "pmi/gather.h"

enum {
	CTL_RANKS_MAX = 4096,
	CTL_USER_BYTES = 64 << 20, /* bytes of one user's unfinished jobs */
	CTL_ARGUMENTS_KEPT = 4096, /* bytes kept of a job that is over */
	SUBMIT_KEY_MAX = 64,
	CTL_TASKS_MAX = 100000, /* tasks of an array */
	CTL_SEED = 1,		/* seed of the policy's random stream */
};

#define STATE(NAME) CONTROL__STATE__##NAME
#define ENDED(NAME) CONTROL__REASON__##NAME

struct ctl;
struct ctl_job;
struct ctl_move;
struct ctl_sched;
struct ctl_front;
struct ctl_pool;
struct ctl_array;
struct ctl_awaited;
struct ctl_follows;
struct ctl_user_jobs;
TAILQ_HEAD(klinks, klink);
TAILQ_HEAD(ctl_waiters, ctl_waiter);

/* A connected agent or client: front/peer.c's. */
struct ctl_peer {
	struct ctl *ctl;
	struct conn *conn;
	bool greeted;
	/* its user has too many connections: it is refused, then closed */
	bool refused;
	int role;	  /* enum role */
	const char *name; /* after the role, in conn_peer() */
	/* while all are checked: is its key still valid? */
	bool holds;
	struct ctl_host *host;	       /* of an agent: its host */
	struct ctl_job *job;	       /* attached to */
	LIST_HEAD(, ctl_waiter) waits; /* what it waits for, see waiters.h */
	LIST_ENTRY(ctl_peer) link;
};

/* A request that is answered later; see waiters.h. */
struct ctl_waiter {
	/* the peer that waits; NULL: the controller itself */
	struct ctl_peer *peer;
	uint64_t re; /* the id of its request */
	/* number of the question to an agent that was sent for it */
	uint64_t number;
	Control__Message__BodyCase expected; /* which answer is expected */
	/* the keeper whose start this is */
	struct klink *start;
	struct ctl_waiters *list; /* the list of what it waits for */
	TAILQ_ENTRY(ctl_waiter) link;
	LIST_ENTRY(ctl_waiter) of_peer;
};

/* What a host lends, times by our clock: hosts/lending.c's. */
struct ctl_lending {
	struct lending is;
	/* how many are there, and how many may be */
	uint32_t guests, guests_most;
	/* cores that are always the owner's */
	uint32_t cores;
	uint32_t disturbed, left, returns; /* today */
	/* it is being given back, and that is not done yet */
	bool giving;
	struct owner_return last[CONTRACT_RETURNS];
	uint32_t nr_last;
	/* hosts/returns.c: the last one that is known, by the host's clock, and the
	 * one that ranks met and that is not given back yet; 0: none */
	bool heard;
	usec_t known, met;
	struct owner_return ended; /* the last one whose end was heard of */
	usec_t late; /* the one of which it was told that it took too long */
	/* in which time it is to be given back, and who was there when that was over */
	usec_t limit;
	struct ctl_late {
		usec_t wall; /* of the return; 0: none */
		usec_t limit;
		uint64_t job; /* 0: nobody can be named */
		uint32_t rank;
		enum late why;
	} lates[CONTRACT_RETURNS];
	uint32_t nr_lates; /* ever; the oldest go */
};

/*
 * Users whose own host it is, as its agent names them and the user database has them.
 */
struct ctl_owners {
	char *text;
	int32_t uid[HOST_OWNERS];
	uint32_t nr;
};

/* What is known of why a host is drained. */
struct ctl_drained {
	char *who, *reason; /* "": not given */
	/* since 1970: when it began; by when it must be empty (0: any time) */
	usec_t at, by;
};

struct ctl_host {
	struct ctl *ctl;
	uint32_t ix; /* its index in ctl->hosts and in the view */
	char *name;
	char *boot_id;
	bool drain;
	struct ctl_drained drained; /* if it is */
	/* until then by the calendar, since 1970; 0: not in the calendar */
	usec_t open_until;
	struct ctl_owners owners;
	struct ctl_peer *agent; /* NULL while it is not connected */
	char *address, *uplink, *net;
	unsigned prefix; /* prefix of the network at its uplink */
	double score;	 /* result of the agent's benchmark */
	uint32_t cores;
	uint64_t memory;
	uint64_t link_bits; /* per second; 0: not known */
	struct limits most; /* of each rank there, as its agent reports */
	bool no_cpus;	    /* it cannot limit processors */
	Control__HostReport report;
	struct presence owner; /* by our clock */
	struct ctl_lending lending;
	usec_t lost_since; /* since 1970; 0: it is connected */
	struct skew skew;  /* offset of its clock */
	/* it has not connected since the controller was started */
	bool early;
	sd_event_source *lost, *limit; /* of giving it back */
	struct ctl_waiters drainers;   /* wait for it to be empty */
	struct ctl_waiters asked;      /* wait for answers of its agent */
	struct klinks klinks; /* its keepers, in the order of creation */
	/* those of them that belong to no known job */
	struct klinks strangers;
	unsigned nr_strangers;
	UT_hash_handle by_name;
};

/* Output that no client has acknowledged yet, or an event behind it. */
struct pending {
	uint64_t seq;
	/* NULL once it is done, or if it is not output */
	Keeper__Event *output;
	bool sent; /* sent to the present client */
};

/* What a keeper sends: keepers/output.c's. */
struct klink_out {
	uint64_t seen;	/* highest seq taken */
	uint64_t acked; /* highest seq that will not be asked for again */
	struct pending *pending; /* [0, nr) in order of seq */
	size_t nr, cap;
	size_t held; /* bytes of output in it */
	/* it is in job->turns: the client is still to be sent some */
	bool waits;
};

struct klink {
	struct ctl_host *host;
	struct ctl_job *job; /* NULL: its job is not known */
	uint32_t rank;
	uint64_t job_id, epoch;
	/* number of its KEEPER_START; never used twice */
	uint64_t number;
	struct ctl_waiter *starting; /* KEEPER_START is not answered yet */
	bool heard; /* HELLO has come since its agent connected */
	bool start_sent, kill_wanted;
	bool start_late,
		/* to be sent when its agent's connection has room */
		release_late;
	/* it has died; look-ups do not find it any more */
	bool gone;
	/* its STARTED, which is still to be heard; or NULL */
	Keeper__Event *started;
	sd_event_source *hears_started;
	bool ends; /* that it has ended is heard next */
	struct klink_out out;
	TAILQ_ENTRY(klink) turn;
	TAILQ_ENTRY(klink) link; /* in host->klinks */
	TAILQ_ENTRY(klink) kin;	 /* in its rank's klinks, or host->strangers */
};

/* Its name in messages to its agent. */
struct klink_name {
	char job[24];
	Control__KeeperName name;
};

/* Signals of a rank: job/deliver.c's; stored as struct store_signals. */
struct rank_signals {
	/* signals that wait until it can take them; bit signo-1 */
	uint64_t waiting;
	uint32_t sent;	 /* the signal that it has not answered yet; or 0 */
	uint64_t number; /* number of the last one sent */
	uint64_t epoch;	 /* epoch of the keeper that it was sent to */
};

/* Set when the rank has ended: users/limit.c's. */
struct rank_limits {
	struct limits had;
	struct limits_met met;	     /* how often it met them */
	bool over_memory, over_file; /* was it ended because of that? */
};

/* So often another keeper is tried for a rank whose program has not begun. */
#define RANK_UNREADY_MOST 3

struct ctl_rank {
	struct ctl_job *job;
	uint32_t rank;
	int state; /* Control__State */
	struct ctl_host *host;
	struct in_addr address; /* 0: none; ctl_rank_at() */
	UT_hash_handle by_address;
	uint64_t epoch, last_epoch;
	/* its first epoch since the last requeue; 0: there was none */
	uint64_t first_epoch;
	int exit;
	uint32_t moves;
	usec_t downtime;
	struct rank_seen seen; /* as it moved */
	uint64_t stdout_end, stderr_end;
	uint64_t sent_to[2]; /* end of what clients were sent of each stream */
	bool inherited;	     /* an earlier controller has sent clients output */
	uint32_t pid;
	struct rank_account had;
	struct rank_use use;
	struct rank_traffic sent;
	struct ctl_move *move;
	struct rank_signals signals;
	bool aborted; /* it called MPI_Abort */
	bool lost;    /* DONE, but it has not ended by itself */
	struct rank_limits limits;
	struct klinks klinks; /* its klinks in the order of creation */
	/* how often it was started again after its keeper died early */
	unsigned starts;
	/* so often its keeper failed before it was sent the program, the last times there */
	unsigned unready;
	uint32_t unready_at[RANK_UNREADY_MOST]; /* ix of hosts */
	/* its host has refused it: it has no keeper, and waits */
	bool refused;
	usec_t frozen_since; /* since when it stands still; 0: it does not */
	/* the owner's return that it met, by its host's clock, until it is given
	 * back; 0: none */
	usec_t met_return;
	usec_t late_return; /* the one at whose limit it was still there; 0: none */
	struct move_pause pause; /* of moves that the policy wants */
	bool planned;		 /* ... one of it, before it could be moved */
};

/* The kind of failure that a job's exit code comes from, the most certain first. */
enum ctl_cause {
	CAUSE_OWN,
	CAUSE_SIGABRT, /* as when a library aborts because a peer is gone */
	/* an MPI library has aborted: always an echo of another end */
	CAUSE_ECHO,
};

/* What rank 0 reads: keepers/stdin.c's. */
struct job_input {
	uint64_t from; /* offset of what its keeper wants next */
	uint64_t sent; /* end of what was sent last */
	bool known;    /* the keeper has told `from` */
	/* some input was dropped because its agent had no room */
	bool late;
	/* its keeper has the end of the input: ask for no more */
	bool ended;
};

/* A job's PMI barriers: job/pmi.c's. */
struct job_pmi {
	struct pmi_gather *gather; /* NULL once the job is over */
	uint64_t generation;	   /* barriers completed */
	/* packed Keeper__PmiRelease of the last barrier */
	uint8_t *release;
	size_t release_n;
};

/* What is stored of what the job printed: keepers/kept.c's. */
struct job_kept {
	size_t bytes;		    /* at least so many */
	bool known;		    /* the bytes were counted */
	struct ctl_waiters readers; /* wait for more */
};

/* May a job start, as far as its array is concerned? */
enum ctl_turn { TURN_FREE, TURN_WAITS, TURN_HAS };

/* ..., and the jobs that it is to follow?  AFTER_DUE: it may, or never will. */
enum ctl_after { AFTER_FREE, AFTER_WAITS, AFTER_DUE };

struct ctl_job {
	size_t size; /* bytes of what was submitted */
	struct ctl *ctl;
	uint64_t id;
	int state;
	Control__Submit *spec;
	char *why;
	usec_t submit, start, end;
	int exit, bad_rank;
	bool limit_met;	 /* a limit that was met is named in why */
	bool stored;	 /* it has a row */
	int cause;	 /* where exit and why come from: enum ctl_cause */
	usec_t cause_at; /* when, by our clock; 0: unknown */
	int reason;	 /* Control__Reason for exit and why */
	char *by;	 /* the user who caused that; or "" */
	uint32_t nr;	 /* ranks */
	struct ctl_rank *ranks;
	struct job *model; /* NULL once it has ended */
	struct talk_sums talks;
	struct ctl_peer *client; /* the client that prints its output */
	struct klinks turns;	 /* klinks with output for the client */
	size_t in_flight;	 /* bytes sent to it and not acknowledged */
	struct job_input input;
	struct job_pmi pmi;
	struct job_kept kept;
	struct ctl_waiters waiters; /* wait for the job's end */
	struct ctl_array *array;    /* NULL: it is not of an array */
	enum ctl_turn turn;
	enum ctl_after after;
	struct ctl_follows *follows; /* one for each of spec->after; or NULL */
	bool deserted;		     /* its client can never come back */
	sd_event_source *grace;	     /* the client is gone: ends the job */
	sd_event_source *killer;     /* TERM was sent: sends KILL */
	/* at the warning or the end of its time limit */
	sd_event_source *limiter;
	struct ctl_user_jobs *of_user; /* of all its user's jobs */
	TAILQ_ENTRY(ctl_job) link;
	TAILQ_ENTRY(ctl_job) over; /* if it is */
	TAILQ_ENTRY(ctl_job) due;
	UT_hash_handle by_id;
	UT_hash_handle by_key;
	char *key; /* the key in by_key; NULL: none */
};

enum ctl_move_step {
	STEP_KEEPER,	/* the new keeper is being started */
	STEP_RECEIVING, /* RECEIVE was sent */
	STEP_OUT,	/* MIGRATE_OUT was sent */
	/* read from the store: how far it has come is not known */
	STEP_RESTORED,
};

#define MIGRATE_KEY_MAX 32

struct ctl_move_bounds {
	uint64_t budget; /* the longest downtime; 0: any */
	/* by when the rank should have left (ctl_now()); 0: any time */
	usec_t by;
};

struct ctl_move {
	struct ctl_rank *rank;
	/* epochs of the destination's and of the source's keeper */
	uint64_t epoch, source_epoch;
	struct ctl_host *from, *to;
	enum ctl_move_step step;
	uint8_t key[32];
	struct ctl_move_bounds bounds;
	bool landed, gone, committed; /* what the keepers have reported */
	bool dest_ended;	      /* the destination's copy is no more */
	bool told;    /* the policy was told where the rank is now */
	bool late;    /* it has landed, and its source's report is late */
	bool policy;  /* the policy wanted the move */
	bool refused; /* refused because of what the rank holds */
	bool doubt_source, doubt_dest;
	bool due; /* mark, while all moves from a host are gone through */
	Control__Moved report;
	/* clients that wait for its end, at most one */
	struct ctl_waiters askers;
	uint8_t asked[MIGRATE_KEY_MAX]; /* report.key points here */
	sd_event_source *timer, *stand; /* run until MIGRATE_OUT is sent */
	TAILQ_ENTRY(ctl_move) link;
};

/*
 * Events in lower sub-rooms that upper ones must handle: one table
 * (controller.c), so that no call goes up.
 */
struct ctl_happenings {
	/* Events have come: the policy is to decide. */
	void (*pass_due)(struct ctl *ctl);
	/* A keeper of that job has reported, and the job has no client. */
	void (*job_unheard)(struct ctl_job *job);
	/*
	 * A rank is lost; called before the job is told.  Ends the rank's move,
	 * if there is one.
	 */
	void (*rank_lost)(struct ctl_rank *r, const char *how);
};

/* All hosts: state/host.c's. */
struct ctl_hosts {
	struct ctl_host **at; /* by ix, as in the view */
	size_t nr, cap;
	struct ctl_host *by_name;
};

/* All jobs: state/job.c's. */
struct ctl_jobs {
	TAILQ_HEAD(ctl_job_list, ctl_job) list; /* by id */
	struct ctl_job *by_id;
	struct ctl_job *by_key;	     /* jobs that were submitted with a key */
	struct ctl_rank *by_address; /* ranks of unfinished jobs */
	struct ctl_array *arrays;    /* by id */
	bool turns;		     /* jobs of arrays may get a turn now */
	struct ctl_user_jobs *by_user;
	struct ctl_awaited *awaited; /* jobs that others are to follow */
	/* state/after.h's: what followers are to be told of, and those that are due */
	TAILQ_HEAD(, ctl_awaited) telling;
	struct ctl_job_list due;
	sd_event_source *follow_pause; /* job/follow.c's */
	struct ctl_job_list ended;     /* those that are over, by their ends */
	unsigned nr_ended;
	unsigned forgotten; /* since memory was given back: job/forget.c's */
	uint64_t last;	    /* the last id that was given out */
	bool outside;	    /* ctl_jobs_outside() */
	/* there may be ranks that their hosts refused: job/start.c's */
	bool refused;
};

TAILQ_HEAD(ctl_moves, ctl_move);

struct ctl {
	/* Set up at the start, and the same from then on: controller.c's. */
	const struct ctl_happenings *happen;
	const struct controller_conf *conf;
	sd_event *event;
	struct store *store;
	char *keys_path;
	uint32_t min_uid; /* users with a lower uid run nothing */
	/* What there is. */
	struct ctl_hosts hosts;
	struct ctl_jobs jobs;
	struct ctl_moves moves; /* moves under way: state/move.c's */
	/* number of the last request to an agent: state/waiters.c's */
	uint64_t last_request;
	/* Private to the parts that are named. */
	struct ctl_front *front; /* connections */
	struct ctl_pool *pool;	 /* addresses of ranks: job/pool.c's */
	struct ctl_sched *sched; /* the policy and its view */
	/* closures of hosts: hosts/closing.c's */
	struct ctl_closings *closings;
};

#endif
