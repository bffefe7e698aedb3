/*
 * trace.c - a trace as a workload
 */
#include <math.h>
#include <stdlib.h>

#include "core/xalloc.h"
#include "model/job.h"
#include "sim/workload/swf.h"
#include "sim/workload/workload.h"

struct swf_source {
	struct workload base;
	struct swf_trace trace;
	struct workload_follower *follower;
	size_t next;
	double stretch;
	usec_t first;
};

static struct workload_job job_of(const struct swf_job *j)
{
	return (struct workload_job){
		.id = j->id,
		.submit = j->submit,
		.run = j->run,
		.estimate = j->estimate,
		.size = j->size,
		.min_size = j->size,
		.kind = JOB_RIGID,
		.memory = j->memory > 0 ? (uint64_t)j->memory << 10 : 0,
		.user = j->user,
		.group = j->group,
		.app = j->app,
		.queue = j->queue,
		.partition = j->partition,
	};
}

static int swf_next(struct workload *workload, struct workload_job *ret,
		    struct error *err)
{
	struct swf_source *s = (struct swf_source *)workload;
	const struct swf_trace *t = &s->trace;

	(void)err;
	while (t->link && s->next < t->nr && t->link[s->next].after)
		s->next++;
	if (s->next == t->nr)
		return 0;
	*ret = job_of(&t->job[s->next++]);
	if (s->stretch != 1)
		ret->submit =
			s->first +
			llround((double)(ret->submit - s->first) * s->stretch);
	return 1;
}

static void swf_destroy(struct workload *workload)
{
	struct swf_source *s = (struct swf_source *)workload;

	swf_clear(&s->trace);
	free(s->follower);
	free(s);
}

static const struct workload_ops swf_ops = {
	.name = "swf",
	.summary = "a trace",
	.next = swf_next,
	.destroy = swf_destroy,
};

static double offered_load(const struct swf_trace *t)
{
	double work = 0;
	usec_t span = t->job[t->nr - 1].submit - t->job[0].submit;

	for (size_t i = 0; i < t->nr; i++)
		work += (double)t->job[i].size * (double)t->job[i].run;
	return span > 0 ? work / (double)span / t->procs : 0;
}

static void add_followers(struct swf_source *s)
{
	const struct swf_trace *t = &s->trace;
	size_t cap = 0;
	uint32_t nr = 0;

	for (size_t i = 0; t->link && i < t->nr; i++) {
		if (!t->link[i].after)
			continue;
		array_room(s->follower, nr, &cap);
		s->follower[nr++] = (struct workload_follower){
			.job = job_of(&t->job[i]),
			.after = t->link[i].after,
			.think = t->link[i].think,
		};
	}
	s->base.follower = s->follower;
	s->base.nr_followers = nr;
}

struct workload *swf_workload(struct swf_trace *trace, double load)
{
	struct swf_source *s = xcalloc(1, sizeof(*s));

	s->trace = *trace;
	*trace = (struct swf_trace){ 0 };
	s->first = s->trace.job[0].submit;
	s->stretch = load > 0 ? offered_load(&s->trace) / load : 1;
	s->base.ops = &swf_ops;
	s->base.procs = s->trace.procs;
	s->base.nr_jobs = s->trace.nr;
	add_followers(s);
	return &s->base;
}
