/*
 * test_bounds.c - what one user can make the controller keep, and send to a host
 * at once, is bounded
 *
 * The controller of fuzz_controller.c, with peers that are played by hand.
 */
#include <grp.h>
#include <pwd.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "actors.h"
#include "cluster/controller/state/user_jobs.h"
#include "cluster/controller/users/users.h"
#include "cluster/host/arguments.h"

static uint64_t last_job;
static unsigned accepted, refused;
static char why[512];

static void on_said(struct conn *c, const Control__Message *m)
{
	if (m->body_case == MESSAGE_BODY(SUBMITTED)) {
		last_job = m->submitted->job;
		accepted++;
	} else if (m->body_case == MESSAGE_BODY(FAILED)) {
		snprintf(why, sizeof(why), "%s", m->failed->why);
		refused++;
	}
}

static uid_t daemon_uid(void)
{
	const struct passwd *pw = getpwnam("daemon");

	assert_non_null(pw);
	return pw->pw_uid;
}

static void begin(void)
{
	actors_begin();
	actors_said = on_said;
	accepted = refused = 0;
	*why = 0;
}

static void submit(struct conn *c, Control__Submit *s)
{
	s->uid = s->gid = daemon_uid();
	actor_say(c, MESSAGE_BODY(SUBMIT), s);
}

static void cancel(struct conn *c, uint64_t job)
{
	Control__Signal kill_it = CONTROL__SIGNAL__INIT;

	kill_it.job = job;
	kill_it.signo = SIGKILL;
	actor_say(c, MESSAGE_BODY(SIGNAL), &kill_it);
}

/* ---- jobs that are over ---- */

struct kept {
	unsigned jobs, ranks;
};

static struct kept kept_of(struct ctl *ctl, const char *user)
{
	struct kept k = { 0 };
	const struct ctl_job *job;

	TAILQ_FOREACH (job, &ctl->jobs.list, link) {
		if (job->state != STATE(DONE) || strcmp(job->spec->user, user))
			continue;
		k.jobs++;
		k.ranks += job->spec->ranks;
	}
	return k;
}

/* As fast as that goes, from a connection that holds none of them. */
static void submit_and_cancel(struct conn *c, uint32_t ranks, unsigned times)
{
	Control__Submit s = CONTROL__SUBMIT__INIT;
	char *argv[] = { (char *)"true" };

	s.argv = argv;
	s.n_argv = 1;
	s.ranks = ranks;
	s.detached = true;
	for (unsigned i = 0; i < times; i++) {
		submit(c, &s);
		cancel(c, last_job);
	}
}

static bool over(void *ctx)
{
	struct ctl *ctl = ctx;
	struct conn *c = actor_greet("user/daemon", -1),
		    *admin = actor_greet("admin/root", -1);
	struct kept k;

	actor_greet("host/h1", -1);
	actor_submit(admin, "h1");
	cancel(admin, 1);
	submit_and_cancel(c, 40, 20);
	assert_int_equal(accepted, 21);
	k = kept_of(ctl, "daemon");
	assert_in_range(k.ranks, 80, 160);
	submit_and_cancel(c, 1, 100);
	k = kept_of(ctl, "daemon");
	assert_in_range(k.jobs, 7, 9);
	assert_int_equal(kept_of(ctl, "root").jobs, 1);
	assert_int_equal(refused, 0);
	return false;
}

static void ranks_of_jobs_that_are_over_are_bounded(void **state)
{
	static const char *const settings[] = {
		"user-ranks", "100", "user-jobs", "8", "history", "7", NULL
	};

	begin();
	actors_run(over, settings);
}

/* One that may be folded has room for all that it may have. */
static bool folded(void *ctx)
{
	struct conn *c = actor_greet("user/daemon", -1);
	Control__Submit s = CONTROL__SUBMIT__INIT;
	char *argv[] = { (char *)"true" };

	actors_cores = 1;
	actor_greet("host/h1", -1);
	fake_turn();
	s.argv = argv;
	s.n_argv = s.min_ranks = 1;
	s.ranks = 60;
	s.detached = true;
	submit(c, &s);
	TAILQ_FIRST(&((struct ctl *)ctx)->jobs.list)->nr =
		1; /* as if started so */
	submit(c, &s);
	assert_int_equal(accepted, 1);
	assert_non_null(strstr(why, "would have 120 ranks"));
	return false;
}

static void folded_jobs_count_with_all_their_ranks(void **state)
{
	static const char *const settings[] = { "user-ranks", "100", NULL };

	begin();
	actors_run(folded, settings);
}

