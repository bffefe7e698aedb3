/*
 * said.c - what people at the host say: the agent's end of RUN_DIR/owner.sock
 *
 * A packet in, one back, and it is over.  Whoever is at the host may ask and may
 * take it back; few connections at once, and those that say nothing go.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "cluster/conn/loop.h"
#include "cluster/owner/priv.h"
#include "core/crowd.h"
#include "core/io.h"
#include "core/xalloc.h"

#define SAID_PATIENCE (5 * USEC_PER_SEC)
#define SAID_SPAN     USEC_PER_HOUR

enum { SAID_PACKET = 1024, SAID_GUESTS = 16 };

struct asking {
	struct owner_said *said;
	int fd;
	uid_t uid; /* as the kernel has it */
	sd_event_source *io, *patience;
	TAILQ_ENTRY(asking) link;
};

struct owner_said {
	struct owner *owner;
	int fd;
	char *path;
	sd_event_source *io;
	unsigned nr;
	TAILQ_HEAD(, asking) asking; /* the oldest first */
};

static void asking_destroy(struct asking *a)
{
	TAILQ_REMOVE(&a->said->asking, a, link);
	a->said->nr--;
	sd_event_source_disable_unref(a->io);
	sd_event_source_disable_unref(a->patience);
	close(a->fd);
	free(a);
}

