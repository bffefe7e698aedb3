/*
 * test_find.c - ranks are found by their addresses, jobs by the keys of their
 * submits, also by a controller that was restarted
 */
#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "cluster/controller/state/find.h"
#include "cluster/controller/state/job.h"
#include "cluster/controller/state/rank.h"
#include "cluster/controller/state/test_ctl.h"
#include "core/xalloc.h"

static void end(void)
{
	test_ctl_end();
	assert_null(test_ctl.jobs.by_address);
	assert_null(test_ctl.jobs.by_key);
}

static int teardown(void **state)
{
	end();
	return 0;
}

/* A submit of that user; key may be "". */
static Control__Submit *submit_of(const char *user, const char *key)
{
	Control__Submit *s = test_ctl_submit(user, 2);

	s->key.len = strlen(key);
	s->key.data = (uint8_t *)xstrdup(key);
	return s;
}

static struct in_addr address(uint32_t last)
{
	return (struct in_addr){ htonl(0x0a630000 + last) };
}

/* A started job whose two ranks have that address and the next one. */
static struct ctl_job *started(uint64_t id, uint32_t at)
{
	struct ctl_job *job =
		ctl_job_create(&test_ctl, id, submit_of("ada", ""));

	ctl_job_set_state(job, STATE(STARTING));
	for (uint32_t i = 0; i < job->nr; i++)
		ctl_rank_place(&job->ranks[i], NULL, address(at + i));
	return job;
}

static void an_address_is_its_ranks_until_the_job_is_over(void **state)
{
	struct ctl_job *one = started(1, 10), *two;

	assert_ptr_equal(ctl_rank_at(&test_ctl, address(10)), &one->ranks[0]);
	assert_ptr_equal(ctl_rank_at(&test_ctl, address(11)), &one->ranks[1]);
	assert_null(ctl_rank_at(&test_ctl, address(12)));
	assert_null(ctl_rank_at(&test_ctl, (struct in_addr){ 0 }));
	ctl_rank_done(&one->ranks[0], 0); /* the other still runs */
	assert_ptr_equal(ctl_rank_at(&test_ctl, address(10)), &one->ranks[0]);
	ctl_job_set_state(one, STATE(DONE));
	assert_null(ctl_rank_at(&test_ctl, address(10)));
	assert_int_equal(one->ranks[0].address.s_addr, address(10).s_addr);
	two = started(2, 10);
	ctl_job_destroy(one);
	assert_ptr_equal(ctl_rank_at(&test_ctl, address(10)), &two->ranks[0]);
}

static void a_job_that_begins_anew_gives_its_addresses_back(void **state)
{
	struct ctl_job *job = started(1, 10);

	ctl_job_again(job);
	assert_null(ctl_rank_at(&test_ctl, address(10)));
	ctl_rank_place(&job->ranks[1], NULL, address(10));
	assert_ptr_equal(ctl_rank_at(&test_ctl, address(10)), &job->ranks[1]);
}

static void a_later_controller_finds_who_has_which(void **state)
{
	struct ctl_job *job = started(1, 10);

	ctl_job_set_state(job, STATE(DONE));
	started(2, 20);
	end();
	test_ctl_begin();
	assert_null(ctl_rank_at(&test_ctl, address(10)));
	job = ctl_job_find(&test_ctl, 2);
	assert_non_null(job);
	assert_ptr_equal(ctl_rank_at(&test_ctl, address(21)), &job->ranks[1]);
}

static struct ctl_job *job_of(const char *user, const char *key)
{
	Control__Submit *s = submit_of(user, key);
	struct ctl_job *job = ctl_job_of_key(&test_ctl, s);

	control__submit__free_unpacked(s, NULL);
	return job;
}

/* A job is found by user and key together. */
static void a_key_is_its_users(void **state)
{
	struct ctl_job *job =
		ctl_job_create(&test_ctl, 1, submit_of("ada", "k1"));

	ctl_job_create(&test_ctl, 2, submit_of("ada", ""));
	assert_ptr_equal(job_of("ada", "k1"), job);
	assert_null(job_of("bob", "k1"));
	assert_null(job_of("adak", "1"));
	assert_null(job_of("ada", "k"));
	assert_null(job_of("ada", ""));
	ctl_job_set_state(job, STATE(DONE)); /* its client may still ask */
	end();
	test_ctl_begin();
	assert_ptr_equal(job_of("ada", "k1"), ctl_job_find(&test_ctl, 1));
	assert_non_null(job_of("ada", "k1"));
	ctl_job_forget(ctl_job_find(&test_ctl, 1));
	assert_null(job_of("ada", "k1"));
}

int main(void)
{
#define TEST(name) \
	cmocka_unit_test_setup_teardown(name, test_ctl_setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(an_address_is_its_ranks_until_the_job_is_over),
		TEST(a_job_that_begins_anew_gives_its_addresses_back),
		TEST(a_later_controller_finds_who_has_which),
		TEST(a_key_is_its_users),
	};

	return cmocka_run_group_tests_name("find", tests, NULL, NULL);
}
