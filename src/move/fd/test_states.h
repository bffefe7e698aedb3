/*
 * test_states.h - the states of a TCP connection with a peer elsewhere
 *
 * A case (test_cases.c) is what the rank and the peer do until the connection
 * is in a state, and what each then sees of it; test_states.c moves the rank
 * in between, or gives the move up.  Rank and peer are processes of their own.
 */
#ifndef MOVE_FD_TEST_STATES_H
#define MOVE_FD_TEST_STATES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "move/fd/test_load.h"

#define CONN	10
#define LISTEN	11
#define CONTROL 900
#define WAIT_MS 60000

/* What the processes of one case share. */
extern struct states_shared {
	bool six;
	_Atomic bool listening, shut, moved;
	uint64_t rank_sent, peer_sent;
	char text[256]; /* tells the first failure */
	size_t blob_n;
	unsigned char blob[LOAD_BLOB_MAX];
} * shared;

/*
 * In either process: if cond does not hold, note the first failure and end the
 * process.
 */
#define CHECK(cond) states_check(cond, #cond, __FILE__, __LINE__)
void states_check(bool cond, const char *text, const char *file, int line);

/* Wait for WAIT_MS at most, with a CHECK. */
void states_wait(_Atomic bool *flag);
/*
 * Over CONN: send all of text at once; check that exactly text comes ("": the
 * end).
 */
bool states_say(const char *text);
bool states_read(const char *text);
/* Give fd that number, and no other. */
void states_place(int fd, int number);

void states_listen(void); /* the peer listens, at LISTEN */
void states_accept_late(void);

struct states_case {
	const char *name;
	const char *drop; /* nft rule on the first host, or NULL */
	void (*rank_make)(void);
	void (*peer_make)(void);
	void (*rank_verify)(void);
	void (*peer_verify)(void);
	bool slow; /* takes a second: tested in one way only */
};

extern const struct states_case states_cases[]; /* the last one has no name */

#endif
