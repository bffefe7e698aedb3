/*
 * fuzz_moveframe.c - what a hostile peer of a move may send
 *
 * The input is a stream of frames as the engine would read it; payloads that
 * pass frame_check() are taken apart as the engine does.
 */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "move/fd/restore.h"
#include "move/wire/frame.h"
#include "move/wire/lack.h"
#include "move/wire/state.pb-c.h"
#include "move/wire/tree.pb-c.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Touch the first and last byte of every page that a frame claims to carry. */
static unsigned walk_pages(const uint8_t *p)
{
	struct frame_pages head;
	const uint8_t *data;
	unsigned sum = 0;

	memcpy(&head, p, sizeof(head));
	data = p + sizeof(head) + head.nr_runs * sizeof(struct frame_run);
	for (uint64_t i = 0; i < head.nr_runs; i++) {
		struct frame_run run;

		memcpy(&run, p + sizeof(head) + i * sizeof(run), sizeof(run));
		data += run.nr_pages * FRAME_PAGE;
		sum += data[-FRAME_PAGE] + data[-1];
	}
	return sum;
}

/* Whatever it says, there is a reason to be told. */
static void read_lack(uint8_t *p, size_t n)
{
	struct frame f = { .type = FRAME_LACK, .size = n, .data = p };
	struct frame_range range;
	struct error why = ERROR_INIT;

	assert(lack_of_frame(&f, &range, &why) < 0);
	assert(range.start <= range.end);
}

static void unpack(const ProtobufCMessageDescriptor *d, const uint8_t *p,
		   size_t n)
{
	ProtobufCMessage *m = protobuf_c_message_unpack(d, NULL, n, p);

	if (m)
		protobuf_c_message_free_unpacked(m, NULL);
}

static void check_fds(const uint8_t *p, size_t n)
{
	Fds__Set *set;

	if (fdvalid_unpack(p, n, &set, NULL) == 0)
		fds__set__free_unpacked(set, NULL);
}

/* Of this version, whichever its input was made for: the fifth byte and sixth.
 */
static int parse_head(const uint8_t *data, enum frame_type *ret_type,
		      size_t *ret_n)
{
	const uint16_t version = FRAME_VERSION;
	uint8_t head[FRAME_HEAD_SIZE];
	uint64_t hash;

	memcpy(head, data, sizeof(head));
	memcpy(head + 4, &version, sizeof(version));
	return frame_parse_head(head, ret_type, ret_n, &hash, NULL);
}

static void read_change(const uint8_t *p, size_t n)
{
	size_t path = strlen((const char *)p) + 1;

	assert(*p == '/' && path <= n);
	unpack(&tree__change__descriptor, p + path, n - path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	enum frame_type type;
	volatile unsigned sum = 0;
	size_t n;

	while (size >= FRAME_HEAD_SIZE && parse_head(data, &type, &n) == 0 &&
	       n <= size - FRAME_HEAD_SIZE) {
		/* exactly as large as told, so that a sanitizer sees more */
		uint8_t *p = malloc(n + 1);

		if (!p)
			return 0;
		memcpy(p, data + FRAME_HEAD_SIZE, n);
		p[n] = 0; /* as behind every frame that is received */
		if (frame_check(type, p, n, NULL) == 0) {
			if (type == FRAME_PAGES)
				sum = walk_pages(p);
			if (type == FRAME_HELLO)
				unpack(&move__hello__descriptor, p, n);
			if (type == FRAME_FDS)
				check_fds(p, n);
			if (type == FRAME_LACK)
				read_lack(p, n);
			if (type == FRAME_PATHS)
				unpack(&fds__paths__descriptor, p, n);
			if (type == FRAME_TREE)
				read_change(p, n);
			if (type == FRAME_MAP)
				unpack(&move__layout__descriptor, p, n);
			if (type == FRAME_STATE)
				unpack(&move__state__descriptor, p, n);
		}
		free(p);
		data += FRAME_HEAD_SIZE + n;
		size -= FRAME_HEAD_SIZE + n;
	}
	(void)sum;
	return 0;
}
