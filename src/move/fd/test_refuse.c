/*
 * test_refuse.c - descriptors that are not moved, and the reason that is given
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <poll.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/io.h"
#include "core/test_fork.h"
#include "move/fd/test_move.h"
#include "move/wire/fds.pb-c.h"

/* A process that has all the descriptors as well, and ends with this one. */
static void fork_holder(void)
{
	if (fork_to_end_with() == 0) {
		pause();
		_exit(0);
	}
}

static void held_make(void)
{
	fdt_put(open(fdt_at("gone"), O_RDWR | O_CREAT, 0600), 7);
	CHECK(unlink(fdt_at("gone")) == 0);
	fork_holder();
}

static void huge_make(void)
{
	fdt_put(open(fdt_at("gone"), O_RDWR | O_CREAT, 0600), 7);
	CHECK(unlink(fdt_at("gone")) == 0 && ftruncate(7, 65 << 20) == 0);
}

/* Something is mounted over the file. */
static void hidden_make(void)
{
	fdt_put(open(fdt_at("h"), O_RDWR | O_CREAT, 0600), 7);
	CHECK(unshare(CLONE_NEWNS) == 0);
	CHECK(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0);
	CHECK(mount("/dev/null", fdt_at("h"), NULL, MS_BIND, NULL) == 0);
}

static void uring_make(void)
{
	char params[128] = { 0 };

	fdt_put((int)syscall(SYS_io_uring_setup, 4, params), 7);
}

static void inotify_make(void)
{
	fdt_put(inotify_init1(0), 7);
}

static void tty_make(void)
{
	fdt_put(open("/dev/ptmx", O_RDWR), 7);
}

static void posix_lock_make(void)
{
	struct flock fl = { .l_type = F_WRLCK };

	fdt_put(open(fdt_at("p"), O_RDWR | O_CREAT, 0600), 7);
	CHECK(fcntl(7, F_SETLK, &fl) == 0);
	fork_holder();
}

static void lease_make(void)
{
	fdt_put(open(fdt_at("m"), O_RDONLY | O_CREAT, 0600), 7);
	CHECK(fcntl(7, F_SETLEASE, F_RDLCK) == 0);
}

/* Other processes of this machine may wait for locks of theirs. */
static bool waits(pid_t pid)
{
	char *text, want[64];
	bool found;

	CHECK(io_read_file(AT_FDCWD, "/proc/locks", 16 << 20, &text) >= 0);
	snprintf(want, sizeof(want), "-> FLOCK  ADVISORY  WRITE %d ", pid);
	found = strstr(text, want);
	free(text);
	return found;
}

static void awaited_make(void)
{
	pid_t pid;

	fdt_put(open(fdt_at("p"), O_RDWR | O_CREAT, 0600), 7);
	CHECK(flock(7, LOCK_EX) == 0);
	pid = fork_to_end_with();
	if (pid == 0) {
		_exit(flock(open(fdt_at("p"), O_RDWR), LOCK_EX));
	}
	while (!waits(pid))
		poll(NULL, 0, 1);
}

static void fifo_make(void)
{
	mkfifo(fdt_at("fifo"), 0600);
	fdt_put(open(fdt_at("fifo"), O_RDONLY | O_NONBLOCK), 7);
}

static void rights_make(void)
{
	union {
		struct cmsghdr h;
		char buf[CMSG_SPACE(sizeof(int))];
	} u = { .h = { CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS } };
	struct iovec iov = { (char[]){ "x" }, 1 };
	struct msghdr msg = { .msg_iov = &iov,
			      .msg_iovlen = 1,
			      .msg_control = &u,
			      .msg_controllen = sizeof(u) };

	fdt_pair(SOCK_STREAM, 7, 8);
	*(int *)CMSG_DATA(&u.h) = 7;
	CHECK(sendmsg(8, &msg, 0) == 1);
}

static void outside_pipe_make(void)
{
	int p[2];

	CHECK(pipe(p) == 0);
	fdt_put(p[0], 7);
	fdt_put(p[1], 8);
	fork_holder();
	close(8);
}

static void outside_unix_make(void)
{
	fdt_pair(SOCK_STREAM, 7, 8);
	fork_holder();
	close(8);
}

