/*
 * why.c - what was planned for a job, from the record (sched/record.c)
 */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cluster/controller/front/priv.h"
#include "cluster/controller/sched/sched.h"
#include "cluster/controller/state/account.h"
#include "cluster/controller/state/find.h"
#include "cluster/controller/state/host.h"
#include "cluster/controller/state/say.h"
#include "cluster/controller/state/state.h"
#include "cluster/controller/users/users.h"
#include "core/xalloc.h"
#include "model/record.h"

struct planned {
	Control__Planned **list;
	size_t nr, cap;
};

static bool add_planned(void *arg, const struct store_line *row)
{
	struct planned *l = arg;
	Control__Planned *p = l->nr ? l->list[l->nr - 1] : NULL;
	const char *text = row->line + strlen("plan ");
	size_t n;

	if (strncmp(row->line, "plan ", strlen("plan ")))
		return true;
	n = strcspn(text, "\t");
	if (p && strlen(p->text) == n && !strncmp(p->text, text, n)) {
		p->times++;
		return true;
	}
	p = xcalloc(1, sizeof(*p));
	control__planned__init(p);
	p->at_usec = row->at;
	p->text = xasprintf("%.*s", (int)n, text);
	p->numbers = xstrdup(text[n] ? text + n + 1 : "");
	p->times = 1;
	array_room(l->list, l->nr, &l->cap);
	l->list[l->nr++] = p;
	return true;
}

static void planned_clear(struct planned *l)
{
	for (size_t i = 0; i < l->nr; i++) {
		free(l->list[i]->text);
		free(l->list[i]->numbers);
		free(l->list[i]);
	}
	free(l->list);
}

/* Add the policy's reason, and if the job waits once more, why. */
static void explain(struct ctl_peer *p, struct ctl_job *job, char *now,
		    size_t n, FILE *numbers)
{
	size_t used;

	ctl_sched_why(job, now, n, numbers);
	used = strlen(now);
	if (used && *job->why && ctl_sees(p, job))
		snprintf(now + used, n - used, "; %s", job->why);
}

/* For ranks on hosts that are drained: who has drained these, and why. */
static void explain_drained(const struct ctl_job *job,
			    char ret[HOST_DRAIN_TEXT])
{
	for (uint32_t i = 0; i < job->nr; i++) {
		const struct ctl_rank *r = &job->ranks[i];

		if (ctl_rank_active(r) && r->host && r->host->drain) {
			ctl_host_drain_text(r->host, ret);
			return;
		}
	}
}

static uint64_t expected(const struct ctl_job *job)
{
	usec_t at = job && job->state == STATE(WAITING) && job->model
			    ? ctl_sched_expect(job)
			    : USEC_MAX;

	return at == USEC_MAX ? 0 : (uint64_t)at;
}

void ctl_record_why(struct ctl_peer *p, uint64_t re, uint64_t id)
{
	struct ctl_job *job = ctl_job_find(p->ctl, id);
	Control__Why answer = CONTROL__WHY__INIT;
	struct planned l = { .list = NULL };
	char now[HOST_DRAIN_TEXT] = "", *numbers;
	size_t size;
	FILE *f;

	store_each_line(p->ctl->store, 0, id, add_planned, &l);
	if (!job && !l.nr) {
		ctl_send_failed(p, re, -ESRCH,
				"no job %llu; `stint ps --all` lists them",
				(unsigned long long)id);
		return;
	}
	f = xmemstream(&numbers, &size);
	if (job && job->state == STATE(WAITING) && job->model)
		explain(p, job, now, sizeof(now), f);
	else if (job && ctl_sees(p, job))
		explain_drained(job, now);
	fclose(f);
	answer.job = id;
	answer.state = job ? job->state : STATE(DONE);
	if (job && !*now)
		answer.now = ctl_sees(p, job) ? job->why
					      : (char *)ctl_job_outside(job);
	else
		answer.now = now;
	answer.now_numbers = numbers;
	if (job && ctl_sees(p, job)) {
		answer.limits = ctl_job_limits(job->spec);
		answer.limit_usec = job->spec->limit_usec;
	}
	answer.expected_usec = expected(job);
	answer.planned = l.list;
	answer.n_planned = l.nr;
	ctl_send(p, 0, re, MESSAGE_BODY(WHY), &answer);
	planned_clear(&l);
	free(answer.limits);
	free(numbers);
}
