/* lie.c - messages that are well-formed, with fields from fuzz bytes, see lie.h */
#include "lie.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cluster/conn/control.pb-c.h"
#include "cluster/conn/keeper.pb-c.h"
#include "core/xalloc.h"

enum { DEPTH_MAX = 4, LIST_MAX = 4 };

static const uint64_t numbers[] = { 0,	       1,	   0,
				    1,	       2,	   3,
				    4,	       5,	   9,
				    64,	       255,	   256,
				    4096,      65535,	   1 << 20,
				    INT32_MAX, 1,	   2,
				    1u << 31,  UINT32_MAX, UINT32_MAX + 1ull,
				    INT64_MAX, 1ull << 63, UINT64_MAX };
static const double reals[] = {
	0, 1, -1, 0.5, 1e300, NAN, INFINITY, -INFINITY
};
static const char *const texts[] = { "",
				     "1",
				     "2",
				     "h1",
				     "h2",
				     "h3",
				     "root",
				     "true",
				     "daemon",
				     "10.0.0.1",
				     "10.0.0.2/8",
				     "none",
				     "../x",
				     "0",
				     "\033[2J\n",
				     "routed",
				     "18446744073709551616" };

#define ONE_OF(b, list) ((list)[lie_byte(b) % (sizeof(list) / sizeof(*(list)))])

uint8_t lie_byte(struct lie_bytes *b)
{
	return b->at < b->end ? *b->at++ : 0;
}

static ProtobufCMessage *lie(struct lie_bytes *b,
			     const ProtobufCMessageDescriptor *d, int depth);

static ProtobufCBinaryData lie_data(struct lie_bytes *b,
				    const ProtobufCMessageDescriptor *of)
{
	ProtobufCBinaryData ret;
	size_t n = lie_byte(b) % 65;

	if (of == &control__keeper_packet__descriptor) {
		ret.data = lie_packed(b, &keeper__event__descriptor, &ret.len);
		return ret;
	}
	ret.data = xmalloc(n + 1);
	ret.len = n;
	for (size_t i = 0; i < n; i++)
		ret.data[i] = i < 2 ? lie_byte(b) : 'x';
	return ret;
}

/* Into one field, or one item of a list; the size of such an item. */
static size_t lie_value(struct lie_bytes *b, const ProtobufCFieldDescriptor *f,
			const ProtobufCMessageDescriptor *of, void *to,
			int depth)
{
	switch (f->type) {
	case PROTOBUF_C_TYPE_UINT64:
		*(uint64_t *)to = ONE_OF(b, numbers);
		return sizeof(uint64_t);
	case PROTOBUF_C_TYPE_BOOL:
		*(protobuf_c_boolean *)to = lie_byte(b) & 1;
		return sizeof(protobuf_c_boolean);
	case PROTOBUF_C_TYPE_DOUBLE:
		*(double *)to = ONE_OF(b, reals);
		return sizeof(double);
	case PROTOBUF_C_TYPE_STRING:
		*(char **)to = xstrdup(ONE_OF(b, texts));
		return sizeof(char *);
	case PROTOBUF_C_TYPE_BYTES:
		*(ProtobufCBinaryData *)to = lie_data(b, of);
		return sizeof(ProtobufCBinaryData);
	case PROTOBUF_C_TYPE_MESSAGE:
		*(ProtobufCMessage **)to = lie(b, f->descriptor, depth + 1);
		return sizeof(ProtobufCMessage *);
	case PROTOBUF_C_TYPE_UINT32:
	case PROTOBUF_C_TYPE_INT32:
	case PROTOBUF_C_TYPE_ENUM:
		*(uint32_t *)to = (uint32_t)ONE_OF(b, numbers);
		return sizeof(uint32_t);
	default:
		abort(); /* a new type of field */
	}
}

static void lie_list(struct lie_bytes *b, const ProtobufCFieldDescriptor *f,
		     ProtobufCMessage *m, int depth)
{
	size_t n = lie_byte(b) % LIST_MAX, at = 0;
	char *items = xcalloc(n + 1, sizeof(ProtobufCBinaryData));

	for (size_t i = 0; i < n; i++)
		at += lie_value(b, f, m->descriptor, items + at, depth);
	*(size_t *)((char *)m + f->quantifier_offset) = n;
	*(void **)((char *)m + f->offset) = items;
}

static void lie_field(struct lie_bytes *b, const ProtobufCFieldDescriptor *f,
		      ProtobufCMessage *m, int depth)
{
	bool nested = f->type == PROTOBUF_C_TYPE_MESSAGE;

	if (nested && depth >= DEPTH_MAX)
		return;
	if (f->label == PROTOBUF_C_LABEL_REPEATED)
		lie_list(b, f, m, depth);
	else if (!nested || lie_byte(b) % 8)
		lie_value(b, f, m->descriptor, (char *)m + f->offset, depth);
}

static bool is_case(const ProtobufCFieldDescriptor *f)
{
	return f->flags & PROTOBUF_C_FIELD_FLAG_ONEOF;
}

static ProtobufCMessage *lie(struct lie_bytes *b,
			     const ProtobufCMessageDescriptor *d, int depth)
{
	ProtobufCMessage *m = xcalloc(1, d->sizeof_message);
	unsigned cases = 0, chosen;

	protobuf_c_message_init(d, m);
	for (unsigned i = 0; i < d->n_fields; i++)
		cases += is_case(&d->fields[i]);
	chosen = cases ? lie_byte(b) % cases : 0;
	for (unsigned i = 0; i < d->n_fields; i++) {
		const ProtobufCFieldDescriptor *f = &d->fields[i];

		if (is_case(f) && chosen--)
			continue;
		if (is_case(f)) {
			*(uint32_t *)((char *)m + f->quantifier_offset) = f->id;
			lie_value(b, f, d, (char *)m + f->offset, depth);
		} else {
			lie_field(b, f, m, depth);
		}
	}
	return m;
}

uint8_t *lie_packed(struct lie_bytes *b, const ProtobufCMessageDescriptor *d,
		    size_t *ret_n)
{
	ProtobufCMessage *m = lie(b, d, 0);
	uint8_t *ret;

	*ret_n = protobuf_c_message_get_packed_size(m);
	ret = xmalloc(*ret_n + 1);
	protobuf_c_message_pack(m, ret);
	protobuf_c_message_free_unpacked(m, NULL);
	return ret;
}
