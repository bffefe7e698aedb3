/*
 * controller_priv.h - what the controller's files share
 *
 * The controller's state is that of its store plus what is under way: who is
 * connected, which keepers have reported.  It is a driver: state changes go
 * through model_apply() to the view that the policy sees (controller_sched.c),
 * effects are requests to keepers (controller_keeper.c).
 *
 *   job ─── rank ─┬─ klink of the keeper that has it (epoch == rank->epoch)
 *                 ├─ klinks of others: one a rank is landing in, old ones that
 *                 │  still hand out output
 *                 └─ move under way, or none
 *
 * A klink is this side of one keeper: made when the keeper is asked for or
 * first heard of, gone when its agent says that the keeper is.
 */
#ifndef CLUSTER_CONTROLLER_PRIV_H
#define CLUSTER_CONTROLLER_PRIV_H

#include <netinet/in.h>
#include <sys/queue.h>

#include "cluster/conn/control.pb-c.h"
#include "cluster/conn/keeper.pb-c.h"
#include "cluster/conn/message.h"
#include "cluster/controller/controller.h"
#include "cluster/controller/state/skew.h"
#include "cluster/controller/state/store.h"
#include "cluster/host/identity.h"
#include "cluster/host/limit.h"
#include "model/event.h"
#include "pmi/gather.h"
#include "policy/policies.h"

enum {
	CTL_RANKS_MAX = 4096,
	CTL_USER_BYTES = 64 << 20, /* of one user's jobs that are not over */
	CTL_ARGUMENTS_KEPT = 4096, /* bytes, of a job that is over */
	SUBMIT_KEY_MAX = 64,
	CTL_SEED = 1, /* of the policy's random stream */
};

/* After a move it wanted failed, the policy's wish counts again. */
#define MOVE_PAUSE (10 * USEC_PER_SEC)

#define STATE(NAME) CONTROL__STATE__##NAME

struct ctl;
struct ctl_job;
struct ctl_move;

/* A connected agent or client, once it has said HELLO. */
struct ctl_peer {
	struct ctl *ctl;
	struct conn *conn;
	bool greeted;
	bool refused;	       /* its user has too many: told, and ended */
	int role;	       /* enum role */
	const char *name;      /* after the role, in conn_peer() */
	bool holds;	       /* its key, when all are looked at */
	struct ctl_host *host; /* an agent's */
	struct ctl_job *job;   /* attached to */
	LIST_ENTRY(ctl_peer) link;
};

struct ctl_host {
	struct ctl *ctl;
	uint32_t ix; /* in ctl->hosts and the view */
	char *name;
	char *boot_id;
	bool drain;
	struct ctl_peer *agent; /* NULL while it is not connected */
	char *address, *uplink, *net;
	unsigned prefix; /* of the network at its uplink */
	double score;	 /* of the agent's benchmark */
	uint32_t cores;
	uint64_t memory;
	struct limits most; /* of a rank there; as its agent says */
	Control__HostReport report;
	struct host fresh; /* what the policy was told last */
	usec_t lost_since; /* since 1970; 0: it is there */
	struct skew skew;  /* of its clock */
	bool early;	   /* never there since the controller was started */
	sd_event_source *lost;
	struct ctl_peer *drainer; /* client that waits for it to be empty */
	uint64_t drainer_re;
};

/* Output that no client has acknowledged yet, or an event behind it. */
struct pending {
	uint64_t seq;
	Keeper__Event *output; /* NULL once done, or no output */
	bool sent;	       /* to the client there is now */
};

