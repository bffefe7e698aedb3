/* test_limits.c - what a PMI server refuses: bad input, and too much of it */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/xalloc.h"
#include "pmi/gather.h"
#include "pmi/pmi.h"
#include "pmi/test_job.h"

static void refusals(void **state)
{
	static const char *const answers[][2] = {
		{ "cmd=publish_name service=a port=b\n",
		  "cmd=publish_result rc=1 info=not_supported\n" },
		{ "cmd=lookup_name service=a\n",
		  "cmd=lookup_result rc=1 info=not_supported\n" },
		{ "cmd=put kvsname=other key=a value=b\n",
		  "cmd=put_result rc=-1 msg=kvs_not_found\n" },
		{ "cmd=put kvsname=kvs_7 value=b\n",
		  "cmd=put_result rc=-1 msg=bad_key_or_value\n" },
		{ "cmd=init pmi_version=2\n",
		  "cmd=response_to_init pmi_version=1 pmi_subversion=1 "
		  "rc=-1\n" },
		{ "\n", "" },
	};
	struct job job;
	char *line;

	job_open(&job);
	for (size_t i = 0; i < sizeof(answers) / sizeof(*answers); i++) {
		say(job.rank[0], answers[i][0]);
		hear(job.rank[0], answers[i][1]);
	}
	line = xasprintf("cmd=put kvsname=kvs_7 key=%064d value=b\n", 0);
	say(job.rank[0], line);
	hear(job.rank[0], "cmd=put_result rc=-1 msg=bad_key_or_value\n");
	free(line);
	for (unsigned i = 0; i < PMI_PUTS_MAX; i++) {
		line = xasprintf("cmd=put kvsname=kvs_7 key=k%u value=\n", i);
		say(job.rank[0], line);
		hear(job.rank[0], "cmd=put_result rc=0 msg=success\n");
		free(line);
	}
	say(job.rank[0], "cmd=put kvsname=kvs_7 key=last value=b\n");
	hear(job.rank[0], "cmd=put_result rc=-1 msg=too_many_puts\n");
	job_close(&job);
}

/* A rank that is alone passes its barriers at once, as often as it likes. */
static void too_many_keys(void **state)
{
	struct pmi_server *s;
	char *line;

	assert_int_equal(
		pmi_server_create(0, 1, "kvs_7", &exchange, &ends[0], &s, NULL),
		0);
	for (unsigned i = 0; i < PMI_KEYS_MAX; i++) {
		line = xasprintf("cmd=put kvsname=kvs_7 key=k%u value=\n", i);
		say(s, line);
		hear(s, "cmd=put_result rc=0 msg=success\n");
		free(line);
		if ((i + 1) % PMI_PUTS_MAX)
			continue;
		say(s, "cmd=barrier_in\n");
		hear(s, "cmd=barrier_out rc=0\n");
	}
	say(s, "cmd=put kvsname=kvs_7 key=last value=b\n");
	hear(s, "cmd=put_result rc=-1 msg=too_many_puts\n");
	pmi_server_destroy(s);
}

/* The keys of other ranks add up, over any number of barriers. */
static void nobody_hears(void *ctx, uint64_t generation,
			 const struct pmi_put *puts, size_t n)
{
}

static void too_many_of_others(void **state)
{
	static const struct pmi_exchange deaf = { .fence = nobody_hears };
	struct pmi_server *s;
	struct pmi_put put;
	char key[PMI_KEY_MAX];
	int r = 0;

	assert_int_equal(
		pmi_server_create(0, 2, "kvs_7", &deaf, NULL, &s, NULL), 0);
	put = (struct pmi_put){ key, "value" };
	say(s, "cmd=barrier_in\n");
	for (unsigned i = 0; i <= PMI_ALL_MAX && !r; i++) {
		snprintf(key, sizeof(key), "k%u", i);
		r = pmi_server_release(s, 0, &put, 1, true, NULL);
		assert_int_equal(r, i < PMI_ALL_MAX ? 0 : -E2BIG);
	}
	snprintf(key, sizeof(key), "k1"); /* a key that it has */
	assert_int_equal(pmi_server_release(s, 0, &put, 1, false, NULL), 0);
	hear(s, "cmd=barrier_out rc=0\n");
	pmi_server_destroy(s);
}

/*
 * A request of 13 bytes is answered by all that was ever put: the server must
 * not do that again and again for a rank that does not read.
 */
static void answers_that_are_not_taken(void **state)
{
	struct pmi_server *s;
	struct error err = ERROR_INIT;
	char line[PMI_LINE_MAX], value[PMI_VALUE_MAX] = "+";
	size_t n = 0;
	int r = 0;

	memset(value + 1, 'a', sizeof(value) - 2);
	assert_int_equal(
		pmi_server_create(0, 1, "kvs", &exchange, NULL, &s, NULL), 0);
	for (unsigned i = 0; i < 4 * PMI_PUTS_MAX; i++) {
		snprintf(line, sizeof(line),
			 "cmd=put kvsname=kvs key=blob.0.%u value=%s\n%s", i,
			 value, i % 1000 ? "" : "cmd=barrier_in\n");
		say(s, line);
		pmi_server_output(s, &n);
		pmi_server_sent(s, n);
	}
	for (unsigned i = 0; i < 300 && !r; i++)
		r = pmi_server_feed(s, "cmd=fence_in\n", 13, &err);
	assert_int_equal(r, -EPROTO);
	assert_non_null(strstr(err.text, "without reading"));
	pmi_server_output(s, &n);
	assert_in_range(n, 1 << 20, 8 << 20);
	pmi_server_destroy(s);
}

