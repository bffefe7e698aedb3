/*
 * lending.c - what a host lends, as its agent says (model/contract.h)
 *
 * The agent enforces the owner's terms; this file turns its report into what the policy
 * sees and what users are shown.  Values that make no sense count as an occupied host.
 */
#include <stdlib.h>
#include <string.h>

#include "cluster/controller/hosts/hosts.h"
#include "cluster/controller/state/find.h"
#include "cluster/controller/state/state.h"
#include "cluster/host/identity.h"
#include "core/log.h"
#include "core/xalloc.h"
#include "model/record.h"

static bool is_sane(const Control__Lending *m)
{
	const uint64_t most = RECORD_ESTIMATE_MAX;

	return m && closed_name(m->closed) && m->give_back_usec < most &&
	       m->freeze_usec < most && m->leave_usec < most &&
	       m->n_last <= CONTRACT_RETURNS;
}

static void take_returns(struct ctl_lending *l, const Control__Lending *m)
{
	const uint64_t most = RECORD_TIME_MAX;

	l->nr_last = 0;
	for (size_t i = 0; i < m->n_last; i++) {
		const Control__OwnerReturn *r = m->last[i];

		if (r->at_usec > most || r->took_usec > most)
			continue;
		l->last[l->nr_last++] = (struct owner_return){
			.wall = (usec_t)r->at_usec,
			.took = r->done ? (usec_t)r->took_usec : -1,
			.guests = r->guests,
			.disturbed = r->disturbed,
		};
	}
}

/* Log changes, because an administrator looks there first. */
static void log_changes(const struct ctl_host *h, enum closed was,
			bool was_giving)
{
	const struct ctl_lending *l = &h->lending;
	const struct owner_return *last =
		l->nr_last ? &l->last[l->nr_last - 1] : NULL;

	if (l->is.closed != was)
		log_info("host=%s lends=%s", h->name,
			 closed_name(l->is.closed));
	if (was_giving && !l->giving && last && last->took >= 0)
		log_info("host=%s given=back guests=%u took=%.3fs", h->name,
			 last->guests,
			 (double)last->took / (double)USEC_PER_SEC);
}

/* Take the list of owners; the user database is asked only if it has changed. */
static void take_owners(struct ctl_owners *o, const char *text)
{
	char *copy, *rest, *name;

	if (!strcmp(o->text, text))
		return;
	free(o->text);
	o->text = xstrdup(text);
	o->nr = 0;
	copy = rest = xstrdup(text);
	while ((name = strsep(&rest, ", \t")) && o->nr < HOST_OWNERS) {
		struct identity id = { .name = NULL };
		struct error err;

		if (*name && identity_by_name(name, &id, &err) >= 0)
			o->uid[o->nr++] = (int32_t)id.uid;
		identity_clear(&id);
	}
	free(copy);
}

/* Spans come again and again; an instant that hardly differs is the same. */
static usec_t same_instant(usec_t was, usec_t is)
{
	return was < is + USEC_PER_SEC && is < was + USEC_PER_SEC ? was : is;
}

/* By when guests should have left: on the wire are spans, as clocks of hosts differ. */
static usec_t leave_by(const struct ctl_host *h, const Control__Lending *m,
		       usec_t was)
{
	if (h->owner.here)
		return m->give_back_usec
			       ? h->owner.since + (usec_t)m->give_back_usec
			       : 0;
	return m->leave_usec
		       ? same_instant(was, ctl_now() + (usec_t)m->leave_usec)
		       : 0;
}

void ctl_host_lends(struct ctl_host *h, const Control__Lending *m)
{
	struct ctl_lending *l = &h->lending;
	enum closed was = l->is.closed;
	bool giving = l->giving;
	usec_t by = l->is.leave_by;

	if (!is_sane(m)) {
		*l = (struct ctl_lending){
			.is = { .closed = CLOSED_LOST, .leave = h->owner.here },
			.guests_most = GUESTS_ANY,
		};
		return;
	}
	take_owners(&h->owners, m->owners);
	l->is = (struct lending){ .closed = m->closed,
				  .leave = m->leave,
				  .freeze_most = (usec_t)m->freeze_usec };
	if (m->give_back_usec)
		l->limit = (usec_t)m->give_back_usec;
	l->is.leave_by = leave_by(h, m, by);
	if (h->owner.here && m->freeze)
		l->is.freeze_until = h->owner.since + l->is.freeze_most;
	l->guests = m->guests;
	l->guests_most = m->guests_most;
	l->cores = m->cores;
	l->disturbed = m->disturbed;
	l->left = m->left;
	l->returns = m->returns;
	l->giving = m->giving;
	/*
	 * l->guests also counts guests that no job has any more but that have
	 * not ended yet.
	 */
	if (!l->is.closed && l->guests >= l->guests_most)
		l->is.closed = CLOSED_FULL;
	take_returns(l, m);
	ctl_host_returns(h);
	log_changes(h, was, giving);
}
