/* say.c - send messages to clients and agents, and to keepers through their agents */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "cluster/conn/keys.h"
#include "cluster/controller/state/say.h"
#include "cluster/controller/state/state.h"
#include "core/xalloc.h"

void ctl_send(struct ctl_peer *p, uint64_t id, uint64_t re,
	      Control__Message__BodyCase what, void *body)
{
	int r = message_send(p->conn, id, re, what, body);

	/* A peer that connects again is told the present state. */
	if (r < 0 && r != -ENOTCONN)
		conn_fail(p->conn, r, "it does not read what it is sent");
}

void ctl_send_ok(struct ctl_peer *p, uint64_t re)
{
	Control__Ok ok = CONTROL__OK__INIT;

	ctl_send(p, 0, re, MESSAGE_BODY(OK), &ok);
}

void ctl_send_failed(struct ctl_peer *p, uint64_t re, int code, const char *fmt,
		     ...)
{
	Control__Failed failed;
	struct error err;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(err.text, sizeof(err.text), fmt, ap);
	va_end(ap);
	failed = message_failed(code, err.text);
	ctl_send(p, 0, re, MESSAGE_BODY(FAILED), &failed);
}

/* Together with a union (PMI_UNION_MAX) or a START this is less than CONN_QUEUE_MAX. */
enum { AGENT_FULL = 4 << 20 };

bool klink_has_room(const struct klink *k)
{
	const struct ctl_peer *agent = k->host->agent;

	return !agent || conn_queued(agent->conn) < AGENT_FULL;
}

void klink_name(const struct klink *k, struct klink_name *ret)
{
	snprintf(ret->job, sizeof(ret->job), "%" PRIu64, k->job_id);
	control__keeper_name__init(&ret->name);
	ret->name.job = ret->job;
	ret->name.rank = k->rank;
	ret->name.epoch = k->epoch;
}

void klink_request_as(struct klink *k, uint64_t id,
		      Keeper__Request__BodyCase what, void *body)
{
	Control__KeeperPacket packet = CONTROL__KEEPER_PACKET__INIT;
	Keeper__Request q = KEEPER__REQUEST__INIT;
	struct klink_name named;

	/* What is dropped here is sent again once the keeper has reported. */
	if (!k->host->agent || !k->heard)
		return;
	q.id = id;
	q.body_case = what;
	q.hello = body; /* all members of the union are pointers */
	packet.data.len = keeper__request__get_packed_size(&q);
	packet.data.data = xmalloc(packet.data.len);
	keeper__request__pack(&q, packet.data.data);
	klink_name(k, &named);
	packet.name = &named.name;
	ctl_send(k->host->agent, 0, 0, MESSAGE_BODY(KEEPER_PACKET), &packet);
	free(packet.data.data);
}

void klink_request(struct klink *k, Keeper__Request__BodyCase what, void *body)
{
	klink_request_as(k, what, what, body);
}

void klink_kill(struct klink *k)
{
	Keeper__Kill kill_it = KEEPER__KILL__INIT;

	/* The keeper has been told, or will be at its next HELLO. */
	if (k->kill_wanted && k->heard && !klink_has_room(k))
		return;
	k->kill_wanted = true;
	klink_request(k, KEEPER__REQUEST__BODY_KILL, &kill_it);
}

void ctl_host_forget(struct ctl_host *h, Control__KeeperName *name)
{
	Control__KeeperForget forget = CONTROL__KEEPER_FORGET__INIT;

	forget.name = name;
	if (h->agent)
		ctl_send(h->agent, 0, 0, MESSAGE_BODY(KEEPER_FORGET), &forget);
}

/*
 * Keeper and record are both asked for again when the agent comes back
 * (hosts/host.c).
 */
void ctl_look(struct ctl_host *h, const struct ctl_rank *r, uint64_t epoch,
	      uint64_t record)
{
	Control__KeeperLook ask = CONTROL__KEEPER_LOOK__INIT;
	Control__KeeperName name = CONTROL__KEEPER_NAME__INIT;
	char job[24];

	if (!h->agent)
		return;
	snprintf(job, sizeof(job), "%" PRIu64, r->job->id);
	name.job = job;
	name.rank = r->rank;
	name.epoch = epoch;
	ask.name = &name;
	ask.committed_epoch = record;
	ctl_send(h->agent, 0, 0, MESSAGE_BODY(KEEPER_LOOK), &ask);
}

void ctl_rank_look(const struct ctl_rank *r)
{
	ctl_look(r->host, r, r->epoch, 0);
}

void ctl_move_verdict(struct ctl_move *m, struct klink *k, bool at)
{
	Keeper__Verdict v = KEEPER__VERDICT__INIT;

	if (!k)
		return;
	v.epoch = m->epoch;
	v.at_destination = at;
	klink_request(k, KEEPER__REQUEST__BODY_VERDICT, &v);
}