static void answer(int fd, Control__Message__BodyCase what, void *body)
{
	Control__Message m = CONTROL__MESSAGE__INIT;
	uint8_t buf[SAID_PACKET];

	m.re = 1;
	m.body_case = what;
	m.hello = body;
	if (control__message__get_packed_size(&m) <= sizeof(buf))
		send(fd, buf, control__message__pack(&m, buf),
		     MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void answer_failed(int fd, int code, const char *why)
{
	Control__Failed failed = message_failed(code, why);

	answer(fd, MESSAGE_BODY(FAILED), &failed);
}

static void answer_presence(const struct owner *o, int fd)
{
	Control__OwnerHost host = CONTROL__OWNER_HOST__INIT;
	Control__Presence presence;

	owner_fill(owner_presence(o), &presence);
	host.name = (char *)o->name;
	host.presence = &presence;
	answer(fd, MESSAGE_BODY(OWNER_HOST), &host);
}

/*
 * Who that is, without asking the user database, which may be far away and not
 * answer: an owner is not to wait for that.
 */
static void name_uid(uid_t uid, char ret[PRESENCE_WHO])
{
	if (uid)
		snprintf(ret, PRESENCE_WHO, "uid %u", (unsigned)uid);
	else
		snprintf(ret, PRESENCE_WHO, "root");
}

/*
 * May that user say that the owner is away?  Others could have the guests run on
 * before the owner's eyes; only where nobody is seen to be there they know best.
 */
static bool may_say_away(const struct owner *o, uid_t uid)
{
	for (unsigned i = 0; i < o->uids.nr; i++)
		if (o->uids.uid[i] == uid)
			return true;
	return !uid || !o->uids.nr;
}

int owner_check_span(uint64_t span, struct error *err)
{
	return span > (uint64_t)OWNER_SAID_LONGEST
		       ? error_set(err, -ERANGE,
				   "an owner's word holds for 7 days at most")
		       : 0;
}

static int take_word(struct owner *o, const Control__OwnerSay *say, uid_t uid,
		     struct error *err)
{
	usec_t span = !say->for_usec ? SAID_SPAN
		      : say->for_usec < (uint64_t)OWNER_SAID_LONGEST
			      ? (usec_t)say->for_usec
			      : OWNER_SAID_LONGEST;
	char who[PRESENCE_WHO];

	if (!say->here && !say->evict && !may_say_away(o, uid))
		return error_set(err, -EPERM,
				 "others are logged in here: they or root say "
				 "that the owner is away");
	name_uid(uid, who);
	presence_say(&o->signs, say->here, say->evict, owner_now(), span, who);
	owner_update(o);
	owner_word_save(o);
	return 0;
}

static void take_packet(struct owner *o, int fd, const uint8_t *p, size_t n)
{
	struct error err = ERROR_INIT;
	Control__Message *m = message_parse(p, n, &err);
	int r = m ? 0 : -EPROTO;
	uid_t uid;

	if (!r && m->body_case == MESSAGE_BODY(OWNER_SAY)) {
		r = owner_peer(fd, &uid, &err);
		if (!r)
			r = take_word(o, m->owner_say, uid, &err);
	} else if (!r && m->body_case != MESSAGE_BODY(OWNER_ASK)) {
		r = error_set(&err, -ENOSYS,
			      "the agent does not know this request: it may be "
			      "older than you");
	}
	if (r < 0)
		answer_failed(fd, r, err.text);
	else
		answer_presence(o, fd);
	message_free(m);
}

static int on_packet(sd_event_source *src, int fd, uint32_t events, void *arg)
{
	struct asking *a = arg;
	uint8_t buf[SAID_PACKET];
	ssize_t n = recv(fd, buf, sizeof(buf), MSG_DONTWAIT | MSG_TRUNC);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n > (ssize_t)sizeof(buf))
		answer_failed(fd, -EMSGSIZE, "a request of that size");
	else if (n > 0)
		take_packet(a->said->owner, fd, buf, (size_t)n);
	asking_destroy(a);
	return 0;
}

static int on_silent(sd_event_source *src, uint64_t usec, void *arg)
{
	asking_destroy(arg);
	return 0;
}

/* The oldest of the user who has the most, who keeps only themselves out. */
static struct asking *asking_to_go(const struct owner_said *s)
{
	struct asking *a, *all[SAID_GUESTS];
	uid_t uids[SAID_GUESTS];
	size_t n = 0;

	TAILQ_FOREACH (a, &s->asking, link) {
		all[n] = a;
		uids[n++] = a->uid;
	}
	return all[crowd_oldest(uids, n, sizeof(*uids))];
}

static uid_t uid_of(int fd)
{
	struct ucred cred = { .uid = (uid_t)-1 };

	(void)!io_peer_cred(fd, &cred);
	return cred.uid;
}

static int on_connection(sd_event_source *src, int fd, uint32_t events,
			 void *arg)
{
	struct owner_said *s = arg;
	int new = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct asking *a;

	if (new < 0)
		return 0;
	if (s->nr >= SAID_GUESTS)
		asking_destroy(asking_to_go(s));
	a = xcalloc(1, sizeof(*a));
	a->said = s;
	a->fd = new;
	a->uid = uid_of(new);
	TAILQ_INSERT_TAIL(&s->asking, a, link);
	s->nr++;
	loop_after(s->owner->event, &a->patience, SAID_PATIENCE, on_silent, a);
	if (sd_event_add_io(s->owner->event, &a->io, new, EPOLLIN, on_packet,
			    a) < 0)
		asking_destroy(a);
	return 0;
}

/* One agent a run directory: what lies there is a dead one's. */
static int listen_at(const char *path, struct error *err)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	fd_auto fd = socket(AF_UNIX,
			    SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int ret;

	if (owner_path(path, &sa, err) < 0)
		return -ENAMETOOLONG;
	unlink(path);
	if (fd < 0 || bind(fd, (struct sockaddr *)&sa, sizeof(sa)) < 0 ||
	    chmod(path, 0666) < 0 || listen(fd, SAID_GUESTS) < 0)
		return error_sys(err, -errno, "%s", path);
	ret = fd;
	fd = -1;
	return ret;
}

int owner_said_create(struct owner *o, struct owner_said **ret,
		      struct error *err)
{
	struct owner_said *s = xcalloc(1, sizeof(*s));
	int r;

	s->owner = o;
	s->path = xasprintf("%s/owner.sock", o->run_dir);
	TAILQ_INIT(&s->asking);
	s->fd = r = listen_at(s->path, err);
	if (r >= 0) {
		r = sd_event_add_io(o->event, &s->io, s->fd, EPOLLIN,
				    on_connection, s);
		if (r < 0)
			loop_unwatched(err, r, s->path);
	}
	if (r < 0) {
		owner_said_destroy(s);
		return r;
	}
	owner_word_load(o);
	*ret = s;
	return 0;
}

void owner_said_destroy(struct owner_said *s)
{
	if (!s)
		return;
	while (!TAILQ_EMPTY(&s->asking))
		asking_destroy(TAILQ_FIRST(&s->asking));
	sd_event_source_disable_unref(s->io);
	if (s->fd >= 0)
		unlink(s->path);
	io_close(&s->fd);
	free(s->path);
	free(s);
}
