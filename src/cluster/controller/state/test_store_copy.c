/* test_store_copy.c - copies of the store that are made while it is written */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "cluster/controller/state/store.h"
#include "cluster/controller/state/store_copy.h"
#include "core/scratch.h"
#include "core/xalloc.h"

enum {
	JOBS = 3000,
	SPEC = 5000
}; /* 15 MB: many steps, and logs that are written back */

static char dir[SCRATCH_MAX];
static char path[64], copied[64];
static struct store *store;

static void put_job(uint64_t id, int state)
{
	static char spec[SPEC];
	const struct store_job job = {
		.id = id, .state = state, .spec = spec, .spec_n = sizeof(spec)
	};

	memset(spec, (int)id, sizeof(spec));
	store_put_job(store, &job);
}

static void open_full(void)
{
	char wal[80];

	snprintf(wal, sizeof(wal), "%s-wal", path);
	unlink(path);
	unlink(wal);
	assert_int_equal(store_open(path, &store, NULL), 0);
	for (uint64_t id = 1; id <= JOBS; id++)
		put_job(id, 1);
	store_commit(store);
}

/* What is in the copy becomes a file, as a client writes it. */
static void write_out(const struct store_copy *c)
{
	uint64_t size = store_copy_size(c), n;
	char buf[70000];
	FILE *f;

	unlink(copied);
	f = fopen(copied, "we");
	assert_non_null(f);
	for (uint64_t at = 0; at < size; at += n) {
		n = size - at < sizeof(buf) ? size - at : sizeof(buf);
		assert_int_equal(store_copy_read(c, at, buf, n, NULL), 0);
		assert_int_equal(fwrite(buf, 1, n, f), n);
	}
	assert_int_equal(fclose(f), 0);
}

struct found {
	unsigned jobs, changed;
	uint64_t last;
};

static void on_job(void *ctx, const struct store_job *job)
{
	struct found *f = ctx;

	f->jobs++;
	f->changed += job->state == 5;
	f->last = job->id;
	assert_int_equal(job->spec_n, SPEC);
	for (size_t i = 0; i < SPEC; i++)
		assert_int_equal(((const char *)job->spec)[i], (char)job->id);
}

static struct found find_copied(void)
{
	struct found f = { .jobs = 0 };
	uint64_t jobs = 0;
	struct store *s;

	assert_int_equal(store_copy_check(copied, &jobs, NULL), 0);
	assert_int_equal(store_open(copied, &s, NULL), 0);
	store_each_job(s, on_job, &f);
	store_close(s);
	assert_int_equal(f.jobs, jobs);
	return f;
}

static unsigned files_of_copies(void)
{
	char name[80];

	snprintf(name, sizeof(name), "%s.copy", path);
	return !access(name, F_OK);
}

/* Whatever was committed before the copy is whole is in it: at its head, and behind. */
static void written_meanwhile(void **state)
{
	struct store_copy *c;
	struct found f;
	uint64_t steps = 0;
	int r;

	open_full();
	assert_int_equal(store_copy_begin(store, &c, NULL), 0);
	while (!(r = store_copy_step(c, NULL))) {
		steps++;
		put_job(steps, 5);	  /* a page that was copied */
		put_job(JOBS + steps, 1); /* one that was not there */
		if (steps % 2)
			store_commit(store); /* else the step does */
		if (steps == 3)
			store_forget_job(store, JOBS);
	}
	assert_int_equal(r, 1);
	assert_true(steps > 3);
	assert_int_equal(files_of_copies(), 0);
	put_job(JOBS + steps + 1, 1); /* too late */
	store_commit(store);
	write_out(c);
	store_copy_end(c);
	f = find_copied();
	assert_int_equal(f.jobs, JOBS + steps - 1);
	assert_int_equal(f.changed, steps);
	assert_int_equal(f.last, JOBS + steps);
	store_close(store);
}

static void two_at_once(void **state)
{
	struct store_copy *a, *b;
	int done_a = 0, done_b = 0;
	uint64_t n = 0, at_b = 0;

	open_full();
	assert_int_equal(store_copy_begin(store, &a, NULL), 0);
	assert_int_equal(store_copy_step(a, NULL), 0);
	assert_int_equal(store_copy_begin(store, &b, NULL), 0);
	while (!done_a || !done_b) {
		put_job(++n, 5);
		if (!done_a)
			done_a = store_copy_step(a, NULL);
		if (!done_b) {
			done_b = store_copy_step(b, NULL);
			at_b = n;
		}
		assert_true(done_a >= 0 && done_b >= 0);
	}
	write_out(a);
	assert_int_equal(find_copied().jobs, JOBS);
	write_out(b);
	assert_int_equal(find_copied().changed, at_b);
	store_copy_end(a);
	store_copy_end(b);
	store_close(store);
}

/* The store goes on, and ends, as if there had been none. */
static void given_up(void **state)
{
	struct store_copy *c;
	struct found f = { .jobs = 0 };

	open_full();
	assert_int_equal(store_copy_begin(store, &c, NULL), 0);
	assert_int_equal(store_copy_step(c, NULL), 0);
	assert_int_equal(files_of_copies(), 0);
	put_job(1, 5);
	store_copy_end(c);
	put_job(2, 5);
	store_close(store);
	assert_int_equal(store_open(path, &store, NULL), 0);
	store_each_job(store, on_job, &f);
	assert_int_equal(f.changed, 2);
	store_close(store);
}

static void what_is_no_copy(void **state)
{
	struct store_copy *c;
	struct error err;
	uint64_t jobs;
	int fd;

	open_full();
	assert_int_equal(store_copy_begin(store, &c, NULL), 0);
	while (!store_copy_step(c, NULL))
		;
	write_out(c);
	store_copy_end(c);
	store_close(store);
	fd = open(copied, O_WRONLY | O_CLOEXEC);
	/* the root of a table that is not asked for */
	assert_int_equal(pwrite(fd, "\0\0\0\0\0\0\0\0", 8, 8192), 8);
	assert_int_equal(store_copy_check(copied, &jobs, &err), -EBADMSG);
	assert_int_equal(ftruncate(fd, 4096 * 100), 0);
	assert_int_equal(store_copy_check(copied, &jobs, &err), -EBADMSG);
	assert_int_equal(ftruncate(fd, 0), 0);
	assert_int_equal(store_copy_check(copied, &jobs, &err), -EBADMSG);
	close(fd);
	unlink(copied);
	assert_int_equal(store_copy_check(copied, &jobs, &err), -EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(written_meanwhile),
		cmocka_unit_test(two_at_once),
		cmocka_unit_test(given_up),
		cmocka_unit_test(what_is_no_copy),
	};

	scratch_dir(dir, "/tmp");
	snprintf(path, sizeof(path), "%s/state.db", dir);
	snprintf(copied, sizeof(copied), "%s/copied.db", dir);
	return cmocka_run_group_tests_name("store_copy", tests, NULL, NULL);
}
