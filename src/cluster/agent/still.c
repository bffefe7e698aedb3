/*
 * still.c - guests that the agent stops by itself
 *
 * Who stands still is the controller's to say, which knows other hosts.  But when the last
 * disturbance that the terms allow is used up, one that is dead or cut off must not cost the
 * owner another: then the agent asks the keepers.  A rank that is being moved its keeper leaves to
 * the engine, so that a freeze and a move never meet.  The controller hears of it by the
 * keeper's answer, or by its next HELLO.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cluster/agent/guests.h"
#include "cluster/agent/priv.h"
#include "cluster/conn/keeper.pb-c.h"
#include "core/log.h"
#include "core/xalloc.h"

struct relay *relay_of_capsule(const struct agent *a, const char *capsule)
{
	struct relay *r;

	TAILQ_FOREACH (r, &a->relays, link) {
		char *name = xasprintf("%s.%" PRIu32, r->job, r->rank);
		size_t n = strlen(name);
		bool is = !strncmp(capsule, name, n) &&
			  (!capsule[n] || capsule[n] == '.');

		free(name);
		if (is)
			return r;
	}
	return NULL;
}

static void say(struct relay *r, uint64_t id, Keeper__Request__BodyCase what,
		void *body)
{
	Keeper__Request q = KEEPER__REQUEST__INIT;
	ProtobufCBinaryData data;

	q.id = id;
	q.body_case = what;
	q.hello = body; /* all members of the union are pointers */
	data.len = keeper__request__get_packed_size(&q);
	data.data = xmalloc(data.len);
	keeper__request__pack(&q, data.data);
	relay_packet(r, &data);
	free(data.data);
}

/* As no controller does: what it says is not taken, and comes again to the next one. */
static void greet(struct relay *r)
{
	Keeper__AgentHello hello = KEEPER__AGENT_HELLO__INIT;

	hello.version = KEEPER__VERSION__MAJOR;
	say(r, KEEPER__REQUEST__BODY_HELLO, KEEPER__REQUEST__BODY_HELLO,
	    &hello);
}

static void stop_one(const char *name, const struct capsule_record *rec,
		     void *arg)
{
	struct agent *a = arg;
	struct relay *r = relay_of_capsule(a, name);
	Keeper__Suspend suspend = KEEPER__SUSPEND__INIT;

	if (r && !a->named && r->ready_fd < 0) {
		relay_connect(r); /* which ends it if its keeper has ended */
		r = relay_of_capsule(a, name);
		if (r)
			greet(r);
	}
	suspend.on = true;
	if (r)
		say(r, KEEPER__AGENTS__STOP, KEEPER__REQUEST__BODY_SUSPEND,
		    &suspend);
}

void guests_stop(struct agent *a, const char *owners)
{
	log_info("guests=stop why=\"no disturbance of the owner is left\"");
	guests_each(a->conf->run_dir, owners, stop_one, a);
}
