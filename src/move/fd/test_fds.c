/*
 * test_fds.c - pipes, unix sockets, anonymous inodes: those that move, and
 * those that do not
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "move/fd/test_move.h"

static bool reads(int fd, const char *text)
{
	char buf[4096];
	ssize_t n = read(fd, buf, sizeof(buf));

	return n == (ssize_t)strlen(text) && !memcmp(buf, text, (size_t)n);
}

static void both(void (*make)(void), void (*verify)(void))
{
	const struct fdt_case c = { .make = make, .verify = verify };

	fdt_both(&c);
}

/* ---- pipes ---- */

static void pipes_make(void)
{
	char byte = 'b';
	int p[2];

	CHECK(pipe(p) == 0);
	fdt_put(p[0], 20);
	fdt_put(p[1], 21);
	CHECK(fcntl(21, F_SETPIPE_SZ, 16384) == 16384);
	CHECK(write(21, "hello", 5) == 5);
	fdt_put(open("/proc/self/fd/20", O_RDWR | O_NONBLOCK), 22);
	CHECK(pipe2(p, O_DIRECT) == 0);
	fdt_put(p[0], 23);
	fdt_put(p[1], 24);
	CHECK(write(24, "one", 3) == 3 && write(24, "three", 5) == 5);
	/* Of each pipe only one end. */
	CHECK(pipe(p) == 0);
	CHECK(write(p[1], &byte, 1) == 1);
	fdt_put(p[0], 25);
	close(p[1]);
	CHECK(pipe(p) == 0);
	fdt_put(p[1], 26);
	close(p[0]);
}

static void pipes_verify(void)
{
	char big[20000] = { 0 };

	signal(SIGPIPE, SIG_IGN);
	CHECK(reads(20, "hello"));
	CHECK(fcntl(20, F_GETPIPE_SZ) == 16384);
	CHECK((fcntl(22, F_GETFL) & (O_ACCMODE | O_NONBLOCK)) ==
	      (O_RDWR | O_NONBLOCK));
	CHECK(!(fcntl(20, F_GETFL) & O_NONBLOCK));
	CHECK(write(22, big, sizeof(big)) == 16384);
	CHECK(reads(23, "one") && reads(23, "three"));
	CHECK(fcntl(24, F_GETFL) & O_DIRECT);
	CHECK(reads(25, "b") && reads(25, ""));
	CHECK(write(26, big, 1) < 0 && errno == EPIPE);
}

static void pipes(void **state)
{
	both(pipes_make, pipes_verify);
}

/* ---- unix sockets ---- */

static const struct sockaddr_un abstract = { AF_UNIX, "\0test_fds" };

static void unix_make(void)
{
	char fill[3000] = { 1 };
	int second = 3;

	fdt_pair(SOCK_STREAM, 30, 31);
	CHECK(setsockopt(31, SOL_SOCKET, SO_PEEK_OFF, &second, 4) == 0);
	CHECK(send(30, "to 31", 5, 0) == 5 && send(31, "to 30", 5, 0) == 5);
	fdt_pair(SOCK_DGRAM | SOCK_NONBLOCK, 32, 33);
	CHECK(send(32, "", 0, 0) == 0 && send(32, "dgram", 5, 0) == 5);
	CHECK(send(32, fill, sizeof(fill), 0) == sizeof(fill));
	fdt_pair(SOCK_SEQPACKET, 34, 35);
	CHECK(send(34, "p1", 2, 0) == 2 && send(34, "p22", 3, 0) == 3);
	CHECK(shutdown(34, SHUT_WR) == 0);
	fdt_pair(SOCK_STREAM, 36, 37);
	CHECK(send(37, "last words", 10, 0) == 10 && close(37) == 0);
	fdt_put(socket(AF_UNIX, SOCK_STREAM, 0), 38);
	CHECK(bind(38, (void *)&abstract, sizeof(abstract)) == 0);
	CHECK(listen(38, 7) == 0);
	fdt_put(socket(AF_UNIX, SOCK_DGRAM, 0), 39);
}

static void unix_verify(void)
{
	char fill[4000];
	int fd;

	signal(SIGPIPE, SIG_IGN);
	CHECK(recv(31, fill, 4, MSG_PEEK) == 2 && !memcmp(fill, "31", 2));
	CHECK(reads(31, "to 31") && reads(30, "to 30"));
	CHECK(send(30, "x", 1, 0) == 1 && reads(31, "x"));
	CHECK(recv(33, fill, sizeof(fill), 0) == 0 && reads(33, "dgram"));
	CHECK(recv(33, fill, sizeof(fill), 0) == 3000 && fill[0] == 1);
	CHECK(recv(33, fill, sizeof(fill), 0) < 0 && errno == EAGAIN);
	CHECK(reads(35, "p1") && reads(35, "p22") && reads(35, ""));
	CHECK(send(34, "x", 1, 0) < 0 && errno == EPIPE);
	CHECK(send(35, "x", 1, 0) == 1 && reads(34, "x"));
	CHECK(reads(36, "last words") && reads(36, ""));
	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	CHECK(connect(fd, (void *)&abstract, sizeof(abstract)) == 0);
	CHECK(accept(38, NULL, NULL) >= 0);
	CHECK(fcntl(39, F_GETFD) == 0);
}

static void unix_sockets(void **state)
{
	const struct fdt_case c = { unix_make, unix_verify, .net = true };

	fdt_both(&c);
}

/* ---- memfd, eventfd, signalfd ---- */

