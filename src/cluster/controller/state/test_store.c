/* test_store.c - what the controller finds again after it was killed */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "cluster/controller/state/store.h"
#include "core/scratch.h"

static char dir[SCRATCH_MAX];
static char path[64];

static void put_job(struct store *s, uint64_t id, int state)
{
	struct store_job job = { .id = id,
				 .state = state,
				 .spec = "spec",
				 .spec_n = 4,
				 .why = "because",
				 .submit = 1000000 + (usec_t)id,
				 .bad_rank = -1 };

	store_put_job(s, &job);
}

struct found {
	unsigned jobs, ranks, moves, hosts;
	uint64_t last;
};

static void on_job(void *ctx, const struct store_job *job)
{
	struct found *f = ctx;

	f->jobs++;
	f->last = job->id;
	assert_int_equal(job->spec_n, 4);
	assert_memory_equal(job->spec, "spec", 4);
	assert_string_equal(job->why, "because");
	assert_int_equal(job->bad_rank, -1);
}

static void on_rank(void *ctx, const struct store_rank *rank)
{
	struct found *f = ctx;

	f->ranks++;
	assert_string_equal(rank->host, "h2");
	assert_int_equal(rank->last_epoch, 7);
	assert_int_equal(rank->address, 0x0a630001);
}

static void on_move(void *ctx, const struct store_move *move)
{
	struct found *f = ctx;

	f->moves++;
	assert_string_equal(move->from, "h1");
	assert_string_equal(move->to, "h2");
	assert_int_equal(move->source_epoch, 3);
	assert_int_equal(move->state, MOVE_COMMITTED);
}

static void on_host(void *ctx, const struct store_host *host)
{
	struct found *f = ctx;

	f->hosts++;
	assert_true(host->drain);
	assert_string_equal(host->drain_who, "ada");
	assert_string_equal(host->drain_reason, "new disk");
	assert_int_equal(host->drain_at, 7);
	assert_int_equal(host->drain_by, 8);
}

static void rows_come_back(void **state)
{
	struct store_rank rank = { .job = 5,
				   .rank = 1,
				   .host = "h2",
				   .address = 0x0a630001,
				   .epoch = 3,
				   .last_epoch = 7 };
	struct store_move move = { .job = 5,
				   .rank = 1,
				   .epoch = 7,
				   .source_epoch = 3,
				   .from = "h1",
				   .to = "h2",
				   .state = MOVE_COMMITTED };
	struct store_host host = { .name = "h1",
				   .drain = true,
				   .drain_who = "ada",
				   .drain_reason = "new disk",
				   .drain_at = 7,
				   .drain_by = 8 };
	struct found f = { .jobs = 0 };
	struct store *s;

	assert_int_equal(store_open(path, &s, NULL), 0);
	assert_int_equal(store_last_job(s), 0);
	put_job(s, 5, 1);
	put_job(s, 5, 3); /* written over, not doubled */
	store_put_rank(s, &rank);
	store_put_move(s, &move);
	move.epoch = 6;
	move.state = MOVE_OVER;
	store_put_move(s, &move);
	store_put_host(s, &host);
	store_close(s);
	assert_int_equal(store_open(path, &s, NULL), 0);
	store_each_job(s, on_job, &f);
	store_each_rank(s, 5, on_rank, &f);
	store_each_move(s, on_move, &f);
	store_each_host(s, on_host, &f);
	assert_int_equal(f.jobs, 1);
	assert_int_equal(f.ranks, 1);
	assert_int_equal(f.moves, 1);
	assert_int_equal(f.hosts, 1);
	assert_int_equal(store_last_job(s), 5);
	store_close(s);
}

static void on_last_move(void *ctx, const struct store_move *move)
{
	*(uint64_t *)ctx = move->epoch;
}

