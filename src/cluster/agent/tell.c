/*
 * tell.c - what the agent tells the controller, and how it answers it
 */
#include <errno.h>

#include "cluster/agent/priv.h"

static void send_message(struct agent *a, uint64_t re,
			 Control__Message__BodyCase what, void *body)
{
	if (message_send(a->conn, 0, re, what, body) < 0)
		conn_fail(a->conn, -ENOBUFS, "the controller does not read");
}

void agent_tell(struct agent *a, Control__Message__BodyCase what, void *body)
{
	if (a->named)
		send_message(a, 0, what, body);
}

bool agent_answer(struct agent *a, struct agent_asker to,
		  Control__Message__BodyCase what, void *body)
{
	if (!a->conn || to.connection != a->connections)
		return false;
	send_message(a, to.re, what, body);
	return true;
}

bool agent_answer_ok(struct agent *a, struct agent_asker to)
{
	Control__Ok ok = CONTROL__OK__INIT;

	return agent_answer(a, to, MESSAGE_BODY(OK), &ok);
}

bool agent_answer_failed(struct agent *a, struct agent_asker to, int code,
			 const char *why)
{
	Control__Failed failed = message_failed(code, why);

	return agent_answer(a, to, MESSAGE_BODY(FAILED), &failed);
}
