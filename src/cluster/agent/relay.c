/*
 * relay.c - the agent's keepers: finding, relaying
 *
 * A packet of a keeper is one KEEPER_PACKET to the controller and the reverse;
 * neither is looked into.  When the controller does not take more, keepers
 * are not read, and hold their ranks back in turn.
 */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "cluster/agent/guests.h"
#include "cluster/agent/priv.h"
#include "cluster/capsule/capsule.h"
#include "cluster/conn/loop.h"
#include "core/log.h"
#include "core/xalloc.h"

enum {
	PACKET_MAX = 192 << 10, /* as keepers have it */
	QUEUE_MAX = 8 << 20,	/* for one that does not read */
	HOLD_ABOVE = 4 << 20,	/* waiting for the controller */
};

#define RETRY_AFTER (50 * USEC_PER_MSEC)

static void relay_name(const struct relay *r, Control__KeeperName *ret)
{
	control__keeper_name__init(ret);
	ret->job = r->job;
	ret->rank = r->rank;
	ret->epoch = r->epoch;
}

/* ---- by rank ---- */

static struct relay_kin *kin_find(const struct agent *a, const char *job,
				  uint32_t rank)
{
	char *name = xasprintf("%s.%" PRIu32, job, rank);
	struct relay_kin *kin;

	HASH_FIND_STR(a->kin, name, kin);
	free(name);
	return kin;
}

static void kin_join(struct agent *a, struct relay *r)
{
	r->kin = kin_find(a, r->job, r->rank);
	if (!r->kin) {
		r->kin = xcalloc(1, sizeof(*r->kin));
		r->kin->rank = xasprintf("%s.%" PRIu32, r->job, r->rank);
		HASH_ADD_KEYPTR(hh, a->kin, r->kin->rank, strlen(r->kin->rank),
				r->kin);
	}
	LIST_INSERT_HEAD(&r->kin->relays, r, of_kin);
}

static void kin_leave(struct agent *a, struct relay *r)
{
	LIST_REMOVE(r, of_kin);
	if (!LIST_EMPTY(&r->kin->relays))
		return;
	HASH_DEL(a->kin, r->kin);
	free(r->kin->rank);
	free(r->kin);
}

uint32_t relays_coming(const struct agent *a)
{
	struct relay *r;
	uint32_t n = 0;

	TAILQ_FOREACH (r, &a->relays, link) {
		if (r->coming &&
		    guest_lives(a->conf->run_dir, r->job, r->rank, r->epoch))
			r->coming = false;
		n += r->coming;
	}
	return n;
}

struct relay *relay_find(struct agent *a, const Control__KeeperName *name)
{
	struct relay_kin *kin = kin_find(a, name->job, name->rank);
	struct relay *r;

	for (r = kin ? LIST_FIRST(&kin->relays) : NULL; r;
	     r = LIST_NEXT(r, of_kin))
		if (r->epoch == name->epoch)
			return r;
	return NULL;
}

bool relay_older_lives(const struct agent *a, const Control__KeeperName *name)
{
	const struct relay_kin *kin = kin_find(a, name->job, name->rank);
	const struct relay *r;

	for (r = kin ? LIST_FIRST(&kin->relays) : NULL; r;
	     r = LIST_NEXT(r, of_kin))
		if (r->epoch < name->epoch)
			return true;
	return false;
}

/* ---- one ---- */

struct relay *relay_create(struct agent *a, const char *job, uint32_t rank,
			   uint64_t epoch)
{
	struct relay *r = xcalloc(1, sizeof(*r));

	r->agent = a;
	r->job = xstrdup(job);
	r->rank = rank;
	r->epoch = epoch;
	r->path = xasprintf("%s/keepers/%s.%" PRIu32 ".%" PRIu64 ".sock",
			    a->conf->run_dir, job, rank, epoch);
	r->fd = r->ready_fd = -1;
	STAILQ_INIT(&r->queue);
	TAILQ_INSERT_TAIL(&a->relays, r, link);
	kin_join(a, r);
	return r;
}

static void relay_disconnect(struct relay *r)
{
	struct parcel *p;

	r->io = sd_event_source_disable_unref(r->io);
	r->retry = sd_event_source_disable_unref(r->retry);
	if (r->fd >= 0)
		close(r->fd);
	r->fd = -1;
	while ((p = STAILQ_FIRST(&r->queue))) {
		STAILQ_REMOVE_HEAD(&r->queue, link);
		free(p);
	}
	r->queued = 0;
}

void relay_end_start(struct relay *r)
{
	r->ready = sd_event_source_disable_unref(r->ready);
	r->patience = sd_event_source_disable_unref(r->patience);
	if (r->ready_fd >= 0)
		close(r->ready_fd);
	r->ready_fd = -1;
	r->starter = (struct agent_asker){ 0 };
}

