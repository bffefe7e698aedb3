/*
 * after.c - jobs that are to begin after others: what is asked for, what is known of
 * these, and what is said of it; follow.c has what comes of it
 *
 * Whether and how a job ended everybody sees (`stint ps`), so anybody's may be followed
 * while it is remembered; later, one's own, whose account tells it.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cluster/conn/keys.h"
#include "cluster/controller/job/job.h"
#include "cluster/controller/sched/sched.h"
#include "cluster/controller/state/after.h"
#include "cluster/controller/state/array.h"
#include "cluster/controller/state/find.h"
#include "cluster/controller/state/job.h"
#include "core/xalloc.h"

enum {
	AT_END_MOST = 4096, /* bytes of a command */
	AFTER_MOST = 64,    /* jobs that one is to follow */
	TOLD_MOST = 4,	    /* of these are named, */
};

static bool are_same(const Control__After *a, const Control__After *b)
{
	return a->job == b->job && a->array == b->array && a->task == b->task;
}

int ctl_after_check_list(Control__After **list, size_t n, struct error *err)
{
	if (n > AFTER_MOST)
		return error_set(err, -E2BIG, "--after: %zu jobs: %d at most",
				 n, AFTER_MOST);
	for (size_t i = 0; i < n; i++) {
		Control__After *a = list[i];

		if (a->kind > CONTROL__AFTER_KIND__AFTER_FAILED)
			return error_set(
				err, -EINVAL,
				"--after: the controller does not know "
				"this kind: it may be older than you");
		if (a->array)
			a->job = 0;
		else
			a->task = 0;
		a->whole = a->over = a->failed = false;
		a->exit = 0;
		a->reason = ENDED(REASON_NONE);
		for (size_t k = 0; k < i; k++)
			if (are_same(list[k], a))
				return error_set(err, -EINVAL,
						 "--after: job %" PRIu64
						 " is there twice",
						 a->array ? a->array : a->job);
	}
	return 0;
}

int ctl_after_check(Control__Submit *s, struct error *err)
{
	s->followed = false;
	if (strlen(s->at_end) > AT_END_MOST)
		return error_set(err, -E2BIG,
				 "--at-end: a command of %zu bytes: %d at most",
				 strlen(s->at_end), AT_END_MOST);
	return ctl_after_check_list(s->after, s->n_after, err);
}

/* ---- those that are forgotten */

struct look {
	uint64_t job;
	const struct ctl_peer *peer; /* who asks; NULL: we do */
	Control__Account *account;
};

static bool may_know(const struct ctl_peer *p, const char *user)
{
	return !p || p->role == ROLE_ADMIN || !strcmp(p->name, user);
}

static bool on_account(void *arg, const struct store_account *row)
{
	struct look *l = arg;

	if (row->job == l->job && may_know(l->peer, row->user))
		l->account = control__account__unpack(NULL, row->n, row->data);
	return false;
}

/* By the job's account: its own end, and whether it is the first of an array. */
static bool look_back(struct ctl *ctl, const struct ctl_peer *p, uint64_t id,
		      bool *array, struct ctl_end *ret)
{
	struct look l = { .job = id, .peer = p };
	const Control__Account *a;

	store_each_account(ctl->store, id, on_account, &l);
	a = l.account;
	if (!a)
		return false;
	*array = a->array == id;
	*ret = (struct ctl_end){ .over = true,
				 .failed = a->exit != 0,
				 .exit = (int)a->exit,
				 .reason = (int)a->reason,
				 .uid = a->uid };
	control__account__free_unpacked(l.account, NULL);
	return true;
}

/* From the end of an array's first job to that of the array. */
static void end_whole(struct ctl *ctl, uint64_t id, struct ctl_end *end)
{
	struct store_array row;

	if (!ctl_array_recall(ctl, id, &row))
		return;
	end->failed = row.exit != 0;
	end->exit = row.exit;
	end->reason = row.reason;
}

/* ---- the tasks of an array, which has one job after the other */

struct known_task {
	uint64_t array, job; /* job 0: none is known */
	uint32_t task;
};

static bool on_next_account(void *arg, const struct store_account *row)
{
	Control__Account *a = control__account__unpack(NULL, row->n, row->data);
	struct known_task *t = arg;

	if (a && a->array == t->array) {
		t->job = row->job;
		t->task = a->task;
	}
	if (a)
		control__account__free_unpacked(a, NULL);
	return false;
}

/*
 * The first job in that range that is remembered (any: some of the array is) or has an
 * account.
 */
static struct known_task next_task(struct ctl *ctl, uint64_t array, bool any,
				   uint64_t from, uint64_t to)
{
	struct known_task t = { .array = array };
	const struct ctl_job *job;

	store_each_account(ctl->store, from, on_next_account, &t);
	if (t.job && t.job < to)
		to = t.job;
	else if (t.job > to)
		t.job = 0;
	for (uint64_t id = from; any && id <= to; id++) {
		job = ctl_job_find(ctl, id);
		if (job)
			return (struct known_task){ array, id,
						    job->spec->task };
	}
	return t;
}

