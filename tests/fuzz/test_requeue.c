/*
 * test_requeue.c - a job that begins anew: no two copies of a rank, each byte
 * of each life once, and an end when somebody wants one
 *
 * The controller of fuzz_controller.c, with peers that are played by hand.
 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "actors.h"

#include "cluster/controller/job/job.h"
#include "cluster/controller/state/find.h"

#define PATIENCE (60 * USEC_PER_SEC) /* of a test, on a busy machine */

static const char *const soon[] = { "lost-after", "1ms", NULL };

static int step;
static usec_t begun;
static struct conn *h1, *h2, *admin;
static unsigned killed;	   /* by KILL to a keeper */
static unsigned started;   /* by START */
static uint64_t offset[8]; /* of OUTPUT to the client */
static bool gap[8];
static size_t outputs;
static struct conn *told; /* who was sent the last KILL */

static void on_asked(struct conn *c, const Keeper__Request *q)
{
	if (q->body_case == KEEPER__REQUEST__BODY_KILL) {
		killed++;
		told = c;
	}
	started += q->body_case == KEEPER__REQUEST__BODY_START;
}

static void on_said(struct conn *c, const Control__Message *m)
{
	if (m->body_case != MESSAGE_BODY(OUTPUT))
		return;
	assert_true(outputs < 8);
	offset[outputs] = m->output->offset;
	gap[outputs++] = m->output->gap;
}

static int set_up(void **state)
{
	step = 0;
	begun = ctl_now();
	killed = started = 0;
	outputs = 0;
	actors_asked = on_asked;
	actors_said = on_said;
	actors_begin();
	return 0;
}

static int tear_down(void **state)
{
	actors_asked = NULL;
	actors_said = NULL;
	return 0;
}

/* Once more, until it is so. */
static bool not_yet(bool so)
{
	if (!so && ctl_now() - begun > PATIENCE)
		fail_msg("it does not come to that");
	return !so;
}

static struct ctl_job *job_of(struct ctl *ctl)
{
	struct ctl_job *job = ctl_job_find(ctl, 1);

	assert_non_null(job);
	return job;
}

static struct ctl_rank *rank_of(struct ctl *ctl)
{
	return &job_of(ctl)->ranks[0];
}

static void submit(bool requeue, const char *host)
{
	Control__Submit s = CONTROL__SUBMIT__INIT;
	char *argv[] = { (char *)"true" }, *hosts[] = { (char *)host };

	s.argv = argv;
	s.n_argv = s.ranks = 1;
	s.hosts = hosts;
	s.n_hosts = host != NULL;
	s.uid = getuid();
	s.requeue = requeue;
	s.requeues = 9; /* those are not for a client to say */
	s.requeuing = true;
	actor_say(admin, MESSAGE_BODY(SUBMIT), &s);
}

static void run_at(struct conn *agent, uint64_t epoch)
{
	Keeper__Started s = KEEPER__STARTED__INIT;

	actor_keeper_hello(agent, epoch, KEEPER__STATE__EMPTY, 0);
	actor_keeper(agent, epoch, 1, 0, KEEPER__EVENT__BODY_STARTED, &s);
}

static void print_at(struct conn *agent, uint64_t epoch, uint64_t seq,
		     uint64_t at, const char *text)
{
	Keeper__Output o = KEEPER__OUTPUT__INIT;

	o.stream = 1;
	o.offset = at;
	o.data.data = (uint8_t *)text;
	o.data.len = strlen(text);
	actor_keeper(agent, epoch, seq, 0, KEEPER__EVENT__BODY_OUTPUT, &o);
}

static void exit_at(struct conn *agent, uint64_t epoch, uint64_t seq, bool kill)
{
	Keeper__Exited e = KEEPER__EXITED__INIT;

	e.signaled = e.killed = kill;
	e.code = kill ? SIGKILL : 0;
	actor_keeper(agent, epoch, seq, 0, KEEPER__EVENT__BODY_EXITED, &e);
}