void relay_destroy(struct relay *r)
{
	TAILQ_REMOVE(&r->agent->relays, r, link);
	prolog_left(r->agent);
	kin_leave(r->agent, r);
	relay_disconnect(r);
	relay_end_start(r);
	free(r->job);
	free(r->path);
	if (TAILQ_EMPTY(&r->agent->relays) && r->agent->owner)
		owner_emptied(r->agent->owner);
	free(r);
}

void relays_destroy(struct agent *a)
{
	while (!TAILQ_EMPTY(&a->relays))
		relay_destroy(TAILQ_FIRST(&a->relays));
}

static void sweep(struct agent *a)
{
	struct error err;
	int r = capsule_sweep(a->conf->run_dir, &err);

	if (r < 0)
		log_warnx("sweep error=\"%s\"", err.text);
	a->unswept = r != 0;
}

static bool capsule_is_there(const char *run_dir, const char *job,
			     uint32_t rank, const char *epoch)
{
	char *dir = xasprintf("%s/capsules/%s.%" PRIu32 "%s", run_dir, job,
			      rank, epoch);
	bool is = !access(dir, F_OK);

	free(dir);
	return is;
}

/* A rank's first keeper names it without its epoch. */
static bool left_capsule(const struct relay *r)
{
	const char *run_dir = r->agent->conf->run_dir;
	char epoch[24];

	snprintf(epoch, sizeof(epoch), ".%" PRIu64, r->epoch);
	return capsule_is_there(run_dir, r->job, r->rank, "") ||
	       capsule_is_there(run_dir, r->job, r->rank, epoch);
}

void relay_tell_gone(const struct relay *r)
{
	Control__KeeperGone gone = CONTROL__KEEPER_GONE__INIT;
	Control__KeeperName name;

	relay_name(r, &name);
	gone.name = &name;
	agent_tell(r->agent, MESSAGE_BODY(KEEPER_GONE), &gone);
}

/*
 * The keeper does not answer any more: clean up after it, and tell the
 * controller.
 */
static void relay_dead(struct relay *r)
{
	struct agent *a = r->agent;
	bool left = a->unswept || left_capsule(r);

	log_info("job=%s rank=%u epoch=%" PRIu64 " keeper=gone", r->job,
		 r->rank, r->epoch);
	unlink(r->path);
	a->tell_records = true; /* the keeper cannot remove its own record */
	relay_tell_gone(r);
	relay_destroy(r);
	if (left) /* those of all others are looked at, too */
		sweep(a);
}

/* ---- packets ---- */

static int on_retry(sd_event_source *src, uint64_t usec, void *arg)
{
	relay_connect(arg);
	return 0;
}

/* The connection broke; check whether the keeper still exists. */
static void relay_broken(struct relay *r)
{
	relay_disconnect(r);
	loop_after(r->agent->event, &r->retry, RETRY_AFTER, on_retry, r);
}

/* It is tried again and again, and told once. */
static void relay_unwatched(struct relay *r, int code)
{
	struct error err;

	if (!r->unwatched) {
		loop_unwatched(&err, code, "its keeper is out of hearing");
		log_warnx("job=%s rank=%u epoch=%" PRIu64 " error=\"%s\"",
			  r->job, r->rank, r->epoch, err.text);
	}
	r->unwatched = true;
	relay_broken(r);
}

static void relay_arm(struct relay *r)
{
	uint32_t events = r->agent->held ? 0 : EPOLLIN;
	int k = 0;

	if (!STAILQ_EMPTY(&r->queue))
		events |= EPOLLOUT;
	if (r->io)
		k = sd_event_source_set_io_events(r->io, events);
	if (k < 0)
		relay_unwatched(r, k);
}

/* One packet up; 0, or negative when the connection is done for. */
static int relay_up(struct relay *r)
{
	static uint8_t buf[PACKET_MAX + 1];
	Control__KeeperPacket packet = CONTROL__KEEPER_PACKET__INIT;
	struct agent *a = r->agent;
	Control__KeeperName name;
	ssize_t n = recv(r->fd, buf, sizeof(buf), MSG_DONTWAIT);

	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	if (n == 0 || n > PACKET_MAX)
		return -EPIPE;
	relay_name(r, &name);
	packet.name = &name;
	packet.data.data = buf;
	packet.data.len = n;
	agent_tell(a, MESSAGE_BODY(KEEPER_PACKET), &packet);
	if (a->named && conn_queued(a->conn) > HOLD_ABOVE)
		relays_hold(a, true);
	return 0;
}

