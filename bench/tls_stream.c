/*
 * tls_stream.c - how fast a migration stream is under TLS, against plain TCP
 *
 * 2 GiB over loopback in 1 MiB writes, plain and TLS alternately, five times;
 * prints the medians' row of bench/.
 */
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/channel.h"

enum { BLOCK = 1 << 20, BLOCKS = 2048, RUNS = 5 };

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static struct channel *open_channel(int fd, bool tls, bool server)
{
	struct tls_key key = { .identity = "bench" };
	struct channel *ch;
	struct error err;
	int r;

	if (!tls)
		return channel_from_fd(fd);
	r = server ? channel_tls_server(fd, &key, 0, &ch, &err)
		   : channel_tls_client(fd, &key, 0, &ch, &err);
	if (r < 0) {
		fprintf(stderr, "%s\n", err.text);
		exit(1);
	}
	return ch;
}

static void send_all(const struct sockaddr_in *to, bool tls, char *block)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	struct channel *ch;

	if (connect(fd, (const struct sockaddr *)to, sizeof(*to)) < 0)
		_exit(1);
	ch = open_channel(fd, tls, false);
	for (int i = 0; i < BLOCKS; i++)
		if (channel_write(ch, block, BLOCK) < 0)
			_exit(1);
	channel_close(ch);
	_exit(0);
}

/* The MB/s of one run. */
static double run(bool tls, char *block)
{
	struct sockaddr_in addr = { .sin_family = AF_INET,
				    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int listener = socket(AF_INET, SOCK_STREAM, 0), fd;
	socklen_t n = sizeof(addr);
	struct channel *ch;
	double begin;

	if (bind(listener, (struct sockaddr *)&addr, n) < 0 ||
	    listen(listener, 1) < 0 ||
	    getsockname(listener, (struct sockaddr *)&addr, &n) < 0)
		exit(1);
	if (!fork())
		send_all(&addr, tls, block);
	fd = accept(listener, NULL, NULL);
	ch = open_channel(fd, tls, true);
	begin = now();
	for (int i = 0; i < BLOCKS; i++)
		if (channel_read(ch, block, BLOCK) < 0)
			exit(1);
	begin = now() - begin;
	channel_close(ch);
	close(listener);
	wait(NULL);
	return (double)BLOCK * BLOCKS / 1e6 / begin;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

int main(void)
{
	double plain[RUNS], tls[RUNS];
	char *block = calloc(1, BLOCK);

	if (!block)
		return 1;
	for (int i = 0; i < RUNS; i++) {
		plain[i] = run(false, block);
		tls[i] = run(true, block);
	}
	qsort(plain, RUNS, sizeof(*plain), by_value);
	qsort(tls, RUNS, sizeof(*tls), by_value);
	printf("{\"what\":\"channel under TLS 1.3-PSK, loopback\","
	       "\"value\":%.0f,\"unit\":\"MB/s\",\"peer\":\"plain TCP, %.0f\","
	       "\"ratio\":%.3f,\"n\":%d}\n",
	       tls[RUNS / 2], plain[RUNS / 2], tls[RUNS / 2] / plain[RUNS / 2],
	       RUNS);
	free(block);
	return 0;
}