/* A command at the end is one job, of one rank, however many its job has. */
static bool at_ends(void *ctx)
{
	struct conn *c = actor_greet("user/daemon", -1);
	Control__Submit s = CONTROL__SUBMIT__INIT;
	char *argv[] = { (char *)"true" };

	actors_cores = 5;
	actor_greet("host/h1", -1);
	fake_turn();
	s.argv = argv;
	s.n_argv = 1;
	s.ranks = 6;
	s.detached = true;
	s.at_end = (char *)"true";
	submit(c, &s);
	assert_int_equal(accepted, 0);
	assert_non_null(strstr(why, "would have 7 ranks"));
	s.ranks = 5;
	submit(c, &s);
	assert_int_equal(accepted, 1);
	s.at_end = (char *)"";
	s.ranks = 1;
	submit(c, &s);
	assert_int_equal(accepted, 1);
	assert_non_null(strstr(why, "would have 7 ranks"));
	return false;
}

static void a_command_at_the_end_counts_as_one_rank(void **state)
{
	static const char *const settings[] = { "user-ranks", "6", NULL };

	begin();
	actors_run(at_ends, settings);
}

/* ---- what jobs are to follow ---- */

/* Tasks that take all that their user may have are to follow many. */
static bool grow(void *ctx)
{
	static char text[72000];
	struct conn *c = actor_greet("user/daemon", -1);
	char *argv[] = { (char *)"true", text };
	Control__Submit s = CONTROL__SUBMIT__INIT;
	Control__ChangeJob change = CONTROL__CHANGE_JOB__INIT;
	Control__After of[64], *list[64];
	const struct ctl_user_jobs *u;
	uint32_t tasks[900];

	s.argv = argv;
	s.n_argv = s.ranks = 1;
	s.detached = s.held = true;
	for (size_t i = 0; i < 64; i++) {
		submit(c, &s);
		control__after__init(list[i] = &of[i]);
		of[i].job = last_job;
	}
	memset(text, 'x', sizeof(text) - 1);
	for (uint32_t i = 0; i < 900; i++)
		tasks[i] = i;
	s.n_argv = 2;
	s.tasks = tasks;
	s.n_tasks = 900;
	submit(c, &s);
	assert_string_equal(why, "");
	u = ctl_user_jobs_find(ctx, "daemon");
	assert_in_range(u->bytes, CTL_USER_BYTES - (8 << 20), CTL_USER_BYTES);
	change.job = last_job;
	change.change = CONTROL__CHANGE__UPDATE;
	change.after = list;
	change.n_after = 64;
	actor_say(c, MESSAGE_BODY(CHANGE_JOB), &change);
	assert_in_range(u->bytes, CTL_USER_BYTES - (1 << 20), CTL_USER_BYTES);
	change.job = last_job + 899;
	actor_say(c, MESSAGE_BODY(CHANGE_JOB), &change);
	assert_non_null(strstr(why, "more than 64 MiB"));
	change.n_after = 0;
	change.no_after = true;
	actor_say(c, MESSAGE_BODY(CHANGE_JOB), &change);
	assert_int_equal(refused, 1);
	return false;
}

static void what_they_follow_counts(void **state)
{
	begin();
	actors_run(grow, NULL);
}

/* ---- what comes with a job ---- */

static void is_refused(struct conn *c, Control__Submit *s, const char *because)
{
	unsigned before = refused;

	submit(c, s);
	assert_int_equal(refused, before + 1);
	if (!strstr(why, because))
		fail_msg("%s", why);
}

static char **many(const char *text, size_t n)
{
	char **list = calloc(n, sizeof(*list));

	assert_non_null(list);
	for (size_t i = 0; i < n; i++)
		list[i] = (char *)text;
	return list;
}

static bool large(void *ctx)
{
	static char text[ARGUMENT_MAX + 1];
	struct ctl *ctl = ctx;
	struct conn *c = actor_greet("user/daemon", -1);
	Control__Submit s = CONTROL__SUBMIT__INIT;
	char *argv[] = { (char *)"true", text };
	char **hosts = many("h1", CTL_RANKS_MAX + 1);
	char **empty = many("", 900000);

	actor_greet("host/h1", -1);
	memset(text, 'x', ARGUMENT_MAX);
	s.argv = argv;
	s.n_argv = 2;
	s.ranks = 1;
	s.detached = true;
	is_refused(c, &s, "131072 bytes");
	s.n_argv = 1;
	s.env = argv + 1;
	s.n_env = 1;
	is_refused(c, &s, "131072 bytes");
	s.n_env = 0;
	s.cwd = text;
	is_refused(c, &s, "a working directory of");
	s.cwd = (char *)"/";
	s.hosts = hosts;
	s.n_hosts = CTL_RANKS_MAX + 1;
	is_refused(c, &s, "4097 hosts");
	s.n_hosts = 0;
	s.env = empty;
	s.n_env = 900000;
	is_refused(c, &s, "more than 6 MiB");
	/* Fewer of them count as what they take, not as their bytes. */
	s.n_env = 500000;
	for (unsigned i = 0; i < 5; i++)
		submit(c, &s);
	assert_int_equal(accepted, 3);
	assert_non_null(strstr(why, "more than 64 MiB"));

	cancel(c, last_job);
	empty[0] = (char *)"true";
	s.argv = empty;
	s.n_argv = 500000;
	s.n_env = 0;
	s.n_hosts = 500;
	submit(c, &s);
	assert_int_equal(accepted, 4);
	cancel(c, last_job);
	assert_in_range(TAILQ_LAST(&ctl->jobs.list, ctl_job_list)->spec->n_argv,
			1, 120);
	assert_int_equal(
		TAILQ_LAST(&ctl->jobs.list, ctl_job_list)->spec->n_hosts, 0);
	free(hosts);
	free(empty);
	return false;
}

