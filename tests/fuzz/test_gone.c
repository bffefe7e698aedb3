/*
 * test_gone.c - what becomes of ranks whose host, keeper or controller goes:
 * one copy of each, at the host that has it, under an address of its own
 *
 * The controller of fuzz_controller.c, with peers that are played by hand.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
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
static struct conn *h1, *h2, *h3, *admin;

/* What keepers were asked since it was cleared, by body. */
static unsigned asked[32];
static bool verdict; /* the last */
static unsigned refused, forgotten, drained, granted, moved;
static char moved_why[64];
static uint64_t started_epoch;
static struct conn *started_at;

#define ASKED(NAME) asked[KEEPER__REQUEST__BODY_##NAME]

static void on_asked(struct conn *c, const Keeper__Request *q)
{
	assert_in_range(q->body_case, 0, 31);
	asked[q->body_case]++;
	if (q->body_case == KEEPER__REQUEST__BODY_VERDICT)
		verdict = q->verdict->at_destination;
}

static void on_said(struct conn *c, const Control__Message *m)
{
	refused += m->body_case == MESSAGE_BODY(FAILED);
	forgotten += m->body_case == MESSAGE_BODY(KEEPER_FORGET);
	drained += m->body_case == MESSAGE_BODY(DRAINED);
	granted += m->body_case == MESSAGE_BODY(OK);
	if (m->body_case == MESSAGE_BODY(MOVED)) {
		moved++;
		snprintf(moved_why, sizeof(moved_why), "%s", m->moved->why);
	}
	if (m->body_case != MESSAGE_BODY(KEEPER_START))
		return;
	started_at = c;
	started_epoch = m->keeper_start->name->epoch;
}

