/*
 * tcp_drain.c - wait until segments not acknowledged yet that are under way have
 * arrived, before the network is unplugged
 *
 * A lost packet costs one end a retransmission timeout, far more than this wait.  An
 * acknowledgement that the peer merely delays (40 ms) is not worth waiting for: if none
 * has come for twice the round-trip time, everything has arrived.
 */
#include <errno.h>
#include <time.h>

#include "core/clock.h"
#include "move/sock/diag.h"
#include "move/sock/tcp.h"
#include "move/sock/tcp_compat.h"

#define QUIET_MIN ((usec_t)300)
#define PAUSE_NS  50000

struct traffic {
	uint64_t flying; /* packets */
	uint32_t rtt;	 /* in microseconds, the longest */
	unsigned making; /* connections between SYN and accept() */
	unsigned orphan; /* closed ones that still send */
};

static void count_socket(const struct sock_diag_tcp *t, void *arg)
{
	uint32_t closing = TCP_STATE(TCP_FIN_WAIT1) | TCP_STATE(TCP_LAST_ACK) |
			   TCP_STATE(TCP_CLOSING);
	struct traffic *sum = arg;

	sum->flying += t->flying;
	if (t->min_rtt != UINT32_MAX && t->min_rtt > sum->rtt)
		sum->rtt = t->min_rtt;
	if (t->state == TCP_SYN_RECV || (t->state == TCP_LISTEN && t->rqueue))
		sum->making++;
	if (!t->ino && t->wqueue && (TCP_STATE(t->state) & closing))
		sum->orphan++;
}

static int verdict(const struct traffic *t, struct error *err)
{
	if (t->making)
		return error_set(err, -EAGAIN, "%u connection%s to be accepted",
				 t->making,
				 t->making == 1 ? " waits" : "s wait");
	if (t->orphan)
		return error_set(err, -EAGAIN,
				 "%u closed connection%s still to send bytes",
				 t->orphan, t->orphan == 1 ? " has" : "s have");
	return 0;
}

static int count_traffic(struct fds_source *s, struct traffic *ret,
			 struct error *err)
{
	*ret = (struct traffic){ 0 };
	return sock_diag_tcp_each(s->diag, ~TCP_STATE(TCP_TIME_WAIT),
				  count_socket, ret, err);
}

int tcp_capture_drain(struct fds_source *s, usec_t limit, struct error *err)
{
	usec_t start = clock_usec(CLOCK_MONOTONIC), since = start, now = start,
	       quiet;
	const struct timespec pause = { .tv_nsec = PAUSE_NS };
	uint64_t last = UINT64_MAX;
	struct traffic t;
	int r;

	for (;;) {
		r = count_traffic(s, &t, err);
		if (r < 0)
			return r;
		if (!t.flying && !t.making && !t.orphan)
			return 0;
		now = clock_usec(CLOCK_MONOTONIC);
		if (t.flying != last)
			since = now;
		last = t.flying;
		quiet = 2 * (usec_t)t.rtt;
		if (quiet < QUIET_MIN)
			quiet = QUIET_MIN;
		/*
		 * Connections that wait to be accepted stay so while the
		 * process stands still.
		 */
		if (t.making || now - start >= limit ||
		    (!t.orphan && now - since >= quiet))
			return verdict(&t, err);
		nanosleep(&pause, NULL);
	}
}

int tcp_capture_check_soon(struct fds_source *s, struct error *err)
{
	struct traffic t;
	int r = count_traffic(s, &t, err);

	return r < 0 ? r : verdict(&t, err);
}

int tcp_capture_check_making(struct fds_source *s, struct error *err)
{
	struct traffic t = { 0 };
	int r = sock_diag_tcp_each(
		s->diag, TCP_STATE(TCP_SYN_RECV) | TCP_STATE(TCP_LISTEN),
		count_socket, &t, err);

	return r < 0 ? r : verdict(&t, err);
}
