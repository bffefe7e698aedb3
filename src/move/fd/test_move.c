/*
 * test_move.c - moving the descriptors of one small process, for tests
 */
#include "move/fd/test_move.h"
#include "core/test_fork.h"
#include <arpa/inet.h>
#include <netinet/in.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <net/if.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/scratch.h"
#include "core/xalloc.h"
#include "move/fdkit/source.h"

/*
 * A number that the cases do not use. The report is an external descriptor, so
 * it moves too. The restoring process has it at another number first.
 */
#define REPORT	     500
#define REPORT_ABOVE 600
#define EXTERNALS    8

void fdt_check(bool cond, const char *text, const char *file, int line)
{
	if (cond)
		return;
	dprintf(REPORT, "%s:%d: %s (errno %d)", file, line, text, errno);
	_exit(1);
}

void fdt_put(int fd, int number)
{
	CHECK(fd >= 0 && number >= 0);
	if (fd == number)
		return;
	CHECK(dup2(fd, number) == number);
	close(fd);
}

static char dir[SCRATCH_MAX];

void fdt_scratch(void)
{
	scratch_dir(dir, "/tmp");
}

const char *fdt_at(const char *name)
{
	static char path[2][128];
	static int i;

	i = !i;
	snprintf(path[i], sizeof(path[i]), "%s/%s", dir, name);
	return path[i];
}

void fdt_pair(int type, int a, int b)
{
	int s[2];

	CHECK(socketpair(AF_UNIX, type, 0, s) == 0);
	fdt_put(s[0], a);
	fdt_put(s[1], b);
}

void fdt_new_net(void)
{
	struct ifreq ifr = { .ifr_name = "lo" };
	int fd;

	CHECK(unshare(CLONE_NEWNET) == 0);
	fd = socket(AF_INET, SOCK_DGRAM, 0);
	ifr.ifr_flags = IFF_UP | IFF_RUNNING;
	CHECK(fd >= 0 && ioctl(fd, SIOCSIFFLAGS, &ifr) == 0);
	close(fd);
}

/* Close all but the report, which is at its number. */
static void clear_table(int report)
{
	dup2(report, REPORT);
	close_range(0, REPORT - 1, 0);
	close_range(REPORT + 1, ~0u, 0);
}

static void run_child(const struct fdt_case *c, int report)
{
	if (!c->nr_ext)
		clear_table(report);
	else
		dup3(report, REPORT, 0);
	close(report);
	if (c->net)
		fdt_new_net();
	c->make();
	raise(SIGSTOP);
	if (c->change) {
		c->change();
		raise(SIGSTOP);
	}
	c->verify();
	_exit(0);
}

struct fdt_child fdt_start(const struct fdt_case *c)
{
	struct fdt_child child;
	int report[2], status;

	assert_int_equal(pipe2(report, O_CLOEXEC), 0);
	child.pid = fork_to_end_with();
	assert_true(child.pid >= 0);
	if (child.pid == 0)
		run_child(c, report[1]);
	close(report[1]);
	child.report = report[0];
	child.pidfd = (int)syscall(SYS_pidfd_open, child.pid, 0);
	assert_int_equal(waitpid(child.pid, &status, WUNTRACED), child.pid);
	if (!WIFSTOPPED(status)) {
		char text[512] = "";

		(void)!read(child.report, text, sizeof(text) - 1);
		fail_msg("set-up failed: %s", text);
	}
	return child;
}

void fdt_end(struct fdt_child *child)
{
	kill(child->pid, SIGKILL);
	waitpid(child->pid, NULL, 0);
	close(child->pidfd);
	close(child->report);
}

static size_t list_externals(const struct fdt_case *c,
			     const struct fdt_child *child,
			     struct move_external *ext)
{
	struct stat st;

	assert_true(c->nr_ext < EXTERNALS);
	assert_int_equal(fstat(child->report, &st), 0);
	ext[0] = (struct move_external){ .name = "report",
					 .dev = st.st_dev,
					 .ino = st.st_ino };
	if (c->nr_ext)
		memcpy(&ext[1], c->ext, c->nr_ext * sizeof(*ext));
	return c->nr_ext + 1;
}

