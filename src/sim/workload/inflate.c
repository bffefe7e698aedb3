/*
 * inflate.c - reading plain and gzipped files whole
 */
#include "sim/workload/inflate.h"

#include <errno.h>
#include <fcntl.h>
#include <libdeflate.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

/*
 * How much text there will be: the length modulo 2^32 that ends a gzip file.
 * Only a guess, for the file may have several members, or lie.
 */
static size_t guess_size(const struct bytes *in)
{
	const uint8_t *end = (const uint8_t *)in->p + in->n;
	size_t size, most = 1032 * in->n; /* what deflate can reach */

	if (in->n < 18)
		return 0;
	size = end[-4] | (size_t)end[-3] << 8 | (size_t)end[-2] << 16 |
	       (size_t)end[-1] << 24;
	return size < most ? size : most;
}

/* Members follow each other in a gzip file; all belong to it. */
static int gunzip(const char *path, const struct bytes *in, struct bytes *out,
		  struct error *err)
{
	struct libdeflate_decompressor *d = libdeflate_alloc_decompressor();
	size_t at = 0;
	int r = 0;

	if (!d)
		abort(); /* out of memory */
	need(out, guess_size(in) + 1);
	while (!r && at < in->n) {
		size_t used, got;

		switch (libdeflate_gzip_decompress_ex(
			d, in->p + at, in->n - at, out->p + out->n,
			out->cap - out->n, &used, &got)) {
		case LIBDEFLATE_SUCCESS:
			at += used;
			out->n += got;
			break;
		case LIBDEFLATE_INSUFFICIENT_SPACE:
			need(out, 2 * (out->cap - out->n) + (1 << 16));
			break;
		default:
			r = error_set(err, -EINVAL,
				      "%s: the gzip data is damaged or cut off",
				      path);
		}
		if (!r && out->cap > 2 * MAX_SIZE)
			r = error_set(err, -EFBIG, "%s: unpacks to too much",
				      path);
	}
	libdeflate_free_decompressor(d);
	return r;
}

/* Files that people take for texts, by how they begin; gzip is read. */
static int check_kind(const char *text, size_t size, const char *name,
		      struct error *err)
{
	static const char *const kinds[][2] = {
		{ "zstd", "\x28\xb5\x2f\xfd" },
		{ "xz", "\xfd\x37zXZ" },
		{ "bzip2", "BZh" },
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		size_t n = strlen(kinds[i][1]);

		if (size >= n && !memcmp(text, kinds[i][1], n))
			return error_set(err, -EINVAL,
					 "%s: packed by %s; unpack it first "
					 "(gzip alone is read as it is)",
					 name, kinds[i][0]);
	}
	return 0;
}

static void finish(struct bytes *b, char **ret, size_t *ret_size)
{
	static const char mark[] = { '\xef', '\xbb', '\xbf' }; /* of UTF-8 */

	if (b->n >= sizeof(mark) && !memcmp(b->p, mark, sizeof(mark))) {
		b->n -= sizeof(mark);
		memmove(b->p, b->p + sizeof(mark), b->n);
	}
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
		r = check_kind(in.p, in.n, is_stdin ? "standard input" : path,
			       err);
		if (r < 0)
			free(in.p);
		else
			finish(&in, ret, ret_size);
		return r;
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
