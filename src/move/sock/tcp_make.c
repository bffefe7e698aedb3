/*
 * tcp_make.c - making TCP sockets again
 */
#include "move/sock/tcp_make.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "move/sock/options.h"
#include "move/sock/spoof.h"
#include "move/sock/tcp_compat.h"
#include "move/sock/tcp_dead.h"
#include "move/sock/tcp_repair.h"

static bool is_in(const Fds__Tcp *t, uint32_t states)
{
	return TCP_STATE(t->state) & states;
}

int tcp_make_listen(int fd, const Fds__Socket *m, struct error *err)
{
	const Fds__Tcp *t = m->inet->tcp;
	int r = sockopt_set_int(fd, SOL_SOCKET, SO_REUSEADDR, m->reuseaddr);

	/* Sockets that the listener accepts inherit the clamp. */
	if (!r && t->window_clamp)
		r = sockopt_set_int(fd, SOL_TCP, TCP_WINDOW_CLAMP,
				    (int)t->window_clamp);
	if (!r)
		r = sockopt_bind(fd, m->inet);
	if (!r && listen(fd, (int)t->backlog) < 0)
		r = -errno;
	return r < 0 ? error_sys(err, r, "TCP listener") : 0;
}

/* ---- a connection ---- */

static int set_seq(int fd, int queue, uint32_t seq)
{
	int r = sockopt_set_int(fd, SOL_TCP, TCP_REPAIR_QUEUE, queue);

	return r < 0 ? r
		     : sockopt_set_int(fd, SOL_TCP, TCP_QUEUE_SEQ, (int)seq);
}

/* The first byte not acknowledged, and the first not read. */
static uint32_t snd_start(const Fds__Tcp *t)
{
	bool fin = is_in(t, TCP_STATES_FIN_QUEUED | TCP_STATE(TCP_FIN_WAIT2));

	return t->snd_seq - (uint32_t)(t->unacked.len + t->unsent.len) - fin;
}

static uint32_t rcv_start(const Fds__Tcp *t)
{
	return t->rcv_seq - (uint32_t)t->received.len -
	       is_in(t, TCP_STATES_FIN_RECEIVED);
}

static int set_syn_options(int fd, const Fds__Tcp *t)
{
	struct tcp_repair_opt opt[4];
	unsigned n = 0;

	opt[n++] = (struct tcp_repair_opt){ TCPOPT_MSS, t->mss_clamp };
	if (t->snd_wscale >= 0)
		opt[n++] = (struct tcp_repair_opt){
			TCPOPT_WSCALE,
			(uint32_t)t->snd_wscale | (uint32_t)t->rcv_wscale << 16
		};
	if (t->sack)
		opt[n++] = (struct tcp_repair_opt){ TCPOPT_SACK, 0 };
	if (t->timestamps)
		opt[n++] = (struct tcp_repair_opt){ TCPOPT_TS, 0 };
	if (setsockopt(fd, SOL_TCP, TCP_REPAIR_OPTIONS, opt,
		       n * (socklen_t)sizeof(*opt)) < 0)
		return -errno;
	if (!t->timestamps)
		return 0;
	return sockopt_set_int(fd, SOL_TCP, TCP_TIMESTAMP, (int)t->timestamp);
}

/*
 * Set the peer's limit of segment sizes before connect(), which decides how large
 * segments are: the limit that set_syn_options() sets later is used only once the
 * path's MTU changes.
 */
static int limit_segments(int fd, uint32_t mss)
{
	enum { LEAST = 88, MOST = 32767 }; /* the kernel's limits */

	if (mss < LEAST)
		return 0;
	return sockopt_set_int(fd, SOL_TCP, TCP_MAXSEG,
			       mss > MOST ? MOST : (int)mss);
}

static int connect_repaired(int fd, const Fds__Inet *m, struct error *err)
{
	const Fds__Tcp *t = m->tcp;
	int r = set_seq(fd, TCP_RECV_QUEUE, rcv_start(t));

	if (!r) /* see measure_rtt() */
		r = set_seq(fd, TCP_SEND_QUEUE, snd_start(t) - t->timestamps);
	if (!r)
		r = limit_segments(fd, t->mss_clamp);
	if (!r)
		r = sockopt_bind(fd, m);
	if (r < 0)
		return error_sys(err, r, "TCP connection: bind");
	if (connect(fd, (struct sockaddr *)m->peer.data,
		    (socklen_t)m->peer.len) < 0)
		return error_sys(err, -errno,
				 "TCP connection: connect (is there a route "
				 "in the capsule?)");
	/* The socket itself has no such limit. */
	r = sockopt_set_int(fd, SOL_TCP, TCP_MAXSEG, 0);
	if (!r)
		r = set_syn_options(fd, t);
	return r < 0 ? error_sys(err, r, "TCP connection: options") : 0;
}

