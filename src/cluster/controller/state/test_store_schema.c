/*
 * test_store_schema.c - stores of other layouts; the argument is
 * tests/store/v0.sql
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "cluster/controller/state/store_priv.h"
#include "core/scratch.h"

static char dir[SCRATCH_MAX];

static const char *old_sql; /* a store from before layouts had numbers */

static void run_sql(const char *file, const char *sql)
{
	sqlite3 *db;

	assert_int_equal(sqlite3_open(file, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

static void old_job(void *ctx, const struct store_job *job)
{
	unsigned *seen = ctx;

	seen[0]++;
	assert_int_equal(job->state, job->id == 1 ? 5 : 3);
	assert_int_equal(job->exit, job->id == 1 ? 3 : 0);
	assert_true(job->spec_n > 10 && job->submit > 0);
	assert_string_equal(job->why,
			    job->id == 1 ? "rank 0 exited with code 3" : "");
}

static void old_rank(void *ctx, const struct store_rank *rank)
{
	unsigned *seen = ctx;

	seen[1]++;
	assert_string_equal(rank->host, "h1");
	assert_int_equal(rank->state, 3);
	assert_int_equal(rank->downtime, rank->rank ? 3158 : 0);
	assert_int_equal(rank->last_epoch, rank->rank);
}

static void old_host(void *ctx, const struct store_host *host)
{
	unsigned *seen = ctx;

	seen[2]++;
	assert_int_equal(host->drain, !strcmp(host->name, "h2"));
	assert_int_equal(strlen(host->boot_id), 36);
	assert_string_equal(host->drain_who, "");
	assert_string_equal(host->drain_reason, "");
	assert_int_equal(host->drain_at, 0);
	assert_int_equal(host->drain_by, 0);
}

static bool old_line(void *ctx, const struct store_line *line)
{
	unsigned *seen = ctx;

	seen[3]++;
	assert_int_equal(line->begin, !strncmp(line->line, "begin ", 6));
	return true;
}

static void check_old_rows(const char *file)
{
	unsigned seen[4] = { 0 };
	struct store *s;

	assert_int_equal(store_open(file, &s, NULL), 0);
	assert_int_equal(store_last_job(s), 2);
	store_each_job(s, old_job, seen);
	store_each_rank(s, 2, old_rank, seen);
	store_each_host(s, old_host, seen);
	store_each_line(s, 0, 0, old_line, seen);
	assert_true(store_was_there(s, 2, 1, 1, "h1"));
	assert_true(store_was_there(s, 2, 1, 0, "h2"));
	store_close(s);
	assert_int_equal(seen[0], 2);
	assert_int_equal(seen[1], 2);
	assert_int_equal(seen[2], 2);
	assert_int_equal(seen[3], 31);
}

static char *read_old(void)
{
	static char text[64 << 10];
	FILE *f = fopen(old_sql, "re");
	size_t n;

	assert_non_null(f);
	n = fread(text, 1, sizeof(text) - 1, f);
	assert_true(n > 0 && n < sizeof(text) - 1);
	text[n] = 0;
	fclose(f);
	return text;
}

static void older_layout(void **state)
{
	char own[80], copy[96], again[104];
	struct stat st;

	(void)state;
	snprintf(own, sizeof(own), "%s/old.db", dir);
	snprintf(copy, sizeof(copy), "%s.v0", own);
	snprintf(again, sizeof(again), "%s.v0", copy);
	run_sql(own, read_old());
	check_old_rows(own);
	check_old_rows(own); /* once is enough: no second copy is made */
	/* It has arguments and environments, which nobody else may read. */
	assert_int_equal(stat(copy, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	check_old_rows(copy);
	/*
	 * A store of the old layout was made again: it had to be changed, too.
	 */
	assert_int_equal(access(again, F_OK), 0);
	unlink(again);
	unlink(copy);
	unlink(own);
}

static int version_of(const char *file)
{
	sqlite3_stmt *st;
	sqlite3 *db;
	int version;

	assert_int_equal(sqlite3_open(file, &db), SQLITE_OK);
	assert_int_equal(
		sqlite3_prepare_v2(db, "PRAGMA user_version", -1, &st, NULL),
		SQLITE_OK);
	assert_int_equal(sqlite3_step(st), SQLITE_ROW);
	version = sqlite3_column_int(st, 0);
	sqlite3_finalize(st);
	sqlite3_close(db);
	return version;
}

/* A store as a controller of that layout left it. */
static void make_layout(const char *file, int version)
{
	sqlite3 *db;

	run_sql(file, read_old());
	assert_int_equal(sqlite3_open(file, &db), SQLITE_OK);
	assert_int_equal(store_layout(db, 0, version), SQLITE_OK);
	assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

static void each_layout(void **state)
{
	char own[80], copy[96];
	struct store *s;
	int today;

	snprintf(own, sizeof(own), "%s/new.db", dir);
	assert_int_equal(store_open(own, &s, NULL), 0);
	store_close(s);
	today = version_of(own);
	assert_in_range(today, 10, 999);
	for (int v = 1; v < today; v++) {
		snprintf(own, sizeof(own), "%s/from%d.db", dir, v);
		snprintf(copy, sizeof(copy), "%s.v%d", own, v);
		make_layout(own, v);
		assert_int_equal(version_of(own), v);
		check_old_rows(own);
		assert_int_equal(version_of(own), today);
		assert_int_equal(version_of(copy), v);
		check_old_rows(copy);
	}
}

static bool on_account(void *ctx, const struct store_account *account)
{
	++*(unsigned *)ctx;
	return true;
}

static void on_act(void *ctx, const struct store_act *act)
{
	++*(unsigned *)ctx;
}

/* Accounts of before they had times age from now on; acts that are in them go. */
static void old_accounts_age(void **state)
{
	unsigned accounts = 0, acts = 0;
	struct store *s;
	char own[80];

	snprintf(own, sizeof(own), "%s/accounts.db", dir);
	make_layout(own, 8);
	run_sql(own, "INSERT INTO account (job, user, data) VALUES (1, 'u', "
		     "'x');"
		     "INSERT INTO act (job, what) VALUES (1, 'held'), "
		     "(2, 'held'), (99, 'held')");
	assert_int_equal(store_open(own, &s, NULL), 0);
	assert_false(store_prune_accounts(s, 100, 1500000000000000, 100));
	store_each_account(s, 0, on_account, &accounts);
	assert_int_equal(accounts, 1);
	for (uint64_t job = 1; job < 100; job++)
		store_each_act(s, job, on_act, &acts);
	assert_int_equal(acts, 1); /* 2 is not over */
	store_close(s);
}

/* Without a copy nothing is changed. */
static void no_copy(void **state)
{
	char own[80], copy[96], blocked[112];
	struct error err;
	struct store *s;

	(void)state;
	snprintf(own, sizeof(own), "%s/old.db", dir);
	snprintf(copy, sizeof(copy), "%s.v0.new", own);
	snprintf(blocked, sizeof(blocked), "%s/in the way", copy);
	run_sql(own, read_old());
	assert_int_equal(mkdir(copy, 0700), 0);
	assert_int_equal(mkdir(blocked, 0700), 0);
	assert_int_equal(store_open(own, &s, &err), -EIO);
	assert_non_null(strstr(err.text, "no copy can be kept"));
	rmdir(blocked);
	rmdir(copy);
	check_old_rows(own);
	*strrchr(copy, '.') = 0;
	assert_int_equal(access(copy, F_OK), 0);
	unlink(copy);
	unlink(own);
}

static void newer_layout(void **state)
{
	struct error err;
	struct store *s;
	char own[80];

	(void)state;
	snprintf(own, sizeof(own), "%s/newer.db", dir);
	run_sql(own, "CREATE TABLE job (id INT, colour TEXT);"
		     "INSERT INTO job VALUES (7, 'blue');"
		     "PRAGMA user_version=1000");
	assert_true(store_open(own, &s, &err) < 0);
	assert_non_null(strstr(err.text, "layout 1000"));
	assert_null(strchr(err.text, '\n'));
	run_sql(own, "UPDATE job SET colour = 'red' WHERE id = 7");
	unlink(own);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(older_layout),
		cmocka_unit_test(each_layout),
		cmocka_unit_test(old_accounts_age),
		cmocka_unit_test(no_copy),
		cmocka_unit_test(newer_layout),
	};

	assert_int_equal(argc, 2);
	old_sql = argv[1];

	scratch_dir(dir, "/tmp");
	return cmocka_run_group_tests_name("store_schema", tests, NULL, NULL);
}
