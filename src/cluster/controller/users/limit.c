/*
 * limit.c - limits of users and of ranks
 *
 * The controller limits each user separately, so that a user who floods it keeps no
 * other user out; administrators have no limits.  Ranks are limited by their hosts
 * (cluster/host/limit.h): what is refused here, their keepers would refuse.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cluster/conn/keys.h"
#include "cluster/controller/state/find.h"
#include "cluster/controller/state/job.h"
#include "cluster/controller/state/state.h"
#include "cluster/controller/state/user_jobs.h"
#include "cluster/controller/users/users.h"
#include "core/xalloc.h"

/* ---- users ---- */

static int check_jobs(const struct ctl_peer *p, int64_t had, int64_t more,
		      struct error *err)
{
	int64_t most = p->ctl->conf->user_jobs;

	if (had + more <= most)
		return 0;
	if (more > 1)
		return error_set(
			err, -EDQUOT,
			"with these %" PRId64 " %s would have %" PRId64
			" jobs that are not over, more than the %" PRId64
			" that one user may have (user-jobs of the "
			"controller): submit fewer, or ask its "
			"administrator for more",
			more, p->name, had + more, most);
	return error_set(err, -EDQUOT,
			 "%s has %" PRId64 " jobs that are not over, as many "
			 "as one user may have (user-jobs of the controller): "
			 "wait for some, or ask its administrator for more",
			 p->name, had);
}

static int too_many_bytes(const struct ctl_peer *p, struct error *err)
{
	return error_set(err, -EDQUOT,
			 "arguments and environments of %s's jobs that are not "
			 "over are more than %d MiB: wait for some, or send "
			 "less with each",
			 p->name, CTL_USER_BYTES >> 20);
}

int ctl_limit_change(const struct ctl_peer *p, const struct ctl_job *job,
		     const Control__Submit *as, struct error *err)
{
	int64_t more =
		(int64_t)ctl_job_size(as) - (int64_t)ctl_job_size(job->spec);

	if (p->role == ROLE_USER && more > 0 &&
	    job->of_user->bytes + more > CTL_USER_BYTES)
		return too_many_bytes(p, err);
	return 0;
}

int ctl_limit_jobs(const struct ctl_peer *p, const Control__Submit *s,
		   struct error *err)
{
	int64_t tasks = s->n_tasks ? (int64_t)s->n_tasks : 1;
	int64_t at_end = *s->at_end != 0; /* a job of one rank */
	int64_t most = p->ctl->conf->user_ranks;
	const struct ctl_user_jobs *u;
	struct ctl_user_jobs t;

	if (p->role != ROLE_USER)
		return 0;
	u = ctl_user_jobs_find(p->ctl, p->name);
	t = u ? *u : (struct ctl_user_jobs){ .jobs = 0 };
	t.ranks += s->ranks * tasks + at_end;
	t.bytes += (int64_t)ctl_job_size(s) * (tasks + at_end);
	if (t.bytes > CTL_USER_BYTES)
		return too_many_bytes(p, err);
	if (t.ranks > most)
		return error_set(err, -EDQUOT,
				 "%s's jobs that are not over would have "
				 "%" PRId64 " ranks, more than the %" PRId64
				 " that one user may have (user-ranks of the "
				 "controller): wait for some, or ask its "
				 "administrator for more",
				 p->name, t.ranks, most);
	return check_jobs(p, t.jobs, tasks + at_end, err);
}

/* ---- what a job asks for ---- */

static int check_cpus(const struct ctl_host *h, uint64_t cpus,
		      struct error *err)
{
	char a[LIMITS_CPUS_TEXT], b[LIMITS_CPUS_TEXT];

	if (h->no_cpus)
		return error_set(err, -EOPNOTSUPP,
				 "host %s cannot limit processors (--cpus): "
				 "ask for other hosts (--hosts)",
				 h->name);
	if (!h->most.cpus || cpus <= h->most.cpus)
		return 0;
	return error_set(err, -E2BIG,
			 "host %s gives a rank %s processors at most "
			 "(cpus-max), and this one has %s (--cpus): ask for "
			 "less, or for other hosts (--hosts)",
			 h->name, limits_cpus_text(h->most.cpus, a),
			 limits_cpus_text(cpus, b));
}

int ctl_limit_host(const struct ctl_job *job, const struct ctl_host *h,
		   struct error *err)
{
	const Control__Submit *s = job->spec;
	char a[SIZE_TEXT], b[SIZE_TEXT];

	if (h->most.memory && s->memory > h->most.memory)
		return error_set(
			err, -E2BIG,
			"host %s gives a rank %s of memory at most "
			"(memory-max), and this one has %s (--memory): "
			"ask for less, or for other hosts (--hosts)",
			h->name, size_text(h->most.memory, a),
			size_text(s->memory, b));
	if (h->most.pids && s->pids > h->most.pids)
		return error_set(err, -E2BIG,
				 "host %s gives a rank %" PRIu64 " processes "
				 "and threads at most (pids-max), and this one "
				 "has %" PRIu64
				 " (--pids-limit): ask for less, "
				 "or for other hosts (--hosts)",
				 h->name, h->most.pids, s->pids);
	return s->milli_cpus ? check_cpus(h, s->milli_cpus, err) : 0;
}

/* Hosts that a job may run on: where it shall, those that its user named, or all. */
struct choice {
	const struct ctl_job *job;
	const uint32_t *hosts;
	size_t nr;
};

static struct choice choice_of(const struct ctl_job *job, const uint32_t *hosts)
{
	size_t named = job->spec->n_hosts;