static void anon_make(void)
{
	sigset_t set;

	fdt_put(eventfd(0x1234, 0), 40);
	fdt_put(eventfd(3, EFD_SEMAPHORE | EFD_NONBLOCK | EFD_CLOEXEC), 41);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	CHECK(sigprocmask(SIG_BLOCK, &set, NULL) == 0);
	fdt_put(signalfd(-1, &set, SFD_NONBLOCK), 42);
	fdt_put(memfd_create("mem", MFD_ALLOW_SEALING), 43);
	CHECK(ftruncate(43, 1 << 20) == 0);
	CHECK(pwrite(43, "data", 4, 500000) == 4);
	CHECK(lseek(43, 500002, SEEK_SET) == 500002);
	fdt_put(open("/proc/self/fd/43", O_RDONLY), 44);
	CHECK(fcntl(43, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK) == 0);
	fdt_put(memfd_create("plain", 0), 45);
	fdt_put((int)syscall(SYS_pidfd_open, getpid(), 0), 46);
}

static void anon_verify(void)
{
	struct signalfd_siginfo si;
	uint64_t v;
	char buf[4];
	sigset_t set;

	CHECK(read(40, &v, 8) == 8 && v == 0x1234);
	CHECK(read(41, &v, 8) == 8 && v == 1 && read(41, &v, 8) == 8);
	CHECK(read(41, &v, 8) == 8 && read(41, &v, 8) < 0 && errno == EAGAIN);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	CHECK(sigprocmask(SIG_BLOCK, &set, NULL) == 0);
	raise(SIGUSR2);
	CHECK(read(42, &si, sizeof(si)) == sizeof(si));
	CHECK(si.ssi_signo == SIGUSR2);
	CHECK(read(43, buf, 4) == 4 && !memcmp(buf, "ta", 3));
	CHECK(pread(44, buf, 4, 500000) == 4 && !memcmp(buf, "data", 4));
	CHECK(lseek(44, 0, SEEK_CUR) == 0);
	CHECK(fcntl(43, F_GET_SEALS) == (F_SEAL_WRITE | F_SEAL_SHRINK));
	CHECK(pwrite(43, "x", 1, 0) < 0 && errno == EPERM);
	CHECK((fcntl(44, F_GETFL) & O_ACCMODE) == O_RDONLY);
	CHECK(fcntl(45, F_GET_SEALS) & F_SEAL_SEAL);
	CHECK(write(45, "x", 1) == 1);
	CHECK(fcntl(46, F_GETFD) == 0);
}

static void anonymous(void **state)
{
	both(anon_make, anon_verify);
}

/* ---- the process's own network namespace ---- */

static void netns_make(void)
{
	fdt_put(open("/proc/self/ns/net", O_RDONLY | O_NONBLOCK), 47);
	fdt_put(dup(47), 48);
	fdt_put(open("/proc/self/ns/net", O_PATH), 49);
}

static void netns_verify(void)
{
	struct stat own, st;

	CHECK(stat("/proc/self/ns/net", &own) == 0);
	for (int fd = 47; fd < 50; fd++)
		CHECK(fstat(fd, &st) == 0 && st.st_ino == own.st_ino &&
		      st.st_dev == own.st_dev);
	CHECK((fcntl(47, F_GETFL) & (O_PATH | O_NONBLOCK)) == O_NONBLOCK);
	CHECK(fcntl(49, F_GETFL) & O_PATH);
	CHECK(setns(48, CLONE_NEWNET) == 0);
}

static void network_namespace(void **state)
{
	const struct fdt_case c = { netns_make, netns_verify, .net = true };

	fdt_both(&c);
}

/* ---- externals ---- */

static struct move_external externals[2];
static int far[2];

static int give(void *ctx, const char *name, int *ret_far, struct error *err)
{
	int p[2];

	if (!strcmp(name, "stdin")) {
		if (pipe(p) < 0)
			return -errno;
		close(p[1]);
		return p[0];
	}
	if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, p) < 0)
		return -errno;
	*ret_far = p[1];
	return p[0];
}

static int near_end[2];

static void ext_make(void)
{
	close(far[0]);
	close(far[1]);
	fdt_put(near_end[0], 0);
	fdt_put(near_end[1], 5);
	CHECK(dup2(5, 6) == 6);
	close(1);
	close(2);
	for (int fd = 7; fd < 500; fd++)
		close(fd);
}

static void ext_verify(void)
{
	CHECK(reads(0, "unread input"));
	CHECK(reads(6, "cmd=one") && reads(5, "cmd=two"));
}

static void external(void **state)
{
	static const struct fds_restore_ops ops = { give };
	struct fdt_case c = { ext_make, ext_verify, .ext = externals,
			      .nr_ext = 2, .ops = &ops };
	struct stat st;
	int p[2];

	assert_int_equal(pipe2(p, O_CLOEXEC), 0);
	near_end[0] = p[0];
	far[0] = p[1];
	assert_int_equal(
		socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, p), 0);
	near_end[1] = p[0];
	far[1] = p[1];
	for (int i = 0; i < 2; i++) {
		assert_int_equal(fstat(near_end[i], &st), 0);
		externals[i].dev = st.st_dev;
		externals[i].ino = st.st_ino;
		strncpy(externals[i].name, i ? "pmi" : "stdin", 15);
	}
	assert_int_equal(write(far[0], "unread input", 12), 12);
	assert_int_equal(send(far[1], "cmd=one", 7, 0), 7);
	assert_int_equal(send(far[1], "cmd=two", 7, 0), 7);
	fdt_both(&c);
	for (int i = 0; i < 2; i++) {
		close(near_end[i]);
		close(far[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pipes),
		cmocka_unit_test(unix_sockets),
		cmocka_unit_test(anonymous),
		cmocka_unit_test(external),
		cmocka_unit_test(network_namespace),
	};

	fdt_scratch();
	return cmocka_run_group_tests_name("fds", tests, NULL, NULL);
}