static void begin(bool requeue)
{
	h1 = actor_greet("host/h1", -1);
	admin = actor_greet("admin/root", -1);
	submit(requeue, "h1");
	run_at(h1, 0);
}

static void requeue(struct ctl *ctl)
{
	struct error err;

	assert_int_equal(ctl_job_requeue(job_of(ctl), "it shall", &err), 0);
}

/* ---- */

static bool refuse(void *ctl)
{
	struct error err;

	begin(false);
	assert_int_equal(ctl_job_requeue(job_of(ctl), "it shall", &err),
			 -EPERM);
	assert_int_equal(job_of(ctl)->state, STATE(RUNNING));
	assert_int_equal(killed, 0);
	return false;
}

static void only_with_its_users_word(void **state)
{
	actors_run(refuse, NULL);
}

/* No new copy is asked for until the old one has ended. */
static bool one_after_the_other(void *ctx)
{
	struct ctl *ctl = ctx;

	if (!step) {
		begin(true);
		assert_int_equal(job_of(ctl)->spec->requeues, 0);
		requeue(ctl);
		assert_int_equal(killed, 1);
		assert_int_equal(job_of(ctl)->state, STATE(ENDING));
		assert_int_equal(rank_of(ctl)->epoch, 0);
		step = 1;
		return true;
	}
	if (step == 1) {
		assert_int_equal(rank_of(ctl)->epoch, 0);
		exit_at(h1, 0, 2, true);
		assert_int_equal(job_of(ctl)->state, STATE(WAITING));
		step = 2;
	}
	if (not_yet(job_of(ctl)->state == STATE(STARTING)))
		return true;
	assert_int_equal(rank_of(ctl)->epoch, 1);
	assert_int_equal(job_of(ctl)->spec->requeues, 1);
	run_at(h1, 1);
	assert_int_equal(started, 2);
	exit_at(h1, 1, 2, false);
	assert_int_equal(job_of(ctl)->state, STATE(DONE));
	assert_int_equal(job_of(ctl)->exit, 0);
	return false;
}

static void the_old_copy_ends_first(void **state)
{
	actors_run(one_after_the_other, NULL);
}

static bool begins_to(void *ctl)
{
	begin(true);
	requeue(ctl);
	return false;
}

/* Whoever is started now knows it as well. */
static bool goes_on_to(void *ctl)
{
	if (!step) {
		assert_int_equal(job_of(ctl)->state, STATE(ENDING));
		killed = 0;
		h1 = actor_greet("host/h1", 0);
		actor_keeper_hello(h1, 0, KEEPER__STATE__RUNNING, 0);
		assert_int_equal(killed, 1);
		exit_at(h1, 0, 2, true);
		step = 1;
	}
	if (not_yet(job_of(ctl)->state == STATE(STARTING)))
		return true;
	assert_int_equal(rank_of(ctl)->epoch, 1);
	return false;
}

static bool knows_it_still(void *ctl)
{
	h1 = actor_greet("host/h1", -1);
	assert_int_equal(rank_of(ctl)->first_epoch, 1);
	assert_int_equal(job_of(ctl)->spec->requeues, 1);
	return false;
}

static void a_controller_is_killed_between(void **state)
{
	actors_run(begins_to, NULL);
	actors_run(goes_on_to, NULL);
	actors_run(knows_it_still, NULL);
}