struct klink {
	struct ctl_host *host;
	struct ctl_job *job; /* NULL: of a job nobody knows */
	uint32_t rank;
	uint64_t job_id, epoch;
	uint64_t number; /* of KEEPER_START; never used twice */
	bool heard;	 /* HELLO has come since its agent connected */
	bool start_sent, kill_wanted;
	bool start_late,
		release_late; /* until its agent's connection has room */
	bool gone;	      /* it has died, and is found no more */
	uint64_t seen;	      /* highest seq taken */
	uint64_t acked;	      /* highest seq that will not be asked for again */
	struct pending *pending; /* [0, nr) in order of seq */
	size_t nr_pending, cap_pending;
	size_t held; /* bytes of output in it */
	bool waits;  /* in job->turns: some of it the client has to be sent */
	TAILQ_ENTRY(klink) turn;
	TAILQ_ENTRY(klink) link; /* in ctl->klinks */
};

struct ctl_rank {
	struct ctl_job *job;
	uint32_t rank;
	int state; /* Control__State */
	struct ctl_host *host;
	struct in_addr address;
	uint64_t epoch, last_epoch;
	int exit;
	uint32_t moves;
	usec_t downtime;
	uint64_t stdout_end, stderr_end;
	uint64_t sent_to[2]; /* end of what clients were sent, of either */
	bool inherited;	     /* an earlier controller has begun with that */
	uint32_t pid;
	struct ctl_move *move;
	uint64_t signals; /* that wait until it can take them; bit signo-1 */
	bool aborted;	  /* it called MPI_Abort */
	bool lost;	  /* DONE, and it has not ended by itself */
	struct limits limits;  /* that it had, once it has ended */
	struct limits_met met; /* ... and how often it met them */
	bool over_memory;      /* which ended it */
	uint32_t signal_sent;  /* the one it was sent and has not answered; or 0
			       */
	uint64_t signal_number, signal_epoch; /* of the last sent; to whom */
	unsigned starts;       /* again, after its keeper died first */
	usec_t no_move_before; /* after a move that the policy wanted failed */
};

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
	usec_t cause_at; /* of exit and why, by our clock; 0: unknown */
	bool echo;	 /* ... may only follow from another rank's end */
	uint32_t nr;	 /* ranks */
	struct ctl_rank *ranks;
	struct job *model;	   /* NULL once it has ended */
	struct ctl_peer *client;   /* that prints its output */
	TAILQ_HEAD(, klink) turns; /* of those that have output for it */
	size_t in_flight;    /* sent to it and not acknowledged, in bytes */
	uint64_t stdin_from; /* what rank 0's keeper wants next */
	uint64_t stdin_sent; /* end of what was sent last */
	bool stdin_known;
	bool stdin_late;	   /* some was dropped, its agent had no room */
	bool stdin_ended;	   /* its keeper has the end: ask for no more */
	struct pmi_gather *gather; /* NULL once it is over */
	uint64_t pmi_generation;
	uint8_t *pmi_release; /* packed Keeper__PmiRelease of the last */
	size_t pmi_release_n;
	bool deserted;		 /* no client will ever come back */
	sd_event_source *grace;	 /* client gone: ends it */
	sd_event_source *killer; /* TERM sent: KILL follows */
	TAILQ_ENTRY(ctl_job) link;
};

enum ctl_move_step {
	STEP_KEEPER,	/* the new keeper is being started */
	STEP_RECEIVING, /* RECEIVE sent */
	STEP_OUT,	/* MIGRATE_OUT sent */
	STEP_RESTORED,	/* read from the store: where it stands is not known */
};

#define MIGRATE_KEY_MAX 32

struct ctl_move {
	struct ctl_rank *rank;
	uint64_t epoch, source_epoch; /* keepers' there and here */
	struct ctl_host *from, *to;
	enum ctl_move_step step;
	uint8_t key[32];
	uint64_t budget;
	bool landed, gone, committed; /* what is known of it */
	bool dest_ended;	      /* the destination's copy is no more */
	bool policy;		      /* asked for by the policy */
	bool doubt_source, doubt_dest;
	Control__Moved report;
	struct ctl_peer *asker; /* or NULL */
	uint64_t asker_re;
	uint8_t asked[MIGRATE_KEY_MAX]; /* report.key is there */
	sd_event_source *timer;		/* until MIGRATE_OUT */
	TAILQ_ENTRY(ctl_move) link;
};