/* Write data into a queue, a piece at a time. */
static int fill_queue(int fd, int queue, const ProtobufCBinaryData *data,
		      struct error *err)
{
	size_t done = 0;
	ssize_t n;
	int r = sockopt_set_int(fd, SOL_TCP, TCP_REPAIR_QUEUE, queue);

	if (r < 0)
		return error_sys(err, r, "TCP_REPAIR_QUEUE");
	while (done < data->len) {
		n = send(fd, data->data + done, data->len - done,
			 MSG_DONTWAIT | MSG_NOSIGNAL);
		if (n < 0)
			return error_sys(err, -errno,
					 "TCP connection: %zu bytes do not fit "
					 "in its queue; raise net.core.%s",
					 data->len,
					 queue == TCP_RECV_QUEUE ? "rmem_max"
								 : "wmem_max");
		done += (size_t)n;
	}
	return 0;
}

static bool seq_after(uint32_t a, uint32_t b)
{
	return (int32_t)(b - a) < 0;
}

/* Set the windows, clamped to what the kernel accepts. */
static int set_window(int fd, const Fds__Tcp *t)
{
	uint32_t next = rcv_start(t) + (uint32_t)t->received.len;
	struct tcp_repair_window w = {
		.snd_wl1 = t->snd_wl1,
		.snd_wnd = t->snd_wnd,
		.max_window = t->max_window,
		.rcv_wnd = t->rcv_wnd,
		.rcv_wup = t->rcv_wup,
	};

	if (w.max_window < w.snd_wnd)
		w.max_window = w.snd_wnd;
	if (seq_after(w.snd_wl1, next))
		w.snd_wl1 = next;
	if (seq_after(w.rcv_wup, next))
		w.rcv_wup = next;
	return setsockopt(fd, SOL_TCP, TCP_REPAIR_WINDOW, &w, sizeof(w)) < 0
		       ? -errno
		       : 0;
}

static uint16_t window_field(uint32_t window, int wscale)
{
	uint32_t w = window >> (wscale > 0 ? wscale : 0);

	return w > UINT16_MAX ? UINT16_MAX : (uint16_t)w;
}

/* Wait until the kernel has processed the forged segment. */
static int await_acked(int fd, struct error *err)
{
	const struct timespec pause = { .tv_nsec = 100000 };
	int left = 1;

	for (int i = 0; i < 1000; i++) {
		if (ioctl(fd, SIOCOUTQ, &left) < 0)
			return error_sys(err, -errno, "SIOCOUTQ");
		if (!left)
			return 0;
		nanosleep(&pause, NULL);
	}
	return error_set(err, -EIO,
			 "TCP connection: its round-trip time cannot be set "
			 "(is loopback up in the capsule?)");
}

/*
 * A new connection has no measured round-trip time, so the kernel would send a lost
 * packet again only after one second, and then after three more; and packets to a peer
 * that is being moved as well do get lost.  So a byte that the peer has acknowledged
 * long ago is queued before the others, and its acknowledgement is forged: the echoed
 * timestamp gives the kernel a measurement.  The forged segment's own timestamp is 0,
 * so the peer's next segment sets it.
 */
static int measure_rtt(int fd, const Fds__Inet *m, struct error *err)
{
	static uint8_t byte;
	const Fds__Tcp *t = m->tcp;
	const ProtobufCBinaryData one = { 1, &byte };
	uint32_t now;
	socklen_t n = sizeof(now);
	int r;

	if (!t->timestamps)
		return 0;
	r = fill_queue(fd, TCP_SEND_QUEUE, &one, err);
	if (r < 0)
		return r;
	if (getsockopt(fd, SOL_TCP, TCP_TIMESTAMP, &now, &n) < 0)
		return error_sys(err, -errno, "TCP_TIMESTAMP");
	/* the last bit, which tells the unit, stays */
	r = spoof_echo(m, rcv_start(t), snd_start(t),
		       window_field(t->snd_wnd, t->snd_wscale), now - 2, err);
	return r < 0 ? r : await_acked(fd, err);
}

/*
 * Make the buffers larger for a moment, because the source may have packed the bytes
 * more tightly.  The receive buffer only in repair mode: a live connection would offer
 * that room to its peer, and then drop what comes, which the peer sends again only
 * after ever longer times.
 */
static void widen(int fd, const Fds__Socket *m, bool alive)
{
	const Fds__Tcp *t = m->inet->tcp;
	Fds__Socket wide = *m;

	if (t->received.len && !alive)
		wide.rcvbuf += 4 * (uint32_t)t->received.len;
	if (t->unacked.len + t->unsent.len)
		wide.sndbuf += 4 * (uint32_t)(t->unacked.len + t->unsent.len);
	if (wide.rcvbuf != m->rcvbuf || wide.sndbuf != m->sndbuf)
		sockopt_set_buffers(fd, &wide, NULL);
}

