/* test_limit.c - limits that a user asks for, and limits that a host gives */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cluster/host/limit.h"

static const struct limit_terms terms = {
	.given = { .memory = 256 << 20, .pids = 100, .cpus = 1500 },
	.most = { .memory = 1 << 30, .pids = 1000, .cpus = 4000 },
};

static void settles_cpus(const struct limit_terms *t, uint64_t asked,
			 uint64_t want)
{
	struct limits limits = { .cpus = asked }, got;

	assert_int_equal(limits_settle(&limits, t, &got, NULL), 0);
	assert_int_equal(got.cpus, want);
}

static void settles(const struct limit_terms *t, uint64_t memory, uint64_t pids,
		    uint64_t want_memory, uint64_t want_pids)
{
	struct limits asked = { memory, pids }, got;

	assert_int_equal(limits_settle(&asked, t, &got, NULL), 0);
	assert_int_equal(got.memory, want_memory);
	assert_int_equal(got.pids, want_pids);
}

static void refuses(int (*how)(const struct limits *asked,
			       const struct limit_terms *t, struct error *err),
		    uint64_t memory, uint64_t pids, const char *word)
{
	struct limits asked = { memory, pids, 1 };
	struct error err;

	assert_int_equal(how(&asked, &terms, &err), -E2BIG);
	assert_non_null(strstr(err.text, word));
}

static int settle(const struct limits *asked, const struct limit_terms *t,
		  struct error *err)
{
	struct limits got;

	return limits_settle(asked, t, &got, err);
}

static void the_most_beats_what_is_asked(void **state)
{
	const struct limit_terms open = { .given = { .pids = 7 } };
	const struct limit_terms most_alone = { .most = { 5000, 9, 700 } };
	const struct limits many = { .cpus = 4001 };
	struct error err;

	settles(&terms, 0, 0, 256 << 20, 100);
	settles(&terms, 1 << 30, 1000, 1 << 30, 1000);
	settles(&terms, 1, 1, 1, 1);
	settles(&open, 0, 0, 0, 7);
	settles(&open, UINT64_MAX, 1 << 20, UINT64_MAX, 1 << 20);
	settles(&most_alone, 0, 0, 5000, 9);
	refuses(settle, (1 << 30) + 1, 0, "1 GiB of memory at most");
	refuses(settle, UINT64_MAX, 0, "memory-max");
	refuses(settle, 0, 1001, "--pids-limit");
	settles_cpus(&terms, 0, 1500);
	settles_cpus(&terms, 4000, 4000);
	settles_cpus(&open, 0, 0);
	settles_cpus(&open, 1, 1);
	settles_cpus(&most_alone, 0, 700);
	assert_int_equal(settle(&many, &terms, &err), -E2BIG);
	assert_string_equal(err.text,
			    "a rank has 4 processors at most here (cpus-max of "
			    "its agent), and this one 4.001 (--cpus)");
}

/* Without any limit the rank could grow beyond what the host gives. */
static void who_comes_must_fit(void **state)
{
	struct limits has = { 1 << 20, 5, 4000 };
	struct error err;

	assert_int_equal(limits_fit(&has, &terms, NULL), 0);
	assert_int_equal(limits_fit(&terms.most, &terms, NULL), 0);
	refuses(limits_fit, 0, 5, "no limit (--memory)");
	refuses(limits_fit, 1 << 20, 0, "no limit (--pids-limit)");
	refuses(limits_fit, 2147483648, 5, "2 GiB (--memory)");
	has.cpus = 4001;
	assert_int_equal(limits_fit(&has, &terms, NULL), -E2BIG);
	has.cpus = 0;
	assert_int_equal(limits_fit(&has, &terms, &err), -E2BIG);
	assert_non_null(strstr(err.text, "no limit (--cpus)"));
}

static void terms_are_written_and_read(void **state)
{
	struct limit_terms got, set = terms;
	char *text = limit_terms_text(&terms);
	static const char *const bad[] = {
		"",	   "1,2,3",    "1,2,3,4,5",	"1,2,3,4 ",   "a,b,c,d",
		"1,2,3,x", "-1,2,3,4", "1,2,3,4,5,6,7", "1,2,3,4,5,", "1,2,3,4,"
	};

	assert_int_equal(limit_terms_parse(text, &got, NULL), 0);
	assert_memory_equal(&got, &terms, sizeof(got));
	free(text);
	/* An agent of before there were limits of processors. */
	assert_int_equal(limit_terms_parse("1,2,3,4", &got, NULL), 0);
	assert_true(got.most.pids == 4 && !got.given.cpus && !got.most.cpus);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_int_equal(limit_terms_parse(bad[i], &got, NULL),
				 -EINVAL);
	assert_int_equal(limit_terms_set(&set, "memory-max", "3G", NULL), 0);
	assert_int_equal(set.most.memory, 3221225472);
	assert_int_equal(limit_terms_set(&set, "pids-default", "none", NULL),
			 0);
	assert_int_equal(set.given.pids, 0);
	assert_int_equal(limit_terms_set(&set, "pids-max", "0", NULL), -ERANGE);
	assert_int_equal(limit_terms_set(&set, "pids-max", "1K", NULL),
			 -EINVAL);
	assert_int_equal(limit_terms_set(&set, "memory-max", "0", NULL),
			 -ERANGE);
	assert_int_equal(limit_terms_set(&set, "memory-default", "1k", NULL),
			 -ERANGE);
	assert_int_equal(set.most.memory, 3221225472);
	assert_int_equal(limit_terms_set(&set, "cores", "1", NULL), -ENOENT);
	set.given = set.most; /* exactly the most is not more */
	assert_int_equal(limit_terms_check(&set, NULL), 0);
	assert_int_equal(set.given.pids, 1000);
	set.given = (struct limits){ .memory = 256 << 20 };
	assert_int_equal(limit_terms_check(&set, NULL), 0);
	assert_int_equal(limit_terms_set(&set, "pids-default", "1001", NULL),
			 0);
	assert_int_equal(limit_terms_check(&set, NULL), -EINVAL);
	set.given.pids = 1000;
	assert_int_equal(limit_terms_set(&set, "cpus-max", "1.5", NULL), 0);
	assert_int_equal(set.most.cpus, 1500);
	assert_int_equal(limit_terms_set(&set, "cpus-default", "0.009", NULL),
			 -ERANGE);
	assert_int_equal(limit_terms_set(&set, "cpus-default", "nan", NULL),
			 -EINVAL);
	assert_int_equal(limit_terms_set(&set, "cpus-default", "1.5", NULL), 0);
	assert_int_equal(limit_terms_check(&set, NULL), 0);
	assert_int_equal(limit_terms_set(&set, "cpus-default", "1.501", NULL),
			 0);
	assert_int_equal(limit_terms_check(&set, NULL), -EINVAL);
	assert_int_equal(limit_terms_set(&set, "cpus-default", "none", NULL),
			 0);
	set.given.pids = LIMITS_PIDS_DEFAULT;
	assert_int_equal(limit_terms_check(&set, NULL), 0);
	assert_int_equal(set.given.pids, 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_most_beats_what_is_asked),
		cmocka_unit_test(who_comes_must_fit),
		cmocka_unit_test(terms_are_written_and_read),
	};

	return cmocka_run_group_tests_name("limit", tests, NULL, NULL);
}
