/* test_pmi.c - a rank's talk with its PMI server, whole jobs, bad input */
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

enum { RANKS = 3 };

/* A job in one process: servers whose fences meet in one gather. */
struct job {
	struct pmi_gather *gather;
	struct pmi_server *rank[RANKS];
	int aborted;
	unsigned fences;
	bool lose; /* the releases do not arrive */
};

struct end {
	struct job *job;
	uint32_t rank;
};

static void release(struct job *job, uint32_t rank, uint64_t generation)
{
	size_t n;
	const struct pmi_put *puts = pmi_gather_union(job->gather, &n);

	if (!job->lose)
		assert_int_equal(pmi_server_release(job->rank[rank], generation,
						    puts, n, false, NULL),
				 0);
}

static void on_fence(void *ctx, uint64_t generation, const struct pmi_put *puts,
		     size_t n)
{
	struct end *end = ctx;
	struct job *job = end->job;
	int r = pmi_gather_add(job->gather, end->rank, generation, puts, n,
			       false, NULL);

	job->fences++;
	assert_true(r >= 0);
	if (r == PMI_GATHER_AGAIN)
		release(job, end->rank, generation);
	for (uint32_t i = 0; r == PMI_GATHER_ALL && i < RANKS; i++)
		release(job, i, generation);
}

static void on_abort(void *ctx, int code, const char *text)
{
	((struct end *)ctx)->job->aborted = code;
}

static const struct pmi_exchange exchange = { on_fence, on_abort };

static struct end ends[RANKS];

static void job_open(struct job *job)
{
	memset(job, 0, sizeof(*job));
	job->gather = pmi_gather_create(RANKS);
	for (uint32_t i = 0; i < RANKS; i++) {
		ends[i] = (struct end){ job, i };
		assert_int_equal(pmi_server_create(i, RANKS, "kvs_7", &exchange,
						   &ends[i], &job->rank[i],
						   NULL),
				 0);
	}
}

static void job_close(struct job *job)
{
	for (uint32_t i = 0; i < RANKS; i++)
		pmi_server_destroy(job->rank[i]);
	pmi_gather_destroy(job->gather);
}

static void say(struct pmi_server *s, const char *text)
{
	struct error err = ERROR_INIT;

	if (pmi_server_feed(s, text, strlen(text), &err))
		fail_msg("'%s' gave '%s'", text, err.text);
}

/* All that the server has to say now is want. */
static void hear(struct pmi_server *s, const char *want)
{
	size_t n;
	const char *p = pmi_server_output(s, &n);

	if (n != strlen(want) || (n && memcmp(p, want, n)))
		fail_msg("heard '%.*s', not '%s'", (int)n, n ? p : "", want);
	pmi_server_sent(s, n);
}

static void opening(void **state)
{
	struct job job;
	struct pmi_server *s;

	job_open(&job);
	s = job.rank[1];
	assert_int_equal(pmi_server_phase(s), PMI_NONE);
	say(s, "cmd=init pmi_version=1 pmi_subversion=1\n");
	hear(s, "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n");
	assert_int_equal(pmi_server_phase(s), PMI_BEGUN);
	say(s, "cmd=get_maxes\n");
	hear(s, "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=1024\n");
	say(s, "cmd=get_appnum\n");
	hear(s, "cmd=appnum appnum=0\n");
	say(s, "cmd=get_my_kvsname\n");
	hear(s, "cmd=my_kvsname kvsname=kvs_7\n");
	say(s, "cmd=get kvsname=kvs_7 key=PMI_process_mapping\n");
	hear(s, "cmd=get_result rc=0 msg=success value=(vector,(0,3,1))\n");
	say(s, "cmd=finalize\n");
	hear(s, "cmd=finalize_ack rc=0\n");
	assert_int_equal(pmi_server_phase(s), PMI_OVER);
	job_close(&job);
}

static void put_card(struct pmi_server *s, unsigned rank, unsigned round)
{
	char *line = xasprintf("cmd=put kvsname=kvs_7 key=card%u_%u "
			       "value=v%u.%u\n",
			       round, rank, round, rank);

	say(s, line);
	hear(s, "cmd=put_result rc=0 msg=success\n");
	free(line);
}

static void get_card(struct pmi_server *s, unsigned rank, unsigned round)
{
	char *ask =
		xasprintf("cmd=get kvsname=kvs_7 key=card%u_%u\n", round, rank);
	char *want = xasprintf("cmd=get_result rc=0 msg=success "
			       "value=v%u.%u\n",
			       round, rank);

	say(s, ask);
	hear(s, want);
	free(ask);
	free(want);
}

