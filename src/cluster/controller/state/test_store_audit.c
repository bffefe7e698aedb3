/* test_store_audit.c - what administrators did: kept, bounded, not pushed out */
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

static void put(struct store *s, usec_t at, const char *who, int code)
{
	const struct store_audit act = { .at = at,
					 .who = who,
					 .what = "drain",
					 .target = "h1 h2",
					 .detail = "a disk",
					 .code = code,
					 .why = code ? "no" : NULL };

	store_put_audit(s, &act);
}

struct seen {
	unsigned rows, done, most;
	usec_t first, last;
	uint64_t seq;
};

static bool on_act(void *ctx, const struct store_audit *act)
{
	struct seen *seen = ctx;

	assert_string_equal(act->what, "drain");
	assert_string_equal(act->target, "h1 h2");
	assert_string_equal(act->detail, "a disk");
	assert_string_equal(act->why, act->code ? "no" : "");
	assert_true(act->seq > seen->seq);
	seen->seq = act->seq;
	seen->last = act->at;
	if (!seen->rows++)
		seen->first = act->at;
	seen->done += !act->code;
	return seen->rows < seen->most;
}

static struct seen look(struct store *s, uint64_t from)
{
	struct seen seen = { .most = 100000 };

	store_each_audit(s, from, on_act, &seen);
	return seen;
}

static struct store *fresh(void)
{
	struct store *s;

	unlink(path);
	assert_int_equal(store_open(path, &s, NULL), 0);
	return s;
}

static void acts_are_kept(void **state)
{
	struct store *s = fresh();
	struct seen seen;

	(void)state;
	put(s, 5, "admin/ada", 0);
	put(s, 6, "user/bob", -1);
	store_close(s);
	assert_int_equal(store_open(path, &s, NULL), 0);
	seen = look(s, 0);
	assert_int_equal(seen.rows, 2);
	assert_int_equal(seen.done, 1);
	assert_int_equal(seen.first, 5);
	assert_int_equal(look(s, seen.seq).rows, 1);
	assert_int_equal(look(s, seen.seq + 1).rows, 0);
	store_close(s);
}

/* Whoever asks for what they may not, without end, pushes nothing of others' out. */
static void a_flood_is_bounded(void **state)
{
	struct store *s = fresh();
	struct seen seen;

	(void)state;
	put(s, 1, "admin/ada", 0);
	put(s, 2, "user/ann", -1);
	for (usec_t n = 0; n < 1000; n++) {
		put(s, 10 + n, "user/bob", -1);
		if (n % 100 == 0)
			store_prune_audit(s, 100, 0, 200);
	}
	seen = look(s, 0);
	assert_int_equal(seen.done, 1);
	assert_int_equal(seen.rows, 2 + STORE_REFUSED);
	assert_int_equal(seen.first, 1);
	assert_int_equal(seen.last, 1009);
	store_close(s);
}

static void old_ones_go(void **state)
{
	struct store *s = fresh();
	struct seen seen;

	(void)state;
	for (usec_t n = 1; n <= 50; n++)
		put(s, n, "admin/ada", 0);
	assert_true(store_prune_audit(s, 20, 0, 10));
	assert_int_equal(look(s, 0).rows, 40);
	assert_true(store_prune_audit(s, 20, 0, 20));
	assert_false(store_prune_audit(s, 20, 0, 20));
	seen = look(s, 0);
	assert_int_equal(seen.rows, 20);
	assert_int_equal(seen.first, 31);
	assert_true(store_prune_audit(s, 20, 41, 5));
	assert_int_equal(look(s, 0).first, 36);
	assert_false(store_prune_audit(s, 20, 41, 50));
	seen = look(s, 0);
	assert_int_equal(seen.rows, 10);
	assert_int_equal(seen.first, 41);
	store_close(s);
	/* how many there are is counted when it is opened */
	assert_int_equal(store_open(path, &s, NULL), 0);
	assert_false(store_prune_audit(s, 7, 0, 50));
	assert_int_equal(look(s, 0).rows, 7);
	store_close(s);
}

static void on_key(void *ctx, const char *identity)
{
	unsigned *n = ctx;

	assert_string_equal(identity, *n ? "user/bob" : "admin/ada");
	++*n;
}

static void keys_are_known_once(void **state)
{
	struct store *s = fresh();
	unsigned keys = 0;

	(void)state;
	assert_true(store_know_key(s, "user/bob"));
	assert_true(store_know_key(s, "admin/ada"));
	assert_false(store_know_key(s, "user/bob"));
	store_close(s);
	assert_int_equal(store_open(path, &s, NULL), 0);
	store_each_key(s, on_key, &keys);
	assert_int_equal(keys, 2);
	assert_true(store_unknow_key(s, "user/bob"));
	assert_false(store_unknow_key(s, "user/bob"));
	store_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(acts_are_kept),
		cmocka_unit_test(a_flood_is_bounded),
		cmocka_unit_test(old_ones_go),
		cmocka_unit_test(keys_are_known_once),
	};

	scratch_dir(dir, "/tmp");
	snprintf(path, sizeof(path), "%s/db", dir);
	return cmocka_run_group_tests_name("store_audit", tests, NULL, NULL);
}