/* The number of its job; 0: the array has no such task, or nothing is known of it. */
static uint64_t find_task(struct ctl *ctl, uint64_t array, uint32_t task)
{
	const struct ctl_array *a = ctl_array_find(ctl, array);
	struct store_array row = { .last = a ? a->last : 0 };
	uint64_t from = array, to, mid;
	struct known_task t;

	if (!a && !ctl_array_recall(ctl, array, &row))
		return 0;
	/* Tasks ascend with jobs; between two that are known there may be others. */
	for (to = row.last; from <= to;) {
		mid = from + (to - from) / 2;
		t = next_task(ctl, array, a, mid, to);
		if (t.job && t.task == task)
			return t.job;
		if (t.job && t.task < task)
			from = t.job + 1;
		else
			to = mid - 1;
	}
	return 0;
}

/* ---- what there is when it comes */

static bool look_up(struct ctl_peer *p, Control__After *a, struct ctl_end *ret)
{
	/* of an array's task, not of the array, which has the number of its first job */
	const struct ctl_array *array =
		a->array ? NULL : ctl_array_find(p->ctl, a->job);
	const struct ctl_job *job = ctl_job_find(p->ctl, a->job);
	bool whole = array != NULL;

	if (array)
		*ret = ctl_end_of_array(array);
	else if (job)
		*ret = ctl_end_of_job(job);
	else if (!look_back(p->ctl, p, a->job, &whole, ret))
		return false;
	a->whole = whole && !a->array;
	if (a->whole && !array)
		end_whole(p->ctl, a->job, ret);
	return true;
}

static int resolve(struct ctl_peer *p, Control__After *a, uint32_t uid,
		   struct error *err)
{
	struct ctl_end end;

	if (a->array)
		a->job = find_task(p->ctl, a->array, a->task);
	if (a->array && (!a->job || !look_up(p, a, &end)))
		return error_set(err, -ESRCH,
				 "--after: array %" PRIu64
				 " has no task %u, or "
				 "nothing is known of it any more",
				 a->array, a->task);
	if (!a->array && !look_up(p, a, &end))
		return error_set(
			err, -ESRCH,
			"--after: no job %" PRIu64
			", or nothing is known of it any more; "
			"`stint ps --all` and `stint history` list them",
			a->job);
	ctl_after_note(a, &end, uid);
	return 0;
}

int ctl_after_resolve(struct ctl_peer *p, Control__After **list, size_t n,
		      uint32_t uid, struct error *err)
{
	int r = 0;

	for (size_t i = 0; i < n && !r; i++)
		r = resolve(p, list[i], uid, err);
	return r;
}

/* ---- it ends */

static void tell(struct ctl *ctl, uint64_t id, bool whole,
		 const struct ctl_end *end)
{
	struct ctl_awaited *a = ctl_awaited_find(ctl, id, whole);

	if (!a)
		return;
	ctl_awaited_tell(ctl, a, end);
	ctl_sched_soon(ctl);
}

void ctl_after_ended(const struct ctl_job *job)
{
	struct ctl_end end = ctl_end_of_job(job);

	if (!job->ctl->jobs.awaited)
		return;
	tell(job->ctl, job->id, false, &end);
	if (!job->array)
		return;
	end = ctl_end_of_array(job->array);
	tell(job->ctl, job->array->id, true, &end);
}

/* Nobody knows any more: that is told with its reason to whoever follows. */
static struct ctl_end lost_end(void)
{
	return (struct ctl_end){ .over = true,
				 .failed = true,
				 .exit = EXIT_FAILURE,
				 .reason = ENDED(RANK_LOST),
				 .uid = CTL_ANYBODY };
}

/* What is followed may have ended while no controller could tell of it. */
static struct ctl_end look_again(struct ctl *ctl, const struct ctl_awaited *a)
{
	const struct ctl_array *array = ctl_array_find(ctl, a->key.id);
	const struct ctl_job *job = ctl_job_find(ctl, a->key.id);
	struct ctl_end end;
	bool first;

	if (a->key.whole && array)
		return ctl_end_of_array(array);
	if (!a->key.whole && job)
		return ctl_end_of_job(job);
	if (!look_back(ctl, NULL, a->key.id, &first, &end))
		return lost_end();
	if (a->key.whole)
		end_whole(ctl, a->key.id, &end);
	return end;
}

void ctl_afters_settle(struct ctl *ctl)
{
	struct ctl_awaited *a, *next;
	struct ctl_job *job;

	HASH_ITER (hh, ctl->jobs.awaited, a, next) {
		struct ctl_end end = look_again(ctl, a);

		ctl_awaited_tell(ctl, a, &end);
	}
	TAILQ_FOREACH (job, &ctl->jobs.list, link)
		ctl_after_decide(job);
	ctl_sched_soon(ctl);
}

/* ---- what comes of it */

/* It can never be as the job wants it. */
static bool is_spoilt(const Control__After *a)
{
	return a->kind == CONTROL__AFTER_KIND__AFTER_OK
		       ? a->failed
		       : a->kind == CONTROL__AFTER_KIND__AFTER_FAILED &&
				 a->over && !a->failed;
}

