/*
 * after.c - jobs that are to begin after others: what is known of these, and what comes
 * of it
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

int ctl_after_check(Control__Submit *s, struct error *err)
{
	s->followed = false;
	if (strlen(s->at_end) > AT_END_MOST)
		return error_set(err, -E2BIG,
				 "--at-end: a command of %zu bytes: %d at most",
				 strlen(s->at_end), AT_END_MOST);
	if (s->n_after > AFTER_MOST)
		return error_set(err, -E2BIG, "--after: %zu jobs: %d at most",
				 s->n_after, AFTER_MOST);
	for (size_t i = 0; i < s->n_after; i++) {
		Control__After *a = s->after[i];

		if (a->kind > CONTROL__AFTER_KIND__AFTER_FAILED)
			return error_set(
				err, -EINVAL,
				"--after: the controller does not know "
				"this kind: it may be older than you");
		a->whole = a->over = a->failed = false;
		a->exit = 0;
		a->reason = ENDED(REASON_NONE);
		for (size_t k = 0; k < i; k++)
			if (s->after[k]->job == a->job)
				return error_set(err, -EINVAL,
						 "--after: job %" PRIu64
						 " is there twice",
						 a->job);
	}
	return 0;
}

/* Why it ended is its user's; that it failed everybody sees. */
static void note_end(Control__After *a, int exit, int reason, bool own)
{
	if (!exit || a->failed)
		return;
	a->failed = true;
	a->exit = (uint32_t)exit;
	a->reason = own ? (Control__Reason)reason : ENDED(EXIT_CODE);
}

/* ---- those that are forgotten */

struct look {
	Control__After *a;
	uint32_t uid;		     /* whose job is to follow */
	const struct ctl_peer *peer; /* who asks; NULL: we do */
	bool found;
};

static bool may_know(const struct look *l, const char *user)
{
	return !l->peer || l->peer->role == ROLE_ADMIN ||
	       !strcmp(l->peer->name, user);
}

static bool on_account(void *arg, const struct store_account *row)
{
	struct look *l = arg;
	Control__Account *account =
		control__account__unpack(NULL, row->n, row->data);
	bool more = false;

	if (!account || !may_know(l, row->user))
		goto out;
	if (!l->found && row->job == l->a->job)
		l->a->whole |= account->array == row->job;
	else if (!l->a->whole || account->array != l->a->job)
		goto out;
	l->found = true;
	note_end(l->a, (int)account->exit, (int)account->reason,
		 account->uid == l->uid);
	more = l->a->whole;
out:
	if (account)
		control__account__free_unpacked(account, NULL);
	return more;
}

/* By the accounts of it, or of all of an array that has no task left that is not over. */
static bool look_up(struct ctl *ctl, const struct ctl_peer *p,
		    Control__After *a, uint32_t uid)
{
	struct look l = { .a = a, .peer = p, .uid = uid };

	store_each_account(ctl->store, a->job, on_account, &l);
	return l.found;
}

/* ---- what there is when it comes */

static void look_at_array(struct ctl *ctl, const struct ctl_array *array,
			  Control__After *a, uint32_t uid)
{
	a->whole = true;
	if (array->failed)
		note_end(a, array->exit, array->reason, array->uid == uid);
	else if (array->tasks <= array->last - array->id)
		(void)look_up(ctl, NULL, a,
			      uid); /* of those that are forgotten */
	a->over = !array->open;
}

static void look_at_job(const struct ctl_job *job, Control__After *a,
			uint32_t uid)
{
	a->over = job->state == STATE(DONE);
	if (a->over)
		note_end(a, job->exit, job->reason, job->spec->uid == uid);
}

static int resolve(struct ctl_peer *p, Control__After *a, uint32_t uid,
		   struct error *err)
{
	const struct ctl_array *array = ctl_array_find(p->ctl, a->job);
	const struct ctl_job *job = ctl_job_find(p->ctl, a->job);

	if (array) {
		look_at_array(p->ctl, array, a, uid);
	} else if (job) {
		look_at_job(job, a, uid);
	} else if (look_up(p->ctl, p, a, uid)) {
		a->over = true;
	} else {
		return error_set(
			err, -ESRCH,
			"--after: no job %" PRIu64
			", or nothing is known of it any more; "
			"`stint ps --all` and `stint history` list them",
			a->job);
	}
	return 0;
}

