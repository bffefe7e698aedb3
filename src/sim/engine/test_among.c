/* test_among.c - see test_among.h */
#include "sim/engine/test_among.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/random.h"
#include "sim/engine/testing.h"

#define SEC USEC_PER_SEC

static void draw_hosts(struct among *a, struct random_stream *r)
{
	for (uint32_t i = 0; i < AMONG_HOSTS; i++) {
		a->host[i] = (struct host){
			.name = "",
			.speed = 1 + (double)random_below(r, 8) / 4,
			.cores = 1 + (uint32_t)random_below(r, 2),
			.memory = 1 << 30,
			.memory_free = 1 << 30,
			.slots = 6,
			.up = true,
		};
		a->own[i] = !random_below(r, 4);
	}
	a->host[0].speed = 1;
}

/* In the end nobody is there, so that all jobs end. */
static void draw_owners(struct among *a, struct random_stream *r)
{
	char name[8];
	usec_t at = 0;

	a->activity = (struct activity)ACTIVITY_INIT;
	for (int i = 0; i < AMONG_HOSTS; i++) {
		snprintf(name, sizeof(name), "h%d", i + 1);
		activity_add_host(&a->activity, name);
	}
	for (uint32_t i = 0; i < AMONG_HOSTS; i++)
		activity_add(&a->activity, 0, i, ACTIVITY_OWN, a->own[i] * 8);
	for (int i = 0; i < 250; i++) {
		static const enum activity_what of[] = { ACTIVITY_OWNER,
							 ACTIVITY_KEYBOARD,
							 ACTIVITY_LOAD,
							 ACTIVITY_LOAD };
		enum activity_what what = of[random_below(r, 4)];
		uint32_t h = (uint32_t)random_below(r, AMONG_HOSTS);

		at += (usec_t)random_below(r, 20 * SEC);
		activity_add(&a->activity, at, h, what,
			     what == ACTIVITY_LOAD
				     ? random_uniform(r, 0, 3) *
					       (double)random_below(r, 2)
				     : (double)random_below(r, 2));
	}
	for (uint32_t i = 0; i < AMONG_HOSTS; i++)
		for (enum activity_what w = 0; w <= ACTIVITY_LOAD; w++)
			activity_add(&a->activity, at, i, w, 0);
}

static void draw_failures(struct among *a, struct random_stream *r)
{
	struct error err;
	size_t size;
	char *text;
	FILE *f = open_memstream(&text, &size);

	for (int h = 0; h < AMONG_HOSTS; h++)
		for (int at = 0; at < 3000;) {
			int from = at + (int)random_below(r, 2000);

			at = from + 1 + (int)random_below(r, 60);
			fprintf(f, "%d down %d\n%d up %d\n", from, h, at, h);
		}
	fclose(f);
	if (script_parse(text, size, "failures", &a->script, &err) < 0)
		fail_msg("%s", err.text);
	free(text);
}

void among_begin(struct among *a, uint64_t seed)
{
	struct random_stream r;

	memset(a, 0, sizeof(*a));
	a->seed = seed;
	random_init(&r, seed, "among", 0);
	draw_hosts(a, &r);
	draw_owners(a, &r);
	if (random_below(&r, 2))
		draw_failures(a, &r);
	a->memory = 1 + random_below(&r, 100 << 20);
	a->costs.migrate_rank = (usec_t)random_below(&r, SEC);
	a->costs.migrate = (usec_t)random_below(&r, SEC / 10);
	a->costs.link = random_below(&r, 3) ? 20 << 20 : 0;
	a->costs.precopy = a->costs.link && random_below(&r, 2);
	a->requeue = random_below(&r, 2);
	for (int i = 1; i <= AMONG_JOBS; i++)
		a->run[i] = SEC + (usec_t)random_below(&r, 150 * SEC);
}

void among_end(struct among *a)
{
	activity_clear(&a->activity);
	script_clear(&a->script);
}

struct jobs {
	struct workload base;
	const struct among *a;
	struct random_stream r;
	usec_t at;
	int64_t nr;
};

static int jobs_next(struct workload *workload, struct workload_job *ret,
		     struct error *err)
{
	struct jobs *w = (struct jobs *)workload;

	(void)err;
	if (w->nr == AMONG_JOBS)
		return 0;
	w->at += (usec_t)random_below(&w->r, 60 * SEC);
	*ret = (struct workload_job){ .id = ++w->nr,
				      .submit = w->at,
				      .run = w->a->run[w->nr],
				      .estimate = w->a->run[w->nr],
				      .kind = JOB_RIGID,
				      .user = (int32_t)random_below(&w->r, 2) *
					      7 };
	ret->size = ret->min_size =
		1 + (uint32_t)random_below(&w->r, AMONG_RANKS);
	return 1;
}

static const struct workload_ops jobs_ops = { .name = "among",
					      .next = jobs_next };

void among_run(const struct among *a, const char *policy,
	       const struct sim_observer *watch, struct sim_result *ret)
{
	struct jobs w = { .base = { .ops = &jobs_ops }, .a = a };
	struct sim_config c = {
		.workload = &w.base,
		.policy = policy,
		.activity = &a->activity,
		.terms = &test_terms,
		.hosts = a->host,
		.nr_hosts = AMONG_HOSTS,
		.requeue = a->requeue,
		.rank_memory = a->memory,
		.costs = a->costs,
		.observer = watch,
		.script = a->script.event ? &a->script : NULL,
	};

	random_init(&w.r, a->seed, "jobs", 0);
	simulate(&c, ret);
}

bool among_is_home(const struct among *a, const struct job *job, uint32_t host)
{
	return a->own[host] && job->user == 7;
}
