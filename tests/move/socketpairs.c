/*
 * socketpairs.c - unix socket pairs of every type with data under way
 *
 * Streams both ways, datagrams and packets with their boundaries, one end
 * shut down, options, and two threads talking all the time.
 */
#include <fcntl.h>
#include <sys/socket.h>

#include "check.h"

static struct {
	int stream[2], dgram[2], packet[2], shut[2], talk[2];
} s;

static void send_bytes(int fd, size_t n, uint64_t seed)
{
	unsigned char buf[70000];

	check_fill(buf, n, seed);
	CHECK(send(fd, buf, n, 0) == (ssize_t)n);
}

static void recv_bytes(int fd, size_t n, uint64_t seed, int flags)
{
	unsigned char buf[70000];
	ssize_t got =
		recv(fd, buf, flags & MSG_WAITALL ? n : sizeof(buf), flags);

	CHECK(got == (ssize_t)n, "%zd bytes, not %zu", got, n);
	CHECK(check_same(buf, n, seed));
}

static void make_pairs(void)
{
	int on = 1, size = 300000;
	struct timeval tv = { .tv_sec = 77 };

	CHECK(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, s.stream) &&
	      !socketpair(AF_UNIX, SOCK_DGRAM, 0, s.dgram) &&
	      !socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0,
			  s.packet) &&
	      !socketpair(AF_UNIX, SOCK_STREAM, 0, s.shut) &&
	      !socketpair(AF_UNIX, SOCK_STREAM, 0, s.talk));
	setsockopt(s.stream[0], SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
	setsockopt(s.dgram[0], SOL_SOCKET, SO_PASSCRED, &on, sizeof(on));
	setsockopt(s.packet[1], SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv));
	send_bytes(s.stream[0], 70000, 1);
	send_bytes(s.stream[1], 5, 2);
	for (uint64_t i = 0; i < 4; i++) {
		send_bytes(s.dgram[0], 1000 * i + 1, 10 + i);
		send_bytes(s.packet[1], 500 * i + 2, 20 + i);
	}
	send_bytes(s.shut[0], 900, 30);
	CHECK(shutdown(s.shut[0], SHUT_WR) == 0);
}

static void check_options(void)
{
	socklen_t n = sizeof(int);
	struct timeval tv;
	int v;

	CHECK(fcntl(s.stream[0], F_GETFD) == FD_CLOEXEC);
	CHECK(fcntl(s.packet[0], F_GETFL) & O_NONBLOCK);
	CHECK(!getsockopt(s.stream[0], SOL_SOCKET, SO_SNDBUF, &v, &n));
	CHECK(v >= 200000, "SO_SNDBUF %d", v); /* wmem_max may clamp it */
	CHECK(!getsockopt(s.dgram[0], SOL_SOCKET, SO_PASSCRED, &v, &n) && v);
	CHECK(!getsockopt(s.dgram[1], SOL_SOCKET, SO_PASSCRED, &v, &n) && !v);
	CHECK(!getsockopt(s.packet[0], SOL_SOCKET, SO_TYPE, &v, &n));
	CHECK(v == SOCK_SEQPACKET);
	n = sizeof(tv);
	CHECK(!getsockopt(s.packet[1], SOL_SOCKET, SO_RCVTIMEO, &tv, &n));
	CHECK(tv.tv_sec == 77);
	CHECK(send(s.shut[0], "x", 1, MSG_NOSIGNAL) < 0 && errno == EPIPE);
}

static void finish(void)
{
	char c;

	recv_bytes(s.stream[1], 70000, 1, MSG_WAITALL);
	recv_bytes(s.stream[0], 5, 2, MSG_WAITALL);
	for (uint64_t i = 0; i < 4; i++) {
		recv_bytes(s.dgram[1], 1000 * i + 1, 10 + i, 0);
		recv_bytes(s.packet[0], 500 * i + 2, 20 + i, 0);
	}
	recv_bytes(s.shut[1], 900, 30, MSG_WAITALL);
	CHECK(recv(s.shut[1], &c, 1, 0) == 0, "end of stream is lost");
	send_bytes(s.shut[1], 10, 31); /* the other way is open */
	recv_bytes(s.shut[0], 10, 31, 0);
	CHECK(recv(s.packet[0], &c, 1, 0) < 0 && errno == EAGAIN);
	CHECK(recv(s.dgram[1], &c, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN);
}

static void *answer(void *arg)
{
	uint64_t n;

	while (check_read(s.talk[1], &n, sizeof(n))) {
		n = ~n;
		check_write(s.talk[1], &n, sizeof(n));
	}
	return NULL;
}

static void talk(uint64_t n)
{
	uint64_t back;

	check_write(s.talk[0], &n, sizeof(n));
	CHECK(check_read(s.talk[0], &back, sizeof(back)));
	CHECK(back == ~n);
}

int main(void)
{
	pthread_t t;

	make_pairs();
	t = check_thread(answer, NULL);
	check_ready();
	if (check_sabotaged())
		send_bytes(s.dgram[0], 3, 1);
	for (uint64_t round = 0; check_running(); round++) {
		check_options();
		talk(round * 12345);
		check_nap();
	}
	shutdown(s.talk[0], SHUT_RDWR);
	check_join(t);
	finish();
	return check_pass();
}
