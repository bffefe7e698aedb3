/* owners_touched.c - which hosts an event may have changed; see owners_touched.h
 */
#include "sim/engine/owners_touched.h"

static void look_again(struct owners *o, uint32_t ix)
{
	if (o->owner[ix].touched)
		return;
	o->owner[ix].touched = true;
	o->dirty[o->nr_dirty++] = ix;
}

void owners_touch(struct owners *o, uint32_t ix)
{
	if (!o)
		return;
	o->owner[ix].changed = true;
	look_again(o, ix);
}

void owners_note(struct owners *o, const struct event *e)
{
	const struct job *job = e->job;
	bool turn = e->type == EVENT_SUSPEND ||
		    (e->type == EVENT_RESUME && !e->hosts);

	for (uint32_t i = 0; job && job->hosts && i < job->n; i++)
		if (turn)
			look_again(o, job->hosts[i]);
		else
			owners_touch(o, job->hosts[i]);
	for (uint32_t i = 0; e->hosts && i < e->n; i++)
		owners_touch(o, e->hosts[i]);
	if (e->type == EVENT_MIGRATE)
		owners_touch(o, e->host);
}
