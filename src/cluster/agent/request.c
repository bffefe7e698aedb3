/*
 * request.c - what the controller asks of its agents
 *
 * The table at the end of this file is the whole of it.
 */
#include <errno.h>
#include <string.h>

#include "cluster/agent/priv.h"

enum { JOB_DIGITS_MAX = 20 };

/* The keeper of a request, or NULL after it has been refused. */
static const Control__KeeperName *good_name(struct agent *a,
					    struct agent_asker who,
					    const Control__KeeperName *n)
{
	if (n && *n->job && strlen(n->job) <= JOB_DIGITS_MAX &&
	    strspn(n->job, "0123456789") == strlen(n->job))
		return n;
	agent_answer_failed(a, who, -EINVAL, "invalid keeper name");
	return NULL;
}

static void on_keeper_start(struct agent *a, struct agent_asker who,
			    const Control__Message *m)
{
	const Control__KeeperName *name =
		good_name(a, who, m->keeper_start->name);
	bool home = lend_is_home(a, m->keeper_start->user), known;
	struct error err;
	int r;

	if (!name)
		return;
	/* One that is there already stays, until it is told to leave. */
	known = relay_find(a, name);
	r = known ? 0 : room_admits(a, &err);
	if (!r && !known)
		r = prolog_admits(a, &err);
	if (!r && !known && !home)
		r = lend_admits(a, &err);
	if (r < 0) {
		agent_answer_failed(a, who, r, err.text);
		monitor_must_tell(a); /* it counts as closed until then */
	} else {
		relay_start(a, m->keeper_start, home, who);
	}
}

static void on_keeper_packet(struct agent *a, struct agent_asker who,
			     const Control__Message *m)
{
	const Control__KeeperPacket *p = m->keeper_packet;
	struct relay *r = p->name ? relay_find(a, p->name) : NULL;

	if (r)
		relay_packet(r, &p->data);
}

static void on_keeper_look(struct agent *a, struct agent_asker who,
			   const Control__Message *m)
{
	if (good_name(a, who, m->keeper_look->name))
		relay_look(a, m->keeper_look);
}

static void on_keeper_forget(struct agent *a, struct agent_asker who,
			     const Control__Message *m)
{
	const Control__KeeperName *name =
		good_name(a, who, m->keeper_forget->name);

	if (name)
		relay_forget(a, name);
}

static void on_owner_ask(struct agent *a, struct agent_asker who,
			 const Control__Message *m)
{
	Control__OwnerHost host = CONTROL__OWNER_HOST__INIT;
	Control__Presence presence;

	owner_fill(owner_presence(a->owner), &presence);
	host.name = a->name;
	host.presence = &presence;
	agent_answer(a, who, MESSAGE_BODY(OWNER_HOST), &host);
}

static const struct {
	Control__Message__BodyCase what;
	void (*handle)(struct agent *a, struct agent_asker who,
		       const Control__Message *m);
} requests[] = {
	{ MESSAGE_BODY(KEEPER_START), on_keeper_start },
	{ MESSAGE_BODY(KEEPER_PACKET), on_keeper_packet },
	{ MESSAGE_BODY(KEEPER_LOOK), on_keeper_look },
	{ MESSAGE_BODY(KEEPER_FORGET), on_keeper_forget },
	{ MESSAGE_BODY(OWNER_ASK), on_owner_ask },
};

void agent_request(struct agent *a, const Control__Message *m)
{
	struct agent_asker who = { .re = m->id, .connection = a->connections };

	for (size_t i = 0; i < sizeof(requests) / sizeof(*requests); i++)
		if (requests[i].what == m->body_case) {
			requests[i].handle(a, who, m);
			return;
		}
	agent_answer_failed(a, who, -ENOSYS,
			    "this agent does not know this request");
}
