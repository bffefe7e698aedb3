/*
 * priv.h - what the agent's files share
 */
#ifndef CLUSTER_AGENT_PRIV_H
#define CLUSTER_AGENT_PRIV_H

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/queue.h>

#include <uthash.h>

#include "cluster/agent/agent.h"
#include "cluster/agent/load.h"
#include "cluster/conn/message.h"
#include "cluster/owner/owner.h"
#include "model/contract.h"

struct agent;

/* Who is to be answered, at once or later. */
struct agent_asker {
	uint64_t re;	     /* the id of the request, */
	uint64_t connection; /* ... which means something over this one alone */
};

/* Bytes queued for a keeper whose socket is full. */
struct parcel {
	STAILQ_ENTRY(parcel) link;
	size_t n;
	uint8_t data[];
};

/*
 * A keeper of this host, and the connection to it while there is one with
 * the controller, or guests are stopped without (guests_stop()).
 */
struct relay {
	struct agent *agent;
	char *job;
	uint32_t rank;
	uint64_t epoch;
	char *path;	/* of its socket */
	int fd;		/* -1: not connected */
	bool unwatched; /* that was told */
	sd_event_source *io, *retry;
	STAILQ_HEAD(, parcel) queue;
	size_t queued;
	bool home;   /* it takes ranks of the host's owners alone */
	bool coming; /* its rank is not among the guests yet */
	/* While it is being started: */
	struct agent_asker starter;
	int ready_fd; /* the socket that it speaks by when it is ready */
	sd_event_source *ready, *patience;
	TAILQ_ENTRY(relay) link;
	struct relay_kin *kin;
	LIST_ENTRY(relay) of_kin;
};

/* The keepers of one rank that this host has, of different epochs: seldom two. */
struct relay_kin {
	char *rank; /* "JOB.RANK" */
	LIST_HEAD(, relay) relays;
	UT_hash_handle hh;
};

struct agent {
	const struct agent_conf *conf;
	struct tls_key key;
	struct address controller;
	char *name; /* of this host, from the key */
	char *boot_id;
	char *address;
	const char *net;
	uint32_t cores;
	double score;
	uint32_t min_uid, min_gid; /* of ranks: 0 for any */
	sd_event *event;
	struct conn *conn;    /* to the controller */
	uint64_t connections; /* that there were before this one */
	bool named;    /* HELLO has been said, and which keepers there are */
	bool greeted;  /* so has the controller's */
	bool prepared; /* the network for capsules */
	int ready_fd;
	sd_event_source *again, *report;
	usec_t pause; /* before the next try to connect */
	struct host_load *load;
	struct monitor *monitor;
	struct owner *owner;
	struct lend *lend;
	struct prologs *prologs;
	const char *home; /* cgroup_set_home(); NULL: its own group */
	char *terms;	  /* limits for keepers that this host can enforce */
	bool limits_cpus; /* can it limit processors? */
	TAILQ_HEAD(, relay) relays;
	struct relay_kin *kin; /* the same, by rank */
	int hooks_fd;	       /* host/hooks_word.h; -1: none */
	usec_t hooks_at;       /* last looked at */
	sd_event_source *hooks;
	int keeper;	   /* the program that the nursery is of, or -1 */
	int nursery;	   /* socket to it; -1: none yet */
	bool held;	   /* keepers are not read: the controller does not */
	bool tell_records; /* with the next report */
	bool unswept;	   /* something of a dead keeper could not be removed */
};

/* ---- agent.c */

/*
 * Lock the run directory, in which only one agent may work: a descriptor, which
 * holds the lock until it is closed, or -errno.  An agent that has the lock gets
 * two seconds to let go, as it may have been killed and not have ended yet.
 */
int agent_take_run_dir(const char *run_dir, struct error *err) must_check;

/* ---- lend.c */

/* What the host lends has changed: it is to be told. */
typedef void (*lend_changed_fn)(struct agent *a);
/* Once there is a loop, the owner's presence and the load. */
int lend_begin(struct agent *a, lend_changed_fn changed,
	       struct error *err) must_check;
void lend_end(struct agent *a);
/* Something may have changed; true if it has, and changed() was called. */
bool lend_look(struct agent *a);
/*
 * Why no guest may come now: -EAGAIN if the host is closed, which makes the
 * controller start the rank elsewhere, or later; -EBUSY, with the same effect, if
 * there are as many guests as its owner allows, including those about to come.
 */
