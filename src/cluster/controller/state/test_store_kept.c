/* test_store_kept.c - what jobs leave behind: output once, accounts, acts */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "cluster/controller/state/store.h"
#include "core/scratch.h"

static char dir[SCRATCH_MAX];
static char path[80];

static void put_piece(struct store *s, uint64_t job, uint64_t number)
{
	const struct store_output piece = { .job = job,
					    .rank = 1,
					    .stream = 2,
					    .epoch = 3,
					    .number = number,
					    .offset = number * 4,
					    .data = "abcd",
					    .n = 4 };

	store_put_output(s, &piece);
}

struct seen {
	unsigned pieces, most;
	uint64_t first, last, seq;
};

static bool on_piece(void *ctx, const struct store_output *piece)
{
	struct seen *seen = ctx;

	assert_int_equal(piece->rank, 1);
	assert_int_equal(piece->stream, 2);
	assert_int_equal(piece->offset, piece->number * 4);
	assert_int_equal(piece->n, 4);
	assert_memory_equal(piece->data, "abcd", 4);
	assert_true(piece->seq > seen->seq);
	seen->seq = piece->seq;
	if (!seen->pieces++)
		seen->first = piece->number;
	seen->last = piece->number;
	return seen->pieces < seen->most;
}

static struct seen look(struct store *s, uint64_t job, uint64_t from)
{
	struct seen seen = { .most = 1000 };

	store_each_output(s, job, from, on_piece, &seen);
	return seen;
}

/* Output that is stored again, also after a restart, is there once. */
static void output_is_kept_once(void **state)
{
	struct store *s;
	struct seen seen;

	assert_int_equal(store_open(path, &s, NULL), 0);
	for (uint64_t n = 1; n <= 5; n++)
		put_piece(s, 1, n);
	put_piece(s, 2, 1);
	store_close(s);
	assert_int_equal(store_open(path, &s, NULL), 0);
	for (uint64_t n = 3; n <= 7; n++)
		put_piece(s, 1, n);
	seen = look(s, 1, 0);
	assert_int_equal(seen.pieces, 7);
	assert_int_equal(seen.last, 7);
	assert_int_equal(look(s, 1, seen.seq).pieces, 1);
	assert_int_equal(look(s, 1, seen.seq + 1).pieces, 0);
	assert_int_equal(store_output_bytes(s, 1), 7 * (4 + STORE_PIECE));
	store_close(s);
}

/* The last bytes stay, and the output of another job is not touched. */
static void output_is_bounded(void **state)
{
	struct store_rank rank = { .job = 1, .rank = 1, .host = "h1" };
	struct store *s;
	struct seen seen;

	assert_int_equal(store_open(path, &s, NULL), 0);
	store_put_rank(s, &rank);
	store_trim_output(s, 1, 3 * (4 + STORE_PIECE));
	seen = look(s, 1, 0);
	assert_int_equal(seen.pieces, 3);
	assert_int_equal(seen.first, 5);
	assert_int_equal(look(s, 2, 0).pieces, 1);
	store_trim_output(s, 1, 1000000);
	assert_int_equal(look(s, 1, 0).pieces, 3);
	store_forget_job(s, 1);
	assert_int_equal(look(s, 1, 0).pieces, 0);
	assert_int_equal(look(s, 2, 0).pieces, 1);
	store_close(s);
}

static void on_changed(void *ctx, const struct store_job *job)
{
	++*(unsigned *)ctx;
	assert_int_equal(job->id, 20);
	assert_int_equal(job->state, 11);
	assert_int_equal(job->spec_n, 3);
	assert_memory_equal(job->spec, "new", 3);
	assert_string_equal(job->why, "why");
	assert_int_equal(job->submit, 12);
	assert_int_equal(job->start, 13);
	assert_int_equal(job->end, 14);
	assert_int_equal(job->exit, 15);
	assert_int_equal(job->bad_rank, 16);
	assert_int_equal(job->pmi_generation, 17);
	assert_int_equal(job->pmi_release_n, 2);
	assert_memory_equal(job->pmi_release, "pm", 2);
	assert_int_equal(job->cause_at, 18);
	assert_int_equal(job->cause, 19);
	assert_true(job->limit_met);
	assert_int_equal(job->reason, 21);
	assert_string_equal(job->by, "ann");
}

