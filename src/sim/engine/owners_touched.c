/* owners_touched.c - which hosts an event may have changed; see owners_touched.h
 */
#include "sim/engine/owners_touched.h"

void owners_touch(struct owners *o, uint32_t ix)
{
	if (!o || o->owner[ix].touched)
		return;
	o->owner[ix].touched = true;
	o->dirty[o->nr_dirty++] = ix;
}

void owners_note(struct owners *o, const struct event *e)
{
	const struct job *job = e->job;

	for (uint32_t i = 0; job && job->hosts && i < job->n; i++)
		owners_touch(o, job->hosts[i]);
	for (uint32_t i = 0; e->hosts && i < e->n; i++)
		owners_touch(o, e->hosts[i]);
	if (e->type == EVENT_MIGRATE)
		owners_touch(o, e->host);
}