static const Control__After *spoilt(const struct ctl_job *job)
{
	for (size_t i = 0; i < job->spec->n_after; i++)
		if (is_spoilt(job->spec->after[i]))
			return job->spec->after[i];
	return NULL;
}

bool ctl_after_decided(const struct ctl_job *job)
{
	bool over = true;

	for (size_t i = 0; i < job->spec->n_after; i++)
		over &= job->spec->after[i]->over;
	return over || spoilt(job);
}

void ctl_after_decide(struct ctl_job *job)
{
	if (job->after != AFTER_WAITS || !ctl_after_decided(job))
		return;
	ctl_after_is_due(job);
	ctl_sched_soon(job->ctl);
}

static char *put_env(const Control__Submit *s, const char *name,
		     void (*put)(FILE *to, const Control__After *a))
{
	char *text = NULL;
	size_t size;
	FILE *to = xmemstream(&text, &size);

	fprintf(to, "%s=", name);
	for (size_t i = 0; i < s->n_after; i++) {
		fputs(i ? "," : "", to);
		put(to, s->after[i]);
	}
	fclose(to);
	return text;
}

static void drop_env(Control__Submit *s, const char *name)
{
	size_t n = strlen(name), kept = 0;

	for (size_t i = 0; i < s->n_env; i++)
		if (!strncmp(s->env[i], name, n) && s->env[i][n] == '=')
			free(s->env[i]);
		else
			s->env[kept++] = s->env[i];
	s->n_env = kept;
}

/* Its user may have had the name in their own environment. */
static void set_env(Control__Submit *s, const char *name, char *text)
{
	drop_env(s, name);
	s->env = xreallocarray(s->env, s->n_env + 1, sizeof(*s->env));
	s->env[s->n_env++] = text;
}

static void put_job(FILE *to, const Control__After *a)
{
	fprintf(to, "%" PRIu64, a->job);
}

static void put_end(FILE *to, const Control__After *a)
{
	fputs(a->failed ? message_reason((int)a->reason) : "ok", to);
}

static void put_exit(FILE *to, const Control__After *a)
{
	fprintf(to, "%u", a->exit);
}

static const struct {
	const char *name;
	void (*put)(FILE *to, const Control__After *a);
} told[] = { { "STINT_AFTER_JOB", put_job },
	     { "STINT_AFTER_END", put_end },
	     { "STINT_AFTER_EXIT", put_exit } };
enum { TOLD = sizeof(told) / sizeof(*told) };

void ctl_after_done(struct ctl_job *job)
{
	Control__Submit *s = job->spec;

	ctl_after_leave(job);
	s->followed = true;
	for (size_t i = 0; i < TOLD; i++)
		set_env(s, told[i].name, put_env(s, told[i].name, told[i].put));
}

void ctl_after_undo(Control__Submit *s)
{
	for (size_t i = 0; s->followed && i < TOLD; i++)
		drop_env(s, told[i].name);
	s->followed = false;
}

/* ---- in words */

enum { NAME_TEXT = 48 };

/* "job 7", "array 7", "job 7[3]" */
static const char *name_of(const Control__After *a, char buf[NAME_TEXT])
{
	if (a->array)
		snprintf(buf, NAME_TEXT, "job %" PRIu64 "[%u]", a->array,
			 a->task);
	else
		snprintf(buf, NAME_TEXT, "%s %" PRIu64,
			 a->whole ? "array" : "job", a->job);
	return buf;
}

char *ctl_after_spoilt(const struct ctl_job *job)
{
	const Control__After *a = spoilt(job);
	char name[NAME_TEXT];

	if (!a)
		return NULL;
	if (!a->failed)
		return xasprintf("%s ended well, and this was to begin if it "
				 "failed (--after)",
				 name_of(a, name));
	return xasprintf("%s ended with exit status %u, and this "
			 "was to begin after it ended well (--after)",
			 name_of(a, name), a->exit);
}

static void put_wanted(FILE *to, const Control__After *a)
{
	char name[NAME_TEXT];

	fprintf(to, "%s %s", name_of(a, name),
		a->kind == CONTROL__AFTER_KIND__AFTER_OK    ? "has ended well"
		: a->kind == CONTROL__AFTER_KIND__AFTER_ANY ? "is over"
							    : "has failed");
}

void ctl_after_tell(struct ctl_job *job)
{
	const Control__Submit *s = job->spec;
	size_t size, n = 0;
	char *text = NULL;
	FILE *to = xmemstream(&text, &size);

	for (size_t i = 0; i < s->n_after; i++) {
		if (s->after[i]->over || n++ >= TOLD_MOST)
			continue;
		fputs(n > 1 ? ", and " : "begins when ", to);
		put_wanted(to, s->after[i]);
	}
	if (n > TOLD_MOST)
		fprintf(to, ", and %zu more", n - TOLD_MOST);
	fclose(to);
	ctl_job_set_why(job, text);
	free(text);
}
