/* ask.c - asking the agent of this host, as somebody at it: see owner.h */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include "cluster/owner/priv.h"
#include "core/io.h"
#include "core/plain.h"
#include "core/xalloc.h"

enum { ASK_PACKET = 4096, ASK_SECONDS = 20 };

int owner_path(const char *path, struct sockaddr_un *ret, struct error *err)
{
	if (strlen(path) >= sizeof(ret->sun_path))
		return error_set(err, -ENAMETOOLONG,
				 "%s: too long for a socket; choose a shorter "
				 "run directory",
				 path);
	snprintf(ret->sun_path, sizeof(ret->sun_path), "%s", path);
	return 0;
}

static int connect_to(const char *path, struct error *err)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	const struct timeval patience = { .tv_sec = ASK_SECONDS };
	int r = owner_path(path, &sa, err), fd;

	if (r < 0)
		return r;
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return error_sys(err, -errno, "socket");
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	if (!connect(fd, (struct sockaddr *)&sa, sizeof(sa)))
		return fd;
	r = -errno;
	io_close(&fd);
	return error_sys(err, r,
			 "no agent runs on this host, or not in this run "
			 "directory: %s",
			 path);
}

static int exchange(int fd, Control__Message__BodyCase what, void *body,
		    Control__Message **ret, struct error *err)
{
	Control__Message m = CONTROL__MESSAGE__INIT, *got;
	uint8_t buf[ASK_PACKET];
	ssize_t n;

	m.id = 1;
	m.body_case = what;
	m.hello = body;
	n = send(fd, buf, control__message__pack(&m, buf), MSG_NOSIGNAL);
	if (n > 0)
		n = recv(fd, buf, sizeof(buf), 0);
	if (n < 0)
		return error_sys(err, -errno, "the agent does not answer");
	got = n ? message_parse(buf, (size_t)n, err) : NULL;
	if (!got)
		return error_set(err, -EPROTO,
				 "the agent said nothing sensible");
	*ret = got;
	return 0;
}

int owner_ask(const char *run_dir, Control__Message__BodyCase what, void *body,
	      Control__Message **ret, struct error *err)
{
	char *path = xasprintf("%s/owner.sock", run_dir);
	fd_auto fd = connect_to(path, err);
	Control__Message *m = NULL;
	int r = fd < 0 ? fd : exchange(fd, what, body, &m, err);

	free(path);
	if (r < 0)
		return r;
	if (m->body_case == MESSAGE_BODY(FAILED)) {
		plain_text(m->failed->why);
		r = error_set(err, m->failed->code < 0 ? m->failed->code : -EIO,
			      "%s", m->failed->why);
	} else if (m->body_case != MESSAGE_BODY(OWNER_HOST) ||
		   !m->owner_host->presence) {
		r = error_set(err, -EPROTO, "the agent answers something else");
	}
	if (r < 0)
		message_free(m);
	else
		*ret = m;
	return r;
}

int owner_say(const char *run_dir, const char *verb, uint64_t span,
	      struct error *err)
{
	Control__OwnerSay say = CONTROL__OWNER_SAY__INIT;
	Control__Message *m;
	int r;

	say.here = !strcmp(verb, "here");
	say.evict = !strcmp(verb, "evict");
	say.for_usec = span;
	if (!say.here && !say.evict && strcmp(verb, "away"))
		return error_set(err, -EINVAL,
				 "'%s' is none of here, away, evict and status",
				 verb);
	r = owner_ask(run_dir, MESSAGE_BODY(OWNER_SAY), &say, &m, err);
	if (!r)
		message_free(m);
	return r;
}