/*
 * Bring the connection from ESTABLISHED to the state that FINs led to.  A FIN of its
 * own that waits behind unsent bytes is left to tcp_make_activate(); the peer's FIN is
 * forged before that.
 */
static int play_fins(int fd, const Fds__Socket *m, struct error *err)
{
	const Fds__Tcp *t = m->inet->tcp;
	bool first =
		is_in(t, TCP_STATE(TCP_FIN_WAIT1) | TCP_STATE(TCP_FIN_WAIT2) |
				 TCP_STATE(TCP_CLOSING)) &&
		!t->fin_unsent;
	bool second = t->state == TCP_LAST_ACK && !t->fin_unsent;
	uint32_t una = snd_start(t);
	int r = 0;

	if (first && shutdown(fd, SHUT_WR) < 0)
		return error_sys(err, -errno, "TCP connection: shutdown");
	if (is_in(t, TCP_STATES_FIN_RECEIVED))
		r = spoof_tcp(m->inet, t->rcv_seq - 1, una,
			      window_field(t->snd_wnd, t->snd_wscale), true,
			      err);
	if (t->state == TCP_FIN_WAIT2)
		r = spoof_tcp(m->inet, t->rcv_seq, t->snd_seq,
			      window_field(t->snd_wnd, t->snd_wscale), false,
			      err);
	if (!r && second && shutdown(fd, SHUT_WR) < 0)
		return error_sys(err, -errno, "TCP connection: shutdown");
	return r;
}

static int get_state(int fd)
{
	struct tcp_info ti;
	socklen_t n = sizeof(ti);

	return getsockopt(fd, SOL_TCP, TCP_INFO, &ti, &n) < 0 ? -errno
							      : ti.tcpi_state;
}

/* Wait until it has its state again: a forged segment takes a moment. */
static int check_state(int fd, const Fds__Tcp *t, struct error *err)
{
	const struct timespec pause = { .tv_nsec = 100000 };
	int want = (int)t->state, got = -1;

	if (t->fin_unsent)
		want = t->state == TCP_FIN_WAIT1 ? TCP_ESTABLISHED
						 : TCP_CLOSE_WAIT;
	for (int i = 0; i < 1000; i++) {
		got = get_state(fd);
		if (got == want)
			return 0;
		nanosleep(&pause, NULL);
	}
	return error_set(err, -EIO,
			 "TCP connection: state %d instead of %d (is loopback "
			 "up in the capsule?)",
			 got, want);
}

/*
 * Resets are ignored from here on: even in repair mode the kernel retransmits
 * unacknowledged bytes after a while, and a peer in the same capsule may not be made
 * yet, so that a reset would answer.
 */
static int make_connection(int fd, const Fds__Socket *m, struct error *err)
{
	const Fds__Tcp *t = m->inet->tcp;
	int r = tcp_ignore_resets(fd, true);

	if (r < 0)
		return error_sys(err, r, "TCP connection: filter");
	r = connect_repaired(fd, m->inet, err);
	if (!r)
		r = measure_rtt(fd, m->inet, err);
	if (r < 0)
		return r;
	widen(fd, m, false);
	r = fill_queue(fd, TCP_RECV_QUEUE, &t->received, err);
	if (!r)
		r = fill_queue(fd, TCP_SEND_QUEUE, &t->unacked, err);
	if (r < 0)
		return r;
	r = set_window(fd, t);
	if (r < 0)
		return error_sys(err, r, "TCP_REPAIR_WINDOW");
	r = sockopt_set_buffers(fd, m, err);
	if (r < 0)
		return r;
	if (t->window_clamp)
		sockopt_set_int(fd, SOL_TCP, TCP_WINDOW_CLAMP,
				(int)t->window_clamp);
	return 0;
}

int tcp_make_ends(int fd, const Fds__Socket *m, struct error *err)
{
	const Fds__Tcp *t = m->inet->tcp;
	int r = 0;

	if (!is_in(t, TCP_STATES_CONNECTED))
		return 0;
	if (t->state != TCP_ESTABLISHED)
		r = play_fins(fd, m, err);
	if (!r && t->state != TCP_ESTABLISHED)
		r = check_state(fd, t, err);
	if (r < 0)
		return r;
	if (t->rcv_shutdown && !is_in(t, TCP_STATES_FIN_RECEIVED) &&
	    shutdown(fd, SHUT_RD) < 0)
		return error_sys(err, -errno, "TCP connection: shutdown");
	return 0;
}

/* ---- other states ---- */

/*
 * Begin to connect again.  The SYN goes nowhere while the network is unplugged, and is
 * sent again within a second.  It has the same sequence number and timestamp clock as
 * before, so that a peer that has seen the first one takes it for the same.
 */
