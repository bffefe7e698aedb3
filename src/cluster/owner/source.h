/*
 * source.h - where signs of an owner come from
 *
 * To add one: write NAME.c, ending in `const struct owner_source
 * owner_source_NAME`, add SOURCE(NAME) to sources.def, and say in
 * model/presence.h what it is a cause of, if that is new.
 *
 * A source watches in the agent's loop, and tells by the functions of priv.h.
 * It waits for nothing, wakes up at most once a second while signs pour in
 * (inlet.c), and says by owner_lost() that it cannot tell any more.
 */
#ifndef CLUSTER_OWNER_SOURCE_H
#define CLUSTER_OWNER_SOURCE_H

#include <stdbool.h>
#include <sys/types.h>

struct owner;

struct owner_source {
	const char *name; /* in the setting `sources` */
	unsigned voices;  /* a bit for each of its own, enum owner_voice */
	/* Watch, and tell what was before; NULL: nothing of the kind is here. */
	void *(*begin)(struct owner *o);
	void (*end)(void *source);
	/* No guest is left here.  NULL: that is nothing to it. */
	void (*release)(void *source);
	/*
	 * Settings have changed.  false, or NULL: it cannot go on with them, and
	 * is ended and begun anew.
	 */
	bool (*reread)(void *source);
	/* As owner_child().  NULL: it has none. */
	void (*child)(void *source, pid_t pid);
};

#define SOURCE(name) extern const struct owner_source owner_source_##name;
#include "cluster/owner/sources.def"
#undef SOURCE

#endif
