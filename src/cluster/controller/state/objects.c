/*
 * objects.c - jobs, hosts and moves: made, stored, gone
 */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cluster/conn/keys.h"
#include "cluster/controller/state/objects.h"
#include "cluster/controller/state/state.h"
#include "cluster/controller/state/waiters.h"
#include "core/xalloc.h"
#include "model/record.h"

/* Takes spec. */
struct ctl_job *ctl_job_create(struct ctl *ctl, uint64_t id,
			       Control__Submit *spec)
{
	struct ctl_job *job = xcalloc(1, sizeof(*job));

	job->ctl = ctl;
	job->id = id;
	job->spec = spec;
	job->size = control__submit__get_packed_size(spec);
	job->nr = spec->started_ranks ? spec->started_ranks : spec->ranks;
	job->bad_rank = -1;
	job->state = STATE(WAITING);
	job->why = xstrdup("");
	job->ranks = xcalloc(job->nr, sizeof(*job->ranks));
	for (uint32_t i = 0; i < job->nr; i++) {
		job->ranks[i].job = job;
		job->ranks[i].rank = i;
		job->ranks[i].state = STATE(WAITING);
		TAILQ_INIT(&job->ranks[i].klinks);
	}
	job->gather = pmi_gather_create(job->nr);
	TAILQ_INIT(&job->turns);
	TAILQ_INSERT_TAIL(&ctl->jobs, job, link);
	HASH_ADD(by_id, ctl->jobs_by_id, id, sizeof(job->id), job);
	return job;
}

void ctl_job_destroy(struct ctl_job *job)
{
	TAILQ_REMOVE(&job->ctl->jobs, job, link);
	HASH_DELETE(by_id, job->ctl->jobs_by_id, job);
	if (job->client)
		job->client->job = NULL;
	sd_event_source_disable_unref(job->grace);
	sd_event_source_disable_unref(job->killer);
	pmi_gather_destroy(job->gather);
	control__submit__free_unpacked(job->spec, NULL);
	free(job->pmi_release);
	free(job->ranks);
	free(job->why);
	free(job);
}

/* Of a thousand jobs that are over, lists show so much each. */
static void shorten_arguments(Control__Submit *s)
{
	size_t n = 0, bytes = 0, last;

	while (n < s->n_argv &&
	       (bytes += strlen(s->argv[n])) <= CTL_ARGUMENTS_KEPT)
		n++;
	if (n == s->n_argv)
		return;
	message_set_text(&s->argv[n], xstrdup("..."));
	last = n + 1;
	for (n = last; n < s->n_argv; n++)
		free(s->argv[n]);
	s->n_argv = last;
}

void ctl_job_shed(struct ctl_job *job)
{
	Control__Submit *s = job->spec;

	for (size_t i = 0; i < s->n_env; i++)
		free(s->env[i]);
	free(s->env);
	s->env = NULL;
	s->n_env = 0;
	shorten_arguments(s);
	message_set_text(&s->cwd, xstrdup(""));
	free(job->pmi_release);
	job->pmi_release = NULL;
	job->pmi_release_n = 0;
	pmi_gather_destroy(job->gather);
	job->gather = NULL;
}

void ctl_job_store(struct ctl_job *job)
{
	size_t n = control__submit__get_packed_size(job->spec);
	uint8_t *spec = xmalloc(n);
	struct store_job row = { .id = job->id,
				 .state = job->state,
				 .spec = spec,
				 .spec_n = n,
				 .why = job->why,
				 .submit = job->submit,
				 .start = job->start,
				 .end = job->end,
				 .exit = job->exit,
				 .bad_rank = job->bad_rank,
				 .cause = job->cause,
				 .cause_at = job->cause_at,
				 .limit_met = job->limit_met,
				 .pmi_generation = job->pmi_generation,
				 .pmi_release = job->pmi_release,
				 .pmi_release_n = job->pmi_release_n };

	control__submit__pack(job->spec, spec);
	store_put_job(job->ctl->store, &row);
	free(spec);
}

void ctl_rank_store(struct ctl_rank *r)
{
	struct store_rank row = { .job = r->job->id,
				  .rank = r->rank,
				  .state = r->lost ? STATE(LOST) : r->state,
				  .host = r->host ? r->host->name : "",
				  .address = ntohl(r->address.s_addr),
				  .epoch = r->epoch,
				  .last_epoch = r->last_epoch,
				  .exit = r->exit,
				  .moves = r->moves,
				  .downtime = r->downtime,
				  .stdout_end = r->stdout_end,
				  .stderr_end = r->stderr_end };

	store_put_rank(r->job->ctl->store, &row);
}

struct ctl_host *ctl_host_create(struct ctl *ctl, const char *name)
{
	struct ctl_host *h = xcalloc(1, sizeof(*h));

	h->ctl = ctl;
	h->name = xstrdup(name);
	h->boot_id = xstrdup("");
	h->address = xstrdup("");
	h->uplink = xstrdup("");
	h->net = xstrdup("none");
	control__host_report__init(&h->report);
	TAILQ_INIT(&h->klinks);
	TAILQ_INIT(&h->strangers);
	TAILQ_INIT(&h->drainers);
	TAILQ_INIT(&h->asked);
	h->ix = ctl->nr_hosts;
	array_room(ctl->hosts, ctl->nr_hosts, &ctl->cap_hosts);
	ctl->hosts[ctl->nr_hosts++] = h;
	HASH_ADD_KEYPTR(by_name, ctl->hosts_by_name, h->name, strlen(h->name),
			h);
	return h;
}

void ctl_host_destroy(struct ctl_host *h)
{
	HASH_DELETE(by_name, h->ctl->hosts_by_name, h);
	sd_event_source_disable_unref(h->lost);
	ctl_waiters_drop(&h->drainers);
	ctl_waiters_drop(&h->asked);
	free(h->name);
	free(h->boot_id);
	free(h->address);
	free(h->uplink);
	free(h->net);
	free(h);
}

struct ctl_move *ctl_move_create(struct ctl_rank *r, struct ctl_host *to,
				 uint64_t epoch)
{
	struct ctl_move *m = xcalloc(1, sizeof(*m));

	TAILQ_INIT(&m->askers);
	m->rank = r;
	m->from = r->host;
	m->to = to;
	m->epoch = epoch;
	control__moved__init(&m->report);
	m->report.job = r->job->id;
	m->report.rank = r->rank;
	m->report.from = m->from->name;
	m->report.to = to->name;
	m->report.epoch = epoch;
	r->move = m;
	TAILQ_INSERT_TAIL(&r->job->ctl->moves, m, link);
	return m;
}

void ctl_move_store(struct ctl_move *m, int state)
{
	size_t n = control__moved__get_packed_size(&m->report);
	uint8_t *buf = xmalloc(n + 1);
	struct store_move row = { .job = m->rank->job->id,
				  .rank = m->rank->rank,
				  .epoch = m->epoch,
				  .source_epoch = m->source_epoch,
				  .from = m->from->name,
				  .to = m->to->name,
				  .state = state,
				  .moved = buf,
				  .moved_n = n };

	control__moved__pack(&m->report, buf);
	store_put_move(m->rank->job->ctl->store, &row);
	free(buf);
}

void ctl_move_destroy(struct ctl_move *m)
{
	TAILQ_REMOVE(&m->rank->job->ctl->moves, m, link);
	m->rank->move = NULL;
	sd_event_source_disable_unref(m->timer);
	ctl_waiters_drop(&m->askers);
	message_set_text(&m->report.why, NULL);
	explicit_bzero(m->key, sizeof(m->key));
	free(m);
}
