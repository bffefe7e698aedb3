/* test_nursery.c - keepers are forked as they are ordered, each for itself */
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "cluster/keeper/nursery.h"
#include "core/io.h"
#include "core/packet.h"

/*
 * What a keeper of this test reports of itself, over the descriptor that it
 * got.
 */
struct word {
	int argc;
	char last[32];	  /* the last of its arguments */
	char cmdline[64]; /* as all processes see it */
	pid_t pid, session;
	bool reaps;	    /* does it get SIGCHLD of its children? */
	bool holds_sockets; /* does it hold sockets of the nursery? */
};

static int nursery_end; /* the number that it had */
static int nursery_null;

static int say(int argc, char **argv)
{
	struct word w = { .argc = argc, .pid = getpid(), .session = getsid(0) };
	struct sigaction chld;
	char *text;
	ssize_t n = io_read_file(AT_FDCWD, "/proc/self/cmdline", 4096, &text);

	if (n < 0 || argv[argc])
		return 1;
	memcpy(w.cmdline, text, (size_t)n < 63 ? (size_t)n : 63);
	strncpy(w.last, argv[argc - 1], sizeof(w.last) - 1);
	sigaction(SIGCHLD, NULL, &chld);
	w.reaps = chld.sa_handler == SIG_DFL;
	w.holds_sockets = fcntl(nursery_end, F_GETFD) >= 0;
	if (io_write_full(NURSERY_READY, &w, sizeof(w)) < 0)
		return 1;
	/* As a keeper does; the number stays taken. */
	if (dup2(nursery_null, NURSERY_READY) < 0)
		return 1;
	if (!strcmp(argv[argc - 1], "crash"))
		abort();
	return !strcmp(argv[argc - 1], "rest") ? NURSERY_RESTS : 0;
}

struct nursery_test {
	int sock;
	pid_t pid;
};

static int set_up(void **state)
{
	static struct nursery_test t;
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return -1;
	/*
	 * At a number that keepers do not use themselves, so that it shows if
	 * they leave it open.
	 */
	nursery_end = fcntl(pair[1], F_DUPFD_CLOEXEC, 100);
	nursery_null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	t.sock = pair[0];
	t.pid = fork();
	if (!t.pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(pair[0]);
		close(pair[1]);
		nursery_serve(nursery_end, say);
		_exit(0);
	}
	close(pair[1]);
	close(nursery_end);
	*state = &t;
	return t.pid < 0 ? -1 : 0;
}

/* The nursery ends when its agent does: nobody tells it to. */
static int tear_down(void **state)
{
	struct nursery_test *t = *state;
	int status;

	close(t->sock);
	return waitpid(t->pid, &status, 0) == t->pid && !status ? 0 : -1;
}

/* Order a keeper; returns our end of the pipe that it writes its word to. */
static int order(const struct nursery_test *t, const char *words, size_t n)
{
	int fds[2];

	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	assert_int_equal(packet_send(t->sock, words, n, &fds[1], 1), 0);
	close(fds[1]);
	return fds[0];
}

static void forks_what_is_ordered(void **state)
{
	static const char words[] = "stint\0keeper\0001.0\0--last=1";
	struct nursery_test *t = *state;
	struct word w;
	int fd = order(t, words, sizeof(words));

	assert_int_equal(io_read_full(fd, &w, sizeof(w)), 0);
	assert_int_equal(w.argc, 4);
	assert_string_equal(w.last, "--last=1");
	assert_memory_equal(w.cmdline, words, sizeof(words));
	assert_int_not_equal(w.pid, t->pid);
	assert_true(w.reaps);
	assert_false(w.holds_sockets);
	close(fd);
}

static void outlives_a_crash_and_nonsense(void **state)
{
	static const char crash[] = "stint\0crash", good[] = "stint\0good";
	struct nursery_test *t = *state;
	struct word w;
	char c;
	int fd = order(t, crash, sizeof(crash));

	assert_int_equal(io_read_full(fd, &w, sizeof(w)), 0);
	close(fd);
	/* An order without a zero at its end; one without a descriptor. */
	fd = order(t, "stint", 5);
	assert_int_equal(read(fd, &c, 1), 0);
	close(fd);
	assert_int_equal(packet_send(t->sock, good, sizeof(good), NULL, 0), 0);
	fd = order(t, good, sizeof(good));
	assert_int_equal(io_read_full(fd, &w, sizeof(w)), 0);
	assert_string_equal(w.last, "good");
	assert_int_equal(w.session, t->pid); /* until it makes its own */
	close(fd);
}