static void barriers(void **state)
{
	struct job job;

	job_open(&job);
	for (unsigned round = 0; round < 3; round++) {
		for (unsigned i = 0; i < RANKS; i++)
			put_card(job.rank[i], i, round);
		say(job.rank[0], "cmd=get kvsname=kvs_7 key=card0_9\n");
		hear(job.rank[0], "cmd=get_result rc=-1 msg=key_not_found "
				  "value=unknown\n");
		for (unsigned i = 0; i < RANKS - 1; i++) {
			say(job.rank[i], "cmd=barrier_in\n");
			hear(job.rank[i], "");
		}
		say(job.rank[RANKS - 1], "cmd=barrier_in\n");
		for (unsigned i = 0; i < RANKS; i++) {
			hear(job.rank[i], "cmd=barrier_out rc=0\n");
			for (unsigned j = 0; j < RANKS; j++)
				get_card(job.rank[i], j, round);
		}
	}
	job_close(&job);
}

/* Of a rank that says a thing twice the last word counts, and it counts once. */
static void said_twice(void **state)
{
	struct pmi_put a = { "key", "first" }, b = { "key", "last" };
	struct pmi_gather *g = pmi_gather_create(RANKS);
	const struct pmi_put *all;
	size_t n;

	assert_int_equal(pmi_gather_add(g, 0, 0, &a, 1, true, NULL),
			 PMI_GATHER_WAIT);
	for (int i = 0; i < RANKS; i++)
		assert_int_equal(pmi_gather_add(g, 0, 0, &b, 1, false, NULL),
				 PMI_GATHER_WAIT);
	assert_int_equal(pmi_gather_add(g, 1, 0, NULL, 0, false, NULL),
			 PMI_GATHER_WAIT);
	assert_int_equal(pmi_gather_add(g, 2, 0, NULL, 0, false, NULL),
			 PMI_GATHER_ALL);
	all = pmi_gather_union(g, &n);
	assert_int_equal(n, 1);
	assert_string_equal(all->key, "key");
	assert_string_equal(all->value, "last");
	pmi_gather_destroy(g);
}

/* Who waits in one barrier is not let go by the release of another. */
static void another_release(void **state)
{
	struct job job;

	job_open(&job);
	say(job.rank[0], "cmd=barrier_in\n");
	assert_int_equal(
		pmi_server_release(job.rank[0], 1, NULL, 0, false, NULL), 0);
	hear(job.rank[0], "");
	release(&job, 0, 0);
	hear(job.rank[0], "cmd=barrier_out rc=0\n");
	job_close(&job);
}

/* The same key, put again and again, is one. */
static void one_key(void **state)
{
	struct job job;

	job_open(&job);
	for (unsigned i = 0; i <= PMI_PUTS_MAX; i++)
		put_card(job.rank[0], 0, 0);
	job_close(&job);
}

/* The release of one barrier is lost and the fences are said again. */
static void lost_release(void **state)
{
	struct job job;

	job_open(&job);
	job.lose = true;
	for (unsigned i = 0; i < RANKS; i++) {
		put_card(job.rank[i], i, 0);
		say(job.rank[i], "cmd=barrier_in\n");
	}
	for (unsigned i = 0; i < RANKS; i++)
		hear(job.rank[i], "");
	job.lose = false;
	for (unsigned i = 0; i < RANKS; i++) {
		pmi_server_refence(job.rank[i]);
		hear(job.rank[i], "cmd=barrier_out rc=0\n");
		get_card(job.rank[i], 2, 0);
		job.fences = 0;
		pmi_server_refence(job.rank[i]);
		assert_int_equal(job.fences, 0);
		release(&job, i, 0); /* late copy */
		hear(job.rank[i], "");
	}
	job_close(&job);
}

/* Save and load a server at every byte of a conversation. */
static void moves(void **state)
{
	static const char talk[] = "cmd=init pmi_version=1 pmi_subversion=1\n"
				   "cmd=put kvsname=kvs_7 key=a value=1\n"
				   "cmd=barrier_in\n"
				   "mcmd=spawn\nnprocs=1\nendcmd\n"
				   "cmd=finalize\n";
	struct job job;
	struct pmi_server *s;
	void *bytes;
	size_t n;

	job_open(&job);
	for (unsigned i = 0; i < RANKS - 1; i++) {
		put_card(job.rank[i], i, 0);
		say(job.rank[i], "cmd=barrier_in\n");
	}
	for (size_t i = 0; talk[i]; i++) {
		assert_int_equal(
			pmi_server_feed(job.rank[2], talk + i, 1, NULL), 0);
		pmi_server_save(job.rank[2], &bytes, &n);
		assert_int_equal(pmi_server_load(bytes, n, &exchange, &ends[2],
						 &s, NULL),
				 0);
		free(bytes);
		pmi_server_destroy(job.rank[2]);
		job.rank[2] = s;
	}
	hear(s, "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n"
		"cmd=put_result rc=0 msg=success\n"
		"cmd=barrier_out rc=0\n"
		"cmd=spawn_result rc=-1 errmsg=spawn_not_supported\n"
		"cmd=finalize_ack rc=0\n");
	get_card(s, 1, 0);
	say(job.rank[0], "cmd=get kvsname=kvs_7 key=a\n");
	hear(job.rank[0], "cmd=barrier_out rc=0\n"
			  "cmd=get_result rc=0 msg=success value=1\n");
	job_close(&job);
}

