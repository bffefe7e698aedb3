/*
 * screen.h - what is shown again and again, on a terminal or elsewhere
 *
 * On a terminal each frame takes the place of the one before, cut to its size,
 * which may change; elsewhere (a pipe, a file) frames follow each other whole,
 * with an empty line between them.  A frame is printed as plain text into
 * screen_begin()'s stream.
 */
#ifndef CMD_CLIENT_SCREEN_H
#define CMD_CLIENT_SCREEN_H

#include <stdio.h>

#include "core/units.h"

struct screen;

enum screen_form {
	SCREEN_TABLE,
	SCREEN_LINES, /* for programs: also a terminal is any file, and nothing is
			 between frames */
};

/*
 * frames: how many are shown, 0: until screen_wait() says that it is over.  With
 * one frame a terminal is used as any other file.
 */
struct screen *screen_open(enum screen_form form, uint64_t frames);
/* Leaves the last frame on the terminal, as it also is if a signal ends us. */
void screen_close(struct screen *s); /* NULL is allowed */

/* For the next frame; until screen_show(). */
FILE *screen_begin(struct screen *s);
void screen_show(struct screen *s);

enum screen_key {
	SCREEN_OVER = -1, /* no more frames, or `q` was pressed */
	SCREEN_TIME = 0,  /* the time is over */
			  /* else a key, by its character */
};

/* Wait for the time of the next frame, or for a key. */
int screen_wait(struct screen *s, usec_t time);

#endif
