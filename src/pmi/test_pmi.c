/* test_pmi.c - a rank's talk with its PMI server, and whole jobs */
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
#include "pmi/pmi.h"
#include "pmi/test_job.h"

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

/* Rank's fence, whole. */
static int fence(struct pmi_gather *g, uint32_t rank, uint64_t generation)
{
	return pmi_gather_add(g, rank, generation, NULL, 0, false, NULL);
}

/* They are told of at the first fence that is whole, and of one rank. */
static void gone_before(void **state)
{
	struct pmi_gather *g = pmi_gather_create(RANKS);

	assert_int_equal(pmi_gather_missed(g), RANKS);
	assert_false(pmi_gather_gone(g, 2));
	assert_false(pmi_gather_gone(g, 1));
	assert_false(pmi_gather_gone(g, RANKS));
	assert_int_equal(pmi_gather_add(g, 0, 0, NULL, 0, true, NULL),
			 PMI_GATHER_WAIT);
	assert_int_equal(fence(g, 0, 0), PMI_GATHER_STUCK);
	assert_int_equal(pmi_gather_missed(g), 1);
	assert_int_equal(fence(g, 0, 0), PMI_GATHER_WAIT); /* once */
	/* Their fences, where they come late, make it whole. */
	assert_int_equal(fence(g, 1, 0), PMI_GATHER_WAIT);
	assert_int_equal(pmi_gather_missed(g), 2);
	assert_int_equal(fence(g, 2, 0), PMI_GATHER_ALL);
	/* And to the next barrier nobody comes whom they could meet. */
	assert_int_equal(pmi_gather_missed(g), 1);
	assert_int_equal(fence(g, 0, 1), PMI_GATHER_STUCK);
	pmi_gather_destroy(g);
}

static void gone_while_others_wait(void **state)
{
	struct pmi_gather *g = pmi_gather_create(RANKS);

	assert_int_equal(fence(g, 0, 0), PMI_GATHER_WAIT);
	assert_false(pmi_gather_gone(g, 0)); /* is here */
	assert_true(pmi_gather_gone(g, 2));
	assert_int_equal(pmi_gather_missed(g), 2);
	assert_false(pmi_gather_gone(g, 2));
	assert_false(pmi_gather_gone(g, 1));
	/* What was gathered is forgotten, and not who has ended. */
	pmi_gather_resume(g, 4);
	assert_int_equal(pmi_gather_missed(g), 0);
	assert_int_equal(fence(g, 1, 4), PMI_GATHER_STUCK);
	pmi_gather_destroy(g);
}

/* If a rank says a thing twice, its last word counts, and it counts once. */
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

/*
 * A rank that waits in one barrier is not let go by the release of another one.
 */
static void another_release(void **state)
{
	struct job job;

	job_open(&job);
	say(job.rank[0], "cmd=barrier_in\n");
	assert_int_equal(
		pmi_server_release(job.rank[0], 1, NULL, 0, false, NULL), 0);
	hear(job.rank[0], "");
	job_release(&job, 0, 0);
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

static void put_blob(struct pmi_server *s, const char *key, const char *value,
		     bool good)
{
	char *line = xasprintf("cmd=put kvsname=kvs_7 key=%s value=%s\n", key,
			       value);

	say(s, line);
	hear(s, good ? "cmd=put_result rc=0 msg=success\n"
		     : "cmd=put_result rc=-1 msg=bad_key_or_value\n");
	free(line);
}

/* What a rank says in another rank's name reaches nobody. */
static void blobs_of_others(void **state)
{
	static const char *const bad[] = { "blob.1.0", "blob.1.7", "blob.00.0",
					   "blob.",    "blob.3.0", "blob.4",
					   "blob.0",   "blob.x" };
	struct job job;

	job_open(&job);
	put_blob(job.rank[1], "blob.1.0", ".01", true);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		put_blob(job.rank[0], bad[i], ".ee", false);
	put_blob(job.rank[0], "blob.0.0", ".00", true);
	put_blob(job.rank[0], "blob", "x", true);
	put_blob(job.rank[2], "blob.2.0", ".02", true);
	for (unsigned i = 0; i < RANKS; i++)
		say(job.rank[i], "cmd=fence_in\n");
	for (unsigned i = 0; i < RANKS; i++)
		hear(job.rank[i], "cmd=blob value=00\ncmd=blob value=01\n"
				  "cmd=blob value=02\ncmd=fence_out rc=0\n");
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
		job_release(&job, i, 0); /* late copy */
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(opening),
		cmocka_unit_test(barriers),
		cmocka_unit_test(moves),
		cmocka_unit_test(moves_waiting),
		cmocka_unit_test(said_twice),
		cmocka_unit_test(gone_before),
		cmocka_unit_test(gone_while_others_wait),
		cmocka_unit_test(another_release),
		cmocka_unit_test(one_key),
		cmocka_unit_test(lost_release),
		cmocka_unit_test(aborts),
		cmocka_unit_test(blobs_of_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
