/*
 * test_owner.c - what sources see of an owner
 *
 * The terminals are real ones; input devices are pipes, the battery is files.
 * Time is not waited for, but where a source rests.
 */
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
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utmpx.h>

#include <cmocka.h>

#include "cluster/owner/play.h"
#include "core/io.h"

#define HOUR PLAY_LINGER

static void make_dir(const char *name)
{
	char *path = below(name);

	assert_int_equal(mkdir(path, 0700), 0);
	free(path);
}

/* ---- terminals and utmp ---- */

struct terminal_pair {
	int keys, shell;
	char line[64];
};

static void open_terminal(struct terminal_pair *t, usec_t idle)
{
	struct timespec now, times[2];
	char path[64];

	assert_int_equal(openpty(&t->keys, &t->shell, path, NULL, NULL), 0);
	snprintf(t->line, sizeof(t->line), "%s", path + strlen("/dev/"));
	clock_gettime(CLOCK_REALTIME, &now);
	now.tv_sec -= idle / USEC_PER_SEC;
	times[0] = times[1] = now;
	assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static void close_terminal(struct terminal_pair *t)
{
	close(t->keys);
	close(t->shell);
}

static void type(struct terminal_pair *t)
{
	char buf[8];

	assert_int_equal(write(t->keys, "x\n", 2), 2);
	assert_true(read(t->shell, buf, sizeof(buf)) > 0);
}

static void log_in(short what, pid_t pid, const char *line, const char *host)
{
	struct utmpx u = { .ut_type = what, .ut_pid = pid };
	int fd = open(play_conf.utmp, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC,
		      0644);

	snprintf(u.ut_line, sizeof(u.ut_line), "%s", line);
	snprintf(u.ut_user, sizeof(u.ut_user), "ada");
	snprintf(u.ut_host, sizeof(u.ut_host), "%s", host);
	assert_int_equal(write(fd, &u, sizeof(u)), sizeof(u));
	close(fd);
}

static pid_t dead_pid(void)
{
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	return pid;
}

static void who_types_is_there(void **state)
{
	struct terminal_pair t;

	play_begin("utmp");
	play_settle();
	assert_false(is()->here);
	assert_int_equal(owner_logged_in(play_owner), 0);
	open_terminal(&t, 2 * HOUR);
	log_in(USER_PROCESS, getpid(), t.line, "");
	COMES(owner_logged_in(play_owner) == 1);
	/* Nothing has been typed for two hours. */
	assert_false(is()->here);
	assert_in_range(owner_now() - is()->idle_since, 2 * HOUR,
			2 * HOUR + HOUR / 2);
	/* Output of programs is no sign of an owner. */
	assert_int_equal(write(t.shell, "y\n", 2), 2);
	play_settle();
	assert_false(is()->here);
	type(&t);
	play_settle(); /* it needs no time at all */
	assert_true(is()->here);
	assert_int_equal(is()->cause, PRESENCE_TERMINAL);
	assert_string_equal(is()->who, "ada");
	assert_int_equal(play_owner->uids.nr, 1);
	assert_int_equal(play_owner->uids.uid[0], geteuid());
	assert_int_equal(play_changes, 1);
	close_terminal(&t);
	play_settle();
}

static void a_session_from_elsewhere_is_not_the_owners(void **state)
{
	struct terminal_pair t;

	open_terminal(&t, 2 * HOUR);
	log_in(USER_PROCESS, getpid(), t.line, "elsewhere");
	play_begin("utmp");
	assert_int_equal(owner_logged_in(play_owner), 1);
	type(&t);
	play_settle();
	assert_false(is()->here);
	play_end();
	/* Users who come by ssh count only if the setting names ssh, */
	assert_int_equal(owner_conf_set(&play_conf, "who", "ssh", NULL), 0);
	play_begin(NULL);
	assert_true(is()->here);
	play_end();
	/* ... and a list of users only counts those on it. */
	assert_int_equal(owner_conf_set(&play_conf, "users", "bob, adam", NULL),
			 0);
	play_begin(NULL);
	assert_false(is()->here);
	play_end();
	assert_int_equal(owner_conf_set(&play_conf, "users", "bob,ada", NULL),
			 0);
	play_begin(NULL);
	assert_true(is()->here);
	close_terminal(&t);
}

static void entries_that_are_none(void **state)
{
	struct terminal_pair t;

	open_terminal(&t, 0);
	log_in(USER_PROCESS, dead_pid(), t.line, "");
	log_in(DEAD_PROCESS, getpid(), t.line, "");
	log_in(USER_PROCESS, getpid(), "../etc/passwd", "");
	log_in(USER_PROCESS, getpid(), "", "");
	play_begin("utmp");
	assert_int_equal(owner_logged_in(play_owner), 2);
	assert_false(is()->here);
	/* Half an entry, as seen while login writes it. */
	assert_int_equal(truncate(play_conf.utmp, 100), 0);
	COMES(owner_logged_in(play_owner) == 0);
	/* Somebody who is about to log in. */
	assert_int_equal(truncate(play_conf.utmp, 0), 0);
	log_in(LOGIN_PROCESS, getpid(), t.line, "");
	COMES(is()->here);
	assert_int_equal(owner_logged_in(play_owner), 0);
	close_terminal(&t);
}

static void a_list_that_vanishes(void **state)
{
	play_begin("utmp");
	play_settle();
	assert_false(is()->here);
	put("utmp", "");
	play_settle();
	assert_false(is()->here);
	assert_int_equal(unlink(play_conf.utmp), 0);
	COMES(is()->here);
	assert_int_equal(is()->cause, PRESENCE_UNREADABLE);
	assert_int_equal(is()->lost, PRESENCE_TERMINAL);
	put("utmp", "");
	COMES(!is()->here);
}

/* A terminal's time was taken from a clock that may have been set since. */
static void a_terminal_used_in_the_future(void **state)
{
	struct terminal_pair t;

	open_terminal(&t, -10 * HOUR);
	log_in(USER_PROCESS, getpid(), t.line, "");
	play_begin("utmp");
	assert_true(is()->here);
	close_terminal(&t);
}

/* ---- input ---- */

static int make_device(const char *name)
{
	char *path = below(name);
	int fd;

	assert_int_equal(mkfifo(path, 0600), 0);
	fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	assert_true(fd >= 0);
	free(path);
	return fd;
}

static int unread(int fd)
{
	int n;

	assert_int_equal(ioctl(fd, FIONREAD, &n), 0);
	return n;
}

static void who_touches_a_key_is_there(void **state)
{
	int key, mouse;

	make_dir("input");
	key = make_device("input/event0");
	put("input/mice", "");
	play_begin("input");
	play_settle();
	assert_false(is()->here);
	assert_int_equal(write(key, "12345678", 8), 8);
	play_settle();
	assert_true(is()->here);
	assert_int_equal(is()->cause, PRESENCE_INPUT);
	assert_int_equal(unread(key), 0);
	/* A thousand key strokes a second do not cause a thousand looks. */
	assert_int_equal(write(key, "12345678", 8), 8);
	play_settle();
	assert_int_equal(unread(key), 8);
	COMES(!unread(key));
	assert_int_equal(play_changes, 1);
	/* A device that is plugged in later. */
	mouse = make_device("input/event7");
	assert_int_equal(write(mouse, "12345678", 8), 8);
	COMES(!unread(mouse));
	close(mouse);
	close(key);
	play_settle();
}

static void named_users_have_no_keys_of_their_own(void **state)
{
	int key;

	make_dir("input");
	key = make_device("input/event0");
	assert_int_equal(owner_conf_set(&play_conf, "users", "ada", NULL), 0);
	play_begin("input");
	assert_int_equal(write(key, "12345678", 8), 8);
	play_settle();
	assert_false(is()->here);
	close(key);
}

/* ---- power ---- */

static void on_its_battery_a_host_is_its_owners(void **state)
{
	make_dir("power");
	make_dir("power/AC");
	make_dir("power/BAT0");
	make_dir("power/mouse");
	put("power/AC/type", "Mains\n");
	put("power/AC/online", "0\n");
	put("power/BAT0/type", "Battery\n");
	put("power/BAT0/status", "Full\n");
	put("power/mouse/type", "Battery\n");
	put("power/mouse/scope", "Device\n");
	put("power/mouse/status", "Discharging\n");
	play_begin("power");
	play_settle();
	assert_false(is()->here);
	put("power/BAT0/status", "Discharging\n");
	COMES(is()->here);
	assert_int_equal(is()->cause, PRESENCE_POWER);
	put("power/AC/online", "1\n");
	COMES(!is()->here);
	play_end();
	assert_int_equal(unlinkat(AT_FDCWD, play_conf.power, 0) ? errno : 0,
			 EISDIR);
	play_begin(NULL);
	play_settle();
	assert_false(is()->here);
}

/* ---- settings ---- */

/*
 * A user who is added to the list counts from now on, not only from the next
 * login.
 */
static void who_counts_is_read_again(void **state)
{
	struct terminal_pair t;

	open_terminal(&t, 2 * HOUR);
	log_in(USER_PROCESS, getpid(), t.line, "");
	set("users", "bob");
	play_begin("utmp");
	type(&t);
	play_settle();
	assert_false(is()->here);
	assert_int_equal(play_owner->uids.nr, 0);
	set("users", "ada");
	owner_reread(play_owner, &play_conf);
	assert_true(is()->here); /* the terminal knows when it was used */
	assert_string_equal(owner_named(play_owner), "ada");
	assert_int_equal(play_owner->uids.nr, 1);
	/*
	 * An owner who was seen stays for the time of `linger`, and no longer.
	 */
	set("users", "bob");
	owner_reread(play_owner, &play_conf);
	assert_true(is()->here);
	assert_int_equal(play_changes, 1);
	set("linger", "0");
	owner_reread(play_owner, &play_conf);
	COMES(!is()->here);
	type(&t);
	play_settle();
	assert_false(is()->here);
	close_terminal(&t);
	play_settle();
}

static void where_to_look_is_read_again(void **state)
{
	int key;

	put("utmp", "");
	make_dir("input");
	key = make_device("input/event0");
	play_begin("utmp");
	assert_int_equal(unlink(play_conf.utmp), 0);
	COMES(is()->here);
	assert_int_equal(is()->cause, PRESENCE_UNREADABLE);
	assert_int_equal(write(key, "12345678", 8), 8);
	play_settle();
	assert_int_equal(unread(key), 8);
	/* A source that is not used any more does not count as unreadable. */
	set("sources", "input");
	owner_reread(play_owner, &play_conf);
	COMES(!unread(key));
	assert_int_equal(is()->cause, PRESENCE_INPUT);
	/* It counts once it is used. */
	set("who", "nobody");
	set("sources", "utmp");
	set("linger", "0");
	owner_reread(play_owner, &play_conf);
	COMES(!is()->here);
	put("utmp", "");
	play_settle();
	assert_int_equal(unlink(play_conf.utmp), 0);
	COMES(play_owner->lost[PRESENCE_TERMINAL]);
	assert_false(is()->here);
	set("who", "console");
	owner_reread(play_owner, &play_conf);
	assert_int_equal(is()->cause, PRESENCE_UNREADABLE);
	/* Another utmp file, which exists. */
	put("other", "");
	free(play_conf.utmp);
	play_conf.utmp = below("other");
	owner_reread(play_owner, &play_conf);
	COMES(!is()->here);
	close(key);
}

static void settings(void **state)
{
	static const struct {
		const char *name, *value;
		int result;
	} cases[] = {
		{ "who", "console", 0 },
		{ "who", "ssh, console", 0 },
		{ "who", "nobody", 0 },
		{ "who", "", -EINVAL },
		{ "who", "nobody,ssh", -EINVAL },
		{ "who", "me", -EINVAL },
		{ "users", "anybody", 0 },
		{ "users", " , ", -EINVAL },
		{ "linger", "5min", 0 },
		{ "linger", "x", -EINVAL },
		{ "sources", "logind input", 0 },
		{ "sources", "none", 0 },
		{ "sources", "cat", -EINVAL },
		{ "sources", "", -EINVAL },
		{ "utmp", "utmp", -EINVAL },
		{ "utmp", "/x", 0 },
		{ "input", "", -EINVAL },
		{ "power", "/y", 0 },
		{ "notice", "cat /x", 0 },
		{ "notice", "", 0 },
		{ "notice-every", "1s", 0 },
		{ "notice-every", "x", -EINVAL },
		{ "notice-every", "0.9s", -EINVAL },
		{ "quiet", "1s", -ENOENT },
	};
	struct error err;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_int_equal(owner_conf_set(&play_conf, cases[i].name,
						cases[i].value, &err),
				 cases[i].result);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		LINGERING(who_types_is_there),
		LINGERING(a_session_from_elsewhere_is_not_the_owners),
		LINGERING(entries_that_are_none),
		LINGERING(a_list_that_vanishes),
		LINGERING(a_terminal_used_in_the_future),
		LINGERING(who_touches_a_key_is_there),
		LINGERING(named_users_have_no_keys_of_their_own),
		LINGERING(on_its_battery_a_host_is_its_owners),
		LINGERING(who_counts_is_read_again),
		LINGERING(where_to_look_is_read_again),
		LINGERING(settings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