/* Moves of jobs that are over; and where a rank was at which epoch. */
static void moves_of_a_rank(void **state)
{
	struct store_move move = { .job = 6,
				   .source_epoch = 3,
				   .from = "h1",
				   .to = "h2",
				   .state = MOVE_OVER };
	uint64_t last = 0;
	struct store *s;

	assert_int_equal(store_open(path, &s, NULL), 0);
	put_job(s, 6, 1);
	for (uint64_t epoch = 7; epoch <= 9; epoch++) {
		move.epoch = epoch;
		store_put_move(s, &move);
	}
	move.epoch = 10;
	move.state = MOVE_BEGUN;
	store_put_move(s, &move);
	store_last_move(s, 6, 0, on_last_move, &last);
	assert_int_equal(last, 9);
	assert_true(store_was_there(s, 6, 0, 8, "h2"));
	assert_true(store_was_there(s, 6, 0, 3, "h1"));
	assert_false(store_was_there(s, 6, 0, 3, "h2"));
	assert_false(store_was_there(s, 6, 0, 8, "h1"));
	assert_false(store_was_there(s, 6, 1, 8, "h2"));
	store_forget_job(s, 6);
	store_close(s);
}

static void forgotten_alone(void **state)
{
	struct store_rank rank = { .job = 12, .host = "h1" };
	struct store_move move = { .job = 12, .from = "h1", .to = "h2" };
	struct found f = { .jobs = 0 };
	struct store *s;

	assert_int_equal(store_open(path, &s, NULL), 0);
	for (uint64_t id = 10; id < 13; id++)
		put_job(s, id, 5);
	store_put_rank(s, &rank);
	store_put_move(s, &move);
	store_forget_job(s, 12);
	store_forget_job(s, 99); /* is none */
	store_close(s);
	assert_int_equal(store_open(path, &s, NULL), 0);
	store_each_job(s, on_job, &f);
	store_each_rank(s, 12, on_rank, &f);
	store_each_move(s, on_move, &f);
	assert_int_equal(f.jobs, 3); /* job 5 was stored before */
	assert_int_equal(f.last, 11);
	assert_int_equal(f.ranks, 0);
	assert_int_equal(f.moves, 1);
	assert_int_equal(store_last_job(s), 12);
	store_close(s);
}

static void killed_in_between(void **state)
{
	struct found f = { .jobs = 0 };
	struct store *s;
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid) {
		if (store_open(path, &s, NULL) < 0)
			_exit(1);
		put_job(s, 40, 3);
		store_commit(s);
		put_job(s, 41, 3);
		kill(getpid(), SIGKILL);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(store_open(path, &s, NULL), 0);
	store_each_job(s, on_job, &f);
	assert_int_equal(f.last, 40);
	assert_int_equal(store_last_job(s), 40);
	store_close(s);
}

static void one_controller(void **state)
{
	struct store *s, *other;
	struct error err;

	assert_int_equal(store_open(path, &s, NULL), 0);
	assert_int_equal(store_open(path, &other, &err), -EBUSY);
	assert_non_null(strstr(err.text, "another controller"));
	store_close(s);
}

/* ---- power cuts: what was never synced is gone */

static sqlite3_vfs *disk;
static struct sqlite3_io_methods synced_methods;
static struct sqlite3_io_methods failing_methods[2];
static int (*disk_sync)(sqlite3_file *, int);
static int (*disk_write)(sqlite3_file *, const void *, int, sqlite3_int64);
static struct {
	sqlite3_file *file;
	char name[80];
} synced[2];

static void copy_file(const char *from, const char *to)
{
	static char buf[1 << 20];
	FILE *in = fopen(from, "re"), *out = fopen(to, "we");
	size_t n;

	assert_non_null(in);
	assert_non_null(out);
	while ((n = fread(buf, 1, sizeof(buf), in)) > 0)
		assert_int_equal(fwrite(buf, 1, n, out), n);
	fclose(in);
	assert_int_equal(fclose(out), 0);
}

