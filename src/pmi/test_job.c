/* test_job.c - a job in one process, see test_job.h */
#include "pmi/test_job.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/xalloc.h"

void job_release(struct job *job, uint32_t rank, uint64_t generation)
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
		job_release(job, end->rank, generation);
	for (uint32_t i = 0; r == PMI_GATHER_ALL && i < RANKS; i++)
		job_release(job, i, generation);
}

static void on_abort(void *ctx, int code, const char *text)
{
	((struct end *)ctx)->job->aborted = code;
}

const struct pmi_exchange exchange = { on_fence, on_abort };

struct end ends[RANKS];

void job_open(struct job *job)
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

void job_close(struct job *job)
{
	for (uint32_t i = 0; i < RANKS; i++)
		pmi_server_destroy(job->rank[i]);
	pmi_gather_destroy(job->gather);
}

void say(struct pmi_server *s, const char *text)
{
	struct error err = ERROR_INIT;

	if (pmi_server_feed(s, text, strlen(text), &err))
		fail_msg("'%s' gave '%s'", text, err.text);
}

void hear(struct pmi_server *s, const char *want)
{
	size_t n;
	const char *p = pmi_server_output(s, &n);

	if (n != strlen(want) || (n && memcmp(p, want, n)))
		fail_msg("heard '%.*s', not '%s'", (int)n, n ? p : "", want);
	pmi_server_sent(s, n);
}

void put_card(struct pmi_server *s, unsigned rank, unsigned round)
{
	char *line = xasprintf("cmd=put kvsname=kvs_7 key=card%u_%u "
			       "value=v%u.%u\n",
			       round, rank, round, rank);

	say(s, line);
	hear(s, "cmd=put_result rc=0 msg=success\n");
	free(line);
}
