/* tell.c - whether an owner is there, as a message and back */
#include <stdio.h>

#include "cluster/owner/owner.h"
#include "core/plain.h"

/* Of a host that says more nothing is known. */
#define GOING_MOST (366 * USEC_PER_DAY)

static uint64_t span(usec_t from, usec_t to)
{
	return to > from ? (uint64_t)(to - from) : 0;
}

void owner_fill(const struct presence *p, Control__Presence *ret)
{
	usec_t now = owner_now();

	control__presence__init(ret);
	ret->here = p->here;
	ret->evict = p->evict;
	ret->since_usec = span(p->since, now);
	ret->idle_usec = p->here ? 0 : span(p->idle_since, now);
	ret->cause = p->cause;
	ret->lost = p->lost;
	ret->going_usec = p->going_by ? span(now, p->going_by) + 1 : 0;
	ret->who = (char *)p->who;
}

static usec_t ago(uint64_t usec, usec_t now)
{
	return usec < (uint64_t)now ? now - (usec_t)usec : now;
}

void owner_parse(const Control__Presence *m, usec_t now, struct presence *ret)
{
	*ret = (struct presence){ .here = true,
				  .since = now,
				  .idle_since = USEC_MAX,
				  .cause = PRESENCE_UNREADABLE };
	if (!m || m->cause >= PRESENCE_CAUSES || m->lost >= PRESENCE_CAUSES ||
	    m->here == (m->cause == PRESENCE_NOBODY))
		return;
	ret->here = m->here;
	ret->evict = m->evict;
	ret->since = ago(m->since_usec, now);
	ret->idle_since = m->here ? USEC_MAX : ago(m->idle_usec, now);
	ret->cause = m->cause;
	ret->lost = m->lost;
	if (m->going_usec && m->going_usec < (uint64_t)GOING_MOST)
		ret->going_by = now + (usec_t)m->going_usec;
	snprintf(ret->who, sizeof(ret->who), "%s", m->who);
	plain_text(ret->who);
}