/* All of a job's row is changed, and no second one made. */
static void a_job_changes(void **state)
{
	struct store_job job = { .id = 20, .spec = "old one", .spec_n = 7 };
	unsigned jobs = 0;
	struct store *s;

	assert_int_equal(store_open(path, &s, NULL), 0);
	store_put_job(s, &job);
	job = (struct store_job){ .id = 20,
				  .stored = true,
				  .state = 11,
				  .spec = "new",
				  .spec_n = 3,
				  .why = "why",
				  .submit = 12,
				  .start = 13,
				  .end = 14,
				  .exit = 15,
				  .bad_rank = 16,
				  .pmi_generation = 17,
				  .pmi_release = "pm",
				  .pmi_release_n = 2,
				  .cause_at = 18,
				  .cause = 19,
				  .limit_met = true,
				  .reason = 21,
				  .by = "ann" };
	store_put_job(s, &job);
	store_close(s);
	assert_int_equal(store_open(path, &s, NULL), 0);
	store_each_job(s, on_changed, &jobs);
	assert_int_equal(jobs, 1);
	store_forget_job(s, 20);
	store_close(s);
}

static void on_act(void *ctx, const struct store_act *act)
{
	unsigned *seen = ctx;

	assert_string_equal(act->who, "ann");
	assert_string_equal(act->what, "held");
	assert_int_equal(act->at, 77);
	++*seen;
}

static bool on_account(void *ctx, const struct store_account *account)
{
	uint64_t *seen = ctx;

	assert_string_equal(account->user, "ann");
	assert_int_equal(account->n, 3);
	seen[0]++;
	if (seen[0] == 1)
		seen[1] = account->job;
	return true;
}

/* One each, however often it is written, with the acts until then. */
static void accounts_outlive_jobs(void **state)
{
	struct store_account account = { .user = "ann", .data = "abc", .n = 3 };
	struct store_act act = { .at = 77, .who = "ann", .what = "held" };
	uint64_t seen[2] = { 0 };
	unsigned acts = 0;
	struct store *s;

	assert_int_equal(store_open(path, &s, NULL), 0);
	for (act.job = 1; act.job <= 9; act.job++)
		store_put_act(s, &act);
	for (int i = 0; i < 2; i++)
		for (account.job = 1; account.job <= 6; account.job++)
			store_put_account(s, &account);
	store_forget_job(s, 8);
	store_close(s);
	assert_int_equal(store_open(path, &s, NULL), 0);
	store_each_account(s, 0, on_account, seen);
	assert_int_equal(seen[0], 6);
	assert_int_equal(seen[1], 1);
	for (uint64_t job = 1; job <= 9; job++)
		store_each_act(s, job, on_act, &acts);
	assert_int_equal(acts, 2); /* of 7 and 9, which are not over */
	store_prune_accounts(s, 0, 0, 100);
	store_close(s);
}

static void who_comes_next(void *ctx, const struct store_act *act)
{
	const char **next = ctx;

	assert_int_equal(*act->who, **next);
	++*next;
}

/* In their order, also before they are committed; and none is there twice. */
static void acts_follow_each_other(void **state)
{
	struct store_act act = { .job = 22, .what = "held" };
	const char *next;
	struct store *s;

	assert_int_equal(store_open(path, &s, NULL), 0);
	for (act.who = "abc"; *act.who; act.who++) {
		store_put_act(s, &act);
		store_each_act(s, 22, who_comes_next, &(const char *){ "abc" });
	}
	next = "abc";
	store_each_act(s, 22, who_comes_next, &next);
	assert_int_equal(*next, 0);
	store_each_act(s, 23, who_comes_next, &(const char *){ "" });
	store_close(s);
	assert_int_equal(store_open(path, &s, NULL), 0);
	next = "abc";
	store_each_act(s, 22, who_comes_next, &next);
	assert_int_equal(*next, 0);
	store_close(s);
}

/* The only ones that are left are these. */
static void accounts_are(struct store *s, uint64_t first, uint64_t n)
{
	uint64_t seen[2] = { 0 };

	store_each_account(s, 0, on_account, seen);
	assert_int_equal(seen[0], n);
	assert_int_equal(seen[1], first);
}