/* What the disk surely has of a file: its content when it was last synced. */
static int sync_noted(sqlite3_file *file, int flags)
{
	char to[96];
	int r = disk_sync(file, flags);

	for (size_t i = 0; i < 2; i++) {
		if (synced[i].file != file)
			continue;
		snprintf(to, sizeof(to), "%s.disk", synced[i].name);
		copy_file(synced[i].name, to);
	}
	return r;
}

static int open_noted(sqlite3_vfs *vfs, const char *name, sqlite3_file *file,
		      int flags, int *ret_flags)
{
	int r = disk->xOpen(disk, name, file, flags, ret_flags);
	size_t at = flags & SQLITE_OPEN_WAL ? 1 : 0;

	if (r != SQLITE_OK ||
	    !(flags & (SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_WAL)))
		return r;
	synced_methods = *file->pMethods;
	disk_sync = synced_methods.xSync;
	synced_methods.xSync = sync_noted;
	file->pMethods = &synced_methods;
	synced[at].file = file;
	snprintf(synced[at].name, sizeof(synced[at].name), "%s", name);
	return SQLITE_OK;
}

/* A job's output and account are stored with it, and go with it. */
static void put_with_rest(struct store *s, uint64_t id)
{
	const struct store_output piece = {
		.job = id, .stream = 1, .n = 1, .data = "x"
	};
	const struct store_account account = {
		.job = id, .user = "u", .data = "x", .n = 1
	};

	put_job(s, id, 1);
	store_put_output(s, &piece);
	store_put_account(s, &account);
}

static bool on_any_account(void *ctx, const struct store_account *account)
{
	*(uint64_t *)ctx = account->job;
	return true;
}

/* The last job in the store that would be found if the power failed now. */
static uint64_t last_after_power_cut(void)
{
	static const char *const ends[] = { "", "-wal" };
	char from[96], to[96], cut[80];
	struct store *s;
	uint64_t last, account = 0;

	snprintf(cut, sizeof(cut), "%s/cut.db", dir);
	for (int i = 0; i < 2; i++) {
		snprintf(from, sizeof(from), "%s%s.disk", path, ends[i]);
		snprintf(to, sizeof(to), "%s%s", cut, ends[i]);
		unlink(to);
		if (!access(from, F_OK))
			copy_file(from, to);
	}
	assert_int_equal(store_open(cut, &s, NULL), 0);
	last = store_last_job(s);
	store_each_account(s, 0, on_any_account, &account);
	assert_int_equal(account, last);
	assert_int_equal(store_output_bytes(s, last),
			 last ? 1 + STORE_PIECE : 0);
	assert_int_equal(store_output_bytes(s, last + 1), 0);
	store_close(s);
	return last;
}

static void power_cut(void **state)
{
	static const char *const ends[] = { "", "-wal", ".disk", "-wal.disk" };
	struct sqlite3_vfs noted;
	struct store *s;
	char name[96];

	for (int i = 0; i < 4; i++) {
		snprintf(name, sizeof(name), "%s%s", path, ends[i]);
		unlink(name);
	}
	disk = sqlite3_vfs_find(NULL);
	noted = *disk;
	noted.zName = "noted";
	noted.xOpen = open_noted;
	assert_int_equal(sqlite3_vfs_register(&noted, 1), SQLITE_OK);
	assert_int_equal(store_open(path, &s, NULL), 0);
	assert_int_equal(sqlite3_vfs_register(disk, 1), SQLITE_OK);
	for (uint64_t id = 1; id <= 20; id++) {
		put_with_rest(s, id);
		assert_int_equal(last_after_power_cut(), id - 1);
		store_commit(s);
		assert_int_equal(last_after_power_cut(), id);
	}
	store_close(s);
	assert_int_equal(sqlite3_vfs_unregister(&noted), SQLITE_OK);
	for (int i = 2; i < 4; i++) {
		snprintf(name, sizeof(name), "%s%s", path, ends[i]);
		unlink(name);
	}
	snprintf(name, sizeof(name), "%s/cut.db", dir);
	unlink(name);
}