struct ctl {
	const struct controller_conf *conf;
	sd_event *event;
	struct store *store;
	char *keys_path;
	struct conn_server **servers;
	size_t nr_servers;
	unsigned conns_max, users_max; /* connections; those of users */
	uint32_t min_uid;	       /* who has a lower one runs nothing */
	unsigned user_max;	       /* of one user */
	LIST_HEAD(, ctl_peer) peers;
	struct ctl_host **hosts;
	size_t nr_hosts, cap_hosts;
	TAILQ_HEAD(ctl_jobs, ctl_job) jobs; /* by id */
	unsigned nr_ended;
	uint64_t last_job;
	TAILQ_HEAD(ctl_klinks, klink) klinks;
	uint64_t last_klink; /* its number */
	TAILQ_HEAD(ctl_moves, ctl_move) moves;
	struct in_addr pool;
	unsigned pool_prefix;
	uint32_t next_address;
	struct view view;
	struct policy *policy; /* NULL until there is a host */
	struct plan plan;
	sd_event_source *pass; /* a scheduling pass is due */
	usec_t *wake;	       /* instants the policy asked for, latest first */
	size_t nr_wakes, cap_wakes;
	sd_event_source *waker; /* at the last of them */
	enum store_room room;	/* as was told last */
	uint64_t nr_lines;	/* of the record, since its last begin */
	uint64_t nr_flushed;	/* of them, surely committed */
};

usec_t ctl_now(void); /* since 1970 */

/* What an administrator should do about the disk; "" for nothing. */
const char *ctl_room_text(struct ctl *ctl);

/* ---- controller_peer.c: connections and who may ask what */

extern const struct conn_ops ctl_peer_ops;
/* Send, and end the connection of a peer that does not read. */
void ctl_send(struct ctl_peer *p, uint64_t id, uint64_t re,
	      Control__Message__BodyCase what, void *body);
void ctl_send_ok(struct ctl_peer *p, uint64_t re);
void ctl_send_failed(struct ctl_peer *p, uint64_t re, int code, const char *fmt,
		     ...) __attribute__((format(printf, 4, 5)));

/* ---- controller_keys.c */

/* End connections whose keys are revoked, from now on. */
int ctl_keys_watch(struct ctl *ctl, struct error *err) must_check;
/* A new one: its key may have been revoked while it proved it. */
void ctl_keys_check(struct ctl_peer *p);

/* ---- controller_host.c */

void ctl_hosts_load(struct ctl *ctl);
struct ctl_host *ctl_host_find(struct ctl *ctl, const char *name);
void ctl_host_destroy(struct ctl_host *h);
int ctl_host_hello(struct ctl_peer *p, const Control__AgentInfo *info,
		   struct error *err);
/* It has our HELLO, too: compare what it has with what it should have. */
void ctl_host_compare(struct ctl_host *h, const Control__AgentInfo *info);
/* Since we were started it has not been there, and may be about to. */
bool ctl_host_coming(const struct ctl_host *h);
void ctl_host_report(struct ctl_host *h, const Control__HostReport *r);
void ctl_host_gone(struct ctl_host *h); /* its agent's connection is */
void ctl_host_drain(struct ctl_peer *p, uint64_t re, const Control__Drain *d);
/* Ranks left there, or moved: answer who waits for it to be empty. */
void ctl_host_check_drained(struct ctl_host *h, const char *failed);
/* Have its agent remove a record (cluster/keeper_record.h). */
void ctl_host_forget(struct ctl_host *h, Control__KeeperName *name);
/* Its agent has no such keeper. */
void ctl_host_lacks(struct ctl_host *h, const Control__KeeperName *name);

/* ---- controller_job.c */

struct ctl_job *ctl_job_find(struct ctl *ctl, uint64_t id);
/* Takes spec. */
struct ctl_job *ctl_job_create(struct ctl *ctl, uint64_t id,
			       Control__Submit *spec);