/* Who carries it out. */
static struct word ask(const struct nursery_test *t, const char *words,
		       size_t n)
{
	struct word w;
	int fd = order(t, words, n);

	assert_int_equal(io_read_full(fd, &w, sizeof(w)), 0);
	close(fd);
	return w;
}

/* Keepers of a few orders like these, until one of them had one before. */
static bool comes_again(const struct nursery_test *t, const char *words,
			size_t n)
{
	enum { TRIES = 100 };
	pid_t pids[TRIES];

	for (int i = 0; i < TRIES; i++) {
		pids[i] = ask(t, words, n).pid;
		for (int k = 0; k < i; k++)
			if (pids[k] == pids[i])
				return true;
		/* It has said its word, and may not have come to rest. */
		poll(NULL, 0, 10);
	}
	return false;
}

static void one_that_rests_is_ordered_again(void **state)
{
	static const char rests[] = "stint\0keeper\0001.0\0--for=a\0rest";
	static const char ends[] = "stint\0keeper\0001.0\0--for=a\0end";
	struct nursery_test *t = *state;

	assert_true(comes_again(t, rests, sizeof(rests)));
	assert_false(comes_again(t, ends, sizeof(ends)));
}

static void only_for_the_same_words(void **state)
{
	static const char of_a[] = "stint\0keeper\0001.0\0--for=a\0rest";
	static const char next[] = "stint\0keeper\00022.1\0--for=a\0rest";
	static const char of_b[] = "stint\0keeper\00022.1\0--for=b\0rest";
	static const char more[] = "stint\0keeper\00022.1\0--for=a\0-x\0rest";
	struct nursery_test *t = *state;
	enum { TRIES = 100 };
	pid_t a[TRIES];
	struct word w;
	bool again = false;

	for (int n = 0; n < TRIES && !again; n++) {
		a[n] = ask(t, of_a, sizeof(of_a)).pid;
		poll(NULL, 0, 10);
		w = ask(t, of_b, sizeof(of_b));
		for (int i = 0; i <= n; i++)
			assert_int_not_equal(w.pid, a[i]);
		w = ask(t, more, sizeof(more));
		for (int i = 0; i <= n; i++)
			assert_int_not_equal(w.pid, a[i]);
		w = ask(t, next, sizeof(next));
		again = w.pid == a[n];
	}
	assert_true(again);
	assert_memory_equal(w.cmdline, next, sizeof(next));
}

static bool shows(pid_t pid, const char *words, size_t n)
{
	char path[64], *text;
	ssize_t got;
	bool is;

	snprintf(path, sizeof(path), "/proc/%d/cmdline", pid);
	got = io_read_file(AT_FDCWD, path, 4096, &text);
	if (got < 0)
		return false;
	is = (size_t)got == n && !memcmp(text, words, n);
	free(text);
	return is;
}

static void rests_no_longer_than_its_nursery(void **state)
{
	static const char rests[] = "stint\0keeper\0001.0\0rest";
	static const char at_rest[] = NURSERY_AT_REST;
	struct nursery_test *t = *state;
	pid_t pid = ask(t, rests, sizeof(rests)).pid;
	int fd = pidfd_open(pid, 0), status;
	struct pollfd p = { .fd = fd, .events = POLLIN };

	assert_true(fd >= 0);
	for (int i = 0; i < 300 && !shows(pid, at_rest, sizeof(at_rest)); i++)
		poll(NULL, 0, 10);
	assert_true(shows(pid, at_rest, sizeof(at_rest)));
	assert_int_equal(poll(&p, 1, 0), 0);
	kill(t->pid, SIGKILL);
	waitpid(t->pid, &status, 0);
	/* Less than it would rest by itself. */
	assert_int_equal(poll(&p, 1, 4000), 1);
	close(fd);
}

static int tear_down_killed(void **state)
{
	const struct nursery_test *t = *state;

	close(t->sock);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(forks_what_is_ordered, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(outlives_a_crash_and_nonsense,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(one_that_rests_is_ordered_again,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(only_for_the_same_words, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(
			rests_no_longer_than_its_nursery, set_up,
			tear_down_killed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
