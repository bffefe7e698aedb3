/*
 * precopy.h - rounds over the running process, until it may be frozen
 *
 * A round sends the pages that each process has written since the last one (track.h),
 * tells what was opened, and asks the destination what it lacks.  struct precopy holds
 * what the rounds have measured, and that answer.
 */
#ifndef MOVE_SEND_PRECOPY_H
#define MOVE_SEND_PRECOPY_H

#include "move/send/send.h"

struct precopy *precopy_create(void);
void precopy_destroy(struct precopy *p); /* NULL is allowed */

/* Rounds while the process runs, until it may be frozen. */
int precopy_run(struct sending *s, struct error *err) must_check;
/*
 * The last rounds, with raised priorities.  Each round after which the process may be
 * frozen looks at descriptors.
 */
int precopy_last(struct sending *s, struct error *err) must_check;
/* After a freeze that had to be undone: one round more. */
int precopy_again(struct sending *s, struct error *err) must_check;

/*
 * Wait until the destination has done all that it was told, and learn what it lacks.
 * What it lacks is then treated as never told, and told again.
 */
int precopy_sync(struct sending *s, uint64_t nr, struct error *err) must_check;
/*
 * 0, or a negative errno and the reason: what the destination could not make, by the
 * last precopy_sync(), or what cannot be taken along.
 */
int precopy_lacks(const struct sending *s, struct error *err) must_check;
/*
 * Send the files that the process has opened, as fds_look() packs them; news is freed.
 */
int precopy_tell(struct channel *ch, uint8_t *news, size_t n,
		 struct error *err) must_check;

#endif
