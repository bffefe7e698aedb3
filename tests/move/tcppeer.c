/*
 * tcppeer.c - a checked two-way TCP stream between two processes
 *
 *	tcppeer serve PORT		be moved; answer whoever connects
 *					(0: to any port, which it tells)
 *	tcppeer call ADDRESS PORT	stay; talk to the one that is moved
 *
 * Each side sends its own pseudo-random stream in pieces of changing size
 * and compares what comes.  The caller opens new connections all the time as
 * well, and prints the longest pause it saw.  When its own stop file is
 * there, the caller ends the stream, and with it the server.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "check.h"

#define PIECE 60000

struct side {
	int fd;
	uint64_t seed; /* what I send; the peer sends ~seed */
	bool caller;
	uint64_t bytes;
	int64_t longest;
};

static size_t piece_of(uint64_t seed, uint64_t n)
{
	uint64_t s = seed + n;

	return check_rand(&s) % PIECE + 1;
}

static void *send_all(void *arg)
{
	struct side *s = arg;
	static unsigned char buf[PIECE];

	for (uint64_t n = 0; !s->caller || check_running(); n++) {
		size_t len = piece_of(s->seed, n);

		check_fill(buf, len, s->seed + n);
		for (size_t at = 0; at < len;) {
			ssize_t k =
				send(s->fd, buf + at, len - at, MSG_NOSIGNAL);

			if (k <= 0 && !s->caller)
				return NULL; /* the caller has gone */
			CHECK(k > 0, "send");
			at += (size_t)k;
		}
		if (n % 32 == 0)
			check_nap();
	}
	return NULL;
}

/*
 * Compare until the peer ends its stream, or, for the caller, until told to
 * stop.
 */
static void recv_all(struct side *s)
{
	static unsigned char buf[PIECE];
	int64_t last = check_clock(CLOCK_REALTIME), now;

	for (uint64_t n = 0; !s->caller || check_running(); n++) {
		size_t len = piece_of(~s->seed, n);

		if (!check_read(s->fd, buf, len))
			return;
		CHECK(check_same(buf, len, ~s->seed + n), "piece %llu",
		      (unsigned long long)n);
		now = check_clock(CLOCK_REALTIME);
		if (now - last > s->longest)
			s->longest = now - last;
		last = now;
		s->bytes += len;
	}
}

/*
 * End the stream, and read what still comes, so that no RST overtakes the end.
 */
static void hang_up(int fd)
{
	char buf[4096];

	shutdown(fd, SHUT_WR);
	while (read(fd, buf, sizeof(buf)) > 0)
		;
}

static struct sockaddr_in address(const char *host, const char *port)
{
	struct sockaddr_in a = { .sin_family = AF_INET };

	a.sin_port = htons((uint16_t)strtoul(port, NULL, 10));
	CHECK(inet_pton(AF_INET, host, &a.sin_addr) == 1, "%s", host);
	return a;
}

static void *answer(void *arg)
{
	int listener = (int)(intptr_t)arg, fd;
	uint64_t n;

	while ((fd = accept(listener, NULL, NULL)) >= 0) {
		if (check_read(fd, &n, sizeof(n))) {
			n = ~n;
			check_write(fd, &n, sizeof(n));
		}
		close(fd);
	}
	CHECK(0, "accept");
	return NULL;
}

static int serve(const char *port)
{
	struct sockaddr_in a = address("0.0.0.0", port);
	struct side s = { .seed = ~7ull };
	int listener = socket(AF_INET, SOCK_STREAM, 0), on = 1;
	socklen_t len = sizeof(a);
	pthread_t t;

	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	CHECK(bind(listener, (void *)&a, sizeof(a)) == 0, "port %s", port);
	CHECK(listen(listener, 16) == 0);
	CHECK(getsockname(listener, (void *)&a, &len) == 0);
	printf("port %u\n", ntohs(a.sin_port));
	fflush(stdout);
	check_ready();
	s.fd = accept(listener, NULL, NULL);
	CHECK(s.fd >= 0);
	t = check_thread(send_all, &s);
	check_thread(answer, (void *)(intptr_t)listener);
	recv_all(&s);
	shutdown(s.fd, SHUT_RDWR);
	check_join(t);
	return check_pass();
}

static int dial(const struct sockaddr_in *a)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	CHECK(connect(fd, (const void *)a, sizeof(*a)) == 0, "connect");
	return fd;
}

static void *call_again(void *arg)
{
	for (uint64_t n = 1; check_running(); n++) {
		int fd = dial(arg);
		uint64_t back;

		check_write(fd, &n, sizeof(n));
		CHECK(check_read(fd, &back, sizeof(back)) && back == ~n);
		close(fd);
		for (int i = 0; i < 10; i++)
			check_nap();
	}
	return NULL;
}

static int call(const char *host, const char *port)
{
	struct sockaddr_in a = address(host, port);
	struct side s = { .seed = 7, .caller = true };
	pthread_t t[2];

	s.fd = dial(&a);
	t[0] = check_thread(send_all, &s);
	t[1] = check_thread(call_again, &a);
	check_ready();
	recv_all(&s);
	check_join(t[0]);
	check_join(t[1]); /* the server ends with the stream */
	hang_up(s.fd);
	printf("{\"what\":\"longest pause of the peer\",\"value\":%.3f,"
	       "\"unit\":\"ms\",\"bytes\":%llu}\n",
	       (double)s.longest / 1e6, (unsigned long long)s.bytes);
	fflush(stdout);
	return check_pass();
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "serve"))
		return serve(argv[2]);
	if (argc == 4 && !strcmp(argv[1], "call"))
		return call(argv[2], argv[3]);
	fprintf(stderr, "usage: tcppeer serve PORT | call ADDRESS PORT\n");
	return 2;
}