static bool host_goes(void *ctl)
{
	if (!step) {
		h1 = actor_greet("host/h1", -1);
		admin = actor_greet("admin/root", -1);
		submit(true, NULL);
		step = 1;
	}
	if (step == 1) {
		if (not_yet(job_of(ctl)->state == STATE(STARTING)))
			return true;
		run_at(h1, 0);
		h2 = actor_greet("host/h2", -1);
		fake_hang_up(h1);
		step = 2;
	}
	if (step == 2) {
		if (not_yet(rank_of(ctl)->host &&
			    !strcmp(rank_of(ctl)->host->name, "h2")))
			return true;
		run_at(h2, rank_of(ctl)->epoch);
		assert_int_equal(killed, 0);
		/* Its first copy may be there still. */
		h1 = actor_greet("host/h1", 0);
		actor_keeper_hello(h1, 0, KEEPER__STATE__RUNNING, 0);
		assert_int_equal(killed, 1);
		assert_true(told == h1);
		assert_int_equal(job_of(ctl)->state, STATE(RUNNING));
		/* And what that one says is about nothing. */
		exit_at(h1, 0, 2, true);
		assert_int_equal(job_of(ctl)->state, STATE(RUNNING));
	}
	return false;
}

static void a_lost_host_is_no_end(void **state)
{
	actors_run(host_goes, soon);
}

static bool without_it(void *ctl)
{
	if (!step) {
		begin(false);
		fake_hang_up(h1);
		step = 1;
	}
	if (not_yet(job_of(ctl)->state == STATE(DONE)))
		return true;
	assert_true(rank_of(ctl)->lost);
	return false;
}

static void but_for_others_it_is(void **state)
{
	actors_run(without_it, soon);
}

static bool is_ended(void *ctl)
{
	begin(true);
	requeue(ctl);
	actor_signal(admin, SIGKILL);
	exit_at(h1, 0, 2, true);
	assert_int_equal(job_of(ctl)->state, STATE(DONE));
	assert_int_equal(job_of(ctl)->exit, 128 + SIGKILL);
	return false;
}

static bool is_told_to_end(void *ctl)
{
	begin(true);
	requeue(ctl);
	actor_signal(admin, 0);
	exit_at(h1, 0, 2, true);
	assert_int_equal(job_of(ctl)->state, STATE(DONE));
	assert_int_equal(job_of(ctl)->exit, 128 + SIGKILL);
	return false;
}

static bool has_ended(void *ctl)
{
	begin(true);
	requeue(ctl);
	exit_at(h1, 0, 2, false);
	assert_int_equal(job_of(ctl)->state, STATE(DONE));
	assert_int_equal(job_of(ctl)->exit, 0);
	return false;
}

static void a_user_has_the_last_word(void **state)
{
	actors_run(is_ended, NULL);
	actors_begin();
	actors_run(is_told_to_end, NULL);
}

static void what_is_done_is_done(void **state)
{
	actors_run(has_ended, NULL);
}

/* A client that has printed the first life drops nothing of the second. */
static bool prints(void *ctl)
{
	if (!step) {
		begin(true);
		print_at(h1, 0, 2, 0, "one");
		requeue(ctl);
		print_at(h1, 0, 3, 3, "two");
		exit_at(h1, 0, 4, true);
		/* It comes too late. */
		print_at(h1, 0, 5, 6, "three");
		step = 1;
	}
	if (not_yet(job_of(ctl)->state == STATE(STARTING)))
		return true;
	run_at(h1, 1);
	print_at(h1, 1, 2, 0, "one");
	print_at(h1, 1, 3, 3, "two");
	assert_int_equal(outputs, 4);
	assert_int_equal(offset[1], 3);
	assert_int_equal(offset[2], 1ull << 48);
	assert_true(gap[2]);
	assert_int_equal(offset[3], (1ull << 48) + 3);
	assert_false(gap[3]);
	return false;
}

static void each_life_prints_for_itself(void **state)
{
	actors_run(prints, NULL);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(only_with_its_users_word),
		TEST(the_old_copy_ends_first),
		TEST(a_controller_is_killed_between),
		TEST(a_lost_host_is_no_end),
		TEST(but_for_others_it_is),
		TEST(a_user_has_the_last_word),
		TEST(what_is_done_is_done),
		TEST(each_life_prints_for_itself),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