/* The packets that wait for the keeper, down to it; 0 or negative. */
static int relay_down(struct relay *r)
{
	struct parcel *p;

	while ((p = STAILQ_FIRST(&r->queue))) {
		if (send(r->fd, p->data, p->n, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
			return errno == EAGAIN || errno == EINTR ? 0 : -errno;
		STAILQ_REMOVE_HEAD(&r->queue, link);
		r->queued -= p->n;
		free(p);
	}
	return 0;
}

static int on_packet(sd_event_source *src, int fd, uint32_t revents, void *arg)
{
	struct relay *r = arg;
	int k = 0;

	if (revents & EPOLLOUT)
		k = relay_down(r);
	if (!k && revents & (EPOLLIN | EPOLLHUP | EPOLLERR))
		k = relay_up(r);
	/* A keeper that has ended has removed its socket. */
	if (k < 0 && access(r->path, F_OK) < 0 && errno == ENOENT)
		relay_dead(r);
	else if (k < 0)
		relay_broken(r);
	else
		relay_arm(r);
	return 0;
}

static bool relay_watch(struct relay *r)
{
	int k = sd_event_add_io(r->agent->event, &r->io, r->fd, EPOLLIN,
				on_packet, r);

	if (k < 0)
		relay_unwatched(r, k);
	else
		r->unwatched = false;
	return k >= 0;
}

void relay_take(struct relay *r, int sock)
{
	relay_disconnect(r);
	r->fd = sock;
	if (relay_watch(r))
		on_packet(r->io, sock, EPOLLIN, r);
}

void relay_connect(struct relay *r)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	size_t n = strlen(r->path);

	relay_disconnect(r);
	if (n >= sizeof(sun.sun_path)) {
		relay_dead(r);
		return;
	}
	memcpy(sun.sun_path, r->path, n + 1);
	r->fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK,
		       0);
	if (r->fd < 0 ||
	    connect(r->fd, (struct sockaddr *)&sun, sizeof(sun)) < 0) {
		if (errno == ECONNREFUSED || errno == ENOENT)
			relay_dead(r);
		else
			relay_broken(r);
		return;
	}
	if (relay_watch(r))
		relay_arm(r);
}

void relay_packet(struct relay *r, const ProtobufCBinaryData *data)
{
	struct parcel *p;

	if (r->fd < 0 || !data->len || data->len > PACKET_MAX)
		return; /* the keeper says HELLO when it is back */
	if (r->queued + data->len > QUEUE_MAX) {
		relay_broken(r);
		return;
	}
	p = xmalloc(sizeof(*p) + data->len);
	p->n = data->len;
	memcpy(p->data, data->data, data->len);
	STAILQ_INSERT_TAIL(&r->queue, p, link);
	r->queued += p->n;
	if (relay_down(r) < 0)
		relay_broken(r);
	else
		relay_arm(r);
}

void relays_hold(struct agent *a, bool hold)
{
	struct relay *r;

	if (a->held == hold)
		return;
	a->held = hold;
	TAILQ_FOREACH (r, &a->relays, link)
		relay_arm(r);
}

void relays_connect(struct agent *a)
{
	struct relay *r, *next;

	a->held = false;
	for (r = TAILQ_FIRST(&a->relays); r; r = next) {
		next = TAILQ_NEXT(r, link);
		if (r->ready_fd < 0)
			relay_connect(r);
	}
}

void relays_disconnect(struct agent *a)
{
	struct relay *r;

	TAILQ_FOREACH (r, &a->relays, link)
		relay_disconnect(r);
}

/* ---- which there are ---- */

bool relay_parse_file(char *file, const char *suffix, Control__KeeperName *ret)
{
	char *dot = strrchr(file, '.'), *end;

	if (!dot || strcmp(dot + 1, suffix))
		return false;
	*dot = 0;
	dot = strrchr(file, '.');
	if (!dot)
		return false;
	ret->epoch = strtoull(dot + 1, &end, 10);
	*dot = 0;
	dot = *end ? NULL : strrchr(file, '.');
	if (!dot)
		return false;
	ret->rank = strtoul(dot + 1, &end, 10);
	*dot = 0;
	ret->job = file;
	return !*end && *file;
}

void relays_find(struct agent *a)
{
	char *path = xasprintf("%s/keepers", a->conf->run_dir);
	DIR *dir = opendir(path);
	struct dirent *e;

	free(path);
	while (dir && (e = readdir(dir))) {
		Control__KeeperName name = CONTROL__KEEPER_NAME__INIT;

		if (relay_parse_file(e->d_name, "sock", &name) &&
		    !relay_find(a, &name))
			relay_create(a, name.job, name.rank, name.epoch);
	}
	if (dir)
		closedir(dir);
	sweep(a);
}

void relay_names(struct agent *a, Control__AgentInfo *info)
{
	struct relay *r;
	size_t cap = 0;

	TAILQ_FOREACH (r, &a->relays, link) {
		Control__KeeperName *n = xmalloc(sizeof(*n));

		relay_name(r, n);
		array_room(info->keepers, info->n_keepers, &cap);
		info->keepers[info->n_keepers++] = n;
	}
}

void relay_names_free(Control__AgentInfo *info)
{
	for (size_t i = 0; i < info->n_keepers; i++)
		free(info->keepers[i]);
	free(info->keepers);
}
