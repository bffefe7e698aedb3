/* message.c - the control protocol's messages, see message.h */
#include "cluster/conn/message.h"

#include <errno.h>
#include <stdlib.h>

#include "core/xalloc.h"

int message_send(struct conn *c, uint64_t id, uint64_t re,
		 Control__Message__BodyCase what, void *body)
{
	Control__Message m = CONTROL__MESSAGE__INIT;
	uint8_t *buf;
	size_t n;
	int r;

	m.id = id;
	m.re = re;
	m.body_case = what;
	m.hello = body; /* all members of the union are pointers */
	n = control__message__get_packed_size(&m);
	if (n > FRAMES_MAX)
		return -EMSGSIZE;
	buf = xmalloc(n);
	control__message__pack(&m, buf);
	r = conn_send(c, buf, n);
	free(buf);
	return r;
}

int message_send_hello(struct conn *c, uint64_t id, uint64_t re,
		       Control__AgentInfo *agent,
		       Control__ControllerInfo *controller)
{
	Control__Hello hello = CONTROL__HELLO__INIT;

	hello.version = CONTROL__VERSION__MAJOR;
	hello.software = (char *)"stint " STINT_VERSION;
	hello.agent = agent;
	hello.controller = controller;
	return message_send(c, id, re, MESSAGE_BODY(HELLO), &hello);
}

Control__Failed message_failed(int code, const char *why)
{
	Control__Failed failed = CONTROL__FAILED__INIT;

	failed.code = code;
	failed.why = (char *)why;
	return failed;
}

Control__Message *message_parse(const uint8_t *p, size_t n, struct error *err)
{
	Control__Message *m = control__message__unpack(NULL, n, p);

	if (!m)
		error_set(err, -EPROTO, "malformed message");
	return m;
}

void message_free(Control__Message *m)
{
	if (m)
		control__message__free_unpacked(m, NULL);
}

void message_set_text(char **field, char *text)
{
	if (*field != protobuf_c_empty_string)
		free(*field);
	*field = text;
}

const char *message_reason(int reason)
{
	static const char *const names[] = {
		[CONTROL__REASON__REASON_NONE] = "",
		[CONTROL__REASON__EXIT_CODE] = "exit-code",
		[CONTROL__REASON__BY_SIGNAL] = "signal",
		[CONTROL__REASON__TIME_LIMIT] = "time-limit",
		[CONTROL__REASON__MEMORY_LIMIT] = "memory-limit",
		[CONTROL__REASON__RANK_LOST] = "lost",
		[CONTROL__REASON__CANCELLED] = "cancelled",
		[CONTROL__REASON__NO_CLIENT] = "no-client",
		[CONTROL__REASON__NOT_STARTED] = "not-started",
		[CONTROL__REASON__OWNER] = "owner",
		[CONTROL__REASON__OUTPUT_LIMIT] = "output-limit",
		[CONTROL__REASON__DEPENDENCY] = "dependency",
	};

	if (reason < 0 || reason >= (int)(sizeof(names) / sizeof(*names)))
		return "unknown";
	return names[reason];
}
