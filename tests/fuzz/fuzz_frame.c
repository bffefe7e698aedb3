/*
 * fuzz_frame.c - any bytes in any pieces through the frame reader, and each
 * message through the control protocol's unpacker and packer
 *
 * The first byte is the size of the pieces.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cluster/conn/control.pb-c.h"
#include "cluster/conn/frames.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void try_message(const uint8_t *p, size_t n)
{
	Control__Message *m = control__message__unpack(NULL, n, p);
	uint8_t *out;

	if (!m)
		return;
	out = malloc(control__message__get_packed_size(m) + 1);
	control__message__pack(m, out);
	free(out);
	control__message__free_unpacked(m, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct frames_reader r = FRAMES_READER_INIT;
	size_t piece = size ? data[0] + 1 : 1, n;
	const uint8_t *p;
	int k = 0;

	for (size_t at = 1; at < size && k >= 0; at += piece) {
		if (piece > size - at)
			piece = size - at;
		memcpy(frames_room(&r, piece), data + at, piece);
		frames_added(&r, piece);
		while ((k = frames_next(&r, &p, &n, NULL)) > 0)
			try_message(p, n);
	}
	frames_clear(&r);
	return 0;
}