static void one_way_make(void)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	socklen_t n = sizeof(sun);

	/* an abstract name that the kernel chooses */
	fdt_put(socket(AF_UNIX, SOCK_DGRAM, 0), 7);
	fdt_put(socket(AF_UNIX, SOCK_DGRAM, 0), 8);
	CHECK(bind(8, (struct sockaddr *)&sun, sizeof(sa_family_t)) == 0);
	CHECK(getsockname(8, (struct sockaddr *)&sun, &n) == 0);
	CHECK(connect(7, (struct sockaddr *)&sun, n) == 0);
}

static void netlink_make(void)
{
	fdt_put(socket(AF_NETLINK, SOCK_RAW, 0), 7);
}

static void other_netns_make(void)
{
	fdt_put(open("/proc/self/ns/net", O_RDONLY), 7);
	CHECK(unshare(CLONE_NEWNET) == 0);
}

static void other_ns_make(void)
{
	fdt_put(open("/proc/self/ns/uts", O_RDONLY), 7);
}

static void nothing(void)
{
}

static void refused(void **state)
{
	static const struct {
		void (*make)(void);
		int code;
		const char *text;
	} all[] = {
		{ held_make, -ENOTSUP, "fd 7: deleted file /tmp/stint-test" },
		{ held_make, -ENOTSUP, "has open as well" },
		{ huge_make, -ENOTSUP, "fd 7: deleted file of 68157440 bytes" },
		{ hidden_make, -ENOTSUP, "was replaced by another file" },
		{ uring_make, -ENOTSUP, "fd 7: io_uring instance" },
		{ inotify_make, -ENOTSUP, "fd 7: inotify" },
		{ tty_make, -ENOTSUP, "fd 7: device /dev/" },
		{ posix_lock_make, -ENOTSUP,
		  "fcntl(F_SETLK) of a file that process" },
		{ awaited_make, -ENOTSUP, "fd 7: another process waits" },
		{ lease_make, -ENOTSUP, "fd 7: lease" },
		{ fifo_make, -ENOTSUP, "fd 7: named pipe" },
		{ rights_make, -EAGAIN, "fd 7: descriptors are being passed" },
		{ outside_pipe_make, -ENOTSUP,
		  "fd 7: pipe whose other end is outside" },
		{ outside_unix_make, -ENOTSUP,
		  "fd 7: unix socket whose other end is outside" },
		{ one_way_make, -ENOTSUP,
		  "fd 7: unix socket connected one way" },
		{ netlink_make, -ENOTSUP, "fd 7: netlink socket" },
		{ other_netns_make, -ENOTSUP,
		  "fd 7: a network namespace that the process is not in" },
		{ other_ns_make, -ENOTSUP, "fd 7: uts:[" },
	};
	struct fdt_case c = { .verify = nothing };

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		c.make = all[i].make;
		fdt_refused(&c, all[i].code, all[i].text);
	}
}

/* ---- pipes so large that only a privileged process can make them ---- */

#define LARGE (1 << 30) /* more than fs.pipe-max-size */

static void small_make(void)
{
	int p[2];

	CHECK(pipe(p) == 0 && write(p[1], "abc", 3) == 3);
	fdt_put(p[0], 7);
	fdt_put(p[1], 8);
}

static void small_verify(void)
{
	char buf[8];

	CHECK(read(7, buf, sizeof(buf)) == 3 && !memcmp(buf, "abc", 3));
	CHECK(write(8, "d", 1) == 1 && read(7, buf, 1) == 1 && *buf == 'd');
}

static void full_make(void)
{
	static char bytes[300000];

	small_make();
	CHECK(fcntl(8, F_SETPIPE_SZ, 1 << 20) == 1 << 20);
	CHECK(write(8, bytes, sizeof(bytes)) == sizeof(bytes));
}

/*
 * Take the capability to exceed limits (CAP_SYS_RESOURCE) away, or give it
 * back.
 */
