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
 * All may read all of it; each object has one owner, which alone makes, changes,
 * stores and ends it, and whose functions others call:
 *
 *	peer    front/peer.c     which job it is attached to: job/client.c
 *	waiter  state/waiters.c
 *	host    hosts/host.c     made and stored by state/host.c
 *	klink   keepers/link.c   whether it is heard, and what was said to it: hear/
 *	rank    state/rank.c     its move: state/move.c
 *	job     state/job.c      how and why it ends: job/; model: sched/
 *	move    rank_move/       made and stored by state/move.c
 *
 * A struct within an object is the part's that it names.
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
#include "cluster/host/identity.h"
#include "cluster/host/limit.h"
#include "model/contract.h"
#include "model/host.h"
#include "model/presence.h"
#include "pmi/gather.h"

enum {
	CTL_RANKS_MAX = 4096,
	CTL_USER_BYTES = 64 << 20, /* of one user's jobs that are not over */
	CTL_ARGUMENTS_KEPT = 4096, /* bytes, of a job that is over */
	SUBMIT_KEY_MAX = 64,
	CTL_TASKS_MAX = 100000, /* of an array */
	CTL_SEED = 1,		/* of the policy's random stream */
};

#define STATE(NAME) CONTROL__STATE__##NAME
#define ENDED(NAME) CONTROL__REASON__##NAME

struct ctl;
struct ctl_job;
struct ctl_move;
struct ctl_sched;
struct ctl_front;
struct ctl_pool;
TAILQ_HEAD(klinks, klink);
TAILQ_HEAD(ctl_waiters, ctl_waiter);

/* A connected agent or client: front/peer.c's. */
struct ctl_peer {
	struct ctl *ctl;
	struct conn *conn;
	bool greeted;
	bool refused;	       /* its user has too many: refused, then closed */
	int role;	       /* enum role */
	const char *name;      /* after the role, in conn_peer() */
	bool holds;	       /* its key, when all are looked at */
	struct ctl_host *host; /* an agent's */
	struct ctl_job *job;   /* attached to */
	LIST_HEAD(, ctl_waiter) waits; /* for what, see waiters.h */
	LIST_ENTRY(ctl_peer) link;
};

/* A request that is answered later; see waiters.h. */
struct ctl_waiter {
	struct ctl_peer *peer; /* who waits; NULL: the controller itself */
	uint64_t re;	       /* the id of its request */
	uint64_t number;       /* of what an agent was asked for it */
	Control__Message__BodyCase expected; /* as its answer */
	struct klink *start;		     /* that this is the start of */
	struct ctl_waiters *list;	     /* of what it waits for */
	TAILQ_ENTRY(ctl_waiter) link;
	LIST_ENTRY(ctl_waiter) of_peer;
};

/* What a host lends, by our clock: hosts/lending.c's. */
struct ctl_lending {
	struct lending is;
	uint32_t guests, guests_most;	   /* there, and allowed */
	uint32_t cores;			   /* that are always the owner's */
	uint32_t disturbed, left, returns; /* today */
	bool giving;			   /* back, and it is not done */
	struct owner_return last[CONTRACT_RETURNS];
	uint32_t nr_last;
};

/* Whose own host it is, as its agent says and our user database knows them. */
struct ctl_owners {
	char *text;
	int32_t uid[HOST_OWNERS];
	uint32_t nr;
};

/* What is known of why a host is drained. */
struct ctl_drained {
	char *who, *reason; /* "": not told */
	usec_t at, by;	    /* since 1970: begun; empty by then, 0: any time */
};

struct ctl_host {
	struct ctl *ctl;
	uint32_t ix; /* in ctl->hosts and the view */
	char *name;
	char *boot_id;
	bool drain;
	struct ctl_drained drained; /* if it is */
	usec_t open_until; /* by the calendar, since 1970; 0: it says nothing */
	struct ctl_owners owners;
	struct ctl_peer *agent; /* NULL while it is not connected */
	char *address, *uplink, *net;
	unsigned prefix; /* of the network at its uplink */
	double score;	 /* of the agent's benchmark */
	uint32_t cores;
	uint64_t memory;
	uint64_t link_bits; /* a second; 0: not known */
	struct limits most; /* of a rank there; as its agent says */
	Control__HostReport report;
	struct presence owner; /* by our clock */
	struct ctl_lending lending;
	usec_t lost_since; /* since 1970; 0: it is there */
	struct skew skew;  /* of its clock */
	bool early;	   /* never there since the controller was started */
	sd_event_source *lost;
	struct ctl_waiters drainers; /* for it to be empty: one client */
	struct ctl_waiters asked;    /* for what its agent answers */
	struct klinks klinks;	     /* of its keepers, as they were made */
	struct klinks strangers;     /* of these, of jobs nobody knows */
	unsigned nr_strangers;
	UT_hash_handle by_name;
};

/* Output that no client has acknowledged yet, or an event behind it. */
struct pending {
	uint64_t seq;
	Keeper__Event *output; /* NULL once done, or no output */
	bool sent;	       /* to the client there is now */
};

