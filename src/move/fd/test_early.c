/*
 * test_early.c - files that the destination opens before the freeze, and what
 * happens to them before it
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "move/fd/test_move.h"
#include "move/fdkit/source.h"
#include "move/wire/fds.pb-c.h"

/* Open a new file with that content, its own name, at that number. */
static void put(const char *name, int flags, int number)
{
	fdt_put(open(fdt_at(name), O_RDWR | O_CREAT | O_TRUNC, 0600), 400);
	CHECK(write(400, name, strlen(name)) == (ssize_t)strlen(name));
	close(400);
	fdt_put(open(fdt_at(name), flags), number);
}

static bool holds(int fd, const char *text)
{
	char buf[64];
	ssize_t n = pread(fd, buf, sizeof(buf), 0);

	return n == (ssize_t)strlen(text) && !memcmp(buf, text, (size_t)n);
}

static bool is_one(int a, int b)
{
	off_t was = lseek(a, 0, SEEK_CUR);
	bool one = lseek(b, was + 7, SEEK_SET) == was + 7 &&
		   lseek(a, 0, SEEK_CUR) == was + 7;

	return one && lseek(a, was, SEEK_SET) == was;
}

static void make(void)
{
	put("still", O_RDWR, 10);
	put("moved", O_RDWR, 11);
	put("renamed", O_RDWR, 12);
	put("replaced", O_RDWR, 13);
	put("closed", O_RDWR, 14);
	put("reopened", O_RDWR, 15);
	put("other", O_RDWR, 16);
	put("deleted", O_RDWR, 17);
	put("cut", O_RDONLY, 18);
	put("dup", O_RDWR, 19);
	put("single", O_RDWR, 20);
	fdt_put(dup(20), 21);
	put("flags", O_RDWR, 22);
	put("cloexec", O_RDWR | O_CLOEXEC, 23);
	put("swap1", O_RDWR, 24);
	put("swap2", O_RDWR, 25);
	put("lowest", O_RDWR, 26);
	fdt_put(dup(26), 27);
	put("above", O_RDONLY, 28);
	fdt_put(open(fdt_at("."), O_RDONLY | O_DIRECTORY), 29);
}

static void change(void)
{
	CHECK(lseek(11, 3, SEEK_SET) == 3);
	/* only the descriptor that is open early still leads to the file */
	CHECK(rename(fdt_at("renamed"), fdt_at("elsewhere")) == 0);
	put("new", O_RDWR, 30);
	CHECK(rename(fdt_at("replaced"), fdt_at("kept")) == 0);
	put("replaced", O_RDONLY, 31);
	close(14);
	close(15);
	fdt_put(open(fdt_at("reopened"), O_RDONLY), 15);
	close(16);
	put("another", O_RDWR, 16);
	CHECK(unlink(fdt_at("deleted")) == 0);
	CHECK(truncate(fdt_at("cut"), 1) == 0);
	fdt_put(dup(19), 32);
	close(21); /* no duplicate any more, but a description of its own */
	fdt_put(open(fdt_at("single"), O_RDWR), 21);
	CHECK(fcntl(22, F_SETFL, O_APPEND) == 0);
	CHECK(fcntl(23, F_SETFD, 0) == 0);
	fdt_put(dup(24), 40);
	fdt_put(dup(25), 24);
	fdt_put(dup(40), 25);
	close(40);
	close(26); /* the file is moved by its other number */
	/* above all that the destination has open by now */
	fdt_put(open(fdt_at("above"), O_RDONLY), 450);
	fdt_put(dup(28), 451);
}