static void use_resources(bool on)
{
	struct __user_cap_header_struct head = { _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct cap[2];
	uint32_t bit = 1u << CAP_SYS_RESOURCE;

	assert_int_equal(syscall(SYS_capget, &head, cap), 0);
	cap[0].effective = on ? cap[0].permitted : cap[0].effective & ~bit;
	assert_int_equal(syscall(SYS_capset, &head, cap), 0);
}

/* Restore as if the pipe had been so large at the source. */
static int restore_large(const struct fdt_case *c, char *report, size_t size)
{
	unsigned char *blob;
	Fds__Set *set;
	size_t n;
	int status;

	fdt_capture(c, &blob, &n);
	set = fds__set__unpack(NULL, n, blob);
	assert_non_null(set);
	assert_int_equal(set->n_pipe, 1);
	set->pipe[0]->size = LARGE;
	free(blob);
	n = fds__set__get_packed_size(set);
	blob = malloc(n);
	assert_non_null(blob);
	fds__set__pack(set, blob);
	fds__set__free_unpacked(set, NULL);
	status = fdt_restore(c, blob, n, report, size);
	free(blob);
	return status;
}

static void large_pipe(void **state)
{
	const struct fdt_case fits = { small_make, small_verify };
	const struct fdt_case full = { full_make, small_verify };
	char report[512] = "";

	use_resources(false);
	assert_int_equal(restore_large(&fits, report, sizeof(report)), 0);
	assert_int_not_equal(restore_large(&full, report, sizeof(report)), 0);
	use_resources(true);
	assert_non_null(strstr(report, "too many pipes"));
}

static void open_and_close(void)
{
	close(open("/dev/null", O_RDONLY));
	close(eventfd(0, 0));
	for (int fd = 100; fd < 140; fd++)
		CHECK(dup2(0, fd) == fd);
	for (int fd = 100; fd < 140; fd++)
		close(fd);
}

/* A descriptor that is open only for a moment is no reason to refuse. */
static void passing_descriptors(void **state)
{
	struct error err = ERROR_INIT;
	struct move_external none[1];
	pid_t pid = fork_to_end_with();

	if (pid == 0) {
		fdt_put(open("/dev/null", O_RDONLY), 0);
		close_range(1, ~0u, 0);
		for (;;)
			open_and_close();
	}
	poll(NULL, 0, 20);
	for (int i = 0; i < 2000; i++) {
		if (fds_check(pid, none, 0, NULL, &err) < 0)
			fail_msg("look %d: %s", i, err.text);
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void direct_make(void)
{
	fdt_put(open(fdt_at("direct"), O_RDONLY | O_CREAT | O_DIRECT, 0600), 7);
}

static void direct_write_make(void)
{
	fdt_put(open(fdt_at("direct"), O_WRONLY | O_CREAT | O_DIRECT, 0600), 7);
}

/* A process whose writes are tracked may not read by direct I/O. */
static int look_direct(void (*make)(void), bool *reads, struct error *err)
{
	struct fds_source *s;
	uint8_t *told = NULL;
	pid_t pid = fork_to_end_with();
	int pidfd, status, r;
	size_t n;

	if (pid == 0) {
		close_range(0, ~0u, 0);
		make();
		raise(SIGSTOP);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
	pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	r = fds_prepare(pid, pidfd, NULL, 0, NULL, &s, err);
	if (r < 0)
		fail_msg("%s", err->text);
	*reads = fds_reads_direct(s);
	fds_forbid_direct(s);
	r = fds_look(s, false, &told, &n, err);
	free(told);
	fds_source_destroy(s);
	close(pidfd);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return r;
}

static void direct_io(void **state)
{
	struct error err = ERROR_INIT;
	bool reads;

	assert_int_equal(look_direct(direct_make, &reads, &err), -EAGAIN);
	assert_non_null(strstr(err.text, "descriptor 7 was opened for direct"));
	assert_true(reads);
	assert_true(look_direct(direct_write_make, &reads, &err) >= 0);
	assert_false(reads);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(refused),
		cmocka_unit_test(passing_descriptors),
		cmocka_unit_test(large_pipe),
		cmocka_unit_test(direct_io),
	};

	fdt_scratch();
	return cmocka_run_group_tests_name("fdrefuse", tests, NULL, NULL);
}
