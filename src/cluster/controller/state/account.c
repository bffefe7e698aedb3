/*
 * account.c - what a job asked for and had, and what was done to it, for later
 *
 * There is one row per job, written in the transaction in which the job ends and kept
 * when it is forgotten, and until then one per act.
 */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cluster/controller/state/account.h"
#include "cluster/controller/state/audit.h"
#include "cluster/controller/state/find.h"
#include "core/xalloc.h"

enum {
	PRUNE_JOBS = 64, /* after so many jobs */
	PRUNE_ROWS =
		200 /* milliseconds, also where their pages are not in memory */
};

void ctl_job_act(const struct ctl_job *job, const char *who, const char *fmt,
		 ...)
{
	struct store_act act = { .job = job->id, .at = ctl_now(), .who = who };
	struct error what;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(what.text, sizeof(what.text), fmt, ap);
	va_end(ap);
	act.what = what.text;
	store_put_act(job->ctl->store, &act);
}

static void add_act(void *arg, const struct store_act *row)
{
	Control__Account *a = arg;
	Control__Act *act = xcalloc(1, sizeof(*act));

	control__act__init(act);
	act->at_usec = (uint64_t)row->at;
	act->who = xstrdup(row->who);
	act->what = xstrdup(row->what);
	a->acts = xreallocarray(a->acts, a->n_acts + 1, sizeof(*a->acts));
	a->acts[a->n_acts++] = act;
}

static void fill_rank(const struct ctl_rank *r, Control__RankAccount *a)
{
	control__rank_account__init(a);
	if (r->host)
		a->host = r->host->name;
	a->cpu_usec = r->had.cpu_usec;
	a->max_rss = r->had.max_rss;
	a->moves = r->moves;
	a->stood_usec = r->had.stood_usec;
	a->moved_bytes = r->had.moved_bytes;
	a->exit = r->exit;
	a->lost = r->lost;
	a->held_usec = r->had.held_usec;
	a->returns = (uint32_t)r->had.returns;
	a->give_back_usec = r->had.give_back_usec;
	a->late_usec = r->had.late_usec;
	a->late = (char *)late_text(r->had.late);
}

/* Two allocations for all ranks; free_ranks() has them. */
static void add_ranks(const struct ctl_job *job, Control__Account *a)
{
	Control__RankAccount *had = xcalloc(job->nr, sizeof(*had));

	a->had = xcalloc(job->nr, sizeof(*a->had));
	for (; a->n_had < job->nr; a->n_had++) {
		fill_rank(&job->ranks[a->n_had], &had[a->n_had]);
		a->had[a->n_had] = &had[a->n_had];
	}
}

static void free_ranks(Control__Account *a)
{
	if (a->n_had)
		free(a->had[0]);
	free(a->had);
}

static void free_acts(Control__Account *a)
{
	for (size_t i = 0; i < a->n_acts; i++)
		control__act__free_unpacked(a->acts[i], NULL);
	free(a->acts);
}

/* Was the rank ever on a host?  A rank that only waited has nothing to account for. */
static bool has_been(const struct ctl_rank *r)
{
	return r->host || r->had.cpu_usec || r->moves;
}

static bool have_been(const struct ctl_job *job)
{
	for (uint32_t i = 0; i < job->nr; i++)
		if (has_been(&job->ranks[i]))
			return true;
	return false;
}

Control__Limits *ctl_job_limits(const Control__Submit *s)
{
	Control__Limits *l;

	if (!s->memory && !s->pids && !s->milli_cpus && !s->output_max)
		return NULL;
	l = xmalloc(sizeof(*l));
	control__limits__init(l);
	l->memory = s->memory;
	l->pids = s->pids;
	l->milli_cpus = s->milli_cpus;
	l->output_max = s->output_max;
	return l;
}

/* The texts are the job's: to copy and free them was a tenth of a job's cancelling. */
static void fill_job(const struct ctl_job *job, Control__Account *a)
{
	const Control__Submit *s = job->spec;

	a->job = job->id;
	a->user = s->user;
	a->uid = s->uid;
	a->name = s->name;
	a->program = s->argv[0];
	a->ranks = job->nr;
	a->ranks_asked = s->ranks;
	a->submit_usec = (uint64_t)job->submit;
	a->start_usec = (uint64_t)job->start;
	a->end_usec = (uint64_t)job->end;
	a->estimate_usec = s->estimate_usec;
	a->limit_usec = s->limit_usec;
	a->memory = s->memory;
	a->exit = (uint32_t)job->exit;
	a->reason = (Control__Reason)job->reason;
	a->by = job->by;
	a->why = job->why;
	a->requeues = s->requeues;
	a->array = s->array;
	a->task = s->task;
	a->limits = ctl_job_limits(s);
}

bool ctl_accounts_prune(struct ctl *ctl)
{
	const struct controller_conf *conf = ctl->conf;
	usec_t age = conf->accounts_for;

	usec_t before = age ? ctl_now() - age : 0;
	bool more = ctl_audit_prune(ctl, before, PRUNE_ROWS);

	return store_prune_accounts(ctl->store, (uint64_t)conf->accounts,
				    before, PRUNE_ROWS) ||
	       more;
}

void ctl_account_store(const struct ctl_job *job)
{
	Control__Account a = CONTROL__ACCOUNT__INIT;
	struct store_account row = { .job = job->id,
				     .user = job->spec->user,
				     .ended = job->end };
	uint8_t *data;

	fill_job(job, &a);
	if (have_been(job))
		add_ranks(job, &a);
	store_each_act(job->ctl->store, job->id, add_act, &a);
	row.n = control__account__get_packed_size(&a);
	row.data = data = xmalloc(row.n);
	control__account__pack(&a, data);
	store_put_account(job->ctl->store, &row);
	if (job->id % PRUNE_JOBS == 0)
		(void)ctl_accounts_prune(job->ctl);
	free(data);
	free_ranks(&a);
	free_acts(&a);
	free(a.limits);
}
