/* waiters.c - requests that are answered later */
#include <errno.h>
#include <stdlib.h>

#include "cluster/controller/state/find.h"
#include "cluster/controller/state/say.h"
#include "cluster/controller/state/state.h"
#include "cluster/controller/state/waiters.h"
#include "core/plain.h"
#include "core/xalloc.h"

#define HOST_SILENT "host %s does not answer: is its agent running?"

/* How many questions to agents one connection may have under way; more are refused. */
enum { ASKED_MAX = 64 };
/* How many answers a connection may wait for in all: more than a user has jobs. */
enum { WAITS_MAX = 4096 };

static struct ctl_waiter *waiter_create(struct ctl_waiters *list,
					struct ctl_peer *p, uint64_t re)
{
	struct ctl_waiter *w = xcalloc(1, sizeof(*w));

	w->list = list;
	w->peer = p;
	w->re = re;
	TAILQ_INSERT_TAIL(list, w, link);
	if (p)
		LIST_INSERT_HEAD(&p->waits, w, of_peer);
	return w;
}

void ctl_waiter_destroy(struct ctl_waiter *w)
{
	if (!w)
		return;
	TAILQ_REMOVE(w->list, w, link);
	if (w->peer)
		LIST_REMOVE(w, of_peer);
	if (w->start)
		w->start->starting = NULL;
	free(w);
}

void ctl_wait(struct ctl_waiters *list, struct ctl_peer *p, uint64_t re)
{
	const struct ctl_waiter *w;
	unsigned n = 0;

	LIST_FOREACH (w, &p->waits, of_peer) {
		if (w->list == list && w->re == re)
			return;
		n++;
	}
	if (n < WAITS_MAX)
		waiter_create(list, p, re);
	else
		ctl_send_failed(
			p, re, -EBUSY,
			"%d requests are not answered yet: wait for some",
			WAITS_MAX);
}

void ctl_waiters_tell(struct ctl_waiters *list, Control__Message__BodyCase what,
		      void *body)
{
	const struct ctl_waiter *w;

	TAILQ_FOREACH (w, list, link)
		ctl_send(w->peer, 0, w->re, what, body);
}

void ctl_waiters_drop(struct ctl_waiters *list)
{
	while (!TAILQ_EMPTY(list))
		ctl_waiter_destroy(TAILQ_FIRST(list));
}

void ctl_waiters_gone(struct ctl_peer *p)
{
	while (!LIST_EMPTY(&p->waits))
		ctl_waiter_destroy(LIST_FIRST(&p->waits));
}

/* ---- what agents are asked ---- */

static unsigned asked_by(const struct ctl_peer *p)
{
	const struct ctl_waiter *w;
	unsigned n = 0;

	LIST_FOREACH (w, &p->waits, of_peer)
		n += w->number != 0;
	return n;
}

uint64_t ctl_request_number(struct ctl *ctl)
{
	return ++ctl->last_request;
}

void ctl_ask_agent(struct ctl_host *h, struct ctl_peer *p, uint64_t re,
		   Control__Message__BodyCase what, void *body,
		   Control__Message__BodyCase expected)
{
	struct ctl_waiter *w;

	if (!h->agent) {
		ctl_send_failed(p, re, -EHOSTDOWN, HOST_SILENT, h->name);
		return;
	}
	if (asked_by(p) >= ASKED_MAX) {
		ctl_send_failed(p, re, -EBUSY,
				"%d requests to hosts are not answered yet: "
				"wait for some",
				ASKED_MAX);
		return;
	}
	w = waiter_create(&h->asked, p, re);
	w->number = ctl_request_number(h->ctl);
	w->expected = expected;
	ctl_send(h->agent, w->number, 0, what, body);
}

void ctl_ask_start(struct klink *k, void *start)
{
	struct ctl_waiter *w = waiter_create(&k->host->asked, NULL, 0);

	w->number = k->number;
	w->expected = MESSAGE_BODY(OK);
	w->start = k;
	k->starting = w;
	ctl_send(k->host->agent, w->number, 0, MESSAGE_BODY(KEEPER_START),
		 start);
}

bool ctl_agent_answers(struct ctl_host *h, Control__Message *m,
		       struct klink **start)
{
	struct ctl_waiter *w;

	TAILQ_FOREACH (w, &h->asked, link)
		if (w->number == m->re)
			break;
	if (!w || (m->body_case != w->expected &&
		   m->body_case != MESSAGE_BODY(FAILED)))
		return false;
	*start = w->start;
	if (m->body_case == MESSAGE_BODY(FAILED))
		plain_text(m->failed->why); /* a host's words, for a terminal */
	if (w->peer)
		ctl_send(w->peer, 0, w->re, m->body_case, m->hello);
	ctl_waiter_destroy(w);
	return true;
}

void ctl_asked_gone(struct ctl_host *h)
{
	struct ctl_waiter *w, *next;

	for (w = TAILQ_FIRST(&h->asked); w; w = next) {
		next = TAILQ_NEXT(w, link);
		if (!w->peer)
			continue;
		ctl_send_failed(w->peer, w->re, -EHOSTDOWN, HOST_SILENT,
				h->name);
		ctl_waiter_destroy(w);
	}
}

/* ---- hosts that are drained ---- */

static unsigned ranks_at(const struct ctl_host *h)
{
	const struct ctl_job *job;
	unsigned n = 0;

	TAILQ_FOREACH (job, &h->ctl->jobs.list, link)
		for (uint32_t i = 0; i < job->nr; i++)
			n += job->ranks[i].host == h &&
			     ctl_rank_active(&job->ranks[i]);
	return n;
}

/* Does that request also wait for other hosts? */
static bool waits_on(const struct ctl_peer *p, uint64_t re)
{
	const struct ctl_waiter *w;

	LIST_FOREACH (w, &p->waits, of_peer)
		if (w->re == re)
			return true;
	return false;
}

void ctl_host_drained(struct ctl_host *h, const char *why)
{
	Control__Drained d = CONTROL__DRAINED__INIT;
	struct ctl_waiter *w;

	d.host = h->name;
	d.why = (char *)why;
	while ((w = TAILQ_FIRST(&h->drainers))) {
		struct ctl_peer *p = w->peer;
		uint64_t re = w->re;

		ctl_send(p, 0, re, MESSAGE_BODY(DRAINED), &d);
		ctl_waiter_destroy(w);
		if (!waits_on(p, re))
			ctl_send_ok(p, re);
	}
}

void ctl_host_check_drained(struct ctl_host *h, const char *failed)
{
	struct error why;

	if (TAILQ_EMPTY(&h->drainers))
		return;
	if (failed) {
		error_set(&why, -EBUSY,
			  "takes nothing new, but not all could leave: %s",
			  failed);
		ctl_host_drained(h, why.text);
	} else if (!ranks_at(h)) {
		ctl_host_drained(h, "");
	}
}
