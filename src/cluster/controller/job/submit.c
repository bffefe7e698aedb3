/* submit.c - submit jobs */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cluster/conn/keys.h"
#include "cluster/controller/job/job.h"
#include "cluster/controller/sched/sched.h"
#include "cluster/controller/state/after.h"
#include "cluster/controller/state/array.h"
#include "cluster/controller/state/audit.h"
#include "cluster/controller/state/find.h"
#include "cluster/controller/state/job.h"
#include "cluster/controller/state/say.h"
#include "cluster/controller/state/state.h"
#include "cluster/controller/state/user_jobs.h"
#include "cluster/controller/users/users.h"
#include "core/log.h"
#include "core/xalloc.h"

#define AT_END_LIMIT ((uint64_t)(10 * 60 * USEC_PER_SEC))

/*
 * Drop fields of a later protocol, or of a malicious client: they would be kept for
 * nothing.
 */
static void drop_unknown(ProtobufCMessage *m)
{
	for (unsigned i = 0; i < m->n_unknown_fields; i++)
		free(m->unknown_fields[i].data);
	free(m->unknown_fields);
	m->unknown_fields = NULL;
	m->n_unknown_fields = 0;
}

/* A copy, because the message itself is freed when its handler returns. */
static Control__Submit *submit_copy(const Control__Submit *s)
{
	size_t n = control__submit__get_packed_size(s);
	uint8_t *buf = xmalloc(n);
	Control__Submit *copy;

	control__submit__pack(s, buf);
	copy = control__submit__unpack(NULL, n, buf);
	free(buf);
	drop_unknown(&copy->base);
	for (size_t i = 0; i < copy->n_limits; i++)
		drop_unknown(&copy->limits[i]->base);
	for (size_t i = 0; i < copy->n_after; i++)
		drop_unknown(&copy->after[i]->base);
	return copy;
}

static void tell_submitted(struct ctl_peer *p, uint64_t re, struct ctl_job *job)
{
	Control__Submitted done = CONTROL__SUBMITTED__INIT;

	done.job = job->id;
	ctl_send(p, 0, re, MESSAGE_BODY(SUBMITTED), &done);
	/*
	 * The client will attach next; until then it counts as attached, so
	 * that client-grace does not begin.
	 */
	if (!job->spec->detached)
		ctl_job_hold(p, job);
}

/* ---- they come */

static void start_named(struct ctl_job *job, const uint32_t *hosts)
{
	ctl_sched_arrive(job);
	ctl_sched_start(job, hosts);
	ctl_job_start(job, job->nr, hosts);
}

/*
 * Place the job on the hosts that its user named, if it can start there at once;
 * otherwise it waits.
 */
static int place_named(struct ctl_job *job, uint32_t **ret, struct error *err)
{
	uint32_t *hosts = xcalloc(job->nr, sizeof(*hosts));
	int r = ctl_sched_named(job, err);

	if (!r)
		r = ctl_sched_fixed(job, hosts, err);
	if (!r && !ctl_job_is_kept(job)) {
		*ret = hosts;
		return 0;
	}
	free(hosts);
	if (r == -ENOENT || (r < 0 && !job->spec->detached))
		return r;
	ctl_job_set_why(job, r < 0 ? err->text : "");
	return 0;
}

/*
 * Can the job ever run? *hosts: where it starts, if its user named hosts that are free.
 */
static int check_job(struct ctl_job *job, uint32_t **hosts, struct error *err)
{
	int r = job->spec->n_hosts ? place_named(job, hosts, err)
				   : ctl_sched_check(job, err);

	return r ? r : ctl_limit_check(job, *hosts, err);
}

static void enter(struct ctl_job *job, const uint32_t *hosts)
{
	if (ctl_job_is_kept(job))
		ctl_job_is_outside(job);
	else if (!ctl_array_admits(job))
		return;
	else if (hosts)
		start_named(job, hosts);
	else if (job->spec->n_hosts)
		ctl_job_is_outside(job);
	else
		ctl_sched_arrive(job);
}

void ctl_job_enter(struct ctl_job *job)
{
	enter(job, NULL);
}

