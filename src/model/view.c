/*
 * view.c - the store of jobs and hosts behind a view
 *
 * Jobs live in blocks that never move, so that a job's address is good for
 * its life; free slots are used again, last freed first, so that ix stays
 * dense and the memory in use follows the number of jobs alive.
 */
#include "model/view.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "core/xalloc.h"
#include "model/job_index.h"
#include "model/talk.h"

#define BLOCK 256u

struct view_pool {
	struct job **block;
	size_t nr_blocks, cap_blocks;
	uint32_t *free_ix;
	size_t nr_free_ix, cap_free_ix;
	struct job_index index;
};

void view_init(struct view *view, uint32_t procs)
{
	*view = (struct view){ .nr_procs = procs, .nr_free = procs };
	TAILQ_INIT(&view->waiting);
	TAILQ_INIT(&view->running);
	view->pool = xcalloc(1, sizeof(*view->pool));
}

void view_init_hosts(struct view *view, const struct host *hosts, uint32_t n)
{
	view_init(view, 0);
	view->hosts = xcalloc(n, sizeof(*hosts));
	memcpy(view->hosts, hosts, n * sizeof(*hosts));
	view->nr_hosts = n;
	for (uint32_t i = 0; i < n; i++) {
		struct host *h = &view->hosts[i];

		h->ix = i;
		h->nr_ranks = h->nr_active = h->reserved = 0;
		view->nr_procs += host_cores(h);
	}
	view->nr_free = view->nr_procs;
}

int64_t view_cores(const struct view *view)
{
	const struct host *h;
	int64_t n = 0;

	for_each_host (h, view)
		n += h->cores;
	return view->nr_hosts ? n : view->nr_procs;
}

const struct job_ranks job_no_ranks;

struct job_ranks *view_ranks(struct job *job)
{
	if (job->ranks == &job_no_ranks)
		job->ranks = xcalloc(1, sizeof(*job->ranks));
	return (struct job_ranks *)job->ranks;
}

static void free_ranks(struct job *job)
{
	struct job_ranks *ranks = (struct job_ranks *)job->ranks;

	if (ranks == &job_no_ranks)
		return;
	free(ranks->frozen);
	free(ranks->stuck);
	free(ranks->seen);
	free(ranks->talk);
	free(ranks);
	job->ranks = &job_no_ranks;
}

void view_clear(struct view *view)
{
	struct view_pool *pool = view->pool;

	if (!pool)
		return;
	for (uint32_t i = 0; i < view->nr_slots; i++) {
		struct job *job = view_job(view, i);

		free(job->hosts);
		free_ranks(job);
	}
	for (size_t i = 0; i < pool->nr_blocks; i++)
		free(pool->block[i]);
	free(pool->block);
	free(pool->free_ix);
	job_index_clear(&pool->index);
	free(pool);
	free(view->hosts);
	*view = (struct view){ 0 };
}

static uint32_t take_slot(struct view *view)
{
	struct view_pool *pool = view->pool;

	if (pool->nr_free_ix)
		return pool->free_ix[--pool->nr_free_ix];
	assert(view->nr_slots < UINT32_MAX);
	if (view->nr_slots / BLOCK == pool->nr_blocks) {
		array_room(pool->block, pool->nr_blocks, &pool->cap_blocks);
		/* Each is filled in as it is made. */
		pool->block[pool->nr_blocks++] =
			xmalloc(BLOCK * sizeof(struct job));
	}
	return view->nr_slots++;
}

struct job *view_job_create(struct view *view)
{
	uint32_t ix = take_slot(view);
	struct job *job = view_job(view, ix);

	*job = (struct job){ .ix = ix,
			     .ranks = &job_no_ranks,
			     .user = -1,
			     .group = -1,
			     .app = -1,
			     .queue = -1,
			     .partition = -1 };
	return job;
}

void view_job_destroy(struct view *view, struct job *job)
{
	struct view_pool *pool = view->pool;

	free(job->hosts);
	job->hosts = NULL;
	free_ranks(job);
	array_room(pool->free_ix, pool->nr_free_ix, &pool->cap_free_ix);
	pool->free_ix[pool->nr_free_ix++] = job->ix;
}