static void arguments_and_hosts_are_bounded(void **state)
{
	begin();
	actors_run(large, NULL);
}

/* ---- START ---- */

static int nr_groups = 1;

/* The user database's word, instead of the C library's. */
int getgrouplist(const char *user, gid_t group, gid_t *groups, int *n)
{
	int room = *n;

	*n = nr_groups;
	for (int i = 0; i < nr_groups && i < room; i++)
		groups[i] = i ? UINT32_MAX - 1 - (gid_t)i : group;
	return nr_groups > room ? -1 : nr_groups;
}

enum { PACKET_MOST = 192 << 10 }; /* what agents and keepers take */

static size_t starts, args_seen, bytes_seen;
static bool ended;

static void on_asked(struct conn *c, const Keeper__Request *q)
{
	if (q->body_case != KEEPER__REQUEST__BODY_START)
		return;
	starts++;
	assert_in_range(keeper__request__get_packed_size(q), 1, PACKET_MOST);
	for (size_t i = 0; i < q->start->n_argv; i++)
		bytes_seen += strlen(q->start->argv[i]);
	args_seen += q->start->n_argv;
	ended = !q->start->more;
}

/* One that is as large as they come, after almost a whole piece of others. */
static bool started(void *ctx)
{
	static char small[1000], large_one[ARGUMENT_MAX];
	struct conn *h1 = actor_greet("host/h1", -1),
		    *c = actor_greet("user/daemon", -1);
	Control__Submit s = CONTROL__SUBMIT__INIT;
	char *argv[100], *host = (char *)"h1", *env[1] = { large_one };

	memset(small, 's', sizeof(small) - 1);
	memset(large_one, 'l', sizeof(large_one) - 1);
	for (int i = 0; i < 96; i++)
		argv[i] = small;
	for (int i = 96; i < 100; i++)
		argv[i] = large_one;
	s.argv = argv;
	s.n_argv = 100;
	s.env = env;
	s.n_env = s.n_hosts = s.ranks = 1;
	s.hosts = &host;
	s.detached = true;
	submit(c, &s);
	assert_string_equal(why, "");
	actors_asked = on_asked;
	actor_keeper_hello(h1, 0, KEEPER__STATE__EMPTY, 0);
	assert_true(ended && starts >= 5);
	assert_int_equal(args_seen, 100);
	assert_int_equal(bytes_seen, 96 * 999 + 4 * (ARGUMENT_MAX - 1));
	fake_turn();
	assert_true(fake_alive(h1));
	return false;
}

static void no_start_is_too_large_for_a_packet(void **state)
{
	begin();
	nr_groups = CTL_GROUPS_MOST;
	actors_run(started, NULL);
	nr_groups = 1;
}

static bool in_many_groups(void *ctx)
{
	struct conn *c = actor_greet("user/daemon", -1);
	Control__Submit s = CONTROL__SUBMIT__INIT;
	char *argv[] = { (char *)"true" };

	s.argv = argv;
	s.n_argv = s.ranks = 1;
	nr_groups = CTL_GROUPS_MOST + 1;
	submit(c, &s);
	nr_groups = 1;
	assert_int_equal(accepted, 0);
	assert_non_null(strstr(why, "is in 8001 groups"));
	return false;
}

static void a_user_in_too_many_groups_is_told_so(void **state)
{
	begin();
	actors_run(in_many_groups, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ranks_of_jobs_that_are_over_are_bounded),
		cmocka_unit_test(folded_jobs_count_with_all_their_ranks),
		cmocka_unit_test(a_command_at_the_end_counts_as_one_rank),
		cmocka_unit_test(what_they_follow_counts),
		cmocka_unit_test(arguments_and_hosts_are_bounded),
		cmocka_unit_test(no_start_is_too_large_for_a_packet),
		cmocka_unit_test(a_user_in_too_many_groups_is_told_so),
	};

	return cmocka_run_group_tests_name("bounds", tests, NULL, NULL);
}
