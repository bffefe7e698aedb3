/*
 * start.c - an agent starts a keeper, and answers once it is ready
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cluster/agent/priv.h"
#include "cluster/conn/loop.h"
#include "cluster/keeper/nursery.h"
#include "core/log.h"
#include "core/xalloc.h"

static void start_worked(struct relay *r)
{
	struct agent *a = r->agent;
	struct agent_asker starter = r->starter;
	int sock = r->ready_fd;

	r->ready_fd = -1;
	relay_end_start(r);
	agent_answer_ok(a, starter);
	if (a->greeted)
		relay_take(r, sock);
	else
		close(sock); /* it is found by its name then */
}

/* -EAGAIN: the controller tries it elsewhere, or later. */
static void start_failed(struct relay *r, int code, const char *why)
{
	struct agent *a = r->agent;
	struct agent_asker starter = r->starter;

	relay_end_start(r);
	log_warnx("job=%s rank=%u keeper=failed why=\"%s\"", r->job, r->rank,
		  why);
	if (!agent_answer_failed(a, starter, code, why))
		relay_tell_gone(r);
	relay_destroy(r);
}

/* It has said HELLO, and listens, or has ended. */
static int on_ready(sd_event_source *src, int fd, uint32_t revents, void *arg)
{
	char c;

	if (recv(fd, &c, 1, MSG_PEEK | MSG_DONTWAIT) == 1)
		start_worked(arg);
	else
		start_failed(arg, -EIO,
			     "its keeper ended at once; the agent's log says "
			     "why");
	return 0;
}

static int on_patience(sd_event_source *src, uint64_t usec, void *arg)
{
	start_failed(arg, -EIO, "its keeper does not get ready");
	return 0;
}

/* The keeper's command line, each word with its zero. */
static int order_keeper(const struct relay *r, const char *user, bool home,
			int ready)
{
	const struct agent *a = r->agent;
	const char *owners = owner_named(a->owner);
	/* Whoever comes as an owner has to be one. */
	const char *guests_of = home ? owners : lend_guests_of(a);
	char *words = NULL;
	size_t n;
	FILE *to = xmemstream(&words, &n);
	int k;

	fprintf(to, "stint%ckeeper%c", 0, 0);
	fprintf(to, "%s.%" PRIu32 "%c", r->job, r->rank, 0);
	fprintf(to, "--run-dir=%s%c", a->conf->run_dir, 0);
	fprintf(to, "--epoch=%" PRIu64 "%c", r->epoch, 0);
	fprintf(to, "--min-uid=%" PRIu32 "%c", a->min_uid, 0);
	fprintf(to, "--min-gid=%" PRIu32 "%c", a->min_gid, 0);
	fprintf(to, "--limits=%s%c", a->terms, 0);
	fprintf(to, "--ready-fd=%d%c", NURSERY_READY, 0);
	fprintf(to, "--for=%s%c", user, 0);
	if (a->home)
		fprintf(to, "--cgroup=%s%c", a->home, 0);
	if (a->conf->no_fast_path)
		fprintf(to, "--no-fast-path%c", 0);
	if (guests_of)
		fprintf(to, "--guests-of=%s%c", guests_of, 0);
	if (owners)
		fprintf(to, "--owners=%s%c", owners, 0);
	if (fclose(to))
		abort(); /* out of memory */
	k = nursery_order(r->agent, words, n, ready);
	free(words);
	return k;
}

/* While a prolog ran, the host may have closed. */
static int still_admits(struct relay *r, struct error *err)
{
	bool coming = r->coming;
	int k;

	if (r->home)
		return 0;
	r->coming = false; /* it does not count itself */
	k = lend_admits(r->agent, err);
	r->coming = coming;
	return k;
}

void relay_refuse(struct relay *r, int code, const char *why)
{
	start_failed(r, code, why);
}

static void order(struct relay *r, const char *user, int ready)
{
	struct agent *a = r->agent;
	struct error err;
	int k = order_keeper(r, user, r->home, ready);

	close(ready);
	if (k < 0) {
		start_failed(r, k, strerror(-k));
		return;
	}
	k = sd_event_add_io(a->event, &r->ready, r->ready_fd, EPOLLIN, on_ready,
			    r);
	if (k < 0) {
		loop_unwatched(&err, k, "its keeper cannot be waited for");
		start_failed(r, -EIO, err.text);
		return;
	}
	loop_after(a->event, &r->patience, KEEPER_PATIENCE, on_patience, r);
	hooks_freshen(a); /* while it gets ready */
}

void relay_order(struct relay *r, const char *user, int ready)
{
	struct agent *a = r->agent;
	struct error err;
	int k = still_admits(r, &err);

	if (!k) {
		order(r, user, ready);
		return;
	}
	close(ready);
	start_failed(r, k, err.text);
	monitor_must_tell(a);
}

void relay_start(struct agent *a, const Control__KeeperStart *start, bool home,
		 struct agent_asker starter)
{
	const Control__KeeperName *name = start->name;
	struct relay *r = relay_find(a, name);
	int fds[2];

	if (r) {
		agent_answer_ok(a, starter);
		return;
	}
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK,
		       0, fds) < 0) {
		agent_answer_failed(a, starter, -errno,
				    "cannot make a socket pair");
		return;
	}
	r = relay_create(a, name->job, name->rank, name->epoch);
	r->starter = starter;
	r->home = home;
	r->coming = !home;
	if (!home)
		lend_expect_guest(a);
	r->ready_fd = fds[0];
	if (!prolog_wait(r, start, fds[1]))
		order(r, start->user, fds[1]);
}
