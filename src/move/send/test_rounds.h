/*
 * test_rounds.h - a world for tests of the rounds
 *
 * The linker puts functions of test_rounds.c in the place of what a round does:
 * the process has written as many pages as the case says, and the link carries
 * one in PAGE_USEC, by a clock of our own.
 */
#ifndef MOVE_SEND_TEST_ROUNDS_H
#define MOVE_SEND_TEST_ROUNDS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/units.h"

#define PAGE_USEC 4
#define ROUNDS	  48

extern struct world {
	usec_t now;
	uint64_t sent, synced;
	unsigned written[ROUNDS]; /* pages, by the process, before each round */
	bool ahead[ROUNDS];	  /* was any thread, in each round */
	bool ahead_now;
	bool looked[ROUNDS]; /* at descriptors, in each round */
	unsigned round;
	unsigned threads;
	bool owner;	  /* is at this host */
	uint64_t content; /* bytes in queues */
	usec_t start;	  /* until the first page of a round is sent */
	unsigned step;	  /* pages between two looks at the clock; 0: none */
	void (*look)(void *arg);
	void *look_arg;
} world;

#endif