static int set_up(void **state)
{
	step = 0;
	begun = ctl_now();
	memset(asked, 0, sizeof(asked));
	refused = forgotten = drained = granted = 0;
	actors_asked = on_asked;
	actors_said = on_said;
	actors_begin();
	actors_cores = 2;
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

static struct ctl_job *job_of(struct ctl *ctl, uint64_t id)
{
	struct ctl_job *job = ctl_job_find(ctl, id);

	assert_non_null(job);
	return job;
}

static struct ctl_rank *rank_of(struct ctl *ctl)
{
	return &job_of(ctl, 1)->ranks[0];
}

static void all_come(int64_t epoch1, int64_t epoch2)
{
	h1 = actor_greet("host/h1", epoch1);
	h2 = actor_greet("host/h2", epoch2);
	h3 = actor_greet("host/h3", -1);
	admin = actor_greet("admin/root", -1);
}

/* So many ranks, there or where the policy says. */
static void submit(uint32_t ranks, const char *first, const char *second)
{
	Control__Submit s = CONTROL__SUBMIT__INIT;
	char *argv[] = { (char *)"true" };
	char *hosts[] = { (char *)first, (char *)second };

	s.argv = argv;
	s.n_argv = 1;
	s.ranks = ranks;
	s.hosts = hosts;
	s.n_hosts = second ? 2 : first ? 1 : 0;
	s.uid = getuid();
	s.started_ranks = 77; /* that is not for a client to say */
	s.stopping = true;
	actor_say(admin, MESSAGE_BODY(SUBMIT), &s);
}

static void start_at(struct conn *agent)
{
	Keeper__Started started = KEEPER__STARTED__INIT;

	actor_keeper_hello(agent, 0, KEEPER__STATE__EMPTY, 0);
	actor_keeper(agent, 0, 1, 0, KEEPER__EVENT__BODY_STARTED, &started);
}

static void migrate(const char *to, const char *key)
{
	Control__Migrate m = CONTROL__MIGRATE__INIT;

	m.job = 1;
	m.host = (char *)to;
	m.key.data = (uint8_t *)key;
	m.key.len = strlen(key);
	actor_say(admin, MESSAGE_BODY(MIGRATE), &m);
}

/* Rank 1.0 is asked for by its old keeper to be sent there. */
static void send_out(const char *name, struct conn *to, uint64_t epoch)
{
	Keeper__Receiving receiving = KEEPER__RECEIVING__INIT;

	migrate(name, name); /* each is a request of its own */
	actor_keeper_hello(to, epoch, KEEPER__STATE__EMPTY, 0);
	receiving.epoch = epoch;
	receiving.port = 1;
	actor_keeper(to, epoch, 0, 0, KEEPER__EVENT__BODY_RECEIVING,
		     &receiving);
}

static void begin(void)
{
	all_come(-1, -1);
	submit(1, "h1", NULL);
	start_at(h1);
	send_out("h2", h2, 1);
	assert_int_equal(ASKED(MIGRATE_OUT), 1);
}

static void done(struct conn *agent, uint64_t epoch, uint64_t move,
		 uint64_t seq, Keeper__Outcome outcome, uint64_t downtime)
{
	Keeper__MoveDone d = KEEPER__MOVE_DONE__INIT;
	Keeper__MoveReport r = KEEPER__MOVE_REPORT__INIT;

	d.epoch = move;
	d.outcome = outcome;
	d.report = &r;
	r.downtime_usec = downtime;
	r.total_usec = 2 * downtime;
	actor_keeper(agent, epoch, seq, 0, KEEPER__EVENT__BODY_MOVE_DONE, &d);
}

static void doubt(struct conn *agent, uint64_t epoch, uint64_t move,
		  bool source)
{
	Keeper__MoveDoubt d = KEEPER__MOVE_DOUBT__INIT;

	d.epoch = move;
	d.source = source;
	ASKED(VERDICT) = 0;
	actor_keeper(agent, epoch, 0, 0, KEEPER__EVENT__BODY_MOVE_DOUBT, &d);
}

static void status(struct conn *agent, uint64_t epoch, Keeper__State state,
		   uint64_t committed)
{
	Keeper__Status s = KEEPER__STATUS__INIT;

	s.state = state;
	s.committed = committed;
	actor_keeper(agent, epoch, 0, 0, KEEPER__EVENT__BODY_STATUS, &s);
}

/* Its agent finds no such keeper; record: what is asked for, 0: none. */
static void lacks(struct conn *agent, uint64_t epoch, uint64_t record,
		  bool committed)
{
	Control__KeeperGone g = CONTROL__KEEPER_GONE__INIT;
	Control__KeeperName name = CONTROL__KEEPER_NAME__INIT;

	name.job = (char *)"1";
	name.epoch = epoch;
	g.name = &name;
	g.committed = committed;
	g.committed_epoch = record;
	actor_say(agent, MESSAGE_BODY(KEEPER_GONE), &g);
}

/* ---- what a job is given */

static bool addresses(void *ctx)
{
	struct ctl *ctl = ctx;
	uint32_t fourth;

	all_come(-1, -1);
	for (int i = 0; i < 14; i++) /* but for the first and last */
		submit(1, "h1", NULL);
	fourth = job_of(ctl, 4)->ranks[0].address.s_addr;
	ctl_job_fail(job_of(ctl, 4), -1, 1, "that one ends");
	assert_int_equal(job_of(ctl, 4)->state, STATE(DONE));
	submit(1, "h1", NULL);
	/* It has the only one that nobody has, and the next one has none. */
	assert_int_equal(job_of(ctl, 15)->ranks[0].address.s_addr, fourth);
	submit(1, "h1", NULL);
	assert_int_equal(job_of(ctl, 16)->ranks[0].address.s_addr, 0);
	return false;
}

static void nobody_has_anothers_address(void **state)
{
	static const char *const small[] = { "pool", "10.9.0.0/28", NULL };

	actors_run(addresses, small);
}

static bool two_ranks(void *ctx)
{
	struct ctl *ctl = ctx;
	struct ctl_job *job;

	all_come(-1, -1);
	submit(2, "h1", NULL);
	job = job_of(ctl, 1);
	assert_int_equal(job->nr, 2);
	assert_false(job->spec->stopping);
	start_at(h1);
	assert_int_equal(job->ranks[0].state, STATE(RUNNING));
	assert_int_equal(job->ranks[1].state, STATE(STARTING));
	assert_int_equal(job->state, STATE(STARTING));
	return false;
}

static void a_job_runs_when_all_of_it_does(void **state)
{
	actors_run(two_ranks, NULL);
}

/* ---- its host goes before it began */

static void goes_to(struct ctl *ctl, const char *name, struct conn *c)
{
	assert_string_equal(rank_of(ctl)->host->name, name);
	assert_int_equal(rank_of(ctl)->epoch, 1);
	assert_true(started_at == c && started_epoch == 1);
}

/* The policy's choice is h1, since no other is there yet; then h2 has one. */
static bool only_h1_at_first(struct ctl *ctl)
{
	if (!step) {
		step = 1;
		h1 = actor_greet("host/h1", -1);
		admin = actor_greet("admin/root", -1);
		submit(1, NULL, NULL);
	}
	if (step > 1 || not_yet(rank_of(ctl)->host))
		return false;
	step = 2;
	h2 = actor_greet("host/h2", -1);
	h3 = actor_greet("host/h3", -1);
	submit(1, "h2", NULL);
	assert_int_equal(refused, 0);
	return true;
}

static bool is_still_at_h1(struct ctl *ctl)
{
	return step < 2 ||
	       not_yet(rank_of(ctl)->host != ctl_host_find(ctl, "h1"));
}

static bool emptiest(void *ctx)
{
	struct ctl *ctl = ctx;

	if (only_h1_at_first(ctl))
		fake_hang_up(h1);
	if (is_still_at_h1(ctl))
		return true;
	goes_to(ctl, "h3", h3);
	/* The keeper of the first start, should it come back, is ended. */
	h1 = actor_greet("host/h1", 0);
	actor_keeper_hello(h1, 0, KEEPER__STATE__EMPTY, 0);
	assert_int_equal(ASKED(KILL), 1);
	assert_int_equal(ASKED(START), 0);
	return false;
}

static bool undrained(void *ctx)
{
	Control__Drain drain = CONTROL__DRAIN__INIT;
	char *names[] = { (char *)"h3" };

	if (only_h1_at_first(ctx)) {
		drain.hosts = names;
		drain.n_hosts = 1;
		actor_say(admin, MESSAGE_BODY(DRAIN), &drain);
		fake_hang_up(h1);
	}
	if (is_still_at_h1(ctx))
		return true;
	goes_to(ctx, "h2", h2);
	return false;
}

static bool named(void *ctx)
{
	if (!step) {
		step = 2;
		all_come(-1, -1);
		submit(1, "h1", "h2");
		submit(1, "h2", NULL); /* h3 is the emptiest */
		fake_hang_up(h1);
	}
	if (is_still_at_h1(ctx))
		return true;
	goes_to(ctx, "h2", h2);
	return false;
}

static void it_starts_where_it_may_and_once(void **state)
{
	actors_run(emptiest, soon);
	set_up(state);
	actors_run(undrained, soon);
	set_up(state);
	actors_run(named, soon);
}

static bool sent(void *ctx)
{
	if (only_h1_at_first(ctx))
		actor_keeper_hello(h1, 0, KEEPER__STATE__EMPTY, 0);
	if (step < 2)
		return true;
	assert_int_equal(ASKED(START), 1);
	return false;
}

/* The controller before this one had sent its program. */
static bool not_again(void *ctx)
{
	struct ctl *ctl = ctx;

	if (step) {
		step = 0;
		all_come(0, -1);
		actor_keeper_hello(h1, 0, KEEPER__STATE__STARTING, 0);
		/* Not before it came; the settings are actors_run()'s. */
		((struct controller_conf *)ctl->conf)->lost_after = 1000;
		fake_hang_up(h1);
	}
	if (not_yet(rank_of(ctl)->lost || rank_of(ctl)->epoch))
		return true;
	assert_true(rank_of(ctl)->lost);
	assert_string_equal(rank_of(ctl)->host->name, "h1");
	return false;
}

static bool still_lost(void *ctx)
{
	assert_true(rank_of(ctx)->lost);
	return false;
}

static void what_began_is_lost_and_stays_so(void **state)
{
	actors_run(sent, NULL);
	actors_run(not_again, NULL);
	actors_run(still_lost, NULL);
}

static bool ended(void *ctx)
{
	struct ctl *ctl = ctx;

	all_come(-1, -1);
	submit(1, "h1", NULL);
	ctl_job_fail(job_of(ctl, 1), -1, 1, "it ends");
	lacks(h1, 0, 0, false);
	fake_hang_up(admin);
	ctl_jobs_prune(ctl);
	assert_non_null(ctl_job_find(ctl, 1));
	return false;
}

/* Nobody comes back for it now. */
static bool ended_a_while_ago(void *ctx)
{
	ctl_jobs_prune(ctx);
	assert_null(ctl_job_find(ctx, 1));
	return false;
}

static void a_client_may_come_back_for_its_job(void **state)
{
	static const char *const hour[] = { "history", "0", "client-grace",
					    "1h", NULL };
	static const char *const none[] = { "history", "0", "client-grace", "0",
					    NULL };

	actors_run(ended, hour);
	actors_run(ended_a_while_ago, none);
}

/* Two hosts are to be left: the answer comes when both are. */
static bool two_drained(void *ctx)
{
	Control__Drain drain = CONTROL__DRAIN__INIT;
	char *names[] = { (char *)"h1", (char *)"h2" };

	all_come(-1, -1);
	submit(1, "h1", NULL);
	submit(1, "h2", NULL);
	drain.hosts = names;
	drain.n_hosts = 2;
	drain.wait = true;
	actor_say(admin, MESSAGE_BODY(DRAIN), &drain);
	assert_int_equal(drained, 0);
	ctl_job_fail(job_of(ctx, 1), -1, 1, "it ends");
	assert_int_equal(drained, 1);
	assert_int_equal(granted, 0);
	ctl_job_fail(job_of(ctx, 2), -1, 1, "it ends");
	assert_int_equal(drained, 2);
	assert_int_equal(granted, 1);
	return false;
}

static void a_drain_is_over_with_its_last_host(void **state)
{
	actors_run(two_drained, NULL);
}

/* ---- moves */

static bool past_doubts(void *ctx)
{
	struct ctl *ctl = ctx;

	begin();
	done(h2, 1, 1, 1, KEEPER__OUTCOME__LANDED, 0);
	done(h1, 0, 1, 2, KEEPER__OUTCOME__GONE, 5);
	assert_null(rank_of(ctl)->move);
	send_out("h3", h3, 2);
	done(h3, 2, 2, 1, KEEPER__OUTCOME__LANDED, 0);
	done(h2, 1, 2, 2, KEEPER__OUTCOME__GONE, 5);
	assert_null(rank_of(ctl)->move);
	assert_int_equal(rank_of(ctl)->epoch, 2);
	/* Whoever gave it away has it no more, wherever it went from there. */
	doubt(h1, 0, 1, true);
	assert_int_equal(ASKED(VERDICT), 1);
	assert_true(verdict);
	doubt(h2, 1, 1, false);
	assert_int_equal(ASKED(VERDICT), 1);
	assert_false(verdict);
	return false;
}

static bool other_network(void *ctx)
{
	h1 = actor_greet("host/h1", -1);
	actors_net = "routed";
	h2 = actor_greet("host/h2", -1);
	actors_net = "none";
	admin = actor_greet("admin/root", -1);
	submit(1, "h1", NULL);
	start_at(h1);
	assert_int_equal(refused, 0);
	migrate("h2", "h2");
	assert_int_equal(refused, 1);
	assert_null(rank_of(ctx)->move);
	return false;
}

static void a_rank_keeps_its_network(void **state)
{
	actors_run(other_network, NULL);
}

static void doubts_about_what_is_over(void **state)
{
	actors_run(past_doubts, NULL);
}

static bool by_status(void *ctx)
{
	struct ctl_rank *r;

	begin();
	r = rank_of(ctx);
	doubt(h2, 1, 1, false);
	assert_int_equal(ASKED(VERDICT), 0);
	assert_int_equal(ASKED(STATUS), 1);
	status(h1, 0, KEEPER__STATE__MOVING, 0); /* nobody knows yet */
	assert_int_equal(ASKED(VERDICT), 0);
	status(h1, 0, KEEPER__STATE__DOUBT, 1);
	assert_int_equal(ASKED(VERDICT), 1);
	assert_true(verdict);
	assert_int_equal(r->epoch, 1);
	return false;
}

static bool by_record(void *ctx)
{
	struct ctl_rank *r;

	begin();
	r = rank_of(ctx);
	doubt(h2, 1, 1, false);
	lacks(h1, 0, 0, false); /* the old keeper has died */
	lacks(h1, 0, 7, true);	/* which had given it away, another time */
	assert_int_equal(r->epoch, 0);
	assert_int_equal(ASKED(VERDICT), 0);
	lacks(h1, 0, 1, true);
	assert_int_equal(r->epoch, 1);
	assert_int_equal(ASKED(VERDICT), 1);
	assert_true(verdict);
	return false;
}

static void the_sources_word_decides(void **state)
{
	actors_run(by_status, NULL);
	set_up(state);
	actors_run(by_record, NULL);
}

static bool reports(void *ctx)
{
	struct ctl_rank *r;

	begin();
	r = rank_of(ctx);
	/* A keeper that comes anew while it is sent to can take nothing. */
	ASKED(RECEIVE) = 0;
	actor_keeper_hello(h2, 1, KEEPER__STATE__EMPTY, 0);
	assert_int_equal(ASKED(RECEIVE), 0);
	assert_int_equal(ASKED(KILL), 1);
	done(h1, 0, 1, 2, KEEPER__OUTCOME__GONE, 5);
	assert_int_equal(r->downtime, 5);
	done(h2, 1, 1, 1, KEEPER__OUTCOME__LANDED, 0); /* which knows none */
	assert_null(r->move);
	assert_int_equal(r->downtime, 5);
	return false;
}

static bool records(void *ctx)
{
	Control__HostReport report = CONTROL__HOST_REPORT__INIT;
	Control__KeeperName name = CONTROL__KEEPER_NAME__INIT, *names = &name;

	begin();
	name.job = (char *)"1";
	name.epoch = 1;
	report.records = &names;
	report.n_records = 1;
	forgotten = 0;
	actor_say(h1, MESSAGE_BODY(HOST_REPORT), &report);
	assert_int_equal(forgotten, 0); /* it may decide that move yet */
	name.epoch = 9;
	actor_say(h1, MESSAGE_BODY(HOST_REPORT), &report);
	assert_int_equal(forgotten, 1);
	return false;
}

static void each_says_what_it_knows(void **state)
{
	actors_run(reports, NULL);
	set_up(state);
	actors_run(records, NULL);
}

static bool source_lost(void *ctx)
{
	if (!step++) {
		begin();
		done(h2, 1, 1, 1, KEEPER__OUTCOME__LANDED, 0);
		assert_non_null(rank_of(ctx)->move); /* no report yet */
		fake_hang_up(h1);
	}
	if (not_yet(!rank_of(ctx)->move))
		return true;
	assert_int_equal(rank_of(ctx)->state, STATE(RUNNING));
	assert_string_equal(rank_of(ctx)->host->name, "h2");
	return false;
}

/* Its old keeper heard of no move, and whoever asked for it is told. */
static bool ended_first(void *ctx)
{
	Keeper__Exited exited = KEEPER__EXITED__INIT;

	begin();
	moved = 0;
	actor_keeper(h1, 0, 2, 0, KEEPER__EVENT__BODY_EXITED, &exited);
	assert_int_equal(rank_of(ctx)->state, STATE(DONE));
	assert_null(rank_of(ctx)->move);
	assert_int_equal(moved, 1);
	assert_string_equal(moved_why, "the rank has ended");
	assert_int_equal(ASKED(KILL),
			 1); /* of the keeper that was to have it */
	lacks(h1, 0, 1, false);
	assert_int_equal(moved, 1);
	return false;
}

static void a_rank_that_ends_ends_its_move(void **state)
{
	actors_run(ended_first, NULL);
}

static void it_runs_on_without_the_host_it_left(void **state)
{
	actors_run(source_lost, soon);
}

/* ---- a controller that is killed in a move */

static bool begins(void *ctx)
{
	begin();
	return false;
}

static bool lands(void *ctx)
{
	begin();
	done(h2, 1, 1, 1, KEEPER__OUTCOME__LANDED, 0);
	assert_int_equal(rank_of(ctx)->moves, 1);
	return false;
}

static bool landed(void *ctx)
{
	all_come(0, 1);
	actor_keeper_hello(h2, 1, KEEPER__STATE__RUNNING, 0);
	assert_int_equal(rank_of(ctx)->moves, 1); /* and not twice */
	assert_int_equal(rank_of(ctx)->epoch, 1);
	return false;
}

static bool asked_again(void *ctx)
{
	all_come(0, 1);
	actor_keeper_hello(h1, 0, KEEPER__STATE__MOVING, 0);
	refused = 0;
	migrate("h2", "h3");
	assert_int_equal(refused, 1); /* it is being moved already */
	migrate("h2", "h2");
	assert_int_equal(refused, 1); /* by that very request */
	assert_false(TAILQ_EMPTY(&rank_of(ctx)->move->askers));
	/* Its copy ends: what the source has done only the source knows. */
	actor_keeper_hello(h2, 1, KEEPER__STATE__RECEIVING, 0);
	lacks(h2, 1, 0, false);
	assert_non_null(rank_of(ctx)->move);
	assert_int_equal(rank_of(ctx)->state, STATE(RUNNING));
	done(h1, 0, 1, 2, KEEPER__OUTCOME__GONE, 5);
	assert_true(rank_of(ctx)->lost);
	return false;
}

static void the_next_controller_knows_the_move(void **state)
{
	actors_run(begins, NULL);
	actors_run(asked_again, NULL);
	set_up(state);
	actors_run(lands, NULL);
	actors_run(landed, NULL);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(nobody_has_anothers_address),
		TEST(a_job_runs_when_all_of_it_does),
		TEST(it_starts_where_it_may_and_once),
		TEST(what_began_is_lost_and_stays_so),
		TEST(a_client_may_come_back_for_its_job),
		TEST(a_drain_is_over_with_its_last_host),
		TEST(a_rank_keeps_its_network),
		TEST(doubts_about_what_is_over),
		TEST(the_sources_word_decides),
		TEST(each_says_what_it_knows),
		TEST(it_runs_on_without_the_host_it_left),
		TEST(a_rank_that_ends_ends_its_move),
		TEST(the_next_controller_knows_the_move),
	};

	return cmocka_run_group_tests_name("gone", tests, NULL, NULL);
}
