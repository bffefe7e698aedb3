/*
 * inflate.c - reading plain and gzipped files whole
 */
#include "sim/inflate.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "core/io.h"
#include "core/xalloc.h"

/* More than this is no trace (16 GiB of text: 200 million jobs). */
#define MAX_SIZE ((size_t)16 << 30)

struct bytes {
	char *p;
	size_t n, cap;
};

static void need(struct bytes *b, size_t more)
{
	size_t cap = b->cap;

	if (cap - b->n >= more)
		return;
	while (cap - b->n < more)
		cap = cap ? 2 * cap : 1 << 16;
	b->p = xrealloc(b->p, cap);
	b->cap = cap;
}

static int read_all(int fd, const char *path, struct bytes *ret,
		    struct error *err)
{
	struct bytes b = { NULL };
	struct stat st;
	ssize_t n;

	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size > 0 &&
	    (size_t)st.st_size < MAX_SIZE)
		need(&b, (size_t)st.st_size + 2);
	for (;;) {
		need(&b, 1);
		n = read(fd, b.p + b.n, b.cap - b.n);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		b.n += (size_t)n;
		if (b.n > MAX_SIZE) {
			n = -1;
			errno = EFBIG;
			break;
		}
	}
	if (n < 0) {
		n = error_sys(err, -errno, "%s: cannot read", path);
		free(b.p);
		return (int)n;
	}
	*ret = b;
	return 0;
}

static int damaged(const char *path, const z_stream *z, int code,
		   struct error *err)
{
	if (code == Z_BUF_ERROR || code == Z_OK)
		return error_set(err, -EINVAL,
				 "%s: the gzip data is cut off after %lu bytes "
				 "of text",
				 path, z->total_out);
	return error_set(err, -EINVAL, "%s: the gzip data is damaged (%s)",
			 path, z->msg ? z->msg : "wrong checksum");
}

/* Members follow each other in a gzip file; all belong to it. */
static int gunzip(const char *path, const struct bytes *in, struct bytes *out,
		  struct error *err)
{
	z_stream z = { .next_in = (Bytef *)in->p };
	size_t left = in->n;
	int code = Z_OK, r = 0;

	if (inflateInit2(&z, 16 + MAX_WBITS) != Z_OK)
		return error_set(err, -ENOMEM, "%s: no memory to unpack", path);
	/* Traces shrink to a fifth or sixth; a guess that is too large costs
	 * nothing, for pages that are not touched are not there. */
	need(out, 8 * in->n + (1 << 16));
	while (!r) {
		uInt room, feed = left > 1 << 30 ? 1 << 30 : (uInt)left;

		need(out, 1);
		room = out->cap - out->n > 1 << 30 ? 1 << 30
						   : (uInt)(out->cap - out->n);
		z.avail_in = feed;
		z.next_out = (Bytef *)out->p + out->n;
		z.avail_out = room;
		code = inflate(&z, Z_NO_FLUSH);
		left -= feed - z.avail_in;
		out->n += room - z.avail_out;
		if (code == Z_STREAM_END && !left)
			break;
		if (code == Z_STREAM_END)
			inflateReset(&z);
		else if (code != Z_OK || (!left && z.avail_out))
			r = damaged(path, &z, code, err);
		if (!r && out->n > MAX_SIZE)
			r = error_set(err, -EFBIG, "%s: unpacks to too much",
				      path);
	}
	inflateEnd(&z);
	return r;
}

static void finish(struct bytes *b, char **ret, size_t *ret_size)
{
	need(b, 1);
	b->p[b->n] = '\0';
	*ret = b->p;
	*ret_size = b->n;
}

int inflate_read(const char *path, char **ret, size_t *ret_size,
		 struct error *err)
{
	bool is_stdin = !strcmp(path, "-");
	fd_auto own = -1;
	struct bytes in = { NULL }, out = { NULL };
	int r;

	if (!is_stdin)
		own = open(path, O_RDONLY | O_CLOEXEC);
	if (!is_stdin && own < 0)
		return error_sys(err, -errno, "%s", path);
	r = read_all(is_stdin ? STDIN_FILENO : own, path, &in, err);
	if (r < 0)
		return r;
	if (in.n < 2 || (uint8_t)in.p[0] != 0x1f || (uint8_t)in.p[1] != 0x8b) {
		finish(&in, ret, ret_size);
		return 0;
	}
	r = gunzip(path, &in, &out, err);
	free(in.p);
	if (r < 0) {
		free(out.p);
		return r;
	}
	finish(&out, ret, ret_size);
	return 0;
}
