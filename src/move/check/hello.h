/*
 * hello.h - the two ends introduce themselves, and refuse what cannot work
 */
#ifndef MOVE_CHECK_HELLO_H
#define MOVE_CHECK_HELLO_H

#include "core/error.h"
#include "move/proc/clocks.h"
#include "move/wire/state.pb-c.h"

/* What this host is; fresh. */
Move__Hello *hello_of_host(void);

/*
 * Can what is described there run here?  If hello_other_vdso(), there->vdso
 * becomes what the process gets in its place.
 */
int hello_check(Move__Hello *there, const Move__Hello *here,
		struct error *err) must_check;
/*
 * Are its files here, too, under root, an open directory?  What is not, the
 * answer says: the source knows whether it has been deleted meanwhile.
 */
void hello_check_files(const Move__Hello *there, int root, Move__Hello *here);

/* Is the process's vdso another one than the destination's?  See tracee/vdso.h. */
bool hello_other_vdso(const Move__Hello *source, const Move__Hello *dest);

/* Last before the answer is sent: what the kernel's clocks say here. */
void hello_answer_clocks(Move__Hello *h);

#endif
