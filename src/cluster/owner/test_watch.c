/*
 * test_watch.c - sources of an owner that cannot be watched for a while
 *
 * A user has few inotify instances, and watches of inotify and epoll: the calls
 * that ask for them stand here in front of the libraries' own, and fail.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pty.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <utmpx.h>

#include <cmocka.h>

#include "cluster/owner/play.h"

static struct {
	bool instances, watches, polls; /* which of these calls fail */
	unsigned tries;			/* for an instance, while none is */
} lacks;

int inotify_init1(int flags)
{
	lacks.tries += lacks.instances;
	if (!lacks.instances)
		return (int)syscall(SYS_inotify_init1, flags);
	errno = EMFILE;
	return -1;
}

int inotify_add_watch(int fd, const char *path, uint32_t mask)
{
	if (!lacks.watches)
		return (int)syscall(SYS_inotify_add_watch, fd, path, mask);
	errno = ENOSPC;
	return -1;
}

int sd_event_add_io(sd_event *e, sd_event_source **ret, int fd, uint32_t events,
		    sd_event_io_handler_t fn, void *data)
{
	int (*real)(sd_event *, sd_event_source **, int, uint32_t,
		    sd_event_io_handler_t, void *) =
		(__typeof__(real))dlsym(RTLD_NEXT, "sd_event_add_io");

	return lacks.polls ? -ENOSPC : real(e, ret, fd, events, fn, data);
}

int sd_event_source_set_enabled(sd_event_source *s, int how)
{
	int (*real)(sd_event_source *, int) = (__typeof__(real))dlsym(
		RTLD_NEXT, "sd_event_source_set_enabled");

	return lacks.polls && how == SD_EVENT_ON ? -ENOSPC : real(s, how);
}

static int setup(void **state)
{
	memset(&lacks, 0, sizeof(lacks));
	return play_setup_lingering(state);
}

/* The user "ada" logs in at a terminal that has not been used for two hours. */
static void log_in(int *ret_keys, int *ret_shell)
{
	struct utmpx u = { .ut_type = USER_PROCESS, .ut_pid = getpid() };
	struct timespec now, times[2];
	char path[64];
	int fd = open(play_conf.utmp, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC,
		      0644);

	assert_int_equal(openpty(ret_keys, ret_shell, path, NULL, NULL), 0);
	clock_gettime(CLOCK_REALTIME, &now);
	now.tv_sec -= 2 * PLAY_LINGER / USEC_PER_SEC;
	times[0] = times[1] = now;
	assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
	snprintf(u.ut_line, sizeof(u.ut_line), "%.31s", path + strlen("/dev/"));
	snprintf(u.ut_user, sizeof(u.ut_user), "ada");
	assert_int_equal(write(fd, &u, sizeof(u)), sizeof(u));
	close(fd);
}

static void type(int keys, int shell)
{
	char buf[8];

	assert_int_equal(write(keys, "x\n", 2), 2);
	assert_true(read(shell, buf, sizeof(buf)) > 0);
}

/* input/event0, in the form of a pipe. */
static int make_device(void)
{
	char *dir = below("input"), *path = below("input/event0");
	int fd;

	assert_int_equal(mkdir(dir, 0700), 0);
	assert_int_equal(mkfifo(path, 0600), 0);
	fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	assert_true(fd >= 0);
	free(dir);
	free(path);
	return fd;
}

static void press(int key)
{
	assert_int_equal(write(key, "12345678", 8), 8);
}

static bool was_heard(int key)
{
	int n;

	assert_int_equal(ioctl(key, FIONREAD, &n), 0);
	return !n;
}

static unsigned lost(enum presence_cause cause)
{
	return play_owner->lost[cause];
}

/* All sources see somebody who is there. */
static void hears(int key, int keys, int shell)
{
	assert_false(is()->here);
	type(keys, shell);
	COMES(is()->here);
	assert_int_equal(is()->cause, PRESENCE_TERMINAL);
	press(key);
	COMES(was_heard(key));
	close(keys);
	close(shell);
	close(key);
}

static void begin_unwatched(void)
{
	play_begin("utmp input");
	play_settle();
	assert_int_equal(is()->cause, PRESENCE_UNREADABLE);
	assert_int_equal(lost(PRESENCE_TERMINAL),
			 1u << OWNER_UTMP | 1u << OWNER_TERMINALS);
	assert_int_equal(lost(PRESENCE_INPUT), 1u << OWNER_INPUT);
}

static void no_instance_is_left(void **state)
{
	int key = make_device(), keys, shell;
	unsigned first;

	log_in(&keys, &shell);
	lacks.instances = true;
	begin_unwatched();
	/* The source tries again, but not at once. */
	first = lacks.tries;
	assert_in_range(first, 3, 6);
	play_settle();
	assert_int_equal(lacks.tries, first);
	COMES(lacks.tries > first);
	assert_true(is()->here);
	lacks.instances = false;
	COMES(!is()->here);
	hears(key, keys, shell);
}

static void no_watch_is_left(void **state)
{
	int key = make_device(), keys, shell;

	log_in(&keys, &shell);
	lacks.watches = true;
	begin_unwatched();
	lacks.watches = false;
	COMES(!is()->here);
	hears(key, keys, shell);
}

/*
 * A descriptor that the loop cannot wait for is looked at regularly: no sign is
 * missed.
 */
static void no_poll_is_left(void **state)
{
	int key = make_device();

	play_begin("input");
	play_settle();
	for (unsigned i = 0; i < 4; i++) {
		lacks.polls = i == 1 || i == 2; /* while it rests */
		press(key);
		COMES(was_heard(key));
	}
	assert_int_equal(is()->cause, PRESENCE_INPUT);
	close(key);
}

static void no_poll_is_left_to_begin_with(void **state)
{
	int key = make_device(), keys, shell;

	log_in(&keys, &shell);
	play_begin("none");
	lacks.polls = true;
	set("sources", "utmp input");
	owner_reread(play_owner, &play_conf);
	hears(key, keys, shell);
}

#define STARVED(name) \
	cmocka_unit_test_setup_teardown(name, setup, play_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		STARVED(no_instance_is_left),
		STARVED(no_watch_is_left),
		STARVED(no_poll_is_left),
		STARVED(no_poll_is_left_to_begin_with),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
