/*
 * pipes.c - pipes with what is in them; argument "fifo": a named one as well
 *
 * Content, order, packet boundaries, capacity, flags, half-closed ends,
 * shared descriptions, and threads blocked in read and write.
 */
#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include "check.h"

#define FULL 65536

static struct {
	int quiet[2];  /* some content, never touched */
	int full[2];   /* to the last byte, and enlarged */
	int closed[2]; /* content and then end of file */
	int packet[2]; /* O_DIRECT: three packets */
	int fifo[2];
	int dup; /* of quiet[0] */
	int broken;
} p;

static void fill(int fd, size_t n, uint64_t seed)
{
	unsigned char buf[FULL];

	check_fill(buf, n, seed);
	CHECK(write(fd, buf, n) == (ssize_t)n);
}

static void drain(int fd, size_t n, uint64_t seed)
{
	unsigned char buf[FULL];
	int waiting;

	CHECK(ioctl(fd, FIONREAD, &waiting) == 0);
	CHECK(waiting >= (int)n, "%d bytes wait, not %zu", waiting, n);
	CHECK(read(fd, buf, n) == (ssize_t)n);
	CHECK(check_same(buf, n, seed), "pipe %llu", (unsigned long long)seed);
}

static void make_fifo(void)
{
	const char *path = check_path("fifo");

	CHECK(mkfifo(path, 0600) == 0);
	p.fifo[0] = open(path, O_RDONLY | O_NONBLOCK);
	p.fifo[1] = open(path, O_WRONLY);
	CHECK(p.fifo[0] >= 0 && p.fifo[1] >= 0);
	fill(p.fifo[1], 500, 15);
}

static void make_pipes(void)
{
	int broken[2];

	CHECK(pipe2(p.quiet, O_CLOEXEC) == 0 && pipe2(p.full, 0) == 0 &&
	      pipe2(p.closed, O_NONBLOCK) == 0 &&
	      pipe2(p.packet, O_DIRECT) == 0 && pipe(broken) == 0);
	p.dup = fcntl(p.quiet[0], F_DUPFD, 200);
	CHECK(p.dup >= 200);
	fill(p.quiet[1], 10000, 11);
	CHECK(fcntl(p.full[1], F_SETPIPE_SZ, 4 * FULL) == 4 * FULL);
	for (uint64_t i = 0; i < 4; i++)
		fill(p.full[1], FULL, 20 + i);
	fcntl(p.full[1], F_SETFL, O_NONBLOCK); /* the write end only */
	fill(p.closed[1], 3000, 12);
	close(p.closed[1]);
	for (uint64_t i = 0; i < 3; i++)
		fill(p.packet[1], 100 + i, 30 + i);
	close(broken[0]);
	p.broken = broken[1];
}

static void check_flags(void)
{
	CHECK(fcntl(p.quiet[0], F_GETFD) == FD_CLOEXEC);
	CHECK(fcntl(p.dup, F_GETFD) == 0);
	CHECK(!(fcntl(p.full[0], F_GETFL) & O_NONBLOCK));
	CHECK(fcntl(p.full[1], F_GETFL) & O_NONBLOCK);
	CHECK(fcntl(p.closed[0], F_GETFL) & O_NONBLOCK);
	CHECK(fcntl(p.packet[1], F_GETFL) & O_DIRECT);
	CHECK(fcntl(p.full[0], F_GETPIPE_SZ) == 4 * FULL);
	CHECK(write(p.full[1], "x", 1) < 0 && errno == EAGAIN);
	CHECK(write(p.broken, "x", 1) < 0 && errno == EPIPE);
}

static void check_content(void)
{
	char packet[4096];
	char c;

	drain(p.dup, 10000, 11);
	for (uint64_t i = 0; i < 4; i++)
		drain(p.full[0], FULL, 20 + i);
	drain(p.closed[0], 3000, 12);
	CHECK(read(p.closed[0], &c, 1) == 0, "end of file is lost");
	for (uint64_t i = 0; i < 3; i++) {
		ssize_t n = read(p.packet[0], packet, sizeof(packet));

		CHECK(n == (ssize_t)(100 + i), "packet of %zd bytes", n);
		CHECK(check_same(packet, 100 + i, 30 + i));
	}
	if (p.fifo[0]) {
		drain(p.fifo[0], 500, 15);
		CHECK(read(p.fifo[0], &c, 1) < 0 && errno == EAGAIN);
	}
	/*
	 * The duplicate shares its flags with the original, and with no other
	 * descriptor.
	 */
	fcntl(p.dup, F_SETFL, O_NONBLOCK);
	CHECK(fcntl(p.quiet[0], F_GETFL) & O_NONBLOCK);
	CHECK(!(fcntl(p.quiet[1], F_GETFL) & O_NONBLOCK));
}

/* One thread writes a stream as fast as the other one reads it. */
static int stream[2];
static _Atomic bool stopping;

static void *write_stream(void *arg)
{
	unsigned char buf[7001];
	uint64_t seed = 0;

	while (!stopping) {
		check_fill(buf, sizeof(buf), ++seed);
		check_write(stream[1], buf, sizeof(buf));
	}
	close(stream[1]);
	return NULL;
}

static void *read_stream(void *arg)
{
	unsigned char buf[7001];
	uint64_t seed = 0;

	while (check_read(stream[0], buf, sizeof(buf))) {
		CHECK(check_same(buf, sizeof(buf), ++seed));
		if (seed % 16 == 0)
			check_nap(); /* the writer blocks */
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t t[2];

	signal(SIGPIPE, SIG_IGN);
	make_pipes();
	if (argc > 1 && !strcmp(argv[1], "fifo"))
		make_fifo();
	CHECK(pipe(stream) == 0);
	t[0] = check_thread(write_stream, NULL);
	t[1] = check_thread(read_stream, NULL);
	check_ready();
	if (check_sabotaged())
		drain(p.packet[0], 100, 30);
	while (check_running()) {
		check_flags();
		check_nap();
	}
	stopping = true;
	check_join(t[0]);
	check_join(t[1]);
	check_content();
	return check_pass();
}
