/*
 * play.h - for tests: an owner of a host of its own, in an event loop
 */
#ifndef CLUSTER_OWNER_PLAY_H
#define CLUSTER_OWNER_PLAY_H

#include "cluster/owner/priv.h"
#include "core/clock.h"
#include "core/scratch.h"

extern char play_dir[SCRATCH_MAX]; /* its run directory; utmp, ... are there */
extern struct owner_conf play_conf;
extern sd_event *play_event;
extern struct owner *play_owner;
extern bool play_guests;      /* are there */
extern unsigned play_changes; /* of here, evict or going_by */

/* Of cmocka: no source, none of them named. */
int play_setup(void **state);
int play_teardown(void **state);
/* The same, and whoever is there stays for an hour. */
#define PLAY_LINGER (3600 * USEC_PER_SEC)
int play_setup_lingering(void **state);
#define LINGERING(name)                                             \
	cmocka_unit_test_setup_teardown(name, play_setup_lingering, \
					play_teardown)

/* The agent begins to look; sources may be NULL: as they are set. */
void play_begin(const char *sources);
void play_end(void);

/* What the agent says of the owner now. */
const struct presence *is(void);
/* A setting, which is a good one. */
void set(const char *name, const char *value);

/* A file in play_dir, and one with that text in it; the caller frees the path. */
char *below(const char *name);
void put(const char *name, const char *text);

/* Handle all that has come. */
void play_settle(void);

/* Handle what comes next, before that instant of CLOCK_MONOTONIC; false: nothing. */
bool play_wait(usec_t until);

/* What must come in the end; a source may rest before it looks again. */
#define PLAY_PATIENCE (120 * USEC_PER_SEC) /* on a busy machine */
#define COMES(what)                                                         \
	do {                                                                \
		usec_t until = clock_usec(CLOCK_MONOTONIC) + PLAY_PATIENCE; \
                                                                            \
		while (!(what))                                             \
			assert_true(play_wait(until));                      \
	} while (0)

#endif