/* All checks that can be made before the job exists. */
static int check_submit(struct ctl_peer *p, const Control__Submit *asked,
			struct error *err)
{
	struct ctl *ctl = p->ctl;
	int r = 0;

	if (store_room(ctl->store) == STORE_ROOM_NONE)
		r = error_set(err, -ENOSPC, "%s", ctl_room_text(ctl));
	if (!r)
		r = ctl_limit_jobs(p, asked, err);
	if (!r)
		ctl_jobs_prune_user(ctl, asked->user,
				    asked->n_tasks ? asked->n_tasks : 1);
	return r;
}

static void set_submitted(struct ctl_job *job)
{
	job->ctl->jobs.last = job->id;
	job->submit = ctl_now();
	if (job->spec->held)
		ctl_job_set_why(job, "held since it was submitted");
	else if (job->after != AFTER_FREE)
		ctl_after_tell(job);
	ctl_after_decide(job);
}

static struct ctl_job *create(struct ctl *ctl, const Control__Submit *asked)
{
	return ctl_job_create(ctl, ctl->jobs.last + 1, submit_copy(asked));
}

/* ---- arrays */

/* The task numbers of a request, taken out while its jobs are made one by one. */
struct tasks {
	uint32_t *task;
	size_t nr;
};

/* Set variables like those of sbatch(1), but named STINT_ARRAY_... */
static void tell_task(Control__Submit *s, const struct tasks *t)
{
	s->env = xreallocarray(s->env, s->n_env + 5, sizeof(*s->env));
	s->env[s->n_env++] = xasprintf("STINT_ARRAY_JOB_ID=%" PRIu64, s->array);
	s->env[s->n_env++] = xasprintf("STINT_ARRAY_TASK_ID=%u", s->task);
	s->env[s->n_env++] = xasprintf("STINT_ARRAY_TASK_COUNT=%zu", t->nr);
	s->env[s->n_env++] = xasprintf("STINT_ARRAY_TASK_MIN=%u", t->task[0]);
	s->env[s->n_env++] =
		xasprintf("STINT_ARRAY_TASK_MAX=%u", t->task[t->nr - 1]);
}

static struct ctl_job *create_task(struct ctl *ctl, Control__Submit *asked,
				   const struct tasks *t, size_t i)
{
	Control__Submit *s;

	asked->task = t->task[i];
	s = submit_copy(asked);
	tell_task(s, t);
	return ctl_job_create(ctl, ctl->jobs.last + 1, s);
}

/* Submit all jobs of an array but the first, which has the request's key. */
static void submit_others(struct ctl *ctl, Control__Submit *asked,
			  const struct tasks *t)
{
	asked->key.len = 0;
	for (size_t i = 1; i < t->nr; i++) {
		struct ctl_job *job = create_task(ctl, asked, t, i);

		set_submitted(job);
		enter(job, NULL);
		ctl_job_store(job);
	}
	ctl_sched_soon(ctl);
}

/*
 * What is to be done when it is over, however: by a job of its own, so that whatever is
 * true of jobs is true of that.  Submitted in the same transaction.
 */
static void submit_at_end(const struct ctl_job *job, const struct tasks *t,
			  const Control__Submit *asked, const char *command)
{
	Control__After after = CONTROL__AFTER__INIT, *list[] = { &after };
	char *argv[] = { (char *)"sh", (char *)"-c", (char *)command };
	Control__Submit s = CONTROL__SUBMIT__INIT;
	struct ctl_job *then;

	after.job = job->id;
	after.kind = CONTROL__AFTER_KIND__AFTER_ANY;
	after.whole = t->nr;
	s.argv = argv;
	s.n_argv = 3;
	s.after = list;
	s.n_after = 1;
	s.env = asked->env;
	s.n_env = asked->n_env;
	s.cwd = asked->cwd;
	s.ranks = 1;
	s.uid = asked->uid;
	s.gid = asked->gid;
	s.groups = asked->groups;
	s.n_groups = asked->n_groups;
	s.user = asked->user;
	s.umask = asked->umask;
	s.limits = asked->limits;
	s.n_limits = asked->n_limits;
	s.limit_usec = AT_END_LIMIT;
	s.name = (char *)"at-end";
	s.detached = true;
	then = create(job->ctl, &s);
	set_submitted(then);
	enter(then, NULL);
	ctl_job_store(then);
}

