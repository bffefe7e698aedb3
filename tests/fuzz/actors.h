/*
 * actors.h - agents, keepers and clients of a real controller, played by hand
 *
 * The daemon runs in this process over fake_conn.h.  actors_run() runs it once
 * in the directory of actors_begin(); run again it is a controller that was
 * killed and started again.  What it says is checked to be no refusal.
 */
#ifndef FUZZ_ACTORS_H
#define FUZZ_ACTORS_H

#include "cluster/controller/state/state.h"
#include "fake_conn.h"

/* A directory with keys of the hosts h1 to h3, and nothing known. */
void actors_begin(void);

/*
 * Run a controller: play(ctl) is called again and again until it says false.
 * Settings are name and value in turn, to a NULL.
 */
void actors_run(bool (*play)(void *ctl), const char *const *settings);

/* What a keeper is asked over that agent's connection; may be NULL. */
extern void (*actors_asked)(struct conn *c, const Keeper__Request *q);

/* What it says to peers; without this, no refusal. */
extern void (*actors_said)(struct conn *c, const Control__Message *m);

/* The rank of job 1 whose keeper is meant below; 0 at first. */
extern uint32_t actors_rank;

/* Of agents that come next; 1 and "none" at first. */
extern uint32_t actors_cores;
extern const char *actors_net;

/* A peer that says HELLO; "host/NAME" as an agent with one keeper, of rank 1.0
 * (or actors_rank) and that epoch; none if it is negative. */
struct conn *actor_greet(const char *identity, int64_t epoch);
void actor_say(struct conn *c, Control__Message__BodyCase what, void *body);
/* As the answer to the controller's request of that id. */
void actor_answer(struct conn *c, uint64_t re, Control__Message__BodyCase what,
		  void *body);
/* One rank, "1.0", on that host. */
void actor_submit(struct conn *admin, const char *host);
void actor_signal(struct conn *admin, uint32_t signo);
/* The beginning of a move of rank 1.0 to h2, as epoch 1, whose agent is `to`:
 * its old keeper is asked to send it. */
void actor_migrate(struct conn *admin, struct conn *to);
/* What the keeper of rank 1.0 and that epoch says through that agent. */
void actor_keeper(struct conn *agent, uint64_t epoch, uint64_t seq, uint64_t re,
		  Keeper__Event__BodyCase what, void *body);
/* Its HELLO, in that state, and with that number of signals taken. */
void actor_keeper_hello(struct conn *agent, uint64_t epoch, Keeper__State state,
			uint64_t signals);
/* It is there, of epoch 0, and then its program has started. */
void actor_keeper_starts(struct conn *agent);

#endif
