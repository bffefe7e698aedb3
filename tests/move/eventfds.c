/*
 * eventfds.c - eventfds, signalfds and memfds with what is in them
 *
 * Counters at rest, semaphores, a reader and a writer blocked; signals that
 * wait behind a signalfd; a sealed memfd, mapped and with an offset.
 */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/stat.h>

#include "check.h"

#define MEM (300 * CHECK_PAGE)

static struct {
	int quiet, sem, full, ping, pong, sig, mem, sealed;
	unsigned char *map;
} e;

static void put(int fd, uint64_t n)
{
	CHECK(write(fd, &n, sizeof(n)) == sizeof(n));
}

static uint64_t take(int fd)
{
	uint64_t n;

	CHECK(read(fd, &n, sizeof(n)) == sizeof(n));
	return n;
}

static void make_eventfds(void)
{
	e.quiet = eventfd(0, EFD_CLOEXEC);
	put(e.quiet, 0x123456789abcull);
	e.sem = eventfd(5, EFD_SEMAPHORE | EFD_NONBLOCK);
	e.full = eventfd(0, EFD_NONBLOCK);
	put(e.full, UINT64_MAX - 1);
	e.ping = eventfd(0, 0);
	e.pong = eventfd(0, 0);
}

static void check_eventfds(void)
{
	uint64_t one = 1;

	CHECK(fcntl(e.quiet, F_GETFD) == FD_CLOEXEC);
	CHECK(fcntl(e.sem, F_GETFL) & O_NONBLOCK);
	CHECK(write(e.full, &one, sizeof(one)) < 0 && errno == EAGAIN);
	put(e.sem, 1);
	CHECK(take(e.sem) == 1);
}

static void finish_eventfds(void)
{
	uint64_t n;

	CHECK(take(e.quiet) == 0x123456789abcull);
	for (int i = 0; i < 5; i++)
		CHECK(take(e.sem) == 1, "semaphore at %d", i);
	CHECK(read(e.sem, &n, sizeof(n)) < 0 && errno == EAGAIN);
	CHECK(take(e.full) == UINT64_MAX - 1);
}

/* This thread is blocked in read() nearly all the time. */
static void *echo(void *arg)
{
	for (;;) {
		uint64_t n = take(e.ping);

		put(e.pong, n + 1);
		if (n == 1)
			return NULL;
	}
}

static void make_signalfd(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGRTMIN + 3);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	e.sig = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	CHECK(e.sig >= 0);
	for (int i = 0; i < 5; i++) {
		union sigval v = { .sival_int = 70 + i };

		CHECK(sigqueue(getpid(), SIGRTMIN + 3, v) == 0);
	}
	CHECK(kill(getpid(), SIGUSR1) == 0);
}

static void check_signalfd(void)
{
	struct pollfd p = { .fd = e.sig, .events = POLLIN };

	CHECK(poll(&p, 1, 0) == 1 && p.revents == POLLIN);
	CHECK(fcntl(e.sig, F_GETFD) == FD_CLOEXEC);
}

static void finish_signalfd(void)
{
	struct signalfd_siginfo si;

	CHECK(read(e.sig, &si, sizeof(si)) == sizeof(si));
	CHECK(si.ssi_signo == SIGUSR1 && si.ssi_pid == (uint32_t)getpid());
	for (int i = 0; i < 5; i++) {
		CHECK(read(e.sig, &si, sizeof(si)) == sizeof(si));
		CHECK(si.ssi_signo == (uint32_t)SIGRTMIN + 3 &&
		      si.ssi_int == 70 + i);
	}
	CHECK(read(e.sig, &si, sizeof(si)) < 0 && errno == EAGAIN);
}

static void make_memfd(void)
{
	int seals = F_SEAL_GROW | F_SEAL_SHRINK;

	e.mem = memfd_create("check", MFD_CLOEXEC);
	CHECK(e.mem >= 0 && ftruncate(e.mem, MEM) == 0);
	e.map = mmap(NULL, MEM, PROT_READ | PROT_WRITE, MAP_SHARED, e.mem, 0);
	CHECK(e.map != MAP_FAILED);
	check_fill(e.map, MEM / 2, 40);
	CHECK(lseek(e.mem, 777, SEEK_SET) == 777);
	e.sealed = memfd_create("sealed", MFD_ALLOW_SEALING);
	CHECK(write(e.sealed, "kept", 4) == 4);
	CHECK(fcntl(e.sealed, F_ADD_SEALS, seals) == 0);
}

/* The mapping and the descriptor must still be the same memory. */
static void check_memfd(uint64_t round)
{
	off_t at = (off_t)(MEM / 2 + round * 8 % (MEM / 2));
	uint64_t value = round * 3, got;

	CHECK(pwrite(e.mem, &value, sizeof(value), at) == sizeof(value));
	memcpy(&got, e.map + at, sizeof(got));
	CHECK(got == value, "mapping and memfd are two");
	CHECK(lseek(e.mem, 0, SEEK_CUR) == 777);
}

static void finish_memfd(void)
{
	char buf[8];
	struct stat st;

	CHECK(check_same(e.map, MEM / 2, 40));
	CHECK(fstat(e.mem, &st) == 0 && st.st_size == (off_t)MEM);
	CHECK(pread(e.sealed, buf, 8, 0) == 4 && !memcmp(buf, "kept", 4));
	CHECK(fcntl(e.sealed, F_GET_SEALS) == (F_SEAL_GROW | F_SEAL_SHRINK));
	CHECK(ftruncate(e.sealed, 2) < 0 && errno == EPERM);
}

int main(int argc, char **argv)
{
	bool mem = argc > 1 && !strcmp(argv[1], "memfd");
	pthread_t t;

	make_eventfds();
	make_signalfd();
	if (mem)
		make_memfd();
	t = check_thread(echo, NULL);
	check_ready();
	if (check_sabotaged())
		put(e.quiet, 1);
	for (uint64_t round = 0; check_running(); round++) {
		check_eventfds();
		check_signalfd();
		if (mem)
			check_memfd(round);
		put(e.ping, round + 2);
		CHECK(take(e.pong) == round + 3);
		check_nap();
	}
	put(e.ping, 1);
	check_join(t);
	finish_eventfds();
	finish_signalfd();
	if (mem)
		finish_memfd();
	return check_pass();
}
