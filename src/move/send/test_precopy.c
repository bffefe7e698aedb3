/*
 * test_precopy.c - tests of the rounds: nobody is ahead of others while much is
 * sent
 *
 * The linker puts the functions below in the place of what a round does: the
 * process has written as many pages as the case says, and the link carries one
 * in 4 us, by a clock of our own.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "move/fd/fds.h"
#include "move/send/ahead.h"
#include "move/send/precopy.h"
#include "move/send/recheck.h"
#include "move/send/track.h"

#define PAGE_USEC 4
#define MUCH	  20000 /* pages: 80 ms */
#define LITTLE	  1000	/* 4 ms */
#define ROUNDS	  8

static struct {
	usec_t now;
	uint64_t sent, synced;
	unsigned written[ROUNDS]; /* by the process, before each round */
	bool ahead[ROUNDS];	  /* was anybody, in each */
	bool ahead_now;
	unsigned round;
} world;

#define WRAP(name) __wrap_##name
int WRAP(recheck_running)(const struct send_process *p, struct error *err);
int WRAP(track_layout)(struct track *t, bool stopped, struct error *err);
int WRAP(track_send)(struct track *t, bool stopped, struct error *err);
usec_t WRAP(track_paused)(const struct track *t);
void WRAP(track_ask_advice)(struct track *t);
int WRAP(fds_look)(struct fds_source *s, bool early, uint8_t **ret,
		   size_t *ret_n, struct error *err);
void WRAP(fds_confirm)(struct fds_source *s, bool opened);
uint64_t WRAP(fds_content)(const struct fds_source *s);
uint64_t WRAP(page_sender_count)(const struct page_sender *p);
uint64_t WRAP(tree_bytes_sent)(const struct tree_set *t);
int WRAP(proc_read_status)(pid_t pid, struct proc_status *ret,
			   struct error *err);
usec_t WRAP(send_now)(void);
int WRAP(frame_send_u64)(struct channel *ch, enum frame_type type, uint64_t x,
			 struct error *err);
int WRAP(frame_recv)(struct channel *ch, struct frame *f, struct error *err);
int WRAP(send_hurry_both)(struct sending *s, bool on, struct error *err);

int WRAP(recheck_running)(const struct send_process *p, struct error *err)
{
	return 0;
}

int WRAP(track_layout)(struct track *t, bool stopped, struct error *err)
{
	return 0;
}

int WRAP(track_send)(struct track *t, bool stopped, struct error *err)
{
	unsigned n = world.written[world.round];

	assert_true(world.round < ROUNDS);
	world.ahead[world.round++] = world.ahead_now;
	world.sent += n;
	world.now += PAGE_USEC * n;
	return 0;
}

int WRAP(fds_look)(struct fds_source *s, bool early, uint8_t **ret,
		   size_t *ret_n, struct error *err)
{
	return 0;
}

usec_t WRAP(track_paused)(const struct track *t)
{
	return 0;
}

void WRAP(track_ask_advice)(struct track *t)
{
}

void WRAP(fds_confirm)(struct fds_source *s, bool opened)
{
}

uint64_t WRAP(fds_content)(const struct fds_source *s)
{
	return 0;
}

uint64_t WRAP(page_sender_count)(const struct page_sender *p)
{
	return world.sent;
}

uint64_t WRAP(tree_bytes_sent)(const struct tree_set *t)
{
	return 0;
}

int WRAP(proc_read_status)(pid_t pid, struct proc_status *ret,
			   struct error *err)
{
	*ret = (struct proc_status){ .threads = 1 };
	return 0;
}

usec_t WRAP(send_now)(void)
{
	return world.now;
}

int WRAP(frame_send_u64)(struct channel *ch, enum frame_type type, uint64_t x,
			 struct error *err)
{
	assert_int_equal(type, FRAME_SYNC);
	world.synced = x;
	return 0;
}

int WRAP(frame_recv)(struct channel *ch, struct frame *f, struct error *err)
{
	f->type = FRAME_SYNC;
	f->size = sizeof(world.synced);
	f->data = (unsigned char *)&world.synced;
	return 0;
}

int WRAP(send_hurry_both)(struct sending *s, bool on, struct error *err)
{
	world.ahead_now = on;
	return 0;
}

/* Both ends before the freeze, and once more after it was put off. */
static void run(unsigned again, const unsigned *written, const bool *ahead,
		unsigned rounds)
{
	struct move_report report = { .tracked = true };
	struct move_source src = { 0 };
	struct tracee tracee = { 0 };
	struct error err = ERROR_INIT;
	struct sending s = { .src = &src,
			     .report = &report,
			     .process = { .tracee = &tracee },
			     .precopy = precopy_create() };

	memset(&world, 0, sizeof(world));
	memcpy(world.written, written, rounds * sizeof(*written));
	assert_int_equal(precopy_last(&s, &err), 0);
	while (again--)
		assert_int_equal(precopy_again(&s, &err), 0);
	assert_int_equal(world.round, rounds);
	for (unsigned i = 0; i < rounds; i++)
		assert_int_equal(world.ahead[i], ahead[i]);
	precopy_destroy(s.precopy);
}

#define RUN(again, written, ahead)                                 \
	run(again, (const unsigned[])written, (const bool[])ahead, \
	    sizeof((const unsigned[])written) / sizeof(unsigned))
#define L(...)              \
	{                   \
		__VA_ARGS__ \
	}

static void test_little_is_sent_ahead(void **state)
{
	RUN(0, L(LITTLE, 10), L(false, true));
}

static void test_much_is_sent_by_turns(void **state)
{
	RUN(0, L(MUCH, MUCH), L(false, false));
}

static void test_what_was_much_is_ahead_once_it_is_little(void **state)
{
	RUN(0, L(MUCH, LITTLE, 10), L(false, false, true));
}

static void test_what_becomes_much_is_sent_by_turns(void **state)
{
	RUN(1, L(LITTLE, MUCH, MUCH, MUCH), L(false, true, false, false));
}

static void test_who_waits_for_another_freeze_is_not_ahead(void **state)
{
	RUN(1, L(LITTLE, 10, LITTLE, 10), L(false, true, false, true));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_little_is_sent_ahead),
		cmocka_unit_test(test_much_is_sent_by_turns),
		cmocka_unit_test(test_what_was_much_is_ahead_once_it_is_little),
		cmocka_unit_test(test_what_becomes_much_is_sent_by_turns),
		cmocka_unit_test(
			test_who_waits_for_another_freeze_is_not_ahead),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