static void verify(void)
{
	struct stat st;

	CHECK(holds(10, "still") && lseek(10, 0, SEEK_CUR) == 0);
	CHECK(holds(11, "moved") && lseek(11, 0, SEEK_CUR) == 3);
	CHECK(holds(12, "renamed") && pwrite(12, "R", 1, 0) == 1);
	CHECK(holds(30, "new"));
	CHECK(holds(13, "replaced") && holds(31, "replaced"));
	CHECK(pwrite(13, "R", 1, 0) == 1 && holds(31, "replaced"));
	CHECK(pwrite(13, "r", 1, 0) == 1);
	CHECK(fcntl(14, F_GETFD) < 0 && errno == EBADF);
	CHECK(holds(15, "reopened") && write(15, "x", 1) < 0);
	CHECK(holds(16, "another"));
	CHECK(holds(17, "deleted") && fstat(17, &st) == 0 && !st.st_nlink);
	CHECK(fstat(18, &st) == 0 && st.st_size == 1 && holds(18, "c"));
	CHECK(is_one(19, 32) && !is_one(20, 21));
	CHECK(fcntl(22, F_GETFL) & O_APPEND);
	CHECK(fcntl(23, F_GETFD) == 0);
	CHECK(holds(24, "swap2") && holds(25, "swap1"));
	CHECK(fcntl(26, F_GETFD) < 0 && holds(27, "lowest"));
	CHECK(is_one(28, 451) && !is_one(28, 450) && holds(450, "above"));
	CHECK(openat(29, "still", O_RDONLY) == 0); /* as the lowest free */
	for (int i = 512; i < 600; i++)		   /* where it was open early */
		CHECK(fcntl(i, F_GETFD) < 0);
	CHECK(rename(fdt_at("elsewhere"), fdt_at("renamed")) == 0);
}

static void changes(void **state)
{
	const struct fdt_case c = { .make = make,
				    .change = change,
				    .verify = verify };

	fdt_move(&c);
}

static void given_up(void **state)
{
	const struct fdt_case c = { .make = make,
				    .change = change,
				    .verify = verify };

	fdt_abort(&c);
}

/* ---- kinds of descriptors ---- */

static void file_make(void)
{
	close_range(0, ~0u, 0);
	fdt_put(open("/dev/null", O_RDONLY), 10);
}

static void timer_make(void)
{
	fdt_put(timerfd_create(CLOCK_MONOTONIC, 0), 11);
}

/* The kinds in paths, each with a comma after it; frees paths. */
static const char *kinds_in(uint8_t *paths, size_t n)
{
	static char text[64];
	Fds__Paths *m = fds__paths__unpack(NULL, n, paths);

	assert_non_null(m);
	*text = '\0';
	for (size_t i = 0; i < m->n_kind; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text),
			 "%s,", m->kind[i]);
	fds__paths__free_unpacked(m, NULL);
	free(paths);
	return text;
}

static const char *look(struct fds_source *s)
{
	struct error err = ERROR_INIT;
	uint8_t *paths;
	size_t n;
	int r = fds_look(s, false, &paths, &n, &err);

	if (r < 0)
		fail_msg("%s", err.text);
	return r ? kinds_in(paths, n) : "nothing";
}

static struct fds_source *prepare(const struct fdt_child *child)
{
	struct error err = ERROR_INIT;
	struct fds_source *s;

	if (fds_prepare(child->pid, child->pidfd, NULL, 0, NULL, &s, &err) < 0)
		fail_msg("%s", err.text);
	return s;
}

/* Let the process run on, only to make its change. */
static void let_change(const struct fdt_child *child)
{
	int status;

	kill(child->pid, SIGCONT);
	assert_int_equal(waitpid(child->pid, &status, WUNTRACED), child->pid);
}

/* A kind is told once, and again if the destination has not confirmed it. */
static void kinds_are_told(void **state)
{
	const struct fdt_case c = { file_make, .change = timer_make };
	struct fdt_child child = fdt_start(&c);
	struct fds_source *s;
	uint8_t *paths;
	size_t n;

	s = prepare(&child);
	fds_paths(s, &paths, &n);
	assert_string_equal(kinds_in(paths, n), "path,");
	assert_string_equal(look(s), "nothing");
	let_change(&child);
	assert_string_equal(look(s), "timerfd,");
	fds_confirm(s, false);
	assert_string_equal(look(s), "timerfd,");
	fds_confirm(s, true);
	assert_string_equal(look(s), "nothing");
	fds_paths(s, &paths, &n);
	assert_string_equal(kinds_in(paths, n), "path,timerfd,");
	fds_source_destroy(s);
	fdt_end(&child);
}

static void reno_make(void)
{
	int fd;

	close_range(0, ~0u, 0);
	fd = socket(AF_INET, SOCK_STREAM, 0);
	if (setsockopt(fd, SOL_TCP, TCP_CONGESTION, "reno", 4) < 0)
		_exit(1);
	fdt_put(fd, 12);
}