/*
 * What the destination has open early; the destinations are forks of this
 * process.
 */
static struct fds_early *early;

static int open_early(const struct fdt_case *c, struct fdt_child *child,
		      struct fds_source *s, struct error *err)
{
	uint8_t *paths;
	size_t n;
	int r = fds_look(s, true, &paths, &n, err), status;

	if (r < 0)
		return r;
	assert_int_equal(r, 1);
	r = fds_open_early(&early, paths, n, err);
	free(paths);
	fds_confirm(s, r == 0);
	kill(child->pid, SIGCONT);
	assert_int_equal(waitpid(child->pid, &status, WUNTRACED), child->pid);
	assert_true(WIFSTOPPED(status));
	return r;
}

/* What fds_queues() gives, and how much of it restoring has taken. */
static struct {
	bool on; /* all bytes of a queue come this way */
	uint8_t *data;
	size_t n, taken;
} later;

static int put_later(void *ctx, const void *p, size_t n, struct error *err)
{
	later.data = xrealloc(later.data, later.n + n);
	memcpy(later.data + later.n, p, n);
	later.n += n;
	return 0;
}

static int take_later(void *ctx, void *p, size_t n, struct error *err)
{
	CHECK(n <= later.n - later.taken);
	memcpy(p, later.data + later.taken, n);
	later.taken += n;
	return 0;
}

static int capture(const struct fdt_case *c, struct fdt_child *child,
		   struct fds_source **ret, unsigned char **blob, size_t *n,
		   struct error *err)
{
	static struct move_external ext[EXTERNALS];
	size_t nr = list_externals(c, child, ext);
	int r = fds_check(child->pid, ext, nr, NULL, err);

	if (!r)
		r = fds_prepare(child->pid, child->pidfd, ext, nr, NULL, ret,
				err);
	if (!r && later.on)
		(*ret)->later_least = 1;
	later.n = 0;
	if (!r && c->change)
		r = open_early(c, child, *ret, err);
	if (!r)
		r = fds_drain(*ret, 5000, err);
	if (!r)
		r = fds_capture(*ret, blob, n, err);
	return r < 0 ? r : fds_queues(*ret, put_later, NULL, err);
}

static void read_report(int fd, char *text, size_t size)
{
	ssize_t n = read(fd, text, size - 1);

	text[n > 0 ? n : 0] = '\0';
}

static int give_external(void *ctx, const char *name, int *ret_far,
			 struct error *err)
{
	const struct fdt_case *c = ctx;

	if (!strcmp(name, "report"))
		return dup(REPORT_ABOVE);
	if (!c->ops)
		return error_set(err, -ENOENT, "no external %s", name);
	return c->ops->external(NULL, name, ret_far, err);
}

static void run_restored(const struct fdt_case *c, const void *blob, size_t n,
			 int report)
{
	const struct fds_restore_ops ops = { give_external, .queue = take_later,
					     .early = early };
	struct error err = ERROR_INIT;
	int reserved = REPORT_ABOVE;
	struct fds_restored *r;

	dup2(report, REPORT);
	dup2(report, REPORT_ABOVE);
	if (c->net)
		fdt_new_net();
	if (fds_unpack(blob, n, &r, &err) < 0 ||
	    fds_restore(r, &ops, (void *)c, &reserved, 1, &err) < 0 ||
	    later.taken != later.n || fds_activate(r, &err) < 0) {
		dprintf(REPORT_ABOVE, "restore: %s", err.text);
		_exit(2);
	}
	fds_restored_destroy(r);
	fds_early_destroy(early);
	close(REPORT_ABOVE);
	c->verify();
	_exit(0);
}

