/*
 * cpu.h - does the destination's processor have the features of the source's?
 *
 * A process detects processor features once (ifunc, dispatching libraries) and
 * relies on the result for ever, so the destination must have every feature of
 * the source.  The XSAVE image must have the same layout.
 */
#ifndef MOVE_PROC_CPU_H
#define MOVE_PROC_CPU_H

#include "core/error.h"
#include "move/wire/state.pb-c.h"

/* Fill in cpu, xcr0, xsave_size and xsave_layout for this machine. */
void cpu_describe(Move__Hello *h);

/*
 * The component of an XSAVE image that a process has to ask for and the kernel
 * makes room for when a thread first uses it: the data of AMX's tiles.
 */
#define XSTATE_TILES (UINT64_C(1) << 18)

/*
 * The size of this machine's XSAVE image without what has to be asked for.
 * cpu_describe() finds it; after that the call costs nothing.
 */
size_t cpu_plain_image(void);

/* Can `here` run what runs at `there`? */
int cpu_check(const Move__Hello *there, const Move__Hello *here,
	      struct error *err) must_check;

#endif
