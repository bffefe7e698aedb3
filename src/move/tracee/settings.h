/*
 * settings.h - what prctl(2) sets in a thread or process, as a table
 *
 * A setting is moved only if it differs from the default, and then the
 * destination must be able to make it.  The process's settings are read from
 * its leader.  Settings that need more than one call and one word (names,
 * credentials, timer slack) are not in the table.
 */
#ifndef MOVE_TRACEE_SETTINGS_H
#define MOVE_TRACEE_SETTINGS_H

#include <stddef.h>
#include <stdint.h>

#include "core/error.h"
#include "move/tracee/stub.h"
#include "move/wire/state.pb-c.h"

/* The first SETTINGS_OF_THREAD of them are every thread's own. */
enum { SETTINGS_OF_THREAD = 6, SETTINGS = 10 };

/* A part of the table: every thread's, or the process's. */
struct settings {
	size_t first, nr;
};
#define SETTINGS_THREAD ((struct settings){ 0, SETTINGS_OF_THREAD })
#define SETTINGS_PROCESS \
	((struct settings){ SETTINGS_OF_THREAD, SETTINGS - SETTINGS_OF_THREAD })

/*
 * Fill call[which.nr] with what asks a thread for these; word is where in the
 * process there is room for SETTINGS answers.
 */
void settings_ask(struct settings which, struct stub_call *call, uint64_t word);

/* The answers, appended to the thread's settings. */
void settings_take(struct settings which, const struct stub_call *call,
		   const uint64_t word[SETTINGS], Move__Thread *t);

/* The call that makes a setting.  -EPROTO if it is not in the table. */
int settings_make(const Move__Setting *m, struct stub_call *ret,
		  struct error *err) must_check;

#endif
