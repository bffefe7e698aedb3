/* talk.c - see talk.h */
#include "model/talk.h"

#include <stdlib.h>

#include "core/xalloc.h"

static double link_of(const struct view *view, uint32_t host)
{
	double link = view->hosts[host].link;

	return link > 0 ? link : TALK_LINK;
}

/* What a rank on that host waits of a second for one pair. */
static double wait_for(const struct view *view, const struct job_talk *t,
		       uint32_t host)
{
	return t->segments * TALK_LATENCY + t->bytes / link_of(view, host);
}

static double factor(double wait)
{
	return 1 / (1 - (wait < TALK_MOST ? wait : TALK_MOST));
}

/* The other rank of a pair; of one that it is not in, no rank of the job. */
static uint32_t partner(const struct job *job, const struct job_talk *t,
			uint32_t rank)
{
	if (t->b >= job->n)
		return job->n;
	return t->a == rank ? t->b : t->b == rank ? t->a : job->n;
}

double talk_delay_at(const struct view *view, const struct job *job,
		     const uint32_t *place, uint32_t rank, uint32_t host)
{
	double wait = 0;

	for (uint32_t i = 0; i < job->ranks->nr_talks; i++) {
		uint32_t other = partner(job, &job->ranks->talk[i], rank);

		if (other < job->n && place[other] != host)
			wait += wait_for(view, &job->ranks->talk[i], host);
	}
	return factor(wait);
}

double talk_bytes(const struct job *job, uint32_t rank, uint32_t host)
{
	double sum = 0;

	for (uint32_t i = 0; i < job->ranks->nr_talks; i++) {
		uint32_t other = partner(job, &job->ranks->talk[i], rank);

		if (other < job->n && job->hosts[other] == host)
			sum += job->ranks->talk[i].bytes;
	}
	return sum;
}

double talk_bytes_all(const struct job *job, uint32_t rank)
{
	double sum = 0;

	for (uint32_t i = 0; i < job->ranks->nr_talks; i++)
		if (partner(job, &job->ranks->talk[i], rank) < job->n)
			sum += job->ranks->talk[i].bytes;
	return sum;
}

void talk_delays(const struct view *view, const struct job *job,
		 const uint32_t *place, double *ret)
{
	for (uint32_t i = 0; i < job->n; i++)
		ret[i] = 0;
	for (uint32_t i = 0; i < job->ranks->nr_talks; i++) {
		const struct job_talk *t = &job->ranks->talk[i];

		if (t->b >= job->n || place[t->a] == place[t->b])
			continue;
		ret[t->a] += wait_for(view, t, place[t->a]);
		ret[t->b] += wait_for(view, t, place[t->b]);
	}
	for (uint32_t i = 0; i < job->n; i++)
		ret[i] = factor(ret[i]);
}

void talk_hosts(const struct view *view, double *ret)
{
	const struct job *j;

	for (uint32_t i = 0; i < view->nr_hosts; i++)
		ret[i] = 0;
	for_each_running(j, view) for (uint32_t i = 0; i < j->ranks->nr_talks;
				       i++)
	{
		const struct job_talk *t = &j->ranks->talk[i];

		if (j->state != JOB_RUNNING || t->b >= j->n ||
		    j->hosts[t->a] == j->hosts[t->b])
			continue;
		ret[j->hosts[t->a]] += t->bytes;
		ret[j->hosts[t->b]] += t->bytes;
	}
}

double talk_delay(const struct view *view, const struct job *job)
{
	double *all, most = 1;

	if (!job->ranks->nr_talks || !job->hosts)
		return 1;
	all = xcalloc(job->n, sizeof(*all));
	talk_delays(view, job, job->hosts, all);
	for (uint32_t i = 0; i < job->n; i++)
		most = all[i] > most ? all[i] : most;
	free(all);
	return most;
}