/* ---- a disk that fails at the nth write */

static int writes_left, write_code;

static int write_failing(sqlite3_file *file, const void *p, int n,
			 sqlite3_int64 at)
{
	if (writes_left && !--writes_left)
		return write_code;
	return disk_write(file, p, n, at);
}

static int sync_failing(sqlite3_file *file, int flags)
{
	if (writes_left && !--writes_left)
		return write_code == SQLITE_FULL ? SQLITE_FULL
						 : SQLITE_IOERR_FSYNC;
	return disk_sync(file, flags);
}

static int open_failing(sqlite3_vfs *vfs, const char *name, sqlite3_file *file,
			int flags, int *ret_flags)
{
	/*
	 * The methods of the log's file have no locks, those of the database's
	 * have.
	 */
	struct sqlite3_io_methods *m =
		&failing_methods[flags & SQLITE_OPEN_MAIN_DB ? 0 : 1];
	int r = disk->xOpen(disk, name, file, flags, ret_flags);

	if (r != SQLITE_OK)
		return r;
	*m = *file->pMethods;
	disk_write = m->xWrite;
	disk_sync = m->xSync;
	m->xWrite = write_failing;
	m->xSync = sync_failing;
	file->pMethods = m;
	return SQLITE_OK;
}

/*
 * What was stored in a transaction that fails is there once the disk works
 * again.
 */
static bool one_failing(int nth, int code)
{
	struct store_rank rank = {
		.job = 1, .host = "h2", .last_epoch = 7, .address = 0x0a630001
	};
	struct found f = { .jobs = 0 };
	struct store *s;
	char own[80], wal[96];
	bool failed;

	snprintf(own, sizeof(own), "%s/failing.db", dir);
	assert_int_equal(store_open(own, &s, NULL), 0);
	put_job(s, 1, 1);
	store_commit(s);
	writes_left = nth;
	write_code = code;
	for (uint32_t i = 0; i < 3; i++) {
		rank.rank = i;
		store_put_rank(s, &rank);
	}
	put_job(s, 2, 1);
	store_forget_job(s, 99);
	store_commit(s);
	put_job(s, 3, 1);
	store_commit(s);
	failed = !writes_left;
	writes_left = 0;
	store_close(s);
	assert_int_equal(store_open(own, &s, NULL), 0);
	store_each_job(s, on_job, &f);
	store_each_rank(s, 1, on_rank, &f);
	assert_int_equal(f.jobs, 3);
	assert_int_equal(f.ranks, 3);
	store_close(s);
	unlink(own);
	snprintf(wal, sizeof(wal), "%s-wal", own);
	unlink(wal);
	return failed;
}

static void failing_writes(void **state)
{
	struct sqlite3_vfs failing;
	int codes[] = { SQLITE_FULL, SQLITE_IOERR_WRITE };
	int n = 1;

	(void)state;
	disk = sqlite3_vfs_find(NULL);
	failing = *disk;
	failing.zName = "failing";
	failing.xOpen = open_failing;
	assert_int_equal(sqlite3_vfs_register(&failing, 1), SQLITE_OK);
	for (int i = 0; i < 2; i++)
		for (n = 1; one_failing(n, codes[i]); n++)
			;
	assert_true(n > 5);
	assert_int_equal(sqlite3_vfs_unregister(&failing), SQLITE_OK);
	assert_int_equal(sqlite3_vfs_register(disk, 1), SQLITE_OK);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_come_back),
		cmocka_unit_test(forgotten_alone),
		cmocka_unit_test(killed_in_between),
		cmocka_unit_test(moves_of_a_rank),
		cmocka_unit_test(one_controller),
		cmocka_unit_test(power_cut),
		cmocka_unit_test(failing_writes),
	};

	scratch_dir(dir, "/tmp");
	snprintf(path, sizeof(path), "%s/state.db", dir);
	return cmocka_run_group_tests_name("store", tests, NULL, NULL);
}
