/* array.c - arrays of jobs, see array.h */
#include "cluster/controller/state/array.h"

#include <errno.h>
#include <stdlib.h>

#include "cluster/controller/state/find.h"
#include "core/xalloc.h"

struct ctl_array *ctl_array_find(struct ctl *ctl, uint64_t id)
{
	struct ctl_array *a;

	HASH_FIND(by_id, ctl->jobs.arrays, &id, sizeof(id), a);
	return a;
}

static int by_first(const void *a, const void *b)
{
	const Control__TaskRange *const *x = a, *const *y = b;

	return ((*x)->first > (*y)->first) - ((*x)->first < (*y)->first);
}

int ctl_array_ranges(Control__TaskRange **range, size_t n, struct error *err)
{
	if (n > CTL_TASKS_MAX)
		return error_set(err, -E2BIG,
				 "%zu ranges of tasks: an array has %d tasks "
				 "at most",
				 n, CTL_TASKS_MAX);
	if (n)
		qsort(range, n, sizeof(*range), by_first);
	for (size_t i = 1; i < n; i++)
		if (range[i]->last < range[i - 1]->last)
			range[i]->last = range[i - 1]->last;
	return 0;
}

bool ctl_array_means(const struct ctl_job *job,
		     Control__TaskRange *const *range, size_t n)
{
	size_t from = 0, to = n, mid;

	if (!n)
		return true;
	/* Ranges before index `from` begin at the task or before it. */
	while (from < to) {
		mid = from + (to - from) / 2;
		if (range[mid]->first <= job->spec->task)
			from = mid + 1;
		else
			to = mid;
	}
	return from && job->spec->task <= range[from - 1]->last;
}

void ctl_array_join(struct ctl_job *job)
{
	struct ctl_jobs *jobs = &job->ctl->jobs;
	uint64_t id = job->spec->array;
	struct ctl_array *a;

	if (!id)
		return;
	a = ctl_array_find(job->ctl, id);
	if (!a) {
		a = xcalloc(1, sizeof(*a));
		a->id = id;
		a->at_once = job->spec->tasks_at_once;
		a->uid = job->spec->uid;
		a->next = UINT64_MAX;
		HASH_ADD(by_id, jobs->arrays, id, sizeof(a->id), a);
	}
	a->tasks++;
	a->open++;
	if (job->id > a->last)
		a->last = job->id;
	job->array = a;
}

bool ctl_array_over(const struct ctl_job *job)
{
	struct ctl_array *a = job->array;

	if (!a)
		return false;
	a->open--;
	if (!job->exit || a->failed)
		return !a->open;
	a->failed = true;
	a->exit = job->exit;
	a->reason = job->reason;
	return true;
}

/* ---- as a whole, in the store */

void ctl_array_store(struct ctl *ctl, const struct ctl_array *a)
{
	store_put_array(ctl->store, &(struct store_array){
					    .id = a->id,
					    .last = a->last,
					    .exit = a->exit,
					    .reason = a->reason,
					    .ended = a->open ? 0 : ctl_now() });
}

static bool add_task(void *arg, const struct store_account *row)
{
	Control__Account *account =
		control__account__unpack(NULL, row->n, row->data);
	struct store_array *a = arg;
	bool is_of = account && account->array == a->id;

	if (is_of) {
		a->last = row->job;
		if (account->exit && !a->exit) {
			a->exit = (int)account->exit;
			a->reason = (int)account->reason;
		}
	}
	if (account)
		control__account__free_unpacked(account, NULL);
	return is_of;
}

/* A controller of before there were rows of arrays had it: its accounts are read once. */
static bool recall_tasks(struct ctl *ctl, uint64_t id, struct store_array *ret)
{
	struct store_array a = { .id = id, .ended = ctl_now() };

	store_each_account(ctl->store, id, add_task, &a);
	if (!a.last)
		return false;
	*ret = a;
	return true;
}

bool ctl_array_recall(struct ctl *ctl, uint64_t id, struct store_array *ret)
{
	if (store_find_array(ctl->store, id, ret))
		return true;
	if (!recall_tasks(ctl, id, ret))
		return false;
	store_put_array(ctl->store, ret);
	return true;
}

void ctl_arrays_read(struct ctl *ctl)
{
	struct ctl_array *a, *next;

	HASH_ITER (by_id, ctl->jobs.arrays, a, next) {
		struct store_array row = { .id = a->id };
		bool stored = store_find_array(ctl->store, a->id, &row);

		if (!stored)
			(void)recall_tasks(ctl, a->id, &row);
		if (row.last > a->last)
			a->last = row.last;
		if (row.exit) {
			a->failed = true;
			a->exit = row.exit;
			a->reason = row.reason;
		}
		if (!stored)
			ctl_array_store(ctl, a);
	}
}

void ctl_array_leave(struct ctl_job *job)
{
	struct ctl_array *a = job->array;

	if (!a)
		return;
	ctl_array_turn_over(job);
	a->open -= job->state != STATE(DONE);
	job->array = NULL;
	if (--a->tasks)
		return;
	HASH_DELETE(by_id, job->ctl->jobs.arrays, a);
	free(a);
}

void ctl_array_has_turn(struct ctl_job *job)
{
	if (!job->array || job->turn == TURN_HAS)
		return;
	job->turn = TURN_HAS;
	job->array->turns++;
}

/* Set the job's why, which is taken over. */
static void set_why(struct ctl_job *job, char *why)
{
	free(job->why);
	job->why = why;
}

static void wait_for_turn(struct ctl_job *job)
{
	struct ctl_array *a = job->array;
	char *why = xasprintf("array %llu runs %u at a time",
			      (unsigned long long)a->id, a->at_once);

	job->turn = TURN_WAITS;
	if (job->id < a->next)
		a->next = job->id;
	set_why(job, why);
}

bool ctl_array_admits(struct ctl_job *job)
{
	const struct ctl_array *a = job->array;

	if (!a || job->turn == TURN_HAS)
		return true;
	if (!a->at_once || a->turns < a->at_once) {
		ctl_array_has_turn(job);
		return true;
	}
	wait_for_turn(job);
	return false;
}

void ctl_array_turn_over(struct ctl_job *job)
{
	if (job->turn == TURN_HAS) {
		job->array->turns--;
		job->ctl->jobs.turns = true;
	}
	job->turn = TURN_FREE;
}

struct ctl_job *ctl_array_next(struct ctl *ctl, struct ctl_array *a)
{
	struct ctl_job *job;

	/* A job that is held comes back by ctl_array_admits(). */
	for (; a->turns < a->at_once && a->next <= a->last; a->next++) {
		job = ctl_job_find(ctl, a->next);
		if (!job || job->turn != TURN_WAITS || job->spec->held)
			continue;
		ctl_array_has_turn(job);
		set_why(job, xstrdup(""));
		return job;
	}
	return NULL;
}
