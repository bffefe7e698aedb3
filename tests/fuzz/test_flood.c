/*
 * test_flood.c - what a user makes the controller say through an agent waits
 * while that agent's connection is full, and is said when it is not: else one
 * user's flood would end the connection, for everybody's ranks there
 *
 * The controller of fuzz_controller.c, with peers that are played by hand.
 */
#include <pwd.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "actors.h"

#include "cluster/controller/state/store.h"

enum { FULL = CONN_QUEUE_MAX / 2, ASKED_MAX = 32 };

static unsigned asked[ASKED_MAX]; /* of the keeper, by body */
static unsigned rooms;		  /* that the client was told of */

static void on_asked(struct conn *c, const Keeper__Request *q)
{
	assert_in_range(q->body_case, 0, ASKED_MAX - 1);
	asked[q->body_case]++;
}

static void on_said(struct conn *c, const Control__Message *m)
{
	rooms += m->body_case == MESSAGE_BODY(STDIN_ROOM);
}

#define ASKED(NAME) asked[KEEPER__REQUEST__BODY_##NAME]

static void type(struct conn *client)
{
	Control__Stdin s = CONTROL__STDIN__INIT;

	s.job = 1;
	s.data.data = (uint8_t *)"x";
	s.data.len = 1;
	actor_say(client, MESSAGE_BODY(STDIN_DATA), &s);
}

static bool floods(void *ctx)
{
	Keeper__Started started = KEEPER__STARTED__INIT;
	Keeper__PmiFence fence = KEEPER__PMI_FENCE__INIT;
	Control__Signal kill_it = CONTROL__SIGNAL__INIT;
	struct conn *h1 = actor_greet("host/h1", -1),
		    *admin = actor_greet("admin/root", -1);

	actors_asked = on_asked;
	actors_said = on_said;
	actor_submit(admin, "h1");
	fake_queue(h1, FULL);
	actor_keeper_hello(h1, 0, KEEPER__STATE__EMPTY, 0);
	assert_int_equal(ASKED(START), 0);
	fake_queue(h1, 0);
	assert_int_equal(ASKED(START), 1);
	actor_keeper(h1, 0, 1, 0, KEEPER__EVENT__BODY_STARTED, &started);

	fake_queue(h1, FULL);
	rooms = 0;
	type(admin);
	assert_int_equal(ASKED(STDIN_DATA), 0);
	fake_queue(h1, 0);
	assert_int_equal(rooms, 1);
	type(admin);
	assert_int_equal(ASKED(STDIN_DATA), 1);

	fake_queue(h1, FULL);
	actor_keeper(h1, 0, 0, 0, KEEPER__EVENT__BODY_PMI_FENCE, &fence);
	assert_int_equal(ASKED(PMI_RELEASE), 0);
	fake_queue(h1, 0);
	assert_int_equal(ASKED(PMI_RELEASE), 1);

	fake_queue(h1, FULL);
	kill_it.job = 1;
	kill_it.signo = SIGKILL;
	for (unsigned i = 0; i < 100; i++)
		actor_say(admin, MESSAGE_BODY(SIGNAL), &kill_it);
	assert_int_equal(ASKED(KILL), 1);
	fake_queue(h1, 0);
	assert_int_equal(ASKED(START), 1);
	assert_true(fake_alive(h1));
	return false;
}

static void what_is_too_much_waits(void **state)
{
	actors_begin();
	actors_run(floods, NULL);
}

/* ---- jobs with long arguments */

enum { JOBS = 600, LONG = 120 << 10 };

static unsigned listed, answers;
static uint64_t next;

static void on_listed(struct conn *c, const Control__Message *m)
{
	if (m->body_case != MESSAGE_BODY(JOBS))
		return;
	answers++;
	listed += m->jobs->n_jobs;
	next = m->jobs->next;
}

