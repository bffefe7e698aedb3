/*
 * tls_late.c - tls.h for programs that seldom need it
 *
 * In the place of tls.c: loads the library that has it when the first session is
 * made.  To load GnuTLS takes longer than all else a command does that asks.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "core/installed.h"
#include "core/tls.h"
#include "core/xalloc.h"

/* Of the library: what tls.h declares. */
static struct {
	__typeof__(&tls_create_client) create_client;
	__typeof__(&tls_create_server) create_server;
	__typeof__(&tls_destroy) destroy;
	__typeof__(&tls_handshake) handshake;
	__typeof__(&tls_peer) peer;
	__typeof__(&tls_proved) proved;
	__typeof__(&tls_read) read;
	__typeof__(&tls_write) write;
	__typeof__(&tls_flush) flush;
	__typeof__(&tls_pending) pending;
	__typeof__(&tls_unsent) unsent;
	__typeof__(&tls_bye) bye;
} lib;

static const struct {
	const char *name;
	void *to;
} calls[] = {
	{ "tls_create_client", &lib.create_client },
	{ "tls_create_server", &lib.create_server },
	{ "tls_destroy", &lib.destroy },
	{ "tls_handshake", &lib.handshake },
	{ "tls_peer", &lib.peer },
	{ "tls_proved", &lib.proved },
	{ "tls_read", &lib.read },
	{ "tls_write", &lib.write },
	{ "tls_flush", &lib.flush },
	{ "tls_pending", &lib.pending },
	{ "tls_unsent", &lib.unsent },
	{ "tls_bye", &lib.bye },
};

static int not_there(struct error *err)
{
	const char *why = dlerror();

	return error_set(err, -ELIBACC,
			 "cannot load the part of Stint that speaks TLS: %s",
			 why ? why : STINT_TLS_LIBRARY);
}

static int held = -1; /* the library's file */

static char *find_library(void)
{
	char *path;

	if (held >= 0)
		return xasprintf("/proc/self/fd/%d", held);
	path = installed_find("../core/stint-tls.so", STINT_TLS_LIBRARY);
	return path ? path : xstrdup(STINT_TLS_LIBRARY);
}

void tls_hold(void)
{
	char *path = find_library();

	if (held < 0)
		held = open(path, O_PATH | O_CLOEXEC);
	free(path);
}

static int load(struct error *err)
{
	char *path;
	void *so;

	if (lib.bye)
		return 0;
	path = find_library();
	so = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	free(path);
	if (!so)
		return not_there(err);
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		*(void **)calls[i].to = dlsym(so, calls[i].name);
		if (!*(void **)calls[i].to)
			return not_there(err);
	}
	return 0;
}

int tls_create_client(int fd, const struct tls_key *key, struct tls **ret,
		      struct error *err)
{
	int r = load(err);

	return r < 0 ? r : lib.create_client(fd, key, ret, err);
}

int tls_create_server(int fd, tls_lookup_fn lookup, void *ctx, struct tls **ret,
		      struct error *err)
{
	int r = load(err);

	return r < 0 ? r : lib.create_server(fd, lookup, ctx, ret, err);
}

/* The others have a session, so the library is there. */

void tls_destroy(struct tls *tls)
{
	if (tls)
		lib.destroy(tls);
}

int tls_handshake(struct tls *tls, usec_t timeout, struct error *err)
{
	return lib.handshake(tls, timeout, err);
}

const char *tls_peer(const struct tls *tls)
{
	return lib.peer(tls);
}

bool tls_proved(const struct tls *tls, const uint8_t secret[TLS_SECRET_SIZE])
{
	return lib.proved(tls, secret);
}

ssize_t tls_read(struct tls *tls, void *p, size_t n)
{
	return lib.read(tls, p, n);
}

ssize_t tls_write(struct tls *tls, const void *p, size_t n)
{
	return lib.write(tls, p, n);
}

int tls_flush(struct tls *tls)
{
	return lib.flush(tls);
}

bool tls_pending(const struct tls *tls)
{
	return lib.pending(tls);
}

bool tls_unsent(const struct tls *tls)
{
	return lib.unsent(tls);
}

void tls_bye(struct tls *tls)
{
	lib.bye(tls);
}
