/* test_notice.c - notices that the host will go down soon */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "cluster/owner/play.h"

static void begin_notice(const char *command)
{
	free(play_conf.notice);
	play_conf.notice = strdup(command);
	play_conf.notice_every = 20 * USEC_PER_MSEC;
	play_begin("notice");
}

/* There are three kinds of notices; each of them works: here a file. */
static void a_host_that_goes_soon_says_when(void **state)
{
	char *path = below("soon"), *command;
	usec_t by;

	assert_true(asprintf(&command, "cat %s", path) > 0);
	put("soon", "");
	begin_notice(command);
	play_settle();
	assert_false(is()->here);
	put("soon", " 120s\n");
	COMES(is()->here);
	assert_int_equal(is()->cause, PRESENCE_NOTICE);
	assert_true(is()->evict);
	by = is()->going_by;
	assert_in_range(by - owner_now(), 1, 120 * USEC_PER_SEC);
	/*
	 * A file that stays the same does not put the time off; one that says
	 * less brings it nearer.
	 */
	put("soon", "60s");
	COMES(is()->going_by < by);
	assert_in_range(is()->going_by - owner_now(), 1, 60 * USEC_PER_SEC);
	put("soon", "");
	COMES(!is()->here);
	assert_int_equal(is()->going_by, 0);
	play_end();
	free(command);
	free(path);
}

/* Garbage, failures, a flood, a command that hangs: three times in a row. */
static void a_notice_that_cannot_be_read(void **state)
{
	static const char *const wrong[] = {
		"echo soon",	   "exit 3",
		"echo 5 && false", "yes",
		"/nonexistent",	   "sleep 1000",
		"echo -- -5s",	   "echo 'exit=0'; exit 1",
		"echo 2 minutes",  "echo 120s; echo 60s"
	};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		play_conf.patience = 200 * USEC_PER_MSEC;
		begin_notice(wrong[i]);
		play_settle();
		assert_false(is()->here); /* once is not enough */
		COMES(is()->here);
		assert_int_equal(is()->cause, PRESENCE_UNREADABLE);
		assert_int_equal(is()->lost, PRESENCE_NOTICE);
		play_end();
	}
}

static void a_notice_that_comes_and_goes(void **state)
{
	char *path = below("n"), *command;

	/* Every second run of the command tells of a notice, or fails. */
	assert_true(asprintf(&command,
			     "echo x >>%s; case $(wc -l <%s) in "
			     "*[05]) echo 100;; *[27]) exit 1;; esac",
			     path, path) > 0);
	begin_notice(command);
	for (int i = 0; i < 3; i++) {
		COMES(is()->here);
		assert_int_equal(is()->cause, PRESENCE_NOTICE);
		COMES(!is()->here);
	}
	play_end();
	free(command);
	free(path);
}

/*
 * If settings with the same command are read again, the notice stands and its
 * time is not put off.
 */
static void a_notice_is_read_again(void **state)
{
	usec_t by;

	begin_notice("echo 120s");
	COMES(is()->here);
	by = is()->going_by;
	set("linger", "0");
	owner_reread(play_owner, &play_conf);
	assert_int_equal(is()->cause, PRESENCE_NOTICE);
	assert_int_equal(is()->going_by, by);
	play_settle();
	assert_int_equal(is()->going_by, by);
	/* Another command may tell another time. */
	set("notice", "echo 600s");
	owner_reread(play_owner, &play_conf);
	COMES(is()->going_by > by);
	set("notice", "");
	owner_reread(play_owner, &play_conf);
	COMES(!is()->here);
}

static pid_t group_killed; /* the last one killed, or 0 */

/* This stands in front of the C library's kill(), which notice.c calls. */
int kill(pid_t pid, int signo)
{
	if (pid < 0)
		group_killed = -pid;
	return (int)syscall(SYS_kill, pid, signo);
}

/* Reap a child as an agent does; 0: none has ended. */
static pid_t reap(void)
{
	siginfo_t info = { .si_pid = 0 };

	if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) < 0 ||
	    !info.si_pid)
		return 0;
	owner_child(play_owner, info.si_pid);
	assert_int_equal(waitpid(info.si_pid, NULL, 0), info.si_pid);
	return info.si_pid;
}

/*
 * Once the first process of a group is reaped, the group's number may be
 * another's.
 */
static void no_group_is_killed_that_is_reaped(void **state)
{
	pid_t pid;

	while (waitpid(-1, NULL, WNOHANG) > 0)
		continue; /* a child of an earlier test */
	/* A process that the command leaves behind keeps the pipe open. */
	begin_notice("echo 120s; sleep 1000 &");
	while (!(pid = reap()))
		(void)!play_wait(clock_usec(CLOCK_MONOTONIC) + USEC_PER_MSEC);
	assert_int_equal(group_killed, pid);
	group_killed = 0;
	COMES(is()->here);
	assert_int_not_equal(group_killed, pid);
	play_end();
	while (waitpid(-1, NULL, 0) > 0)
		continue;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		LINGERING(a_host_that_goes_soon_says_when),
		LINGERING(a_notice_that_cannot_be_read),
		LINGERING(a_notice_that_comes_and_goes),
		LINGERING(a_notice_is_read_again),
		LINGERING(no_group_is_killed_that_is_reaped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