static bool many(void *ctx)
{
	static char text[LONG];
	struct ctl *ctl = ctx;
	struct conn *admin = actor_greet("admin/root", -1),
		    *ada = actor_greet("user/ada", -1);
	Control__ListJobs list = CONTROL__LIST_JOBS__INIT;
	Control__Signal kill_it = CONTROL__SIGNAL__INIT;
	Control__Submit s = CONTROL__SUBMIT__INIT;
	char *argv[] = { (char *)"true", text, text };
	uint8_t field[LONG + 3] = { (LONG & 127) | 128, (LONG >> 7 & 127) | 128,
				    LONG >> 14 };
	ProtobufCMessageUnknownField unknown = {
		.tag = 1777, /* one that may be dropped */
		.wire_type = PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED,
		.len = sizeof(field),
		.data = field,
	};
	struct ctl_job *job;
	size_t bytes = 0;

	actors_said = on_listed;
	actor_greet("host/h1", -1);
	memset(text, 'a', 4000);
	s.argv = argv;
	s.n_argv = 3;
	s.uid = getuid();
	s.ranks = 1;
	for (unsigned i = 0; i < JOBS; i++) {
		if (i == JOBS - 1) {
			memset(text, 'b', LONG - 1);
			s.base.unknown_fields = &unknown;
			s.base.n_unknown_fields = 1;
		}
		actor_say(admin, MESSAGE_BODY(SUBMIT), &s);
	}
	do {
		list.from = next;
		actor_say(ada, MESSAGE_BODY(LIST_JOBS), &list);
		actor_say(admin, MESSAGE_BODY(LIST_JOBS), &list);
		fake_turn();
		assert_true(fake_alive(ada) && fake_alive(admin));
	} while (next && answers < 100);
	assert_int_equal(answers % 2, 0);
	assert_in_range(answers, 4, 20);
	assert_true(listed >= 2 * JOBS);

	kill_it.job = TAILQ_LAST(&ctl->jobs.list, ctl_job_list)->id;
	assert_int_equal(kill_it.job, JOBS);
	kill_it.signo = SIGKILL;
	actor_say(admin, MESSAGE_BODY(SIGNAL), &kill_it);
	job = TAILQ_LAST(&ctl->jobs.list, ctl_job_list);
	assert_int_equal(job->state, STATE(DONE));
	for (size_t i = 0; i < job->spec->n_argv; i++)
		bytes += strlen(job->spec->argv[i]);
	assert_in_range(bytes, 7, 5000);
	assert_in_range(control__submit__get_packed_size(job->spec), 7, 6000);
	return false;
}

/* ---- jobs that wait, of one user */

static unsigned accepted, refusals;

static void on_answered(struct conn *c, const Control__Message *m)
{
	accepted += m->body_case == MESSAGE_BODY(SUBMITTED);
	refusals += m->body_case == MESSAGE_BODY(FAILED) &&
		    strstr(m->failed->why, "more than 64 MiB");
}

static bool large(void *ctx)
{
	static char text[128 << 10];
	struct conn *c = actor_greet("user/daemon", -1);
	Control__Submit s = CONTROL__SUBMIT__INIT;
	char *argv[] = { (char *)"true" };
	char *env[] = { text, text, text, text, text, text, text, text };

	actors_said = on_answered;
	memset(text, 'a', sizeof(text) - 1);
	s.argv = argv;
	s.env = env;
	s.n_env = 8; /* 1 MiB */
	s.n_argv = s.ranks = 1;
	s.uid = s.gid = getpwnam("daemon")->pw_uid;
	for (unsigned i = 0; i < 70; i++)
		actor_say(c, MESSAGE_BODY(SUBMIT), &s);
	assert_int_equal(accepted, 63);
	assert_int_equal(refusals, 7);
	return false;
}

static void on_too_many(struct conn *c, const Control__Message *m)
{
	accepted += m->body_case == MESSAGE_BODY(SUBMITTED);
	refusals += m->body_case == MESSAGE_BODY(FAILED) &&
		    strstr(m->failed->why, "user-ranks");
}

static bool wide(void *ctx)
{
	struct ctl *ctl = ctx;
	struct conn *c = actor_greet("user/daemon", -1);
	Control__Signal kill_it = CONTROL__SIGNAL__INIT;
	Control__Submit s = CONTROL__SUBMIT__INIT;
	char *argv[] = { (char *)"true" };

	accepted = refusals = 0;
	actors_said = on_too_many;
	s.argv = argv;
	s.n_argv = 1;
	s.uid = s.gid = getpwnam("daemon")->pw_uid;
	s.ranks = 40;
	for (unsigned i = 0; i < 3; i++)
		actor_say(c, MESSAGE_BODY(SUBMIT), &s);
	s.ranks = 20;
	for (unsigned i = 0; i < 2; i++)
		actor_say(c, MESSAGE_BODY(SUBMIT), &s);
	assert_int_equal(accepted, 3);
	assert_int_equal(refusals, 2);
	kill_it.job = TAILQ_FIRST(&ctl->jobs.list)->id;
	kill_it.signo = SIGKILL;
	actor_say(c, MESSAGE_BODY(SIGNAL), &kill_it);
	s.ranks = 40;
	actor_say(c, MESSAGE_BODY(SUBMIT), &s);
	assert_int_equal(accepted, 4);
	return false;
}

static void a_users_jobs_have_so_many_ranks(void **state)
{
	static const char *const settings[] = { "min-uid", "0", "user-ranks",
						"100", NULL };

	actors_begin();
	actors_run(wide, settings);
}

static void a_users_jobs_take_so_much(void **state)
{
	static const char *const settings[] = { "min-uid", "0", NULL };

	actors_begin();
	actors_run(large, settings);
}

static void long_lists_come_in_pieces(void **state)
{
	actors_begin();
	actors_run(many, NULL);
}

