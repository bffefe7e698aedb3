/*
 * moveone.c - the library in one page: a process is moved while it counts
 *
 *	cc moveone.c $(pkg-config --cflags --libs stint-move)
 *
 * Both ends of the move run on this host, joined by a pair of sockets; between
 * two hosts it would be a TCP connection under TLS, channel_tls_client() and
 * channel_tls_server().  The destination is a new pid namespace, in which the
 * process keeps its pid.  Needs root.  What each op must do: <move/move.h>.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <move/move.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static int out[2]; /* what the process writes to, and we read */
static pid_t process, init;

/* The process that is moved: it knows nothing of this. */
static void count(void)
{
	int null = open("/dev/null", O_RDWR);

	dup2(null, 0);
	dup2(out[1], 1);
	dup2(null, 2);
	close_range(3, ~0u, 0);
	setsid();
	for (int i = 1; i <= 20; i++, usleep(50000))
		dprintf(1, "%d ", i);
	_exit(42);
}

/* ---- the source ---- */

static int leave(int sock)
{
	struct stat st;
	struct move_report report;
	struct error err;
	struct move_external stdout_end = { .name = "stdout" };
	struct move_source_ops none = { .commit = NULL };
	struct move_source src = { .pid = process,
				   .epoch = 1,
				   .external = &stdout_end,
				   .nr_externals = 1,
				   .ops = &none };

	fstat(out[1], &st);
	stdout_end.dev = st.st_dev;
	stdout_end.ino = st.st_ino;
	if (move_send(&src, channel_from_fd(sock), &report, &err) < 0) {
		fprintf(stderr, "moveone: %s\n", err.text);
		return 1;
	}
	fprintf(stderr, "[it stood still for %.1f ms] ",
		(double)report.downtime / 1000);
	return 0;
}

/* ---- the destination ---- */

/* Pid 1 there: forks what lands, and ends as the process does. */
static int spawn(void *ctx, const void *arg, size_t n, const int *fds,
		 size_t nr_fds, struct error *err)
{
	int status;
	pid_t ended;

	init = fork();
	if (init < 0)
		return error_sys(err, -errno, "fork");
	if (init > 0)
		return 0;
	if (fork() == 0)
		_exit(move_land(arg, n, fds, nr_fds));
	while ((ended = wait(&status)) > 0)
		if (ended == process)
			_exit(WEXITSTATUS(status));
	_exit(1);
}

/* Its standard output there is the same pipe. */
static int external(void *ctx, const char *name, int *ret_far,
		    struct error *err)
{
	int fd = fcntl(out[1], F_DUPFD_CLOEXEC, 3);

	return fd < 0 ? error_sys(err, -errno, "%s", name) : fd;
}

static int arrive(int sock)
{
	struct move_dest_ops ops = { .spawn = spawn, .external = external };
	struct move_dest dst = { .ops = &ops };
	struct move_report report;
	struct error err;
	int status = 1;

	if (unshare(CLONE_NEWPID) < 0) {
		perror("moveone: a pid namespace (are you root?)");
		return 1;
	}
	if (move_receive(&dst, channel_from_fd(sock), &report, &err) < 0) {
		fprintf(stderr, "moveone: %s\n", err.text);
		return 1;
	}
	waitpid(init, &status, 0);
	return WEXITSTATUS(status);
}

int main(void)
{
	int sock[2], code;
	char text[256];
	ssize_t n;

	if (pipe(out) < 0 ||
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sock) < 0)
		return 1;
	if ((process = fork()) == 0)
		count();
	usleep(300000);
	if (fork() == 0) {
		close(sock[1]);
		_exit(leave(sock[0]));
	}
	close(sock[0]);
	code = arrive(sock[1]);
	close(out[1]);
	while ((n = read(out[0], text, sizeof(text))) > 0)
		fwrite(text, 1, (size_t)n, stdout);
	printf("and its status there was %d\n", code);
	while (wait(NULL) > 0)
		;
	return code != 42;
}