/*
 * Nor must it for requests that are refused, whose answers have several lines.
 */
static void refusals_that_are_not_taken(void **state)
{
	const char text[] = "mcmd=spawn\nnprocs=1\nendcmd\n";
	struct pmi_server *s;
	struct error err = ERROR_INIT;
	size_t n = 0;
	int r = 0;

	assert_int_equal(
		pmi_server_create(0, 1, "kvs", &exchange, NULL, &s, NULL), 0);
	for (; !r && n < 2 * PMI_UNTAKEN_MAX; pmi_server_output(s, &n))
		r = pmi_server_feed(s, text, sizeof(text) - 1, &err);
	assert_int_equal(r, -EPROTO);
	assert_non_null(strstr(err.text, "without reading"));
	pmi_server_destroy(s);
}

/* An abort does not wait until answers are read. */
static void abort_before_answers_are_read(void **state)
{
	struct job job = { .aborted = 0 };
	struct end end = { &job, 0 };
	struct pmi_server *s;

	assert_int_equal(
		pmi_server_create(0, 1, "kvs", &exchange, &end, &s, NULL), 0);
	for (size_t n = 0; n <= PMI_UNTAKEN_MAX; pmi_server_output(s, &n))
		say(s, "cmd=get_maxes\n");
	say(s, "cmd=abort exitcode=7\n");
	assert_int_equal(job.aborted, 7);
	pmi_server_destroy(s);
}

/*
 * A union that is told again counts once; every rank gets it, so there is a
 * bound.
 */
static void a_union_has_a_bound(void **state)
{
	struct pmi_gather *g = pmi_gather_create(16);
	char key[32], value[PMI_VALUE_MAX];
	struct pmi_put put = { key, value };
	size_t bytes = 0;
	int r = 0;

	memset(value, 'a', sizeof(value) - 1);
	value[sizeof(value) - 1] = 0;
	snprintf(key, sizeof(key), "same");
	for (unsigned i = 0; i < 10000; i++)
		assert_int_equal(pmi_gather_add(g, 0, 0, &put, 1, true, NULL),
				 PMI_GATHER_WAIT);
	for (unsigned i = 0; r >= 0 && bytes < 2 * PMI_UNION_MAX; i++) {
		snprintf(key, sizeof(key), "key%u", i);
		bytes += sizeof(value);
		r = pmi_gather_add(g, i % 16, 0, &put, 1, true, NULL);
	}
	assert_int_equal(r, -EPROTO);
	assert_in_range(bytes, PMI_UNION_MAX / 2, PMI_UNION_MAX + 4096);
	pmi_gather_destroy(g);
}

static void nonsense(void **state)
{
	static const char *const bad[] = { "GET / HTTP/1.1\n", "cmd=dance\n",
					   "key=value\n", "=\n" };
	char *big = xcalloc(1, PMI_LINE_MAX + 1);
	struct job job;

	memset(big, 'x', PMI_LINE_MAX);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		job_open(&job);
		assert_int_equal(pmi_server_feed(job.rank[0], bad[i],
						 strlen(bad[i]), NULL),
				 -EPROTO);
		assert_int_equal(pmi_server_feed(job.rank[0], "\n", 1, NULL),
				 -EPROTO);
		job_close(&job);
	}
	job_open(&job);
	assert_int_equal(pmi_server_feed(job.rank[0], "a=\0\n", 4, NULL),
			 -EPROTO);
	assert_int_equal(pmi_server_feed(job.rank[1], big, PMI_LINE_MAX, NULL),
			 -EPROTO);
	say(job.rank[2], "cmd=barrier_in\n");
	assert_int_equal(
		pmi_server_feed(job.rank[2], "cmd=barrier_in\n", 15, NULL),
		-EPROTO);
	job_close(&job);
	free(big);
}

static void bad_state(void **state)
{
	struct job job;
	struct pmi_server *s = NULL;
	uint8_t *bytes;
	void *p;
	size_t n;

	job_open(&job);
	put_card(job.rank[0], 0, 0);
	pmi_server_save(job.rank[0], &p, &n);
	bytes = p;
	for (size_t i = 0; i < n; i++) /* cut short: refused or valid */
		if (!pmi_server_load(bytes, i, &exchange, &ends[0], &s, NULL))
			pmi_server_destroy(s);
	for (size_t i = 0; i < n; i++) {
		bytes[i] ^= 0x55;
		if (!pmi_server_load(bytes, n, &exchange, &ends[0], &s, NULL))
			pmi_server_destroy(s);
		bytes[i] ^= 0x55;
	}
	free(p);
	assert_int_equal(pmi_server_load("", 0, &exchange, &ends[0], &s, NULL),
			 -EINVAL);
	job_close(&job);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(refusals),
		cmocka_unit_test(nonsense),
		cmocka_unit_test(a_union_has_a_bound),
		cmocka_unit_test(answers_that_are_not_taken),
		cmocka_unit_test(refusals_that_are_not_taken),
		cmocka_unit_test(abort_before_answers_are_read),
		cmocka_unit_test(bad_state),
		cmocka_unit_test(too_many_keys),
		cmocka_unit_test(too_many_of_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
