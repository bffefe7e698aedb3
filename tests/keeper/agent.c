/*
 * agent.c - keepers and the connections with them, see job.h
 */
#include <errno.h>
#include <inttypes.h>
#include <linux/sockios.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "cluster/keeper/queue.h"
#include "core/io.h"
#include "core/xalloc.h"
#include "job.h"

static uint64_t last_id;

void agent_say(struct keeper *k, Keeper__Request *req)
{
	size_t n = keeper__request__get_packed_size(req);
	uint8_t *buf;

	if (k->fd < 0)
		return;
	req->id = req->id ? req->id : ++last_id;
	n = keeper__request__get_packed_size(req);
	buf = xmalloc(n);
	keeper__request__pack(req, buf);
	if (send(k->fd, buf, n, MSG_NOSIGNAL) < 0 && errno != EPIPE &&
	    errno != ECONNRESET)
		die("send: %s", strerror(errno));
	free(buf);
}

/* Whether it is there: one that has nothing more to tell ends at any time. */
static bool dial(struct keeper *k)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	Keeper__AgentHello hello = KEEPER__AGENT_HELLO__INIT;
	int size = 2 * KEEPER_MSG_MAX;
	REQUEST(HELLO, hello, &hello);

	snprintf(sa.sun_path, sizeof(sa.sun_path),
		 "%s/keepers/%s.%u.%" PRIu64 ".sock", job.hosts[k->host],
		 job.name, k->rank, k->epoch);
	k->fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	setsockopt(k->fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
	if (connect(k->fd, (struct sockaddr *)&sa, sizeof(sa)) < 0) {
		if (errno != ENOENT && errno != ECONNREFUSED)
			die("%s: %s", sa.sun_path, strerror(errno));
		io_close(&k->fd);
		return false;
	}
	hello.version = KEEPER__VERSION__MAJOR;
	hello.acked = k->seq;
	agent_say(k, &req);
	return true;
}

struct keeper *agent_launch(unsigned rank, unsigned host, uint64_t epoch)
{
	struct keeper *k = &job.keepers[job.nr_keepers];
	char *dir = xasprintf("--run-dir=%s", job.hosts[host]);
	char *r = xasprintf("%s.%u", job.name, rank);
	char *e = xasprintf("--epoch=%" PRIu64, epoch);
	const char *given = job.limits[host] ? job.limits[host] : "0,0,0,0";
	char *l = xasprintf("--limits=%s", given);
	char *f, c;
	int p[2];

	if (job.nr_keepers++ == KEEPERS_MAX || pipe(p) < 0)
		die("too many keepers");
	f = xasprintf("--ready-fd=%d", p[1]);
	*k = (struct keeper){ .rank = rank, .host = host, .epoch = epoch };
	k->pid = fork();
	if (!k->pid) {
		close(p[0]);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		execl(job.stint, job.stint, "keeper", r, dir, e, f, l, NULL);
		_exit(127);
	}
	close(p[1]);
	if (read(p[0], &c, 1) != 1)
		die("the keeper of rank %u did not start", rank);
	close(p[0]);
	if (!dial(k))
		die("the keeper of rank %u is not there", rank);
	free(dir);
	free(r);
	free(e);
	free(f);
	free(l);
	return k;
}

void agent_hear(struct keeper *k)
{
	static uint8_t buf[KEEPER_MSG_MAX];
	Keeper__Ack ack = KEEPER__ACK__INIT;
	Keeper__Event *ev;
	ssize_t n = recv(k->fd, buf, sizeof(buf), MSG_DONTWAIT);
	REQUEST(ACK, ack, &ack);

	if (n < 0 && errno == EAGAIN)
		return;
	if (n <= 0) {
		io_close(&k->fd);
		controller_lost(k);
		return;
	}
	ev = keeper__event__unpack(NULL, (size_t)n, buf);
	if (!ev)
		die("what a keeper said is not readable");
	if (ev->seq && ev->seq != k->seq + 1)
		die("event %" PRIu64 " after %" PRIu64, ev->seq, k->seq);
	k->seq = ev->seq ? ev->seq : k->seq;
	controller_event(k, ev);
	ack.seq = k->seq;
	if (ev->seq)
		agent_say(k, &req);
	keeper__event__free_unpacked(ev, NULL);
}

void agent_drain(struct keeper *k)
{
	int unread;

	while (!ioctl(k->fd, SIOCOUTQ, &unread) && unread)
		poll(NULL, 0, 1);
}

void agent_redial(struct keeper *k)
{
	close(k->fd);
	if (!dial(k))
		controller_lost(k);
}

void agent_reconnect(void)
{
	for (unsigned i = 0; i < job.nr_keepers; i++)
		if (job.keepers[i].fd >= 0)
			agent_redial(&job.keepers[i]);
}
