/* test_said.c - what people tell the agent of an owner */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "cluster/owner/play.h"

#define HOUR (3600 * USEC_PER_SEC)

/* From a child, because the agent's end is served by this process. */
static int say_as(uid_t uid, const char *verb, usec_t span)
{
	pid_t pid = fork();
	struct error err;
	int status;

	if (!pid) {
		int r = uid ? setresuid(uid, uid, uid) : 0;

		if (!r)
			r = owner_say(play_dir, verb, (uint64_t)span, &err);
		_exit(r ? 1 : 0);
	}
	while (!waitpid(pid, &status, WNOHANG))
		assert_true(sd_event_run(play_event, 10 * USEC_PER_MSEC) >= 0);
	return status;
}

static int say(const char *verb, usec_t span)
{
	return say_as(0, verb, span);
}

static void what_is_said_holds(void **state)
{
	play_begin("none");
	assert_int_equal(say("here", HOUR), 0);
	assert_true(is()->here);
	assert_int_equal(is()->cause, PRESENCE_SAID);
	assert_int_not_equal(say("hello", HOUR), 0);
	assert_int_equal(say("evict", HOUR), 0);
	assert_true(is()->evict);
	play_end();
	/* The agent was killed, and is started again. */
	play_begin(NULL);
	play_settle();
	assert_true(is()->here && is()->evict);
	play_end();
	put("owner", "another-boot evict 1 9000000000000000 ada\n");
	play_begin(NULL);
	play_settle();
	assert_false(is()->here);
	play_end();
	put("owner", "\xff\n\n");
	play_begin(NULL);
	play_settle();
	assert_false(is()->here);
}

/* Where somebody is logged in, nobody else has the guests run on before their eyes. */
static void who_may_say_away(void **state)
{
	const struct owner_uids ada = { .nr = 1, .uid = { 4321 } };

	if (geteuid())
		return; /* it takes three users */
	play_begin("none");
	assert_int_equal(chmod(play_dir, 0711), 0);
	assert_int_equal(say_as(4322, "away", HOUR), 0); /* nobody is there */
	owner_set_uids(play_owner, OWNER_UTMP, &ada);
	assert_int_equal(say_as(4322, "here", HOUR), 0);
	assert_true(is()->here);
	assert_int_not_equal(say_as(4322, "away", HOUR), 0);
	assert_true(is()->here);
	assert_int_equal(say_as(4321, "away", HOUR), 0);
	COMES(!is()->here);
	assert_int_equal(say_as(4322, "evict", HOUR), 0);
	assert_true(is()->evict);
	assert_int_equal(say("away", HOUR), 0);
	COMES(!is()->here);
}

static int connect_raw(void)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	snprintf(sa.sun_path, sizeof(sa.sun_path), "%s/owner.sock", play_dir);
	assert_int_equal(connect(fd, (struct sockaddr *)&sa, sizeof(sa)), 0);
	return fd;
}

static void talkers_and_silent_ones(void **state)
{
	static const char noise[2000] = "noise";
	char buf[2000];
	int fd[40];

	play_begin("none");
	for (size_t i = 0; i < 40; i++) {
		fd[i] = connect_raw();
		play_settle();
	}
	/* Other users can ask nevertheless, */
	assert_int_equal(say("here", HOUR), 0);
	assert_true(is()->here);
	/* ... and connections for which there was no room are closed. */
	assert_true(recv(fd[0], buf, sizeof(buf), MSG_DONTWAIT) == 0);
	for (size_t n = 0; n < sizeof(noise); n += 333) {
		int one = connect_raw();
		Control__Message *m;

		assert_int_equal(send(one, noise, n, MSG_NOSIGNAL), n);
		play_settle();
		ssize_t got = recv(one, buf, sizeof(buf), MSG_DONTWAIT);

		assert_true(got >= 0);
		m = message_parse((uint8_t *)buf, (size_t)got, NULL);
		assert_true(!got ||
			    (m && m->body_case == MESSAGE_BODY(FAILED)));
		message_free(m);
		close(one);
	}
	for (size_t i = 0; i < 40; i++)
		close(fd[i]);
}

/* One user who floods does not end the connection of another one. */
static void flood_of_one_user(void **state)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX,
				  .sun_path = "owner.sock" };
	int mine, here, fd[40];
	char c;

	if (geteuid())
		return; /* it takes two users */
	play_begin("none");
	mine = connect_raw();
	play_settle();
	here = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(chmod(play_dir, 0711), 0);
	assert_int_equal(chdir(play_dir), 0);
	for (size_t i = 0; i < 40; i++) {
		fd[i] = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
		assert_int_equal(seteuid(4322), 0);
		assert_int_equal(
			connect(fd[i], (struct sockaddr *)&sa, sizeof(sa)), 0);
		assert_int_equal(seteuid(0), 0);
		play_settle();
	}
	assert_int_equal(fchdir(here), 0);
	close(here);
	assert_true(recv(mine, &c, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN);
	assert_int_equal(recv(fd[0], &c, 1, MSG_DONTWAIT), 0);
	close(mine);
	for (size_t i = 0; i < 40; i++)
		close(fd[i]);
}

int main(void)
{
#define TEST(name) \
	cmocka_unit_test_setup_teardown(name, play_setup, play_teardown)
	const struct CMUnitTest tests[] = {
		TEST(what_is_said_holds),
		TEST(who_may_say_away),
		TEST(talkers_and_silent_ones),
		TEST(flood_of_one_user),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