void ctl_job_destroy(struct ctl_job *job);
/* It is over: free what only a living job needs. */
void ctl_job_shed(struct ctl_job *job);
/* Forget the oldest of jobs that are over, down to conf->history. */
void ctl_jobs_prune(struct ctl *ctl);
void ctl_job_submit(struct ctl_peer *p, uint64_t re, Control__Submit *s);
/* Politely first, if it has begun. */
void ctl_job_stop(struct ctl_job *job, const char *why);
/* After kill-grace, no longer. */
void ctl_job_kill_later(struct ctl_job *job);
/* bad rank -1: none.  Kills what still runs; exit and why of the first count.
 */
void ctl_job_fail(struct ctl_job *job, int bad_rank, int code, const char *fmt,
		  ...) __attribute__((format(printf, 4, 5)));
/* signo: what killed it, or 0; code is what a shell makes of either. */
void ctl_rank_ended(struct ctl_rank *r, int code, int signo);
void ctl_rank_lost(struct ctl_rank *r, const char *how);
/*
 * ctl_job_fail() follows, for what happened at `at` by our clock (0: unknown): if
 * that was before what the job is said to have failed of, it is the cause, however
 * late we hear of it.
 */
void ctl_job_cause(struct ctl_job *job, usec_t at);
void ctl_job_store(struct ctl_job *job);
void ctl_rank_store(struct ctl_rank *r);
bool ctl_rank_active(const struct ctl_rank *r); /* started and not ended */

/* ---- controller_limit.c: what users and ranks may take */

/* -EDQUOT if that user has as many jobs that are not over as one may have. */
int ctl_limit_jobs(const struct ctl_peer *p, const Control__Submit *s,
		   struct error *err) must_check;
/* What a job asks for, against what these hosts (NULL: any host) give. */
int ctl_limit_check(const struct ctl_job *job, const uint32_t *hosts,
		    struct error *err) must_check;
int ctl_limit_host(const struct ctl_job *job, const struct ctl_host *h,
		   struct error *err) must_check;
/* Before ctl_rank_ended(): which limits it met. */
void ctl_limit_exited(struct ctl_rank *r, const Keeper__Exited *e);
/*
 * How it met them, to go on after "rank N exited" ("" if it did not), or, where
 * true is returned, after "rank N": that is what ended it.
 */
#define CTL_LIMIT_TEXT 256
bool ctl_limit_words(const struct ctl_rank *r, char ret[CTL_LIMIT_TEXT]);
/* It ended well and met one all the same: its user wants to know. */
void ctl_limit_note(struct ctl_rank *r, const char *words);

/* ---- controller_start.c */

/* It runs with n ranks, on these hosts: start their keepers. */
void ctl_job_start(struct ctl_job *job, uint32_t n, const uint32_t *hosts);
void ctl_rank_started(struct ctl_rank *r);
/* Its host is given up: started on another one, if it surely never began there. */
bool ctl_rank_elsewhere(struct ctl_rank *r);
/* For certain, and it had the rank: lost, or started again. */
void ctl_rank_keeper_died(struct ctl_rank *r);

/* ---- controller_signal.c */

/* The running number of a signal, times this, is added to its request's id. */
#define CTL_SIGNAL_ID 256u
void ctl_job_signal(struct ctl_peer *p, uint64_t re, const Control__Signal *s);
/* Now, or as soon as it runs, is heard of, and has arrived where it moves. */
void ctl_rank_signal(struct ctl_rank *r, uint32_t signo);
/* The next of those that waited. */
void ctl_rank_signals(struct ctl_rank *r);
/* The number of the last one that the rank has, in its keeper's words: HELLO of
 * a new connection, or of a rank that has landed. */
void ctl_signals_known(struct ctl_rank *r, uint64_t number);
/* A keeper's answers. */
void ctl_signal_taken(struct klink *k, uint64_t number);
void ctl_signal_failed(struct klink *k, uint64_t number,
		       const Keeper__Failed *f);
void ctl_signals_load(struct ctl_job *job);

/* ---- controller_user.c */

