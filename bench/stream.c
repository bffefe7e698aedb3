/*
 * stream.c - one plain TCP stream, to compare a move's speed with
 *
 *	stream receive ADDRESS		prints "listening PORT", then takes all
 *	stream send ADDRESS PORT BYTES	prints the seconds until it was taken
 *
 * The sender's bytes come from memory that it has written, the receiver's go
 * to memory of their own, as in a move; the receiver says when it has all.
 * Congestion is controlled as a move's is: BBR, where a host has that, would
 * make it a slow stream to compare with.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "move/move.h"

static _Noreturn void fail(const char *what)
{
	perror(what);
	exit(1);
}

static struct sockaddr_in address(const char *host, const char *port)
{
	struct sockaddr_in a = { .sin_family = AF_INET };

	a.sin_port = htons((uint16_t)strtoul(port, NULL, 10));
	if (inet_pton(AF_INET, host, &a.sin_addr) != 1)
		fail(host);
	return a;
}

static int stream_socket(void)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (fd < 0)
		fail("socket");
	move_prepare_socket(fd);
	return fd;
}

static unsigned char *memory(size_t n)
{
	unsigned char *p = mmap(NULL, n, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		fail("mmap");
	return p;
}

static int receive_all(const char *host)
{
	struct sockaddr_in a = address(host, "0");
	socklen_t len = sizeof(a);
	int s = stream_socket(), fd;
	unsigned char *p;
	uint64_t n;

	if (bind(s, (void *)&a, sizeof(a)) < 0 || listen(s, 1) < 0 ||
	    getsockname(s, (void *)&a, &len) < 0)
		fail("listen");
	printf("listening %u\n", ntohs(a.sin_port));
	fflush(stdout);
	fd = accept(s, NULL, NULL);
	if (fd < 0 || read(fd, &n, sizeof(n)) != sizeof(n))
		fail("accept");
	p = memory(n);
	for (uint64_t at = 0; at < n;) {
		ssize_t k = read(fd, p + at, n - at);

		if (k <= 0)
			fail("read");
		at += (uint64_t)k;
	}
	return write(fd, "k", 1) == 1 ? 0 : 1;
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static int send_all(const char *host, const char *port, uint64_t n)
{
	struct sockaddr_in a = address(host, port);
	int fd = stream_socket();
	unsigned char *p = memory(n);
	double start;
	char c;

	memset(p, 0x5a, n);
	if (connect(fd, (void *)&a, sizeof(a)) < 0)
		fail("connect");
	start = now();
	if (write(fd, &n, sizeof(n)) != sizeof(n))
		fail("write");
	for (uint64_t at = 0; at < n;) {
		ssize_t k = write(fd, p + at, n - at);

		if (k <= 0)
			fail("write");
		at += (uint64_t)k;
	}
	if (read(fd, &c, 1) != 1)
		fail("read");
	printf("%.6f\n", now() - start);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "receive"))
		return receive_all(argv[2]);
	if (argc == 5 && !strcmp(argv[1], "send"))
		return send_all(argv[2], argv[3], strtoull(argv[4], NULL, 10));
	fprintf(stderr, "usage: stream receive ADDRESS | "
			"send ADDRESS PORT BYTES\n");
	return 2;
}
