/* owner.c - is the owner of this host there, see owner.h */
#include "cluster/owner/owner.h"

#include <stdlib.h>

#include "cluster/owner/priv.h"
#include "cluster/owner/source.h"
#include "cluster/owner/terminals.h"
#include "core/xalloc.h"

static const struct owner_source *const sources[] = {
#define SOURCE(name) &owner_source_##name,
#include "cluster/owner/sources.def"
#undef SOURCE
};

#define NR_SOURCES (sizeof(sources) / sizeof(*sources))
_Static_assert(NR_SOURCES <= OWNER_SOURCES_MAX, "a place for each");

int owner_create(sd_event *event, const char *name, const char *run_dir,
		 const struct owner_conf *conf, const struct owner_ops *ops,
		 void *ctx, struct owner **ret, struct error *err)
{
	struct owner *o = xcalloc(1, sizeof(*o));
	int r;

	o->event = event;
	o->name = name;
	o->run_dir = run_dir;
	owner_conf_copy(&o->conf, conf);
	o->ops = ops;
	o->ctx = ctx;
	presence_init(&o->signs, conf->linger, owner_now());
	r = owner_said_create(o, &o->said, err);
	if (r < 0) {
		owner_destroy(o);
		return r;
	}
	o->terminals = owner_terminals_create(o);
	for (unsigned i = 0; i < NR_SOURCES; i++)
		if (conf->sources & 1u << i)
			o->source[i] = sources[i]->begin(o);
	owner_update(o);
	*ret = o;
	return 0;
}

void owner_destroy(struct owner *o)
{
	if (!o)
		return;
	for (unsigned i = 0; i < NR_SOURCES; i++)
		if (o->source[i])
			sources[i]->end(o->source[i]);
	owner_terminals_destroy(o->terminals);
	owner_said_destroy(o->said);
	sd_event_source_disable_unref(o->timer);
	owner_conf_clear(&o->conf);
	free(o);
}

/* What a voice may hold. */
static const unsigned holds[OWNER_VOICES] = {
	[OWNER_LOGIND] = 1u << PRESENCE_SESSION | 1u << PRESENCE_GOING,
	[OWNER_POWER] = 1u << PRESENCE_POWER,
	[OWNER_NOTICE] = 1u << PRESENCE_NOTICE,
};

/* Whoever said so is not there any more: nothing of it holds. */
static void forget_voice(struct owner *o, enum owner_voice voice)
{
	static const struct owner_uids none;

	for (enum presence_cause c = 0; c < PRESENCE_CAUSES; c++) {
		owner_lost(o, voice, c, false, NULL);
		if (holds[voice] & 1u << c)
			owner_hold(o, c, false, NULL);
	}
	owner_users(o, voice, 0);
	owner_set_uids(o, voice, &none);
	owner_terminals_set(o->terminals, voice, NULL, 0);
}

/* What it told before holds no more, unless it says so again. */
static void source_anew(struct owner *o, unsigned i)
{
	if (o->source[i])
		sources[i]->end(o->source[i]);
	o->source[i] = NULL;
	for (unsigned v = 0; v < OWNER_VOICES; v++)
		if (sources[i]->voices & 1u << v)
			forget_voice(o, v);
	if (o->conf.sources & 1u << i)
		o->source[i] = sources[i]->begin(o);
}

static bool source_goes_on(struct owner *o, unsigned i)
{
	return o->source[i] && o->conf.sources & 1u << i &&
	       sources[i]->reread && sources[i]->reread(o->source[i]);
}

void owner_reread(struct owner *o, const struct owner_conf *conf)
{
	struct owner_conf old = o->conf;

	/* A source that ends and begins would else make somebody go and come. */
	o->rereads = true;
	owner_conf_copy(&o->conf, conf);
	o->signs.linger = conf->linger;
	owner_weigh(o);
	for (unsigned i = 0; i < NR_SOURCES; i++)
		if (!source_goes_on(o, i))
			source_anew(o, i);
	owner_conf_clear(&old);
	o->rereads = false;
	owner_update(o);
}

void owner_emptied(struct owner *o)
{
	for (unsigned i = 0; i < NR_SOURCES; i++)
		if (o->source[i] && sources[i]->release)
			sources[i]->release(o->source[i]);
}

void owner_child(struct owner *o, pid_t pid)
{
	for (unsigned i = 0; i < NR_SOURCES; i++)
		if (o->source[i] && sources[i]->child)
			sources[i]->child(o->source[i], pid);
}