int lend_admits(const struct agent *a, struct error *err) must_check;
/* Is it that user's own host?  Then a rank of theirs is no guest. */
bool lend_is_home(const struct agent *a, const char *user);
/* Of that much available memory, what is not the owner's. */
uint64_t lend_memory(const struct agent *a, uint64_t available);
/* One is about to come: what binds it has to be there. */
void lend_expect_guest(struct agent *a);
/* Whose ranks may be guests, as a list with commas; NULL: anybody's. */
const char *lend_guests_of(const struct agent *a);

/* What a message points into. */
struct lend_report {
	Control__Lending lending;
	Control__OwnerReturn last[CONTRACT_RETURNS];
	Control__OwnerReturn *list[CONTRACT_RETURNS];
};
void lend_fill(const struct agent *a, struct lend_report *ret);

/* ---- room.c */

/* -ENOSPC, with the effect of -EAGAIN above, if keepers could write nothing here. */
int room_admits(const struct agent *a, struct error *err) must_check;
/* Why the host is closed: as the terms have it, or for lack of room. */
enum closed room_closed(const struct agent *a, enum closed why);

/* ---- monitor.c */

/* Once there are the load and the owner's presence. */
void monitor_begin(struct agent *a);
void monitor_end(struct agent *a);
/* Measure; regularly. */
void monitor_look(struct agent *a);
/* The host's, in bytes, as of the last look. */
uint64_t monitor_memory(const struct agent *a);
/* Has enough changed, or enough time passed, since monitor_fill()? */
bool monitor_is_news(const struct agent *a);
/* The controller has been told something that only a report takes back. */
void monitor_must_tell(struct agent *a);
/* Into a report, which is about to be sent; monitor_free() frees what it took. */
void monitor_fill(struct agent *a, Control__HostReport *ret);
void monitor_free(Control__HostReport *report);

/* ---- moment.c */

struct moment agent_moment(void);

/* ---- request.c */

void agent_request(struct agent *a, const Control__Message *m);

/* ---- tell.c */

/* To the controller, if there is one; the connection of one that does not read ends. */
void agent_tell(struct agent *a, Control__Message__BodyCase what, void *body);
/*
 * Answer a request.  A handler may do so at once, or later: then it keeps the
 * asker that it was called with.  false: the connection over which the request
 * came has ended, and nothing was sent, as the controller at the other end of a
 * new one may not have asked.  If it must know nevertheless, send it a message
 * that is no answer.
 */
bool agent_answer(struct agent *a, struct agent_asker to,
		  Control__Message__BodyCase what, void *body);
bool agent_answer_ok(struct agent *a, struct agent_asker to);
bool agent_answer_failed(struct agent *a, struct agent_asker to, int code,
			 const char *why);

/* ---- host.c */

/* What does not change while the agent runs; agent_run() frees. */
int agent_describe(struct agent *a, struct error *err) must_check;
/* Take its group for those of ranks, if it is one here, which is returned. */
const char *agent_find_home(const struct agent_conf *conf);
/* The prefix length of the network at its uplink; 0: none. */
unsigned agent_prefix(const struct agent *a);
/* What the uplink carries a second by its own word; 0: not known. */
uint64_t agent_link_bits(const struct agent *a);

/* ---- hooks.c */

void hooks_begin(struct agent *a);
/*
 * A keeper is about to start: look again if the last result is old.  A keeper
 * that needs the result before it is there looks for itself.
 */
void hooks_freshen(struct agent *a);
void hooks_end(struct agent *a);

/* ---- relay.c */

struct relay *relay_create(struct agent *a, const char *job, uint32_t rank,
			   uint64_t epoch);
