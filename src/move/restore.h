/*
 * restore.h - turn the landing process into the one that is described
 */
#ifndef MOVE_RESTORE_H
#define MOVE_RESTORE_H

#include "core/error.h"
#include "move/land.h"
#include "move/state.pb-c.h"

/* Unmap all but the stub, and put the vdso where the source has it. */
int restore_clear(struct landing *l, uint64_t vdso,
		  struct error *err) must_check;

/* Queue one mapping, private ones writable for the time being. */
int restore_map(struct landing *l, const Move__Vma *v,
		struct error *err) must_check;

/*
 * All pages are in place: protections, advice, the process's own settings,
 * its threads.  When it returns, every thread waits for the release.
 */
int restore_state(struct landing *l, const Move__State *s,
		  struct error *err) must_check;

/* A thread's last steps, written into its slot. */
int restore_thread_list(struct landing *l, const Move__State *s, size_t i,
			struct error *err) must_check;

#endif
