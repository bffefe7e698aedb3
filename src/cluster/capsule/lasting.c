/*
 * lasting.c - an init that outlives its capsule: the keeper's side
 *
 * To make namespaces, a process and mounts, and to take them down, is most of what
 * a short job costs. So an init may have one capsule after the other, of one
 * user, with its pid, mount and network namespace; and what is a program's to use
 * beyond its life is each one's own:
 *
 *  - its user namespace, in which keys live, its IPC and group namespace, made with the
 *    program itself in those of init;
 *  - /tmp and /dev/shm, and the names of hosts;
 *  - groups, as kept.c has them: init is in none of them.
 *
 * Init is out of its reach: of another uid, and not to be seen.  All processes are killed and reaped,
 * and pids begin anew.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cluster/capsule/priv.h"
#include "cluster/host/process.h"
#include "core/io.h"
#include "core/packet.h"
#include "core/xalloc.h"

enum { CLEAN_MS = 1000, END_MS = 5000 };

/* Some hosts let no other than their root make a user namespace. */
static bool host_lets(void)
{
	static const struct {
		const char *file;
		char no;
	} says[] = {
		{ "/proc/sys/kernel/unprivileged_userns_clone", '0' },
		{ "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
		  '1' },
	};
	static int lets = -1;

	if (lets >= 0)
		return lets;
#if defined(__SANITIZE_ADDRESS__)
	return lets = false; /* where init lends no memory */
#endif
	lets = !access("/proc/sys/kernel/ns_last_pid", F_OK);
	for (unsigned i = 0; i < 2; i++) {
		char *line = io_read_line(says[i].file);

		lets &= line[0] != says[i].no;
		free(line);
	}
	return lets;
}

bool lasting_may(const struct capsule *c, const struct capsule_spec *spec,
		 enum cgroup_freezer kind)
{
	return !geteuid() && !spec->lands && c->link.spare.netns >= 0 &&
	       kind == CGROUP_FREEZER_V1 && !c->limits.memory &&
	       !c->limits.cpus && c->weight == CGROUP_WEIGHT &&
	       !spec->monotonic_offset && !spec->boottime_offset &&
	       spec->uid != LASTING_UID && host_lets();
}

static void forget_events(int sock)
{
	struct capsule_event e;

	while (!packet_receive(sock, &e, sizeof(e), NULL, NULL, MSG_DONTWAIT))
		;
}

bool lasting_clean(struct capsule *c)
{
	struct request req = { .type = REQUEST_CLEAN };

	/* What goes along stands where others have a socket for the answer. */
	if (!c->lasting || c->mute || !c->shared || c->shared->disturbed ||
	    packet_send(c->ctl, &req, sizeof(req), &c->init, 1) < 0 ||
	    request_await(c->ctl, CLEAN_MS, NULL) < 0 ||
	    request_answer(c->ctl, NULL) < 0)
		return false;
	forget_events(c->events);
	return true;
}

static char *put_words(const struct capsule_spec *spec, struct request *req,
		       size_t *ret_n)
{
	const char *host = spec->hostname ? spec->hostname : spec->name;
	char *text = NULL;
	FILE *to = xmemstream(&text, ret_n);

	fwrite(&spec->net, sizeof(spec->net), 1, to);
	fwrite(&spec->address, sizeof(spec->address), 1, to);
	fprintf(to, "%s%c%s%c", host, 0, spec->hosts ? spec->hosts : "", 0);
	for (const char *const *k = spec->keep_tmp; k && *k; k++) {
		fprintf(to, "%s%c", *k, 0);
		req->nr_argv++;
	}
	if (fclose(to))
		abort(); /* out of memory */
	return text;
}

int lasting_renew(struct capsule *c, const struct capsule_spec *spec,
		  struct error *err)
{
	struct request req = { .type = REQUEST_RENEW, .uid = spec->uid };
	int fds[2 + CGROUP_DIRS] = { c->init };
	char *words;
	size_t n;
	int r;

	/* It may have counted for what the one before left in memory (agent/burden.h). */
	process_spare_no_more(c->init_pid);
	for (unsigned i = 0; i < c->cg.nr_doors; i++)
		if (c->cg.renewed & 1u << i) {
			req.as[req.nr_fds] = (int)i;
			fds[1 + req.nr_fds++] = c->cg.doors[i];
		}
	words = put_words(spec, &req, &n);
	r = request_send(c->ctl, &req, words, n, fds, 1 + req.nr_fds, err);
	free(words);
	return r;
}

bool lasting_failed(int code)
{
	return code == -EPIPE || code == -ECONNRESET || code == -ESTALE;
}

void lasting_end(struct capsule *c)
{
	struct pollfd p = { .fd = c->init, .events = POLLIN };
	siginfo_t info;

	if (c->init < 0)
		return;
	pidfd_send_signal(c->init, SIGKILL, NULL, 0);
	if (poll(&p, 1, END_MS) > 0)
		waitid(P_PIDFD, (id_t)c->init, &info,
		       WEXITED | __WALL | WNOHANG);
	io_close(&c->init);
	io_close(&c->ctl);
	io_close(&c->events);
	c->init_pid = 0;
	c->spared = false;
}