/* May it do things to that job, and see all of it? */
bool ctl_may(const struct ctl_peer *p, const struct ctl_job *job);
/* May it see what was told and printed in that job, too? */
bool ctl_sees(const struct ctl_peer *p, const struct ctl_job *job);
/* What went wrong with it, for who does not. */
const char *ctl_job_outside(const struct ctl_job *job);
/* A text that may hold what a job was told, for the log. */
const char *ctl_log_text(const struct ctl *ctl, const char *text);
/* May it submit this?  Then its user and groups are filled in. */
int ctl_user_submits(const struct ctl_peer *p, Control__Submit *s,
		     struct error *err) must_check;
/* May it (still) start?  With the groups that its user has now. */
int ctl_user_starts(struct ctl_job *job, struct error *err) must_check;
/* May it still be what it is, at another host? */
int ctl_user_moves(const struct ctl_job *job, struct error *err) must_check;

/* ---- controller_client.c */

void ctl_job_tell(struct ctl_job *job); /* its client, where it stands */
/* p is its client from now on, in place of another. */
void ctl_job_hold(struct ctl_peer *p, struct ctl_job *job);
void ctl_job_attach(struct ctl_peer *p, uint64_t re, const Control__Attach *a);
void ctl_job_detach(struct ctl_peer *p);
/* No client: end it unless one attaches in time. */
void ctl_job_detach_later(struct ctl_job *job);

/* ---- controller_load.c */

void ctl_jobs_load(struct ctl *ctl);
void ctl_moves_load(struct ctl *ctl);

/* ---- controller_keeper.c: speaking with keepers */

/* The one that a job has, wherever it is. */
struct klink *klink_find(struct ctl *ctl, uint64_t job, uint32_t rank,
			 uint64_t epoch);
/* What that host says it has, be it true or not. */
struct klink *klink_at(const struct ctl_host *h, uint64_t job, uint32_t rank,
		       uint64_t epoch);
/* Its rank, or NULL; and does it have that, as far as we know? */
struct ctl_rank *klink_rank(const struct klink *k);
bool klink_is_current(const struct klink *k);
/* The keeper that has it now, or NULL. */
struct klink *klink_of(const struct ctl_rank *r);
/* Have the agent start one. */
struct klink *klink_start(struct ctl_rank *r, struct ctl_host *h,
			  uint64_t epoch);
void klink_gone(struct klink *k); /* frees it */
/* At the end of the controller: nothing follows from it, the keeper lives on.
 */
void klink_free(struct klink *k);
void klink_packet(struct ctl_host *h, const Control__KeeperName *name,
		  const ProtobufCBinaryData *data);
void klink_start_failed(struct klink *k, const char *why);
/* Requests; the id of each is its body case. */
void klink_request(struct klink *k, Keeper__Request__BodyCase what, void *body);
/* The same with another id, which the answer will name. */
void klink_request_as(struct klink *k, uint64_t id,
		      Keeper__Request__BodyCase what, void *body);
void klink_kill(struct klink *k);

/*
 * What a user makes us say through an agent without end (arguments for each
 * rank, unions of barriers, input) waits while its connection is filled;
 * klinks_drained() when it is not any more.
 */
bool klink_has_room(const struct klink *k);
void klinks_drained(struct ctl_host *h);

/* Of no job of ours, or of one that is over, or of a move that came to nothing. */
bool klink_is_doomed(const struct klink *k);
void klink_send_start(struct klink *k);
void klink_cannot_start(struct klink *k, int code, const char *why);
/* What a capsule for r at h must be; klink_capsule_clear() frees. */
void klink_capsule(const struct ctl_rank *r, const struct ctl_host *h,
		   Keeper__Capsule *ret);
void klink_capsule_clear(Keeper__Capsule *c);

/* ---- controller_believe.c */

bool klink_can_be_there(const struct klink *k);
bool ctl_host_has_room(const struct ctl_host *h);
int klink_exit_code(const Keeper__Exited *e);
bool ctl_move_can_say(const struct ctl_move *m, const struct klink *k,
		      Keeper__Outcome outcome);

