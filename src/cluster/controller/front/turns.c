/*
 * turns.c - who has had much of the controller's time lately comes after others
 *
 * Each connection has a turn of some milliseconds, but a user may have hundreds of
 * connections, and a request may be much work (a list of very many jobs).  So
 * what requests take counts for their user, whichever connection they come by.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <uthash.h>

#include "cluster/controller/front/priv.h"
#include "core/clock.h"
#include "core/xalloc.h"

#define SHARE  4		    /* one part in so many is not counted */
#define STEP   (10 * USEC_PER_MSEC) /* behind those who have had so much less */
#define LEVELS 16

struct front_user {
	char *name;
	usec_t had, at; /* as of then */
	UT_hash_handle hh;
};

static void forget_some(struct front_user *u)
{
	usec_t now = clock_usec(CLOCK_MONOTONIC), less = (now - u->at) / SHARE;

	u->had = u->had > less ? u->had - less : 0;
	u->at = now;
}

static void put_in_order(struct front_user *u, struct conn *c)
{
	usec_t level;

	forget_some(u);
	level = u->had / STEP;
	conn_set_priority(c, level < LEVELS ? level : LEVELS);
}

static struct front_user *find_user(const struct ctl_front *f,
				    const struct conn *c)
{
	struct front_user *u;

	HASH_FIND_STR(f->users_had, conn_peer(c), u);
	return u;
}

void front_turn_begins(struct ctl_front *f, struct conn *c)
{
	struct front_user *u = find_user(f, c);

	if (u)
		put_in_order(u, c);
}

void front_turn_took(struct ctl_front *f, struct conn *c, usec_t took)
{
	struct front_user *u = find_user(f, c);

	if (!u) {
		u = xcalloc(1, sizeof(*u));
		u->name = xstrdup(conn_peer(c));
		u->at = clock_usec(CLOCK_MONOTONIC);
		HASH_ADD_KEYPTR(hh, f->users_had, u->name, strlen(u->name), u);
	}
	u->had += took;
	put_in_order(u, c);
}

void front_turns_clear(struct ctl_front *f)
{
	struct front_user *u, *next;

	HASH_ITER (hh, f->users_had, u, next) {
		HASH_DEL(f->users_had, u);
		free(u->name);
		free(u);
	}
}
