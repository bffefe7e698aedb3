/*
 * precopy.h - rounds over what still runs, until it may be frozen
 *
 * A round has each process's pages sent that were written since the last one
 * (track.h), tells what was opened, and asks the destination what it lacks.
 * struct precopy holds what the rounds have measured, and that answer.
 */
#ifndef MOVE_SEND_PRECOPY_H
#define MOVE_SEND_PRECOPY_H

#include "move/send/send.h"

struct precopy *precopy_create(void);
void precopy_destroy(struct precopy *p); /* NULL is allowed */

/* Rounds while it runs, until it may be frozen. */
int precopy_run(struct sending *s, struct error *err) must_check;
/* The last of them, ahead of others; each from which it may be frozen looks at descriptors. */
int precopy_last(struct sending *s, struct error *err) must_check;
/* After a freeze that had to be undone: one round more. */
int precopy_again(struct sending *s, struct error *err) must_check;

/*
 * Have the destination do all that it was told, and learn what it lacks; what
 * that is counts as never told.
 */
int precopy_sync(struct sending *s, uint64_t nr, struct error *err) must_check;
/*
 * 0, or what the destination could not make by the last of these, or we not
 * take along, and why.
 */
int precopy_lacks(const struct sending *s, struct error *err) must_check;
/* Files that it has opened, of fds_look() or the like; freed. */
int precopy_tell(struct channel *ch, uint8_t *news, size_t n,
		 struct error *err) must_check;

#endif