/* ---- controller_output.c: what ranks print, and what they read */

/* Take an event with a seq: keep it if it is output for a client; false if it
 * was taken before.  Events that are not output are done with at once. */
bool klink_take(struct klink *k, Keeper__Event *e, bool *kept);
/* Output that its client has not been sent, to it. */
void klink_flush(struct klink *k);
/* The client has gone: all of it is to be sent again. */
void klink_again(struct klink *k);
void klink_acked(struct klink *k, uint64_t seq); /* printed */
/* Nobody will ever print it. */
void klink_drop_output(struct klink *k);
void klink_clear_output(struct klink *k);
/* It is gone, with what it had: what else is printed need not wait for it. */
void klink_hand_over(struct klink *k);
/* Tell the client of what rank 0 would read. */
void klink_stdin_room(struct ctl_job *job);

/* ---- controller_pmi.c: barriers */

/* An abort, and the end of a rank before ctl_rank_ended(). */
void ctl_pmi_abort(struct klink *k, const Keeper__PmiAbort *a);
void ctl_pmi_exited(struct klink *k, const Keeper__Exited *e);
/* A rank has failed by itself: what was an echo of that decides nothing. */
void ctl_pmi_no_echo(struct ctl_job *job);
void ctl_pmi_fence(struct klink *k, const Keeper__PmiFence *f);
void ctl_pmi_late(struct klink *k); /* what klink_has_room() held back */

/* ---- controller_again.c */

/* Of the request that this move is the answer to. */
void ctl_move_set_key(struct ctl_move *m, const ProtobufCBinaryData *key);
/* What an earlier controller has stored of its request. */
void ctl_move_restore(struct ctl_move *m, const struct store_move *row);
/* True if it was asked for before, and is answered, or will be. */
bool ctl_move_again(struct ctl_rank *r, const Control__Migrate *ask,
		    struct ctl_peer *p, uint64_t re);

/* ---- controller_move.c */

struct ctl_move_asker {
	struct ctl_peer *peer;
	uint64_t re;
	ProtobufCBinaryData key;
};

/* asker: who is told; NULL where nobody wants to hear. */
int ctl_move_begin(struct ctl_rank *r, struct ctl_host *to, uint64_t budget,
		   const struct ctl_move_asker *asker, struct error *err);
struct ctl_move *ctl_move_create(struct ctl_rank *r, struct ctl_host *to,
				 uint64_t epoch);
void ctl_move_destroy(struct ctl_move *m);
/* Its two keepers, where they are known. */
struct klink *ctl_move_source(const struct ctl_move *m);
struct klink *ctl_move_dest(const struct ctl_move *m);
bool ctl_move_at_dest(const struct ctl_move *m, const struct klink *k);
/* The destination's copy is the one that counts from now on. */
void ctl_move_committed(struct ctl_move *m);
/* Over, if both ends have said so, or with the copy that counts; frees m. */
void ctl_move_check(struct ctl_move *m);
struct ctl_move *ctl_move_of(const struct klink *k); /* that concerns it */
void ctl_move_hello(struct ctl_move *m, struct klink *k,
		    const Keeper__Status *status);
void ctl_move_receiving(struct ctl_move *m, const Keeper__Receiving *r);
void ctl_move_progress(struct ctl_move *m, Keeper__MoveProgress *p);
void ctl_move_done(struct klink *k, const Keeper__MoveDone *d);
void ctl_move_failed(struct ctl_move *m, const char *why);
/* A dead keeper cannot remove its record itself: have its agent do it. */
void ctl_move_forget(const struct ctl_move *m);
void ctl_move_peer_gone(struct ctl_peer *p);

/* ---- controller_doubt.c */