static int make_connecting(int fd, const Fds__Socket *m, struct error *err)
{
	const Fds__Tcp *t = m->inet->tcp;
	int flags = fcntl(fd, F_GETFL), r;

	r = set_seq(fd, TCP_SEND_QUEUE, t->snd_seq - 1);
	if (!r)
		r = sockopt_bind(fd, m->inet);
	if (!r)
		r = tcp_repair_leave(fd, m, TCP_REPAIR_OFF_NO_WP);
	if (r < 0)
		return error_sys(err, r, "TCP connection being made");
	if (fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0)
		return error_sys(err, -errno, "F_SETFL");
	if (connect(fd, (struct sockaddr *)m->inet->peer.data,
		    (socklen_t)m->inet->peer.len) < 0 &&
	    errno != EINPROGRESS)
		return error_sys(err, -errno, "TCP connection being made");
	r = tcp_repair_set(fd, TCP_REPAIR_ON);
	if (!r)
		r = sockopt_set_int(fd, SOL_TCP, TCP_TIMESTAMP,
				    (int)t->timestamp);
	if (!r)
		r = tcp_repair_leave(fd, m, TCP_REPAIR_OFF_NO_WP);
	return r < 0 ? error_sys(err, r, "TCP connection being made") : 0;
}

/* A socket that was never connected, or whose connection is over. */
static int make_closed(int fd, const Fds__Socket *m, struct error *err)
{
	const Fds__Tcp *t = m->inet->tcp;
	int r = 0;

	if (t->rcv_shutdown)
		return tcpdead_make(fd, m, err);
	/* 536 is the value of a new socket. */
	if (t->mss_clamp && t->mss_clamp != 536)
		sockopt_set_int(fd, SOL_TCP, TCP_MAXSEG, (int)t->mss_clamp);
	r = sockopt_bind(fd, m->inet);
	if (!r)
		r = tcp_repair_leave(fd, m, TCP_REPAIR_OFF_NO_WP);
	return r < 0 ? error_sys(err, r, "TCP socket: bind") : 0;
}

int tcp_make_state(int fd, const Fds__Socket *m, struct error *err)
{
	int r = tcp_repair_set(fd, TCP_REPAIR_ON);

	if (r < 0)
		return error_sys(err, r, "TCP_REPAIR");
	switch (m->inet->tcp->state) {
	case TCP_CLOSE:
		return make_closed(fd, m, err);
	case TCP_SYN_SENT:
		return make_connecting(fd, m, err);
	default:
		return make_connection(fd, m, err);
	}
}

/* ---- life ---- */

static int send_unsent(int fd, const Fds__Socket *m)
{
	const ProtobufCBinaryData *data = &m->inet->tcp->unsent;
	size_t done = 0;
	ssize_t n;

	while (done < data->len) {
		n = send(fd, data->data + done, data->len - done,
			 MSG_DONTWAIT | MSG_NOSIGNAL);
		if (n < 0)
			return -errno;
		done += (size_t)n;
	}
	return 0;
}

/*
 * Tell the peer our window: the source's last acknowledgement or window update may be
 * lost, and with a closed window the peer would probe only after ever longer times, up
 * to two minutes.
 */
static void announce(const Fds__Inet *m)
{
	const Fds__Tcp *t = m->tcp;
	bool fin = is_in(t, TCP_STATES_FIN_QUEUED | TCP_STATE(TCP_FIN_WAIT2)) &&
		   !t->fin_unsent;
	uint32_t next = snd_start(t) + (uint32_t)t->unacked.len + fin;
	uint32_t window = t->rcv_wup + t->rcv_wnd - t->rcv_seq;

	if ((int32_t)window < 0)
		window = 0;
	(void)!spoof_ack(m, next, t->rcv_seq,
			 window_field(window, t->rcv_wscale), NULL);
}

int tcp_make_activate(int fd, const Fds__Socket *m, struct error *err)
{
	const Fds__Tcp *t = m->inet->tcp;
	int r;

	if (!is_in(t, TCP_STATES_CONNECTED))
		return 0;
	r = tcp_ignore_resets(fd, false);
	/* Leaving it sends a window probe, which the peer answers. */
	if (!r)
		r = tcp_repair_leave(fd, m, TCP_REPAIR_OFF);
	if (r < 0)
		return error_sys(err, r, "TCP_REPAIR off");
	announce(m->inet);
	if (t->unsent.len) {
		widen(fd, m, true);
		r = send_unsent(fd, m);
		sockopt_set_buffers(fd, m, NULL);
	}
	if (r < 0)
		return error_sys(err, r, "TCP connection: unsent bytes");
	if (t->fin_unsent && shutdown(fd, SHUT_WR) < 0)
		return error_sys(err, -errno, "TCP connection: shutdown");
	return 0;
}