static void reno_close(void)
{
	close(12);
}

static size_t needs_told(struct fds_source *s)
{
	struct error err = ERROR_INIT;
	Fds__Paths *m;
	uint8_t *paths;
	size_t n, needs;
	int r = fds_look(s, true, &paths, &n, &err);

	if (r < 0)
		fail_msg("%s", err.text);
	if (!r)
		return 0;
	m = fds__paths__unpack(NULL, n, paths);
	assert_non_null(m);
	needs = m->n_need;
	fds__paths__free_unpacked(m, NULL);
	free(paths);
	return needs;
}

/* The needs of a socket that has been closed since cannot refuse a move. */
static void needs_go_with_their_sockets(void **state)
{
	const struct fdt_case c = { reno_make, .change = reno_close };
	struct fdt_child child = fdt_start(&c);
	struct fds_source *s;

	s = prepare(&child);
	assert_int_equal(needs_told(s), 1);
	fds_confirm(s, false);
	fds_source_destroy(s);
	s = prepare(&child);
	let_change(&child);
	assert_int_equal(needs_told(s), 0);
	fds_source_destroy(s);
	fdt_end(&child);
}

/* A connection to itself with four bytes that nobody has read. */
static void queue_make(void)
{
	struct sockaddr_in in = { .sin_family = AF_INET,
				  .sin_addr = { htonl(INADDR_LOOPBACK) } };
	socklen_t n = sizeof(in);
	int l, a, b;

	close_range(0, ~0u, 0);
	l = socket(AF_INET, SOCK_STREAM, 0);
	a = socket(AF_INET, SOCK_STREAM, 0);
	if (listen(l, 1) < 0 || getsockname(l, (void *)&in, &n) < 0)
		_exit(1);
	in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (connect(a, (void *)&in, n) < 0 || (b = accept(l, NULL, NULL)) < 0 ||
	    write(a, "1234", 4) != 4)
		_exit(1);
	close(l);
}

static void queue_read(void)
{
	char four[4];

	(void)!read(2, four, 4);
}

/*
 * Content that is too much for the freeze is known before it; the process may
 * read it meanwhile.
 */
static void too_much_in_queues(void **state)
{
	const struct fdt_case c = { queue_make, .change = queue_read };
	struct fdt_child child = fdt_start(&c);
	struct error err = ERROR_INIT;
	struct fds_source *s;
	uint8_t *paths;
	size_t n;

	s = prepare(&child);
	s->queued_most = 3;
	assert_int_equal(fds_look(s, false, &paths, &n, &err), -EAGAIN);
	assert_non_null(strstr(err.text, "its TCP connections hold"));
	let_change(&child);
	assert_string_equal(look(s), "nothing");
	fds_source_destroy(s);
	fdt_end(&child);
}

/* What a destination answers to a file and a descriptor of that kind. */
static int check_kind(char *kind, struct error *err)
{
	char file[] = "path", *names[] = { file, kind };
	Fds__Paths m = FDS__PATHS__INIT;
	int root = open("/", O_PATH | O_CLOEXEC), r;
	uint8_t blob[64];
	size_t n;

	m.version = 1;
	m.kind = names;
	m.n_kind = 2;
	n = fds__paths__pack(&m, blob);
	r = fds_check_dest(root, blob, n, NULL, err);
	close(root);
	return r;
}

static void unknown_kind(void **state)
{
	char known[] = "eventfd", field[] = "flags", later[] = "teapot";
	struct error err = ERROR_INIT;

	assert_int_equal(check_kind(known, &err), 0);
	assert_int_equal(check_kind(field, &err), -ENOTSUP);
	assert_non_null(strstr(err.text, "does not know yet: flags"));
	assert_int_equal(check_kind(later, &err), -ENOTSUP);
	assert_non_null(strstr(err.text, "does not know yet: teapot"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(changes),
		cmocka_unit_test(given_up),
		cmocka_unit_test(kinds_are_told),
		cmocka_unit_test(needs_go_with_their_sockets),
		cmocka_unit_test(too_much_in_queues),
		cmocka_unit_test(unknown_kind),
	};

	fdt_scratch();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