/* A waiting server moves and its unreleased puts still reach the others. */
static void moves_waiting(void **state)
{
	struct job job;
	struct pmi_server *s;
	void *bytes;
	size_t n;

	job_open(&job);
	job.lose = true;
	put_card(job.rank[0], 0, 0);
	say(job.rank[0], "cmd=barrier_in\n");
	pmi_server_save(job.rank[0], &bytes, &n);
	pmi_server_destroy(job.rank[0]);
	assert_int_equal(
		pmi_server_load(bytes, n, &exchange, &ends[0], &s, NULL), 0);
	job.rank[0] = s;
	free(bytes);
	/* The gatherer forgot all about it, too. */
	pmi_gather_resume(job.gather, 0);
	job.lose = false;
	say(job.rank[1], "cmd=barrier_in\n");
	say(job.rank[2], "cmd=barrier_in\n");
	pmi_server_refence(s);
	hear(s, "cmd=barrier_out rc=0\n");
	hear(job.rank[1], "cmd=barrier_out rc=0\n");
	get_card(job.rank[1], 0, 0);
	job_close(&job);
}

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

/* Alone it passes its barriers at once, as often as it likes. */
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

/* Others' keys add up, over any number of barriers. */
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
	for (unsigned i = 0; i <= PMI_ALL_MAX && !r; i++) {
		snprintf(key, sizeof(key), "k%u", i);
		say(s, "cmd=barrier_in\n");
		r = pmi_server_release(s, i, &put, 1, false, NULL);
		assert_int_equal(r, i < PMI_ALL_MAX ? 0 : -E2BIG);
		if (!r)
			hear(s, "cmd=barrier_out rc=0\n");
	}
	snprintf(key, sizeof(key), "k1"); /* which it has */
	assert_int_equal(
		pmi_server_release(s, PMI_ALL_MAX, &put, 1, false, NULL), 0);
	pmi_server_destroy(s);
}

/* A line of 13 bytes is answered by all that was ever put: not again and again. */
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

/* An abort waits for nobody. */
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

/* Said again it counts once; all get it, so there is a bound. */
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

static void aborts(void **state)
{
	struct job job;

	job_open(&job);
	say(job.rank[0], "cmd=abort exitcode=17\n");
	assert_int_equal(job.aborted, 17);
	say(job.rank[0], "cmd=abort exitcode=x\n");
	assert_int_equal(job.aborted, 1);
	job_close(&job);
}

static const char *env_of(char **env, const char *name)
{
	const char *found = NULL;

	for (; *env; env++)
		if (!strncmp(*env, name, strlen(name)) &&
		    (*env)[strlen(name)] == '=') {
			assert_null(found);
			found = *env + strlen(name) + 1;
		}
	return found;
}

static void environment(void **state)
{
	char **env = xcalloc(6, sizeof(*env));

	env[4] = xstrdup("PMIX_MCA_gds=hash");
	env[0] = xstrdup("PMI_RANK=99");
	env[1] = xstrdup("PMI_PORT=host:1");
	env[2] = xstrdup("UCX_LOG_LEVEL=info");
	env[3] = xstrdup("LD_PRELOAD=mine.so");
	pmi_env_add(&env, 5, 2, 4, "eth0", "/lib/ours.so");
	assert_string_equal(env_of(env, "LD_PRELOAD"), "/lib/ours.so:mine.so");
	assert_string_equal(env_of(env, "PMI_RANK"), "2");
	assert_string_equal(env_of(env, "PMI_SIZE"), "4");
	assert_string_equal(env_of(env, "PMI_FD"), "5");
	assert_string_equal(env_of(env, "UCX_TLS"), "tcp,self");
	assert_string_equal(env_of(env, "UCX_LOG_LEVEL"), "info");
	assert_null(env_of(env, "PMI_PORT"));
	assert_string_equal(env_of(env, "PMIX_MCA_gds"), "hash");
	for (char **e = env; *e; e++)
		free(*e);
	free(env);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(opening),
		cmocka_unit_test(barriers),
		cmocka_unit_test(moves),
		cmocka_unit_test(moves_waiting),
		cmocka_unit_test(refusals),
		cmocka_unit_test(said_twice),
		cmocka_unit_test(another_release),
		cmocka_unit_test(one_key),
		cmocka_unit_test(lost_release),
		cmocka_unit_test(nonsense),
		cmocka_unit_test(a_union_has_a_bound),
		cmocka_unit_test(answers_that_are_not_taken),
		cmocka_unit_test(abort_before_answers_are_read),
		cmocka_unit_test(bad_state),
		cmocka_unit_test(too_many_keys),
		cmocka_unit_test(too_many_of_others),
		cmocka_unit_test(aborts),
		cmocka_unit_test(environment),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
