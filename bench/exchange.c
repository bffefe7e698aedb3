/*
 * exchange.c - `waits allreduce` without MPI: what no library can save
 *
 *	exchange tcp|barrier RANKS STEPS N
 *
 * RANKS (a power of two) processes do N pieces of work of STEPS each.  tcp: after each they
 * exchange 48 bytes with the partners of a recursive doubling, over loopback, and block in
 * read().  barrier: they meet at a futex.
 *
 * One JSON line: seconds, the CPU of all, and how often one gave up its core.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/futex.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { RANKS_MAX = 64, PARTNERS_MAX = 6, MESSAGE = 48 };

static int fds[RANKS_MAX][PARTNERS_MAX];
static int ranks;
static volatile double sink;

/* Shared by all. */
static struct {
	atomic_int in, round;
} * meeting;

_Noreturn static void die(const char *what)
{
	fprintf(stderr, "exchange: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void work(long steps)
{
	double sum = 0;

	for (long i = 1; i <= steps; i++)
		sum += 1.0 / (double)i;
	sink = sum;
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* A TCP connection over loopback. */
static void make_pair(int *ret_a, int *ret_b)
{
	struct sockaddr_in at = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	socklen_t size = sizeof(at);
	int listener = socket(AF_INET, SOCK_STREAM, 0), on = 1;

	*ret_a = socket(AF_INET, SOCK_STREAM, 0);
	if (listener < 0 || *ret_a < 0 ||
	    bind(listener, (void *)&at, sizeof(at)) || listen(listener, 1) ||
	    getsockname(listener, (void *)&at, &size) ||
	    connect(*ret_a, (void *)&at, size) ||
	    (*ret_b = accept(listener, NULL, NULL)) < 0 ||
	    setsockopt(*ret_a, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)) ||
	    setsockopt(*ret_b, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)))
		die("sockets");
	close(listener);
}

static void connect_all(void)
{
	for (int k = 0; 1 << k < ranks; k++)
		for (int i = 0; i < ranks; i++)
			if (!(i & 1 << k))
				make_pair(&fds[i][k], &fds[i ^ 1 << k][k]);
}

static void meet(void)
{
	int round = atomic_load(&meeting->round);

	if (atomic_fetch_add(&meeting->in, 1) + 1 == ranks) {
		atomic_store(&meeting->in, 0);
		atomic_fetch_add(&meeting->round, 1);
		syscall(SYS_futex, &meeting->round, FUTEX_WAKE, ranks, NULL,
			NULL, 0);
	}
	while (atomic_load(&meeting->round) == round)
		syscall(SYS_futex, &meeting->round, FUTEX_WAIT, round, NULL,
			NULL, 0);
}

static void exchange(int rank)
{
	char message[MESSAGE] = { 0 };

	for (int k = 0; 1 << k < ranks; k++) {
		if (write(fds[rank][k], message, MESSAGE) != MESSAGE ||
		    recv(fds[rank][k], message, MESSAGE, MSG_WAITALL) !=
			    MESSAGE)
			die("a message");
	}
}

static void run_rank(int rank, bool tcp, long steps, long n)
{
	for (long i = 0; i < n; i++) {
		work(steps);
		if (tcp)
			exchange(rank);
		else
			meet();
	}
}

static void start_rank(int rank, bool tcp, long steps, long n)
{
	switch (fork()) {
	case -1:
		die("fork");
	case 0:
		meet();
		run_rank(rank, tcp, steps, n);
		exit(0);
	}
}

/* Whether all have ended well. */
static bool await_all(void)
{
	bool well = true;
	int status;

	for (int i = 0; i < ranks; i++)
		well &= wait(&status) > 0 && !status;
	return well;
}

int main(int argc, char **argv)
{
	struct rusage u;
	double began;
	bool tcp;

	ranks = argc == 5 && (!strcmp(argv[1], "tcp") ||
			      !strcmp(argv[1], "barrier"))
			? atoi(argv[2])
			: 0;
	if (ranks < 2 || ranks > RANKS_MAX || ranks & (ranks - 1)) {
		fprintf(stderr,
			"usage: exchange tcp|barrier RANKS STEPS N, RANKS 2, 4 ... %d\n",
			RANKS_MAX);
		return 2;
	}
	tcp = !strcmp(argv[1], "tcp");
	meeting = mmap(NULL, sizeof(*meeting), PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (meeting == MAP_FAILED)
		die("memory");
	connect_all();
	began = seconds();
	for (int i = 0; i < ranks; i++)
		start_rank(i, tcp, atol(argv[3]), atol(argv[4]));
	if (!await_all())
		return 1;
	getrusage(RUSAGE_CHILDREN, &u);
	printf("{\"seconds\":%.6f,\"cpu\":%.6f,\"gave_up\":%ld}\n",
	       seconds() - began,
	       (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
		       (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6,
	       u.ru_nvcsw);
	return 0;
}