void ctl_move_verdict(struct ctl_move *m, struct klink *k, bool at);
/* The source's own word about a copy that is held at the destination. */
void ctl_move_judge(struct ctl_move *m, const Keeper__Status *s);
/* A copy is held at the destination, and the source has not answered. */
bool ctl_move_undecided(const struct ctl_move *m);
void ctl_move_doubt(struct klink *k, const Keeper__MoveDoubt *d);
/* True when the end of this keeper is the move's business. */
bool ctl_move_keeper_gone(struct ctl_move *m, struct klink *k);
/* So it is found when its agent comes back. */
void ctl_move_source_missing(struct ctl_move *m);
void ctl_move_looked(struct ctl_host *h, const Control__KeeperGone *g);
/* The source's host is given up. */
void ctl_move_source_lost(struct ctl_move *m);
/* Ask its agent whether the keeper that has the rank lives. */
void ctl_rank_look(const struct ctl_rank *r);

/* ---- controller_sched.c */

/* A view of the hosts and of the jobs that are not over, and a policy that
 * knows them. */
int ctl_sched_init(struct ctl *ctl, struct error *err);
void ctl_sched_clear(struct ctl *ctl);
/* The same anew, with what the policy wants to remember: hosts were added, or
 * the record begins a segment. */
void ctl_sched_anew(struct ctl *ctl);
void ctl_sched_host(struct ctl_host *h); /* what is known of it changed */
void ctl_sched_arrive(struct ctl_job *job);
void ctl_sched_start(struct ctl_job *job, const uint32_t *hosts);
void ctl_sched_migrated(struct ctl_rank *r);
/* A move that the policy planned does not take place. */
void ctl_sched_stays(struct ctl_rank *r);
void ctl_sched_end(struct ctl_job *job);
void ctl_sched_soon(struct ctl *ctl);
void ctl_sched_timer(struct ctl *ctl); /* an instant that it asked for */
/* Apply what the policy planned, or (told) what became of its plan. */
void ctl_sched_apply(struct ctl *ctl, struct event *e, bool told);
/* Why a job waits, into buf. */
void ctl_sched_why(struct ctl_job *job, char *buf, size_t n);
/* -E2BIG with the reason if it is too large for all hosts there are. */
int ctl_sched_check(const struct ctl_job *job, struct error *err);
/* Fixed hosts, round and round; or the first that cannot be used. */
int ctl_sched_fixed(struct ctl_job *job, uint32_t *hosts, struct error *err);

/* ---- controller_resume.c */

/* What the policy remembered at the end of the record, for policy_load() and
 * the caller to free; NULL if it did nothing. */
char *ctl_resume(struct ctl *ctl);

/* ---- controller_plan.c: carrying out what the policy plans */

/* Have it decide, and do so. */
void ctl_plan_pass(struct ctl *ctl);
/* Forget the instants that it asked for. */
void ctl_plan_forget_wakes(struct ctl *ctl);

/* ---- controller_record.c: each does nothing if no record is kept */

/* The view and the policy are new, and no job is in it yet. */
void ctl_record_begin(struct ctl *ctl);
/* Before it is applied. */
void ctl_record_event(struct ctl *ctl, const struct event *e, bool told);
/* Given to policy_load(). */
void ctl_record_state(struct ctl *ctl, const char *state);
/* The policy has decided, and nothing of it is done yet. */
void ctl_record_pass(struct ctl *ctl);
/* A pass is over: do not let a transaction grow for ever while nothing that
 * is sent commits it, as on an idle cluster. */
void ctl_record_flush(struct ctl *ctl);
/* Time for a new segment. */
bool ctl_record_full(const struct ctl *ctl);
void ctl_record_read(struct ctl_peer *p, uint64_t re,
		     const Control__GetRecord *g);
/* What was planned for a job, which may be over and forgotten. */
void ctl_record_why(struct ctl_peer *p, uint64_t re, uint64_t job);

/* ---- controller_list.c */

void ctl_list_jobs(struct ctl_peer *p, uint64_t re, const Control__ListJobs *l);
void ctl_list_hosts(struct ctl_peer *p, uint64_t re);

#endif