	return (struct choice){ .job = job,
				.hosts = hosts,
				.nr = hosts   ? job->nr
				      : named ? named
					      : job->ctl->hosts.nr };
}

static struct ctl_host *chosen(const struct choice *c, size_t i)
{
	const struct ctl_job *job = c->job;

	if (c->hosts)
		return job->ctl->hosts.at[c->hosts[i]];
	if (job->spec->n_hosts)
		return ctl_host_find(job->ctl, job->spec->hosts[i]);
	return job->ctl->hosts.at[i];
}

static struct ctl_host *largest_host(const struct choice *c)
{
	struct ctl_host *most = NULL;

	for (size_t i = 0; i < c->nr; i++) {
		struct ctl_host *h = chosen(c, i);

		if (!most || (h && h->memory > most->memory))
			most = h;
	}
	return most;
}

/*
 * Refuse a limit that is more than any host has: it would limit nothing, and is
 * probably a mistake.
 */
static int check_memory(const struct ctl_job *job, const struct ctl_host *most,
			struct error *err)
{
	uint64_t memory = job->spec->memory;
	char a[SIZE_TEXT], b[SIZE_TEXT];

	if (!most || !most->memory || memory <= most->memory)
		return 0;
	return error_set(err, -E2BIG,
			 "--memory: no host for it has %s: %s has the most, "
			 "%s; ask for less",
			 size_text(memory, a), most->name,
			 size_text(most->memory, b));
}

/* A policy does not know of limits and may choose any host. */
int ctl_limit_check(const struct ctl_job *job, const uint32_t *hosts,
		    struct error *err)
{
	struct choice c = choice_of(job, hosts);
	int r = 0;

	for (size_t i = 0; i < c.nr && !r; i++)
		if (chosen(&c, i))
			r = ctl_limit_host(job, chosen(&c, i), err);
	return r ? r : check_memory(job, largest_host(&c), err);
}

/* ---- what it met ---- */

void ctl_limit_exited(struct ctl_rank *r, const Keeper__Exited *e)
{
	r->limits.had = (struct limits){ .memory = e->memory_max,
					 .pids = e->pids_max,
					 .cpus = e->milli_cpus };
	r->limits.met = (struct limits_met){ .kills = e->memory_kills,
					     .own_memory = e->own_memory,
					     .refused = e->pids_refused,
					     .held_usec = e->cpus_held_usec };
	/* If the controller sent the KILL, memory was not the reason. */
	r->limits.over_memory = e->memory_kills && e->signaled &&
				e->code == SIGKILL && !e->killed;
	r->limits.over_file = e->signaled && e->code == SIGXFSZ;
}

/* Who set the limit: the user by an option, or the host's owner. */
static const char *from(bool asked, const char *option, char ret[96])
{
	if (asked)
		snprintf(ret, 96, "%s", option);
	else
		snprintf(ret, 96, "what its host gives; %s asks for more",
			 option);
	return ret;
}

static void memory_words(const struct ctl_rank *r, char ret[CTL_LIMIT_TEXT])
{
	char size[SIZE_TEXT], why[96];

	if (r->limits.met.own_memory && r->limits.had.memory)
		snprintf(ret, CTL_LIMIT_TEXT,
			 "used more than its %s of memory (%s)",
			 size_text(r->limits.had.memory, size),
			 from(r->job->spec->memory, "--memory", why));
	else
		snprintf(ret, CTL_LIMIT_TEXT,
			 "was killed because memory ran out on %.64s",
			 r->host ? r->host->name : "its host");
}

static void file_words(const struct ctl_rank *r, char ret[CTL_LIMIT_TEXT])
{
	uint64_t most = r->job->spec->output_max;
	char size[SIZE_TEXT];

	if (most)
		snprintf(ret, CTL_LIMIT_TEXT,
			 "wrote more than %s into a file (--output-limit)",
			 size_text(most, size));
	else
		snprintf(ret, CTL_LIMIT_TEXT,
			 "wrote more into a file than its limit lets it "
			 "(ulimit -f)");
}

static size_t add_killed(const struct ctl_rank *r, char *at, size_t n)
{
	char words[CTL_LIMIT_TEXT];

	memory_words(r, words);
	return snprintf(at, n, "; a process of it %s", words);
}

static void add_refused(const struct ctl_rank *r, char *at, size_t n)
{
	char why[96];

	snprintf(at, n,
		 "; it met its limit of %" PRIu64
		 " processes and threads (%s), %" PRIu64 " time%s",
		 r->limits.had.pids,
		 from(r->job->spec->pids, "--pids-limit", why),
		 r->limits.met.refused, r->limits.met.refused == 1 ? "" : "s");
}

bool ctl_limit_words(const struct ctl_rank *r, char ret[CTL_LIMIT_TEXT])
{
	size_t at = 0;

	*ret = 0;
	if (r->limits.over_memory) {
		memory_words(r, ret);
		return true;
	}
	if (r->limits.over_file) {
		file_words(r, ret);
		return true;
	}
	if (r->limits.met.kills)
		at = add_killed(r, ret, CTL_LIMIT_TEXT);
	if (r->limits.met.refused && r->limits.had.pids && at < CTL_LIMIT_TEXT)
		add_refused(r, ret + at, CTL_LIMIT_TEXT - at);
	return false;
}

void ctl_limit_note(const struct ctl_rank *r, const char *words)
{
	struct ctl_job *job = r->job;
	char *why;

	if (!*words || job->exit || job->spec->stopping)
		return;
	why = xasprintf("rank %u ended well%s", r->rank, words);
	ctl_job_set_why(job, why);
	free(why);
	job->limit_met = true;
}
