/*
 * kinds.c - the list of kinds
 */
#include "move/kind/kinds.h"

#include <string.h>

#define KIND(name) extern const struct fd_kind fd_kind_##name;
#include "move/kind/kinds.def"
#undef KIND

const struct fd_kind *const fd_kinds[] = {
#define KIND(name) &fd_kind_##name,
#include "move/kind/kinds.def"
#undef KIND
	NULL
};

const struct fd_kind *fdkinds_of(const struct fdscan *sc,
				 const struct fdscan_file *f, const char *link)
{
	for (const struct fd_kind *const *k = fd_kinds; *k; k++)
		if ((*k)->is ? (*k)->is(sc, f, link)
			     : link && !strcmp(link, (*k)->link))
			return *k;
	return NULL;
}

const struct fd_kind *fdkinds_find(Fds__File__KindCase message)
{
	for (const struct fd_kind *const *k = fd_kinds; *k; k++)
		if ((*k)->message == message && (*k)->make)
			return *k;
	return NULL;
}

const char *fdkinds_name(const struct fd_kind *k)
{
	return protobuf_c_message_descriptor_get_field(&fds__file__descriptor,
						       k->message)
		->name;
}

const struct fd_kind *fdkinds_named(const char *name)
{
	const ProtobufCFieldDescriptor *f =
		protobuf_c_message_descriptor_get_field_by_name(
			&fds__file__descriptor, name);

	return f ? fdkinds_find((Fds__File__KindCase)f->id) : NULL;
}