int ctl_after_resolve(struct ctl_peer *p, Control__Submit *s, struct error *err)
{
	int r = 0;

	for (size_t i = 0; i < s->n_after && !r; i++)
		r = resolve(p, s->after[i], s->uid, err);
	return r;
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

void ctl_after_decide(struct ctl_job *job)
{
	bool over = true;

	if (job->after != AFTER_WAITS)
		return;
	for (size_t i = 0; i < job->spec->n_after; i++)
		over &= job->spec->after[i]->over;
	if (!over && !spoilt(job))
		return;
	ctl_after_is_due(job);
	ctl_sched_soon(job->ctl);
}

static void tell_follower(const struct ctl_job *job, struct ctl_follows *f,
			  bool over)
{
	struct ctl_job *follower = f->job;
	Control__After *a = ctl_after_of(f);

	if (!over && a->failed)
		return; /* another task of it has */
	note_end(a, job->exit, job->reason,
		 job->spec->uid == follower->spec->uid);
	a->over = over;
	if (over)
		ctl_after_drop(f);
	if (!follower->spec->held)
		ctl_after_tell(follower);
	ctl_job_store(follower);
	ctl_after_decide(follower);
}

static void tell_followers(const struct ctl_job *job, uint64_t id, bool whole,
			   bool over)
{
	struct ctl_awaited *a = ctl_awaited_find(job->ctl, id, whole);
	struct ctl_follows *f, *next;

	if (!a || (!over && !job->exit))
		return;
	/* the last one that is dropped takes the list along */
	for (f = TAILQ_FIRST(&a->by); f; f = next) {
		next = TAILQ_NEXT(f, link);
		tell_follower(job, f, over);
	}
}

void ctl_after_ended(const struct ctl_job *job)
{
	if (!job->ctl->jobs.awaited)
		return;
	tell_followers(job, job->id, false, true);
	if (job->array)
		tell_followers(job, job->array->id, true, !job->array->open);
}

/* Those that were not over when the last controller knew of it may be now. */
static void look_again(struct ctl *ctl, struct ctl_follows *f)
{
	Control__After *a = ctl_after_of(f);
	const struct ctl_array *array = ctl_array_find(ctl, a->job);
	const struct ctl_job *job = ctl_job_find(ctl, a->job);
	uint32_t uid = f->job->spec->uid;

	if (a->whole && array) {
		look_at_array(ctl, array, a, uid);
	} else if (!a->whole && job) {
		look_at_job(job, a, uid);
	} else {
		a->over = true;
		if (!look_up(ctl, NULL, a, uid))
			note_end(a, 1, ENDED(RANK_LOST),
				 true); /* nobody knows */
	}
	if (a->over)
		ctl_after_drop(f);
}

void ctl_afters_settle(struct ctl *ctl)
{
	struct ctl_job *job;

	TAILQ_FOREACH (job, &ctl->jobs.list, link) {
		for (size_t i = 0; job->follows && i < job->spec->n_after; i++)
			if (job->follows[i].of)
				look_again(ctl, &job->follows[i]);
		ctl_after_decide(job);
	}
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

void ctl_after_done(struct ctl_job *job)
{
	Control__Submit *s = job->spec;

	ctl_after_leave(job);
	s->followed = true;
	s->env = xreallocarray(s->env, s->n_env + 3, sizeof(*s->env));
	s->env[s->n_env++] = put_env(s, "STINT_AFTER_JOB", put_job);
	s->env[s->n_env++] = put_env(s, "STINT_AFTER_END", put_end);
	s->env[s->n_env++] = put_env(s, "STINT_AFTER_EXIT", put_exit);
}

/* ---- in words */

static const char *name_of(const Control__After *a)
{
	return a->whole ? "array" : "job";
}

char *ctl_after_spoilt(const struct ctl_job *job)
{
	const Control__After *a = spoilt(job);

	if (!a)
		return NULL;
	if (!a->failed)
		return xasprintf("%s %" PRIu64
				 " ended well, and this was to begin if it "
				 "failed (--after)",
				 name_of(a), a->job);
	return xasprintf("%s %" PRIu64 " ended with exit status %u, and this "
			 "was to begin after it ended well (--after)",
			 name_of(a), a->job, a->exit);
}

static void put_wanted(FILE *to, const Control__After *a)
{
	fprintf(to, "%s %" PRIu64 " %s", name_of(a), a->job,
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
