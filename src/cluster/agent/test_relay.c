/*
 * test_relay.c - the keepers of a host are found by rank and epoch, and asked to stop
 * their ranks with no controller
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "cluster/agent/priv.h"
#include "cluster/agent/test_guest.h"
#include "cluster/conn/keeper.pb-c.h"
#include "core/scratch.h"

static char dir[SCRATCH_MAX];
static const struct agent_conf conf = { .run_dir = dir };
static struct agent agent = { .conf = &conf };

static Control__KeeperName named(const char *job, uint32_t rank, uint64_t epoch)
{
	Control__KeeperName name = CONTROL__KEEPER_NAME__INIT;

	name.job = (char *)job;
	name.rank = rank;
	name.epoch = epoch;
	return name;
}

static struct relay *find(const char *job, uint32_t rank, uint64_t epoch)
{
	Control__KeeperName name = named(job, rank, epoch);

	return relay_find(&agent, &name);
}

static bool older_lives(const char *job, uint32_t rank, uint64_t epoch)
{
	Control__KeeperName name = named(job, rank, epoch);

	return relay_older_lives(&agent, &name);
}

static int setup(void **state)
{
	char path[SCRATCH_MAX + 64];

	TAILQ_INIT(&agent.relays);
	scratch_dir(dir, "/tmp");
	for (int i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "%s/%s", dir,
			 i ? "keepers" : "capsules");
		assert_int_equal(mkdir(path, 0700), 0);
	}
	return sd_event_new(&agent.event);
}

static int teardown(void **state)
{
	relays_destroy(&agent);
	assert_null(agent.kin);
	sd_event_unref(agent.event);
	return 0;
}

static void each_is_found(void **state)
{
	struct relay *a = relay_create(&agent, "1", 11, 3),
		     *b = relay_create(&agent, "11", 1, 3),
		     *c = relay_create(&agent, "1", 11, 5);

	assert_ptr_equal(find("1", 11, 3), a);
	assert_ptr_equal(find("11", 1, 3), b);
	assert_ptr_equal(find("1", 11, 5), c);
	assert_null(find("1", 11, 4));
	assert_null(find("1", 1, 3));
	relay_destroy(a);
	assert_null(find("1", 11, 3));
	assert_ptr_equal(find("1", 11, 5), c);
	relay_destroy(c);
	assert_null(find("1", 11, 5));
	assert_ptr_equal(find("11", 1, 3), b);
}

/* Only a keeper of the same rank is the predecessor. */
static void the_one_before(void **state)
{
	struct relay *before = relay_create(&agent, "1", 2, 3);

	relay_create(&agent, "1", 2, 7);
	relay_create(&agent, "1", 3, 1);
	assert_true(older_lives("1", 2, 7));
	assert_true(older_lives("1", 2, 4));
	assert_false(older_lives("1", 2, 3));
	assert_false(older_lives("2", 2, 7));
	relay_destroy(before);
	assert_false(older_lives("1", 2, 7));
}

/* Where a keeper of that name listens. */
static int listen_as(const char *name)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0);

	snprintf(sun.sun_path, sizeof(sun.sun_path), "%.80s/keepers/%s.sock",
		 dir, name);
	assert_int_equal(bind(fd, (struct sockaddr *)&sun, sizeof(sun)), 0);
	assert_int_equal(listen(fd, 4), 0);
	return fd;
}

static Keeper__Request *heard(int fd)
{
	uint8_t buf[256];
	ssize_t n = recv(fd, buf, sizeof(buf), MSG_DONTWAIT);

	return n < 0 ? NULL : keeper__request__unpack(NULL, (size_t)n, buf);
}

/* It is greeted as by a controller's word, of whom nothing has been heard, and asked once. */
static void is_asked_to_stop(int fd)
{
	Keeper__Request *hello = heard(fd), *stop = heard(fd);

	assert_non_null(hello);
	assert_int_equal(hello->body_case, KEEPER__REQUEST__BODY_HELLO);
	assert_int_equal(hello->hello->acked, 0);
	assert_non_null(stop);
	assert_int_equal(stop->body_case, KEEPER__REQUEST__BODY_SUSPEND);
	assert_int_equal(stop->id, KEEPER__AGENTS__STOP);
	assert_true(stop->suspend->on);
	assert_null(heard(fd));
	keeper__request__free_unpacked(hello, NULL);
	keeper__request__free_unpacked(stop, NULL);
}

static void guests_stop_without_a_controller(void **state)
{
	int door = listen_as("7.0.0"), empty = listen_as("7.1.0"), fd;

	relay_create(&agent, "7", 0, 0);
	relay_create(&agent, "7", 1, 0); /* its rank is yet to come */
	guest_capsule(dir, "7.0", getpid());
	guests_stop(&agent, NULL);
	fd = accept(door, NULL, NULL);
	assert_true(fd >= 0);
	is_asked_to_stop(fd);
	assert_true(accept(empty, NULL, NULL) < 0);
	/* What it answers is told to nobody. */
	assert_int_equal(send(fd, "answer", 6, 0), 6);
	assert_true(sd_event_run(agent.event, 0) > 0);
	assert_true(find("7", 0, 0)->fd >= 0);
	close(fd);
	close(door);
	close(empty);
	guest_capsule_remove(dir, "7.0");
}

static void a_dead_keeper_is_not_asked(void **state)
{
	relay_create(&agent, "7", 0, 0);
	guest_capsule(dir, "7.0", getpid());
	guests_stop(&agent, NULL);
	assert_null(find("7", 0, 0));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(each_is_found),
		TEST(the_one_before),
		TEST(guests_stop_without_a_controller),
		TEST(a_dead_keeper_is_not_asked),
	};

	return cmocka_run_group_tests_name("relay", tests, NULL, NULL);
}
