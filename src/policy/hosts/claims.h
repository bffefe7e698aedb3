/*
 * claims.h - which hosts the jobs of a slice get, for policies that put a process on each
 *
 * Most hosts are open to every job, and it is enough to count them (room) before any
 * job is given certain ones.  One that takes no guests is open to jobs of its own user
 * alone: such a job claims it beforehand, and needs so many of the others less.  Jobs of
 * a pass are known by numbers from 1 on, who.
 *
 *	room = claims_begin(&c, view);
 *	for each job: n = job->size - claims_make(&c, view, job, who);
 *		n <= room: it fits, room -= n; else claims_drop(&c, view, who)
 *	claims_nobody(&c, view);	if places were taken while choosing
 *	for each that fits: claims_keep(...)	those it had
 *	for each that fits: claims_place(...)	others for who has none
 *
 * Each of these looks at the job's processes; at all hosts, too, while there are hosts of
 * somebody's own that take no guests.
 */
#ifndef POLICY_HOSTS_CLAIMS_H
#define POLICY_HOSTS_CLAIMS_H

#include <stdbool.h>
#include <stdint.h>

#include "model/view.h"

#define CLAIMS_NOWHERE UINT32_MAX

struct claims {
	bool *taken; /* by host: a job has it */
	uint32_t *
		home; /* by host that takes no guests: who has claimed it; 0: none */
	uint32_t nr_own; /* hosts that take no guests, and have owners */
};

void claims_init(struct claims *c, const struct view *view);
void claims_clear(struct claims *c);

/* Nobody has any host: how many are open to every job? */
uint32_t claims_begin(struct claims *c, const struct view *view);
/* Nobody has one any more, but what was claimed stays so. */
void claims_nobody(struct claims *c, const struct view *view);

/*
 * Claim hosts that take no guests for who is at home there, and return how many: those
 * that the job has, and others for processes that have none or cannot have theirs.
 */
uint32_t claims_make(struct claims *c, const struct view *view,
		     const struct job *job, uint32_t who);
void claims_drop(struct claims *c, const struct view *view, uint32_t who);

/* Can the job have all hosts again that it had?  None of them is taken. */
bool claims_all_free(const struct claims *c, const struct view *view,
		     const struct job *job, uint32_t who);
/* It takes them; returns how many other jobs might have had. */
uint32_t claims_take(struct claims *c, const struct view *view,
		     const struct job *job);

/*
 * Put into hosts, by process, those that the job had and can have again, and take them;
 * CLAIMS_NOWHERE for the others.  Returns how many it has lost.
 */
uint32_t claims_keep(struct claims *c, const struct view *view,
		     const struct job *job, uint32_t who, uint32_t *hosts);
/*
 * Take hosts for those processes that are nowhere: what who has claimed, then the lowest
 * that is open to every job from *next on; there are enough.
 */
void claims_place(struct claims *c, const struct view *view,
		  const struct job *job, uint32_t who, uint32_t *next,
		  uint32_t *hosts);

#endif