struct job *view_job(const struct view *view, uint32_t ix)
{
	return &view->pool->block[ix / BLOCK][ix % BLOCK];
}

struct job *view_find_job(const struct view *view, int64_t id)
{
	struct view_pool *pool = view->pool;
	const struct job *job;

	if (!pool->index.nr_heads)
		job_index_make(&pool->index, view);
	job = job_index_find(&pool->index, id);
	return job ? view_job(view, job->ix) : NULL;
}

void view_index_add(struct view *view, const struct job *job)
{
	if (view->pool->index.nr_heads)
		job_index_add(&view->pool->index, job);
}

void view_index_remove(struct view *view, const struct job *job)
{
	if (view->pool->index.nr_heads)
		job_index_remove(&view->pool->index, job);
}

struct job *view_find_next(const struct view *view, const struct job *last,
			   int64_t id)
{
	struct job *near[] = { last ? TAILQ_NEXT(last, link)
				    : TAILQ_FIRST(&view->waiting),
			       last ? NULL : TAILQ_FIRST(&view->running) };

	for (int i = 0; i < 2; i++)
		if (near[i] && near[i]->id == id)
			return near[i];
	return view_find_job(view, id);
}

usec_t job_estimate(const struct job *job, uint32_t m)
{
	return speedup_scale(&job->speedup, job->estimate, job->size, m);
}

void host_set_owners(struct host *h, const int32_t *users, uint32_t n)
{
	h->nr_owners = n < HOST_OWNERS ? n : HOST_OWNERS;
	memset(h->owner, 0, sizeof(h->owner));
	if (n)
		memcpy(h->owner, users, h->nr_owners * sizeof(*users));
}

bool host_same_owners(const struct host *a, const struct host *b)
{
	return a->nr_owners == b->nr_owners &&
	       !memcmp(a->owner, b->owner, a->nr_owners * sizeof(*a->owner));
}

usec_t view_next_reservation(const struct view *view)
{
	for (uint32_t i = 0; i < view->nr_reservations; i++)
		if (!view->reservations[i].held)
			return view->reservations[i].from;
	return USEC_MAX;
}

uint32_t view_gives_back(const struct view *view, const struct job *job)
{
	uint32_t n = 0;

	if (!job->hosts)
		return job->n;
	for (uint32_t i = 0; i < job->n; i++)
		n += host_usable(&view->hosts[job->hosts[i]]);
	return n;
}

/* By what factor rank i of a running job is slowed down. */
static inline double rank_delay(const struct view *view, const struct job *job,
				uint32_t i)
{
	const struct host *h = &view->hosts[job->hosts[i]];

	return host_delay(h, h->load + h->nr_active - 1);
}

/* With what it waits for its partners. */
static double slowest_talker(const struct view *view, const struct job *job)
{
	double *talks = xcalloc(job->n, sizeof(*talks)), slowest = 0;

	talk_delays(view, job, job->hosts, talks);
	for (uint32_t i = 0; i < job->n; i++) {
		double d = rank_delay(view, job, i) * talks[i];

		slowest = d > slowest ? d : slowest;
	}
	free(talks);
	return slowest;
}

double view_rate(const struct view *view, const struct job *job)
{
	double slowest = 0;

	if (job->state != JOB_RUNNING || job->ranks->nr_frozen)
		return 0;
	if (!view->nr_hosts)
		return 1;
	if (job->ranks->nr_talks)
		return 1 / slowest_talker(view, job);
	for (uint32_t i = 0; i < job->n; i++) {
		double d = rank_delay(view, job, i);

		if (d > slowest)
			slowest = d;
	}
	return 1 / slowest;
}

double view_pool_rate(const struct view *view, const struct job *job)
{
	double sum = 0;

	if (job->state != JOB_RUNNING)
		return 0;
	if (!view->nr_hosts)
		return 1;
	for (uint32_t i = 0; i < job->n; i++)
		if (!job_rank_frozen(job, i))
			sum += 1 / rank_delay(view, job, i);
	return sum / job->n;
}
