#include "pmi/preload/wire.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PIECE = 500 }; /* bytes of a blob in one value, as hex */

static struct {
	int fd;
	uint32_t rank, size;
	char name[PMI_KVSNAME_MAX];
	char in[PMI_LINE_MAX];
	size_t nr_in;
	/* Who holds `talk` may read; `say` is held for one line only. */
	pthread_mutex_t talk, say;
} wire = {
	.fd = -1,
	.talk = PTHREAD_MUTEX_INITIALIZER,
	.say = PTHREAD_MUTEX_INITIALIZER,
};

/* ---- lines ---- */

static int write_all(const char *p, size_t n)
{
	ssize_t w;

	for (; n; p += w, n -= (size_t)w) {
		w = write(wire.fd, p, n);
		if (w < 0 && errno != EINTR)
			return -errno;
		if (w < 0)
			w = 0;
	}
	return 0;
}

__attribute__((format(printf, 1, 2))) static int send_line(const char *fmt, ...)
{
	char line[PMI_LINE_MAX];
	va_list ap;
	int n, r;

	va_start(ap, fmt);
	n = vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	if (n < 0 || (size_t)n >= sizeof(line))
		return -EMSGSIZE;
	pthread_mutex_lock(&wire.say);
	r = write_all(line, (size_t)n);
	pthread_mutex_unlock(&wire.say);
	return r;
}

/* The next line, without its end, in ret. */
static int hear(char ret[PMI_LINE_MAX])
{
	char *end;
	ssize_t r;
	size_t n;

	while (!(end = memchr(wire.in, '\n', wire.nr_in))) {
		if (wire.nr_in == sizeof(wire.in))
			return -EPROTO;
		/* Not read(), which progresses UCX (pmi/preload/preload.c). */
		r = syscall(SYS_read, wire.fd, wire.in + wire.nr_in,
			    sizeof(wire.in) - wire.nr_in);
		if (!r)
			return -ECONNRESET;
		if (r < 0 && errno != EINTR)
			return -errno;
		wire.nr_in += r > 0 ? (size_t)r : 0;
	}
	n = (size_t)(end - wire.in);
	memcpy(ret, wire.in, n);
	ret[n] = '\0';
	wire.nr_in -= n + 1;
	memmove(wire.in, end + 1, wire.nr_in);
	return 0;
}

/* Whether the answer begins so; what comes behind. */
static const char *behind(const char *answer, const char *begin)
{
	size_t n = strlen(begin);

	return strncmp(answer, begin, n) ? NULL : answer + n;
}

static int hear_begin(const char *begin)
{
	char answer[PMI_LINE_MAX];
	int r = hear(answer);

	return r || behind(answer, begin) ? r : -EPROTO;
}

/* ---- blobs ---- */

static int put_piece(const uint8_t *p, size_t n, unsigned part, bool more)
{
	char hex[2 * PIECE + 1] = "";
	int r;

	for (size_t i = 0; i < n; i++)
		snprintf(hex + 2 * i, 3, "%02x", p[i]);
	r = send_line("cmd=put kvsname=%s key=" PMI_BLOB_KEY " value=%c%s\n",
		      wire.name, wire.rank, part, more ? '+' : '.', hex);
	return r ? r : hear_begin("cmd=put_result rc=0");
}

static int put_blob(const uint8_t *p, size_t n)
{
	unsigned part = 0;
	size_t piece;
	int r;

	do {
		piece = n < PIECE ? n : PIECE;
		r = put_piece(p, piece, part++, piece < n);
		p += piece;
		n -= piece;
	} while (!r && n);
	return r;
}

static int digit(char c)
{
	static const char digits[] = "0123456789abcdef";
	const char *at = c ? strchr(digits, c) : NULL;

	return at ? (int)(at - digits) : -1;
}

/* The piece's bytes behind the n in *blob. */
static int add_piece(uint8_t **blob, size_t *n, const char *hex)
{
	size_t more = strlen(hex) / 2;
	uint8_t *p = realloc(*blob, *n + more + 1);
	int high, low;

	if (!p)
		return -ENOMEM;
	*blob = p;
	for (; *hex; hex += 2) {
		high = digit(hex[0]);
		low = high < 0 ? -1 : digit(hex[1]);
		if (low < 0)
			return -EPROTO;
		p[(*n)++] = (uint8_t)(high << 4 | low);
	}
	return 0;
}

static int hear_blobs(void **ret, size_t *ret_n)
{
	char answer[PMI_LINE_MAX];
	uint8_t *blob = NULL;
	const char *hex;
	size_t n = 0;
	int r;

	while (!(r = hear(answer)) && (hex = behind(answer, "cmd=blob value=")))
		if ((r = add_piece(&blob, &n, hex)))
			break;
	if (!r && !behind(answer, "cmd=fence_out rc=0"))
		r = -EPROTO;
	if (r) {
		free(blob);
		return r;
	}
	*ret = blob;
	*ret_n = n;
	return 0;
}

int pmi_wire_fence(const void *mine, size_t n, void **ret, size_t *ret_n)
{
	int r;

	pthread_mutex_lock(&wire.talk);
	r = put_blob(mine, n);
	if (!r)
		r = send_line("cmd=fence_in\n");
	if (!r)
		r = hear_blobs(ret, ret_n);
	pthread_mutex_unlock(&wire.talk);
	return r;
}

/* ---- the rest ---- */

static int from_environment(const char *name, long max, long *ret)
{
	const char *text = getenv(name);
	char *end;

	if (!text || !*text)
		return -ENOENT;
	*ret = strtol(text, &end, 10);
	return *end || *ret < 0 || *ret > max ? -ENOENT : 0;
}

int pmi_wire_open(uint32_t *ret_rank, uint32_t *ret_size)
{
	long fd, rank, size;

	if (from_environment("PMI_FD", 1 << 20, &fd) ||
	    from_environment("PMI_SIZE", PMI_SIZE_MAX, &size) ||
	    from_environment("PMI_RANK", size - 1, &rank))
		return -ENOENT;
	wire.fd = (int)fd;
	*ret_rank = wire.rank = (uint32_t)rank;
	*ret_size = wire.size = (uint32_t)size;
	return 0;
}

int pmi_wire_begin(char ret_name[PMI_KVSNAME_MAX])
{
	char answer[PMI_LINE_MAX];
	const char *name;
	int r;

	pthread_mutex_lock(&wire.talk);
	r = send_line("cmd=init pmi_version=1 pmi_subversion=1\n"
		      "cmd=get_my_kvsname\n");
	if (!r)
		r = hear_begin("cmd=response_to_init pmi_version=1 "
			       "pmi_subversion=1 rc=0");
	if (!r)
		r = hear(answer);
	if (!r) {
		name = behind(answer, "cmd=my_kvsname kvsname=");
		if (!name || strlen(name) >= PMI_KVSNAME_MAX)
			r = -EPROTO;
		else
			snprintf(wire.name, sizeof(wire.name), "%s", name);
	}
	if (!r)
		memcpy(ret_name, wire.name, sizeof(wire.name));
	pthread_mutex_unlock(&wire.talk);
	return r;
}

int pmi_wire_finalize(void)
{
	int r;

	pthread_mutex_lock(&wire.talk);
	r = send_line("cmd=finalize\n");
	if (!r)
		r = hear_begin("cmd=finalize_ack");
	pthread_mutex_unlock(&wire.talk);
	return r;
}

void pmi_wire_abort(int code)
{
	(void)send_line("cmd=abort exitcode=%d\n", code);
}
