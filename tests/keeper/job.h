/*
 * job.h - a job through keepers alone: what its agent, its controller and the
 * script share
 *
 *	agent.c       starts keepers, and carries packets to and from them
 *	controller.c  speaks keeper.proto: output, barriers, moves, stdin
 *	script.c      what is to happen when
 *	keeper_job.c  options and the loop
 */
#ifndef KEEPER_JOB_H
#define KEEPER_JOB_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "cluster/conn/keeper.pb-c.h"

enum { KEEPERS_MAX = 4096, HOSTS_MAX = 8 };

struct keeper {
	unsigned rank, host;
	uint64_t epoch, seq;
	int fd;
	pid_t pid;
	bool over, doubts;
};

struct chunk; /* output that came before what belongs in front of it */

struct rank {
	struct keeper *at;	  /* where it runs */
	struct keeper *from, *to; /* the ends of its last move */
	Keeper__Outcome old, new; /* what they said of it */
	uint64_t next[2], end[2]; /* of output; end once it has exited */
	struct chunk *early[2];
	bool exited;
};

struct job {
	const char *stint, *hosts[HOSTS_MAX]; /* their run directories */
	char *name;
	unsigned nr_hosts, nr_keepers, nr_ranks, nr_exited;
	struct keeper keepers[KEEPERS_MAX];
	struct rank *ranks;
	struct in_addr base; /* of the ranks' addresses; 0: none */
	int status;
	bool want_stdin;
	const char *limits[HOSTS_MAX]; /* of each host's keepers */
	uint64_t memory;	       /* that its ranks ask for */
	bool moving;		       /* the script waits for a move */
	struct rank *unsettled;	       /* its last move is not over yet */
	unsigned strangers; /* come to where a rank lands, before it */
};

extern struct job job;

/* The body of a request, in a variable called req. */
#define REQUEST(body_, field_, msg_)                   \
	Keeper__Request req = KEEPER__REQUEST__INIT;   \
	req.body_case = KEEPER__REQUEST__BODY_##body_; \
	req.field_ = (msg_)

/* Tell why on stderr, kill the keepers, exit with 125. */
__attribute__((noreturn, format(printf, 1, 2))) void die(const char *fmt, ...);

/* ---- agent.c */

/* A keeper that is connected. */
struct keeper *agent_launch(unsigned rank, unsigned host, uint64_t epoch);
/* With the next number, unless it has one; nothing if the keeper is dead. */
void agent_say(struct keeper *k, Keeper__Request *req);
/* One packet to controller_event(), or its end to controller_lost(). */
void agent_hear(struct keeper *k);
/* Wait until the keeper has read what was said. */
void agent_drain(struct keeper *k);
/* Drop a connection, or all, and come again. */
void agent_redial(struct keeper *k);
void agent_reconnect(void);

/* ---- controller.c */

/* All ranks, round the hosts. */
void controller_start(char **argv);
void controller_event(struct keeper *k, const Keeper__Event *ev);
void controller_lost(struct keeper *k);
/* Ranks whose keeper is dead, and no other is going to have them. */
void controller_mourn(void);
/* Stdin, as far as rank 0 takes it. */
void controller_feed(void);
/* To the next host; the script waits for it if it is to. */
void controller_move(unsigned rank, bool wait);
/* After agent_reconnect(): answers may have been lost. */
void controller_again(void);
/* Everything was printed that the ranks said they printed. */
void controller_check_output(void);

/* ---- script.c */

void script_open(const char *path);
/* Do what is due. */
void script_follow(void);

#endif
