/*
 * hello.h - the two ends describe themselves, and refuse incompatible moves
 */
#ifndef MOVE_CHECK_HELLO_H
#define MOVE_CHECK_HELLO_H

#include "core/error.h"
#include "move/proc/clocks.h"
#include "move/wire/state.pb-c.h"

/* Describe this host; allocated. */
Move__Hello *hello_of_host(void);

/*
 * Can the process described by `there` run here?  If hello_other_vdso(),
 * there->vdso becomes the image that replaces the process's vdso.
 */
int hello_check(Move__Hello *there, const Move__Hello *here,
		struct error *err) must_check;
/*
 * Do its files also exist here, under root, an open directory? Missing ones are
 * named in the answer `here`: the source knows whether they have been deleted
 * meanwhile.
 */
void hello_check_files(const Move__Hello *there, int root, Move__Hello *here);

/* Does the process's vdso differ from the destination's?  See tracee/vdso.h. */
bool hello_other_vdso(const Move__Hello *source, const Move__Hello *dest);

/* Just before the answer is sent: fill in this kernel's clocks. */
void hello_answer_clocks(Move__Hello *h);

#endif
