/* test_attach.c - jobs that get a speedup can run as they are said to */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "core/random.h"
#include "model/job.h"
#include "sim/workload/attach.h"

/* Jobs of one to eight processors; ret: how many of them are smaller than 5. */
static unsigned check_jobs(const char *spec, uint8_t kind,
			   enum speedup_kind model, uint32_t least)
{
	const struct workload_setup setup = { .load = 0.7,
					      .nr_jobs = 500,
					      .seed = 3 };
	struct workload_job j;
	struct workload *w;
	struct error err;
	unsigned nr = 0, small = 0;

	if (workload_create("poisson:procs=8", &setup, &w, &err) < 0 ||
	    attach_speedup(&w, spec, 3, 0, &err) < 0)
		fail_msg("%s", err.text);
	for (; workload_next(w, &j, &err) > 0; nr++) {
		assert_int_equal(j.kind, kind);
		assert_int_equal(j.speedup.kind, model);
		assert_int_equal(j.min_size, j.size < least ? j.size : least);
		if (model == SPEEDUP_MISP)
			assert_true(j.speedup.serial >= 0 &&
				    j.speedup.serial <= 0.5);
		small += j.size < 5;
	}
	assert_int_equal(nr, 500);
	workload_destroy(w);
	return small;
}

/* Nobody needs more processors than it asks for. */
static void fewest_are_not_more_than_all(void **state)
{
	(void)state;
	assert_in_range(
		check_jobs("linear:min=5", JOB_MALLEABLE, SPEEDUP_LINEAR, 5),
		100, 400);
	check_jobs("misp:min=2,kind=moldable", JOB_MOLDABLE, SPEEDUP_MISP, 2);
	check_jobs("table:points=1@1/8@0.5", JOB_MALLEABLE, SPEEDUP_TABLE, 1);
}

/* A table is good if numbers of processors grow, and efficiencies are above 0 up to 1. */
static void tables_grow(void **state)
{
	struct random_stream r;
	unsigned good = 0;

	(void)state;
	random_init(&r, 1, "tables", 0);
	for (int round = 0; round < 3000; round++) {
		char spec[200] = "table:points=";
		long last = 0;
		bool grows = true;

		for (uint64_t k = 1 + random_below(&r, 3); k; k--) {
			long m = last + (long)random_below(&r, 5) - 1;
			double e = (double)random_below(&r, 12) / 10;
			size_t at = strlen(spec);

			m = m < 0 ? 0 : m;
			grows = grows && m > last && e > 0 && e <= 1;
			snprintf(spec + at, sizeof(spec) - at, "%s%ld@%g",
				 last || k < 1 || strchr(spec, '@') ? "/" : "",
				 m, e);
			last = m;
		}
		good += grows;
		if ((attach_check(spec, NULL) == 0) != grows)
			fail_msg("%s is%s good", spec, grows ? "" : " not");
	}
	assert_in_range(good, 500, 2500);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fewest_are_not_more_than_all),
		cmocka_unit_test(tables_grow),
	};

	return cmocka_run_group_tests_name("attach", tests, NULL, NULL);
}