void relay_destroy(struct relay *r);
void relay_connect(struct relay *r);
/* By this socket, over which it has said HELLO. */
void relay_take(struct relay *r, int sock);
/* Its start has succeeded or failed: stop waiting, and forget who asked for it. */
void relay_end_start(struct relay *r);
/* Find the running keepers, and clean up after dead ones. */
void relays_find(struct agent *a);
/* This keeper has ended: tell the controller, if we are connected to it. */
void relay_tell_gone(const struct relay *r);
void relays_connect(struct agent *a);
void relays_disconnect(struct agent *a);
void relays_hold(struct agent *a, bool hold);
/* Parse "12.3.1.sock" in place; false if it is not such a name. */
bool relay_parse_file(char *file, const char *suffix, Control__KeeperName *ret);
void relays_destroy(struct agent *a);
/* Fills in a list of names; free it with relay_names_free(). */
void relay_names(struct agent *a, Control__AgentInfo *info);
void relay_names_free(Control__AgentInfo *info);
struct relay *relay_find(struct agent *a, const Control__KeeperName *name);
/* How many keepers have no rank yet, but will have a guest. */
uint32_t relays_coming(const struct agent *a);
/* Is there one of that rank from before that epoch? */
bool relay_older_lives(const struct agent *a, const Control__KeeperName *name);
void relay_packet(struct relay *r, const ProtobufCBinaryData *data);

/* ---- still.c */

/* The keeper that makes capsules of that name; NULL: it is not known yet. */
struct relay *relay_of_capsule(const struct agent *a, const char *capsule);
/* Ask all but the owners' own to stand still, whether or not there is a controller. */
void guests_stop(struct agent *a, const char *owners);

/* ---- start.c */

/*
 * Start a keeper of that name, for nobody but an owner where it is at home, and
 * answer the starter when it is ready.  If it never
 * is, and the starter can no longer be answered, the controller is told that the
 * keeper has ended.
 */
void relay_start(struct agent *a, const Control__KeeperStart *start, bool home,
		 struct agent_asker starter);
/* Of a start that had to wait (prolog_wait()): now, or not at all. */
void relay_order(struct relay *r, const char *user, int ready);
void relay_refuse(struct relay *r, int code, const char *why);

/* ---- prolog.c */

/* Why a host takes no ranks, as a code: with the effect of -EAGAIN above. */
#define PROLOG_FAILED (-ENOTRECOVERABLE)

/* What it has done by others. */
struct prolog_ops {
	/* As relay_order() and relay_refuse(). */
	void (*order)(struct relay *r, const char *user, int ready);
	void (*refuse)(struct relay *r, int code, const char *why);
	/* The host has closed: it is to be told. */
	void (*closed)(struct agent *a);
};
/* Once the agent has a loop and lends. */
int prolog_begin(struct agent *a, const struct prolog_ops *ops,
		 struct error *err) must_check;
void prolog_end(struct agent *a);
/*
 * True: the keeper is ordered later, by relay_order(), or refused; ready is closed
 * then.  False: nothing has to be waited for.
 */
bool prolog_wait(struct relay *r, const Control__KeeperStart *start, int ready);
/* A keeper may have been the last of its job. */
void prolog_left(struct agent *a);
/* A child that is not reaped yet; true if it was one of these. */
bool prolog_child(struct agent *a, const siginfo_t *info);
int prolog_admits(const struct agent *a, struct error *err) must_check;
enum closed prolog_closed(const struct agent *a, enum closed why);
/* SIGHUP: what failed is tried again. */
void prolog_reread(struct agent *a);

/* ---- nursery.c */

/*
 * Find the program of keepers.  It is held from now on: what is installed in its
 * place while we run is the next agent's, as this one's keepers must be of its own
 * version.
 */
int nursery_find_program(struct agent *a, struct error *err) must_check;
/*
 * Have the nursery fork a keeper.  words is its command line: n bytes, each argument
 * ended by a NUL, as in /proc/PID/cmdline.  The keeper gets the descriptor ready
 * as NURSERY_READY (cluster/keeper/nursery.h).  -EAGAIN: the nursery has too many
 * requests to take another.
 */
int nursery_order(struct agent *a, const char *words, size_t n,
		  int ready) must_check;
void nursery_close(struct agent *a);

/* ---- record.c */

/* Remove the record of the epoch in name. */
void relay_forget(struct agent *a, const Control__KeeperName *name);
/* Records of dead keepers, into a report; records_free() frees. */
void records_find(struct agent *a, Control__HostReport *report);
void records_free(Control__HostReport *report);
/* Tell the controller whether a dead keeper left its record. */
void relay_look(struct agent *a, const Control__KeeperLook *look);

#endif