int fdt_restore(const struct fdt_case *c, const void *blob, size_t n,
		char *report, size_t size)
{
	int fd[2], status;
	pid_t pid;

	assert_int_equal(pipe2(fd, O_CLOEXEC), 0);
	pid = fork_to_end_with();
	assert_true(pid >= 0);
	if (pid == 0)
		run_restored(c, blob, n, fd[1]);
	close(fd[1]);
	read_report(fd[0], report, size);
	close(fd[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

void fdt_move(const struct fdt_case *c)
{
	struct error err = ERROR_INIT;
	struct fdt_child child = fdt_start(c);
	struct fds_source *s;
	unsigned char *blob, *paths;
	char text[1024];
	size_t n, n_paths;
	int root = open("/", O_PATH | O_CLOEXEC), status;

	if (capture(c, &child, &s, &blob, &n, &err) < 0)
		fail_msg("capture: %s", err.text);
	fds_paths(s, &paths, &n_paths);
	/* if it comes later, files may have been renamed */
	if ((!c->change &&
	     fds_check_dest(root, paths, n_paths, NULL, &err) < 0) ||
	    fds_finish(s, &err) < 0)
		fail_msg("%s", err.text);
	fds_source_destroy(s);
	status = fdt_restore(c, blob, n, text, sizeof(text));
	fds_early_destroy(early);
	early = NULL;
	fdt_end(&child);
	close(root);
	free(blob);
	free(paths);
	if (status)
		fail_msg("moved: %s (status %x)", text, (unsigned)status);
}

void fdt_abort(const struct fdt_case *c)
{
	struct error err = ERROR_INIT;
	struct fdt_child child = fdt_start(c);
	struct fds_source *s;
	unsigned char *blob;
	char text[1024];
	size_t n;
	int status;

	if (capture(c, &child, &s, &blob, &n, &err) < 0)
		fail_msg("capture: %s", err.text);
	fds_source_destroy(s);
	free(blob);
	kill(child.pid, SIGCONT);
	read_report(child.report, text, sizeof(text));
	assert_int_equal(waitpid(child.pid, &status, 0), child.pid);
	close(child.pidfd);
	close(child.report);
	if (status)
		fail_msg("given up: %s (status %x)", text, (unsigned)status);
}

void fdt_capture(const struct fdt_case *c, unsigned char **ret, size_t *ret_n)
{
	struct error err = ERROR_INIT;
	struct fdt_child child = fdt_start(c);
	struct fds_source *s;

	if (capture(c, &child, &s, ret, ret_n, &err) < 0)
		fail_msg("capture: %s", err.text);
	fds_source_destroy(s);
	fdt_end(&child);
}

void fdt_refused(const struct fdt_case *c, int code, const char *text)
{
	struct error err = ERROR_INIT;
	struct fdt_child child = fdt_start(c);
	struct fds_source *s = NULL;
	unsigned char *blob;
	size_t n;
	int r = capture(c, &child, &s, &blob, &n, &err);

	if (r != code)
		fail_msg("%d instead of %d (%s): %s", r, code, text, err.text);
	if (!strstr(err.text, text))
		fail_msg("\"%s\" does not say \"%s\"", err.text, text);
	if (s)
		fds_source_destroy(s);
	fdt_end(&child);
}

void fdt_both(const struct fdt_case *c)
{
	fdt_move(c);
	later.on = true;
	if (c->net)
		fdt_move(c);
	fdt_abort(c);
	later.on = false;
}

int fdt_get(int fd, int level, int name)
{
	socklen_t n = sizeof(int);
	int v;

	CHECK(getsockopt(fd, level, name, &v, &n) == 0);
	return v;
}

void fdt_set(int fd, int level, int name, int v)
{
	CHECK(setsockopt(fd, level, name, &v, sizeof(v)) == 0);
}

socklen_t fdt_address(const char *text, struct sockaddr_storage *ss)
{
	struct sockaddr_in *in = (void *)ss;
	struct sockaddr_in6 *in6 = (void *)ss;

	memset(ss, 0, sizeof(*ss));
	if (inet_pton(AF_INET, text, &in->sin_addr) == 1) {
		ss->ss_family = AF_INET;
		return sizeof(*in);
	}
	CHECK(inet_pton(AF_INET6, text, &in6->sin6_addr) == 1);
	ss->ss_family = AF_INET6;
	return sizeof(*in6);
}
