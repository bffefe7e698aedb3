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
	o->conf = conf;
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
	free(o);
}

void owner_emptied(struct owner *o)
{
	for (unsigned i = 0; i < NR_SOURCES; i++)
		if (o->source[i] && sources[i]->release)
			sources[i]->release(o->source[i]);
}
