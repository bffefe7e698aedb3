/*
 * testbed_play.h - stint testbed play: the owners of an activity script, on the
 * hosts of a testbed
 */
#ifndef CMD_DAEMON_TESTBED_PLAY_H
#define CMD_DAEMON_TESTBED_PLAY_H

#include "core/error.h"
#include "core/units.h"

struct testbed_play {
	const char *bed, *path;
	usec_t from;   /* the script's time at which it begins */
	double faster; /* a second of the script takes 1 / faster */
};

/*
 * Play it to its last line, or until a signal ends it; then no owner is there
 * and no load is left.  0, or the signal.  Nothing of a wrong script is played.
 */
int testbed_play(const struct testbed_play *play, struct error *err) must_check;

#endif