/* ---- accounts of others, and ranges of tasks */

enum { ACCOUNTS = 5000 };

static unsigned pages, accounts;

static void on_history(struct conn *c, const Control__Message *m)
{
	if (m->body_case == MESSAGE_BODY(HISTORY)) {
		pages++;
		accounts += m->history->n_accounts;
		next = m->history->next;
	}
	refusals += m->body_case == MESSAGE_BODY(FAILED) &&
		    strstr(m->failed->why, "ranges of tasks");
}

static void keep_account(struct ctl *ctl, const char *user, uint64_t job)
{
	Control__Account a = CONTROL__ACCOUNT__INIT;
	uint8_t data[64];
	struct store_account account = { .job = job,
					 .user = user,
					 .data = data };

	a.job = job;
	account.n = control__account__pack(&a, data);
	store_put_account(ctl->store, &account);
}

/* Who asks for her one account behind those of others gets it, by and by. */
static bool looks_back(void *ctx)
{
	Control__GetHistory ask = CONTROL__GET_HISTORY__INIT;
	struct conn *ada = actor_greet("user/ada", -1);

	for (uint64_t job = 1; job <= ACCOUNTS; job++)
		keep_account(ctx, "bob", job);
	keep_account(ctx, "ada", ACCOUNTS + 1);
	actors_said = on_history;
	pages = accounts = 0;
	ask.array = 1; /* which is bob's: none of it is hers */
	do {
		ask.from = next;
		next = 0;
		actor_say(ada, MESSAGE_BODY(GET_HISTORY), &ask);
	} while (next && pages < ACCOUNTS);
	assert_int_equal(accounts, 0);
	assert_in_range(pages, 2, 10);
	ask.array = 0;
	do {
		ask.from = next;
		next = 0;
		actor_say(ada, MESSAGE_BODY(GET_HISTORY), &ask);
	} while (next && pages < ACCOUNTS);
	assert_int_equal(accounts, 1);
	assert_in_range(pages, 4, 20);
	return false;
}

static void others_accounts_are_passed_in_pieces(void **state)
{
	actors_begin();
	actors_run(looks_back, NULL);
}

/* Each would be compared with each job that there is. */
static bool names_ranges(void *ctx)
{
	static Control__TaskRange range = CONTROL__TASK_RANGE__INIT;
	static Control__TaskRange *ranges[CTL_TASKS_MAX + 1];
	struct conn *ada = actor_greet("user/ada", -1);
	Control__ListJobs list = CONTROL__LIST_JOBS__INIT;
	Control__Signal kill_it = CONTROL__SIGNAL__INIT;
	Control__ChangeJob change = CONTROL__CHANGE_JOB__INIT;

	for (size_t i = 0; i < CTL_TASKS_MAX + 1; i++)
		ranges[i] = &range;
	list.tasks = kill_it.tasks = change.tasks = ranges;
	list.n_tasks = kill_it.n_tasks = change.n_tasks = CTL_TASKS_MAX + 1;
	list.job = kill_it.job = change.job = 1;
	actors_said = on_history;
	refusals = 0;
	actor_say(ada, MESSAGE_BODY(LIST_JOBS), &list);
	actor_say(ada, MESSAGE_BODY(SIGNAL), &kill_it);
	actor_say(ada, MESSAGE_BODY(CHANGE_JOB), &change);
	assert_int_equal(refusals, 3);
	return false;
}

static void so_many_ranges_are_refused(void **state)
{
	actors_begin();
	actors_run(names_ranges, NULL);
}

/* By whichever of its connections; others are not behind for it. */
static bool asks_much(void *ctx)
{
	struct conn *ada = actor_greet("user/ada", -1);
	Control__ListJobs list = CONTROL__LIST_JOBS__INIT;

	actors_said = on_history;
	while (fake_priority(ada) < 3) /* some of it is forgotten at once */
		actor_say(ada, MESSAGE_BODY(LIST_JOBS), &list);
	assert_true(fake_priority(actor_greet("user/ada", -1)) > 0);
	assert_int_equal(fake_priority(actor_greet("user/bob", -1)), 0);
	assert_int_equal(fake_priority(actor_greet("admin/root", -1)), 0);
	return false;
}

static void who_asks_much_comes_later(void **state)
{
	actors_begin();
	actors_run(asks_much, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_too_much_waits),
		cmocka_unit_test(long_lists_come_in_pieces),
		cmocka_unit_test(a_users_jobs_take_so_much),
		cmocka_unit_test(a_users_jobs_have_so_many_ranks),
		cmocka_unit_test(others_accounts_are_passed_in_pieces),
		cmocka_unit_test(so_many_ranges_are_refused),
		cmocka_unit_test(who_asks_much_comes_later),
	};

	return cmocka_run_group_tests_name("flood", tests, NULL, NULL);
}