/* What a keeper sends: keepers/output.c's. */
struct klink_out {
	uint64_t seen;	/* highest seq taken */
	uint64_t acked; /* highest seq that will not be asked for again */
	struct pending *pending; /* [0, nr) in order of seq */
	size_t nr, cap;
	size_t held; /* bytes of output in it */
	bool waits;  /* in job->turns: some of it the client has to be sent */
};

struct klink {
	struct ctl_host *host;
	struct ctl_job *job; /* NULL: of a job nobody knows */
	uint32_t rank;
	uint64_t job_id, epoch;
	uint64_t number;	     /* of KEEPER_START; never used twice */
	struct ctl_waiter *starting; /* KEEPER_START is not answered yet */
	bool heard; /* HELLO has come since its agent connected */
	bool start_sent, kill_wanted;
	bool start_late,
		release_late; /* until its agent's connection has room */
	bool gone;	      /* it has died, and is found no more */
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

/* job/deliver.c's, in the store as such. */
struct rank_signals {
	uint64_t waiting; /* until it can take them; bit signo-1 */
	uint32_t sent;	  /* the one it has not answered; or 0 */
	uint64_t number;  /* of the last sent */
	uint64_t epoch;	  /* of the keeper that it was sent to */
};

/* Once it has ended: users/limit.c's. */
struct rank_limits {
	struct limits had;
	struct limits_met met; /* how often it met them */
	bool over_memory;      /* which ended it */
};

/* What it had so far, in all its lives and wherever it was. */
struct rank_account {
	uint64_t cpu_usec, max_rss;
	uint64_t stood_usec, moved_bytes; /* by its moves */
};

/* What it gets where it is, as its host said last. */
struct rank_use {
	double share, waits; /* processors, and threads without one */
	double faults;	     /* major, a second */
	uint64_t memory;     /* bytes */
	uint64_t cpu_usec;   /* there; 0 once it is in its account */
};

/* What a rank has sent to another of its job. */
struct rank_sent {
	uint32_t rank;
	uint64_t bytes, segments;
};

/* By rank; not stored: it says who talks to whom, from when on does not matter. */
struct rank_traffic {
	struct rank_sent *to;
	size_t nr, cap;
};

/* What two ranks have sent each other so far. */
struct pair_sent {
	uint32_t a, b; /* a < b */
	uint64_t bytes, segments;
};

/* Of a job, at an instant: sched/talk.c's. */
struct talk_sums {
	usec_t at; /* 0: none yet */
	struct pair_sent *pair;
	size_t nr, cap;
};

struct ctl_rank {
	struct ctl_job *job;
	uint32_t rank;
	int state; /* Control__State */
	struct ctl_host *host;
	struct in_addr address; /* 0: none; ctl_rank_at() */
	UT_hash_handle by_address;
	uint64_t epoch, last_epoch;
	uint64_t first_epoch; /* since it began anew; 0: it never did */
	int exit;
	uint32_t moves;
	usec_t downtime;
	uint64_t stdout_end, stderr_end;
	uint64_t sent_to[2]; /* end of what clients were sent, of either */
	bool inherited;	     /* an earlier controller has begun with that */
	uint32_t pid;
	struct rank_account had;
	struct rank_use use;
	struct rank_traffic sent;
	struct ctl_move *move;
	struct rank_signals signals;
	bool aborted; /* it called MPI_Abort */
	bool lost;    /* DONE, and it has not ended by itself */
	struct rank_limits limits;
	struct klinks klinks; /* as they were made */
	unsigned starts;      /* again, after its keeper died first */
	bool refused;	      /* by its host: it has no keeper, and waits */
	usec_t frozen_since;  /* it stands still; 0: it does not */
	/* After moves that the policy wanted failed: the last, to there. */
	usec_t no_move_before;
	const struct ctl_host *no_move_to;
	unsigned nr_failed;
};

/* The kind of failure that a job's exit code is from, most certain first. */
enum ctl_cause {
	CAUSE_OWN,
	CAUSE_SIGABRT, /* as libraries abort when a peer is gone */
	CAUSE_ECHO,    /* an MPI library aborts: only ever an echo */
};

/* What rank 0 reads: keepers/stdin.c's. */
struct job_input {
	uint64_t from; /* what its keeper wants next */
	uint64_t sent; /* end of what was sent last */
	bool known;    /* from is its keeper's word */
	bool late;     /* some was dropped, its agent had no room */
	bool ended;    /* its keeper has the end: ask for no more */
};

/* Its barriers: job/pmi.c's. */
struct job_pmi {
	struct pmi_gather *gather; /* NULL once the job is over */
	uint64_t generation;	   /* barriers completed */
	uint8_t *release;	   /* packed Keeper__PmiRelease of the last */
	size_t release_n;
};

/* What the store has of what it printed: keepers/kept.c's. */
struct job_kept {
	size_t bytes;		    /* at least */
	bool known;		    /* they were counted */
	struct ctl_waiters readers; /* for more */
};

/* Those of the jobs of an array that are remembered: state/array.c's. */
struct ctl_array {
	uint64_t id, last; /* numbers of its first job, and of the last one */
	uint32_t tasks;	   /* jobs of it that there are */
	uint32_t at_once;  /* so many may have their turn; 0: all */
	uint32_t turns;	   /* so many have it */
	uint64_t next;	   /* no job below it waits for its turn */
	UT_hash_handle by_id;
};

/* May it start, as far as its array goes? */
enum ctl_turn { TURN_FREE, TURN_WAITS, TURN_HAS };

struct ctl_job {
	size_t size; /* of what was submitted */
	struct ctl *ctl;
	uint64_t id;
	int state;
	Control__Submit *spec;
	char *why;
	usec_t submit, start, end;
	int exit, bad_rank;
	bool limit_met;	 /* why tells of it */
	int cause;	 /* of exit and why: enum ctl_cause */
	usec_t cause_at; /* by our clock; 0: unknown */
	int reason;	 /* Control__Reason of exit and why */
	char *by;	 /* whose doing that was; "" */
	uint32_t nr;	 /* ranks */
	struct ctl_rank *ranks;
	struct job *model; /* NULL once it has ended */
	struct talk_sums talks;
	struct ctl_peer *client; /* that prints its output */
	struct klinks turns;	 /* of those that have output for it */
	size_t in_flight;	 /* sent to it and not acknowledged, in bytes */
	struct job_input input;
	struct job_pmi pmi;
	struct job_kept kept;
	struct ctl_waiters waiters; /* for its end */
	struct ctl_array *array;    /* NULL: it is of none */
	enum ctl_turn turn;
	bool deserted;		  /* no client can ever come back */
	sd_event_source *grace;	  /* client gone: ends it */
	sd_event_source *killer;  /* TERM sent: KILL follows */
	sd_event_source *limiter; /* at its warning, or its time limit */
	TAILQ_ENTRY(ctl_job) link;
	UT_hash_handle by_id;
	UT_hash_handle by_key;
	char *key; /* as by_key has it; NULL: none */
};

enum ctl_move_step {
	STEP_KEEPER,	/* the new keeper is being started */
	STEP_RECEIVING, /* RECEIVE sent */
	STEP_OUT,	/* MIGRATE_OUT sent */
	STEP_RESTORED,	/* read from the store: where it stands is not known */
};

#define MIGRATE_KEY_MAX 32

struct ctl_move_bounds {
	uint64_t budget; /* the longest downtime; 0: any */
	usec_t by;	 /* ctl_now(): it should have left; 0: no matter */
};

struct ctl_move {
	struct ctl_rank *rank;
	uint64_t epoch, source_epoch; /* keepers' there and here */
	struct ctl_host *from, *to;
	enum ctl_move_step step;
	uint8_t key[32];
	struct ctl_move_bounds bounds;
	bool landed, gone, committed; /* what is known of it */
	bool dest_ended;	      /* the destination's copy is no more */
	bool told;    /* the policy was, where the rank is now */
	bool policy;  /* asked for by the policy */
	bool refused; /* for what the rank holds */
	bool doubt_source, doubt_dest;
	bool due; /* while all that leave a host are gone through */
	Control__Moved report;
	struct ctl_waiters askers;	/* at most one */
	uint8_t asked[MIGRATE_KEY_MAX]; /* report.key is there */
	sd_event_source *timer;		/* until MIGRATE_OUT */
	TAILQ_ENTRY(ctl_move) link;
};

/*
 * Events in lower sub-rooms that upper ones must handle: one table
 * (controller.c), so that no call goes up.
 */
struct ctl_happenings {
	/* Events have come: the policy is to decide. */
	void (*pass_due)(struct ctl *ctl);
	/* A keeper of that job has come up, and the job has no client. */
	void (*job_unheard)(struct ctl_job *job);
	/*
	 * Called before the job is told: ends the rank's move, if there is one.
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
	struct ctl_job *by_key;	     /* of those submitted with one */
	struct ctl_rank *by_address; /* of those that are not over */
	struct ctl_array *arrays;    /* by id */
	bool turns; /* jobs of arrays may have their turn now */
	unsigned nr_ended;
	uint64_t last; /* id that was given out */
	bool outside;  /* ctl_jobs_outside() */
	bool refused; /* ranks may wait that their hosts refused: job/start.c's */
};

TAILQ_HEAD(ctl_moves, ctl_move);

struct ctl {
	/* Set up at the start, and the same from then on: controller.c's. */
	const struct ctl_happenings *happen;
	const struct controller_conf *conf;
	sd_event *event;
	struct store *store;
	char *keys_path;
	uint32_t min_uid; /* who has a lower one runs nothing */
	/* What there is. */
	struct ctl_hosts hosts;
	struct ctl_jobs jobs;
	struct ctl_moves moves; /* under way: state/move.c's */
	uint64_t last_request;	/* to an agent, its number: state/waiters.c's */
	/* What only the part in question looks into. */
	struct ctl_front *front;       /* connections */
	struct ctl_pool *pool;	       /* addresses of ranks: job/pool.c's */
	struct ctl_sched *sched;       /* the policy and its view */
	struct ctl_closings *closings; /* of hosts: hosts/closing.c's */
};

#endif
