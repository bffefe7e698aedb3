/* list.c - answers to `stint ps` */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cluster/controller/front/priv.h"
#include "cluster/controller/sched/sched.h"
#include "cluster/controller/state/account.h"
#include "cluster/controller/state/array.h"
#include "cluster/controller/state/find.h"
#include "cluster/controller/state/say.h"
#include "cluster/controller/state/state.h"
#include "cluster/controller/users/users.h"
#include "core/xalloc.h"
#include "net/net.h"

enum {
	SOME_ARGUMENTS = 4096,	 /* bytes told of each job in a list of many */
	ALL_ARGUMENTS = 1 << 20, /* and of the one job that was asked for */
	OVERHEAD = 8,		 /* bytes that each argument takes besides */
	PAGE = 512 << 10,	 /* bytes in one answer, roughly */
};

/*
 * Is the rank still being moved?  Not once it runs at the destination, even if the
 * source has not reported yet.
 */
static bool is_moving(const struct ctl_rank *r)
{
	return r->move && !r->move->landed;
}

/* The rank's state as users are shown it. */
static int shown_state(const struct ctl_rank *r)
{
	if (r->move && ctl_move_undecided(r->move))
		return STATE(UNDECIDED);
	if (r->lost)
		return STATE(LOST);
	if (ctl_rank_active(r) && r->host && !r->host->agent)
		return STATE(SILENT);
	return is_moving(r) ? STATE(MOVING) : r->state;
}

static bool is_silent(const struct ctl_host *h)
{
	return h && !h->agent;
}

/* Seconds until the host's ranks are given up. */
static int patience_left(const struct ctl_host *h)
{
	usec_t left = h->lost_since + h->ctl->conf->lost_after - ctl_now();

	return left > 0 ? (int)(left / USEC_PER_SEC) : 0;
}

/*
 * The reason why a rank does not run, if that is not its own program; fresh, or NULL.
 */
static char *rank_why(const struct ctl_rank *r)
{
	const struct ctl_move *m = r->move;

	if (!ctl_rank_active(r))
		return xstrdup("");
	if (m && ctl_move_undecided(m))
		return is_silent(m->from)
			       ? xasprintf("%s holds it until %s says whether "
					   "it has given it away: start the "
					   "agent there; given up in %d s",
					   m->to->name, m->from->name,
					   patience_left(m->from))
			       : xasprintf("%s holds it until its keeper on %s "
					   "has decided",
					   m->to->name, m->from->name);
	if (is_silent(r->host))
		return xasprintf("%s does not answer: start the agent there; "
				 "given up in %d s",
				 r->host->name, patience_left(r->host));
	return xstrdup("");
}

static void put_sent(const struct rank_traffic *t, Control__RankInfo *i)
{
	i->sent = xcalloc(t->nr + 1, sizeof(*i->sent));
	for (; i->n_sent < t->nr; i->n_sent++) {
		Control__RankSent *s = xmalloc(sizeof(*s));

		control__rank_sent__init(s);
		s->rank = t->to[i->n_sent].rank;
		s->bytes = t->to[i->n_sent].bytes;
		s->segments = t->to[i->n_sent].segments;
		i->sent[i->n_sent] = s;
	}
}

static Control__RankInfo *rank_info(const struct ctl_rank *r, bool sent)
{
	Control__RankInfo *i = xcalloc(1, sizeof(*i));
	char text[NET_TEXT];

	control__rank_info__init(i);
	i->state = shown_state(r);
	i->host = is_moving(r) ? r->move->from->name
		  : r->host    ? r->host->name
			       : (char *)"";
	i->address = xstrdup(r->address.s_addr ? net_addr_text(r->address, text)
					       : "");
	i->epoch = r->epoch;
	i->moves = r->moves;
	i->moving_to = is_moving(r) ? r->move->to->name : (char *)"";
	i->exit = r->exit;
	i->downtime_usec = r->downtime;
	i->predicted_usec = (uint64_t)r->seen.predicted;
	i->written = r->seen.written;
	i->written_in_usec = (uint64_t)r->seen.written_in;
	i->pid = ctl_rank_active(r) ? r->pid : 0;
	i->why = rank_why(r);
	i->share = r->use.share;
	i->waits = r->use.waits;
	i->faults = r->use.faults;
	i->memory = r->use.memory;
	i->cpu_usec = r->had.cpu_usec + r->use.cpu_usec;
	i->stood_usec = r->had.stood_usec;
	for (size_t k = 0; k < r->sent.nr; k++)
		i->sent_bytes += r->sent.to[k].bytes;
	if (sent)
		put_sent(&r->sent, i);
	return i;
}

/*
 * Add the job's arguments, or if the peer may not see those, the program's name.
 * Arguments may be megabytes and must not crowd other jobs out: at most so many bytes,
 * then "...".
 */
static void put_arguments(const struct ctl_job *job, bool all, size_t most,
			  Control__JobInfo *i)
{
	const Control__Submit *s = job->spec;
	const char *slash = strrchr(s->argv[0], '/');
	size_t bytes = 0, n = 0;

	i->hidden = !all;
	i->argv = xcalloc(s->n_argv + 1, sizeof(*i->argv));
	for (; n < (all ? s->n_argv : 1); n++) {
		bytes += strlen(s->argv[n]) + OVERHEAD;
		i->argv[n] = bytes <= most ? s->argv[n] : (char *)"...";
		if (bytes > most)
			break;
	}
	if (!all && slash && bytes <= most)
		i->argv[0] = (char *)slash + 1;
	i->n_argv = n + (bytes > most);
}