static void log_submitted(const struct ctl_job *job, const struct tasks *t)
{
	log_info("job=%llu user=%s ranks=%u tasks=%zu state=submitted",
		 (unsigned long long)job->id, job->spec->user, job->nr,
		 t->nr ? t->nr : 1);
}

/* An administrator's, as another user (admin-submits). */
static void audit_submitted(const struct ctl_peer *p, const struct ctl_job *job)
{
	char *target;

	if (p->role != ROLE_ADMIN || !strcmp(p->name, job->spec->user))
		return;
	target = xasprintf("job %llu of %s", (unsigned long long)job->id,
			   job->spec->user);
	ctl_audit(p,
		  &(struct ctl_audited){ .what = "submit", .target = target },
		  0, "");
	free(target);
}

/* One job, or all of an array, in one transaction. */
static int submit(struct ctl_peer *p, uint64_t re, Control__Submit *asked,
		  const struct tasks *t, const char *at_end, struct error *err)
{
	struct ctl *ctl = p->ctl;
	uint32_t *hosts = NULL;
	struct ctl_job *job;
	int r;

	asked->array = t->nr ? ctl->jobs.last + 1 : 0;
	job = t->nr ? create_task(ctl, asked, t, 0) : create(ctl, asked);
	r = check_job(job, &hosts, err);
	if (r < 0) {
		ctl_job_destroy(job);
		free(hosts);
		return r;
	}
	set_submitted(job);
	ctl_job_store(job);
	log_submitted(job, t);
	audit_submitted(p, job);
	tell_submitted(p, re, job);
	enter(job, hosts);
	if (t->nr) {
		submit_others(ctl, asked, t);
		ctl_array_store(ctl, job->array);
	}
	if (*at_end)
		submit_at_end(job, t, asked, at_end);
	free(hosts);
	return 0;
}

void ctl_job_submit(struct ctl_peer *p, uint64_t re, Control__Submit *asked)
{
	struct tasks t = { .task = asked->tasks, .nr = asked->n_tasks };
	char *at_end = asked->at_end;
	struct ctl_job *job;
	struct error err;
	int r = ctl_job_check(p, asked, &err);

	/* It was submitted before, but the client did not get the answer. */
	job = r < 0 ? NULL : ctl_job_of_key(p->ctl, asked);
	if (job) {
		tell_submitted(p, re, job);
		return;
	}
	if (!r)
		r = check_submit(p, asked, &err);
	if (!r)
		r = ctl_after_resolve(p, asked->after, asked->n_after,
				      asked->uid, &err);
	/* A job of an array does not need the task numbers of the others. */
	asked->n_tasks = 0;
	asked->at_end = (char *)protobuf_c_empty_string;
	if (!r)
		r = submit(p, re, asked, &t, at_end, &err);
	asked->at_end = at_end;
	if (r < 0)
		ctl_send_failed(p, re, r, "%s", err.text);
}

/* The policy does not know of these jobs until they start. */
void ctl_jobs_start_named(struct ctl *ctl)
{
	struct ctl_job *job;
	uint32_t *hosts;
	struct error why;

	if (!ctl_jobs_outside(ctl))
		return;
	TAILQ_FOREACH (job, &ctl->jobs.list, link) {
		if (job->state != STATE(WAITING) || job->model ||
		    ctl_job_is_kept(job) || !job->spec->n_hosts ||
		    !ctl_array_admits(job))
			continue;
		hosts = xcalloc(job->nr, sizeof(*hosts));
		if (!ctl_sched_fixed(job, hosts, &why))
			start_named(job, hosts);
		else if (strcmp(job->why, why.text))
			ctl_job_set_why(job, why.text);
		free(hosts);
		if (!job->model)
			ctl_job_is_outside(job);
	}
}

void ctl_arrays_go_on(struct ctl *ctl)
{
	struct ctl_array *a, *next;
	struct ctl_job *job;

	if (!ctl->jobs.turns)
		return;
	ctl->jobs.turns = false;
	HASH_ITER (by_id, ctl->jobs.arrays, a, next) {
		while ((job = ctl_array_next(ctl, a)))
			enter(job, NULL);
	}
}
