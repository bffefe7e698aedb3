/* known.c - requests to a controller of another version, see known.h */
#include "cluster/conn/known.h"

#include <errno.h>

/* ---- at the controller */

static uint32_t lacks(const ProtobufCMessage *m);

static bool part_lacks(const ProtobufCMessage *m,
		       const ProtobufCFieldDescriptor *f)
{
	const char *at = (const char *)m;
	const void *part;
	size_t n = 1;

	if (f->type != PROTOBUF_C_TYPE_MESSAGE)
		return false;
	part = *(void *const *)(at + f->offset);
	if (f->label != PROTOBUF_C_LABEL_REPEATED)
		return part && lacks(part);
	n = *(const size_t *)(at + f->quantifier_offset);
	for (size_t i = 0; i < n; i++)
		if (lacks(((const ProtobufCMessage *const *)part)[i]))
			return true;
	return false;
}

static uint32_t own_lacks(const ProtobufCMessage *m)
{
	for (unsigned i = 0; i < m->n_unknown_fields; i++)
		if (m->unknown_fields[i].tag < KNOWN_MAY_DROP)
			return m->unknown_fields[i].tag;
	return 0;
}

/* No body of a request has a oneof in it. */
static uint32_t lacks(const ProtobufCMessage *m)
{
	const ProtobufCMessageDescriptor *d = m->descriptor;
	uint32_t own = own_lacks(m);

	if (own)
		return own;
	for (unsigned i = 0; i < d->n_fields; i++)
		if (part_lacks(m, &d->fields[i]))
			return d->fields[i].id;
	return 0;
}

uint32_t known_lacks(const Control__Message *request)
{
	uint32_t own = own_lacks(&request->base);

	/* all members of the union are pointers to messages */
	return own ? own : lacks(&request->hello->base);
}

/* ---- at the client */

static const char *harm_of_submit(const Control__Submit *s)
{
	return s->n_after      ? "--after"
	       : *s->at_end    ? "--at-end"
	       : s->n_tasks    ? "--array"
	       : s->held       ? "--hold"
	       : s->limit_usec ? "--limit"
	       : s->milli_cpus ? "--cpus"
	       : s->output_max ? "--output-limit"
			       : NULL;
}

static const char *harm_of_change(const Control__ChangeJob *c)
{
	return c->n_after || c->no_after   ? "--after"
	       : c->n_tasks		   ? "JOB[TASKS]"
	       : c->limits		   ? "limits of a job that waits"
	       : c->n_hosts || c->any_host ? "--hosts and --any-host"
					   : NULL;
}

/*
 * What a controller of before it refused anything might drop: it would do something else.
 * Nothing is ever added here: later ones refuse what is added to the protocol.
 */
static const char *harm_of(Control__Message__BodyCase what, const void *body)
{
	switch (what) {
	case MESSAGE_BODY(SUBMIT):
		return harm_of_submit(body);
	case MESSAGE_BODY(CHANGE_JOB):
		return harm_of_change(body);
	case MESSAGE_BODY(SIGNAL):
		return ((const Control__Signal *)body)->n_tasks ? "JOB[TASKS]"
								: NULL;
	default:
		return NULL;
	}
}

int known_check(const char *where, const Control__ControllerInfo *controller,
		Control__Message__BodyCase what, const void *body,
		struct error *err)
{
	const char *harm;

	if (controller && controller->refuses_unknown)
		return 0;
	harm = harm_of(what, body);
	if (!harm)
		return 0;
	return error_set(err, -EOPNOTSUPP,
			 "the controller at %s is older than you, and may not "
			 "know %s: it would do as if you had not asked for "
			 "that; update it first",
			 where, harm);
}

int known_refused(const char *where, Control__Message__BodyCase what,
		  const Control__Failed *failed, struct error *err)
{
	int code = failed->code < 0 ? failed->code : -EPROTO;
	const ProtobufCFieldDescriptor *body, *f = NULL;

	body = protobuf_c_message_descriptor_get_field(
		&control__message__descriptor, what);
	if (body && failed->unknown)
		f = protobuf_c_message_descriptor_get_field(body->descriptor,
							    failed->unknown);
	if (!f)
		return error_set(err, code, "%s", failed->why);
	return error_set(err, code,
			 "the controller at %s is older than you, and does not "
			 "know all of '%s' that you asked for; update it "
			 "first",
			 where, f->name);
}