static Control__JobInfo *job_info(struct ctl_job *job, bool all, size_t most)
{
	Control__JobInfo *i = xcalloc(1, sizeof(*i));
	char why[256] = "";

	control__job_info__init(i);
	i->job = job->id;
	i->state = job->state;
	i->user = job->spec->user;
	i->submit_usec = job->submit;
	i->start_usec = job->start;
	i->end_usec = job->end;
	i->exit = job->exit;
	if (job->state == STATE(WAITING) && job->model)
		ctl_sched_why(job, why, sizeof(why), NULL);
	i->name = all ? job->spec->name : (char *)"";
	i->held = job->spec->held && job->state == STATE(WAITING);
	i->detached = job->spec->detached;
	i->requeues = job->spec->requeues;
	i->limit_usec = job->spec->limit_usec;
	i->array = job->spec->array;
	i->task = job->spec->task;
	i->limits = all ? ctl_job_limits(job->spec) : NULL;
	i->after = job->spec->after;
	i->n_after = all ? job->spec->n_after : 0;
	i->reason = all || !job->reason ? job->reason : ENDED(EXIT_CODE);
	i->by = all ? job->by : (char *)"";
	put_arguments(job, all, most, i);
	i->why = xstrdup(*why ? why : all ? job->why : ctl_job_outside(job));
	i->ranks = xcalloc(job->nr, sizeof(*i->ranks));
	for (i->n_ranks = 0; i->n_ranks < job->nr; i->n_ranks++)
		i->ranks[i->n_ranks] = rank_info(&job->ranks[i->n_ranks],
						 all && most >= ALL_ARGUMENTS);
	return i;
}

static void job_info_free(Control__JobInfo *i)
{
	for (size_t n = 0; n < i->n_ranks; n++) {
		free(i->ranks[n]->address);
		free(i->ranks[n]->why);
		for (size_t k = 0; k < i->ranks[n]->n_sent; k++)
			free(i->ranks[n]->sent[k]);
		free(i->ranks[n]->sent);
		free(i->ranks[n]);
	}
	free(i->limits);
	free(i->argv);
	free(i->ranks);
	free(i->why);
	free(i);
}

/* The first job that may be one of those asked for. */
static struct ctl_job *first_listed(struct ctl *ctl, const Control__ListJobs *l)
{
	struct ctl_array *a = ctl_array_find(ctl, l->job);
	struct ctl_job *job = NULL;
	uint64_t id = l->job;

	if (!l->job) {
		job = l->from ? ctl_job_find(ctl, l->from) : NULL;
		return job ? job : TAILQ_FIRST(&ctl->jobs.list);
	}
	if (!a)
		return ctl_job_find(ctl, l->job);
	while (!job && id <= a->last)
		job = ctl_job_find(ctl, id++);
	return job;
}

static bool is_listed(const struct ctl_job *job, const Control__ListJobs *l)
{
	if (job->id < l->from || (l->n_tasks && !job->array))
		return false;
	if (l->job)
		return ctl_array_means(job, l->tasks, l->n_tasks);
	return l->ended || job->state != STATE(DONE);
}

/* Is the job behind all that are asked for?  Jobs of an array follow each other. */
static bool is_beyond(const struct ctl_job *job, const Control__ListJobs *l)
{
	return l->job && job->id != l->job && job->spec->array != l->job;
}

/* How many bytes of its arguments to show: all if the job is asked for alone. */
static size_t arguments_of(const struct ctl_job *job,
			   const Control__ListJobs *l)
{
	return l->job && (!job->array || l->n_tasks) ? ALL_ARGUMENTS
						     : SOME_ARGUMENTS;
}

/*
 * Put as many jobs into the answer as it has room for; the client asks again for the
 * others.  So a user with many jobs does not hide those of other users.
 */
static void put_jobs(struct ctl_peer *p, const Control__ListJobs *l,
		     Control__Jobs *ret)
{
	struct ctl_job *job;
	size_t cap = 0, bytes = 0;
	Control__JobInfo *i;

	for (job = first_listed(p->ctl, l); job && !is_beyond(job, l);
	     job = TAILQ_NEXT(job, link)) {
		if (!is_listed(job, l))
			continue;
		if (bytes > PAGE) {
			ret->next = job->id;
			return;
		}
		i = job_info(job, ctl_sees(p, job), arguments_of(job, l));
		bytes += control__job_info__get_packed_size(i);
		array_room(ret->jobs, ret->n_jobs, &cap);
		ret->jobs[ret->n_jobs++] = i;
	}
}

void ctl_list_jobs(struct ctl_peer *p, uint64_t re, const Control__ListJobs *l)
{
	Control__Jobs jobs = CONTROL__JOBS__INIT;
	struct error err;
	int r = ctl_array_ranges(l->tasks, l->n_tasks, &err);

	if (r < 0) {
		ctl_send_failed(p, re, r, "%s", err.text);
		return;
	}
	if (l->job && !first_listed(p->ctl, l)) {
		ctl_send_failed(p, re, -ESRCH,
				"no job %llu; `stint ps --all` lists them",
				(unsigned long long)l->job);
		return;
	}
	put_jobs(p, l, &jobs);
	if (l->n_tasks && !jobs.n_jobs && !l->from) {
		ctl_send_failed(p, re, -ESRCH,
				"%llu is no array with such tasks, or they are "
				"forgotten",
				(unsigned long long)l->job);
		return;
	}
	jobs.warning = (char *)ctl_room_text(p->ctl);
	ctl_send(p, 0, re, MESSAGE_BODY(JOBS), &jobs);
	for (size_t i = 0; i < jobs.n_jobs; i++)
		job_info_free(jobs.jobs[i]);
	free(jobs.jobs);
}