/* The first to end goes first, whatever its number, and some at a time. */
static void old_accounts_go(void **state)
{
	struct store_account account = { .user = "ann", .data = "abc", .n = 3 };
	struct store *s;

	assert_int_equal(store_open(path, &s, NULL), 0);
	for (account.job = 30; account.job < 60; account.job++) {
		account.ended = (usec_t)(1000 + account.job);
		store_put_account(s, &account);
	}
	account.job = 1; /* began long ago, and has just ended */
	account.ended = 2000;
	store_put_account(s, &account);
	assert_true(store_prune_accounts(s, 21, 0, 4));
	store_close(s);
	assert_int_equal(store_open(path, &s, NULL), 0);
	assert_true(store_prune_accounts(s, 21, 0, 4));
	assert_false(store_prune_accounts(s, 21, 0, 4));
	assert_false(store_prune_accounts(s, 21, 0, 4));
	accounts_are(s, 1, 21);
	assert_true(store_prune_accounts(s, 21, 1050, 6));
	assert_false(store_prune_accounts(s, 21, 1050, 6));
	accounts_are(s, 1, 11);				  /* and 50 to 59 */
	assert_true(store_prune_accounts(s, 8, 1055, 5)); /* both at once */
	assert_false(store_prune_accounts(s, 8, 1055, 5));
	accounts_are(s, 1, 6);
	assert_false(store_prune_accounts(s, 8, 2001, 100));
	accounts_are(s, 0, 0);
	store_close(s);
}

/* Until all of it is forgotten, jobs and accounts. */
static void arrays_go_with_what_ended_then(void **state)
{
	struct store_account account = {
		.user = "ann", .ended = 50, .data = "abc", .n = 3
	};
	struct store_array array = { .last = 102, .exit = 3, .reason = 2 },
			   found;
	struct store_job job = { .id = 101 };
	struct store *s;

	assert_int_equal(store_open(path, &s, NULL), 0);
	store_put_job(s, &job);
	for (array.id = 100; array.id < 500; array.id += 100) {
		array.last = array.id + 2;
		array.ended = array.id == 400 ? 0 : (usec_t)array.id;
		store_put_array(s, &array);
	}
	for (account.job = 150; account.job < 154; account.job++) {
		store_put_account(s, &account);
		account.ended += 100; /* at 50, 150, 250, 350 */
	}
	store_close(s);
	assert_int_equal(store_open(path, &s, NULL), 0);
	(void)store_prune_accounts(s, 100, 51, 100);
	assert_true(
		store_find_array(s, 100, &found)); /* a job of it is there */
	assert_true(store_find_array(s, 200, &found));
	assert_int_equal(found.id, 200);
	assert_int_equal(found.last, 202);
	assert_int_equal(found.exit, 3);
	assert_int_equal(found.reason, 2);
	assert_int_equal(found.ended, 200);
	store_forget_job(s, 101);
	(void)store_prune_accounts(s, 100, 151, 100);
	assert_false(store_find_array(s, 100, &found));
	assert_false(store_find_array(s, 200, &found));
	assert_true(store_find_array(s, 300, &found));
	(void)store_prune_accounts(s, 100, 251, 100);
	assert_false(store_find_array(s, 300, &found));
	assert_true(store_find_array(s, 400, &found)); /* it is not over */
	(void)store_prune_accounts(s, 100, 351, 100);
	store_close(s);
}

/* A user may hold and release a job as often as she likes. */
static void acts_of_a_job_are_bounded(void **state)
{
	struct store_act act = {
		.job = 20, .at = 77, .who = "ann", .what = "held"
	};
	unsigned acts = 0, others = 0;
	struct store *s;

	assert_int_equal(store_open(path, &s, NULL), 0);
	for (int i = 0; i < STORE_ACTS + 40; i++)
		store_put_act(s, &act);
	act.job = 21;
	for (int i = 0; i < 3; i++)
		store_put_act(s, &act);
	act.job = 20;
	store_put_act(s, &act);
	store_each_act(s, 20, on_act, &acts);
	assert_int_equal(acts, STORE_ACTS);
	store_each_act(s, 21, on_act, &others);
	assert_int_equal(others, 3);
	store_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(output_is_kept_once),
		cmocka_unit_test(output_is_bounded),
		cmocka_unit_test(a_job_changes),
		cmocka_unit_test(accounts_outlive_jobs),
		cmocka_unit_test(old_accounts_go),
		cmocka_unit_test(arrays_go_with_what_ended_then),
		cmocka_unit_test(acts_of_a_job_are_bounded),
		cmocka_unit_test(acts_follow_each_other),
	};

	scratch_dir(dir, "/tmp");
	snprintf(path, sizeof(path), "%s/state.db", dir);
	return cmocka_run_group_tests_name("store_kept", tests, NULL, NULL);
}
