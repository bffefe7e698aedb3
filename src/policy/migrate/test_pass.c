/* test_pass.c - see test_pass.h */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model/event.h"
#include "policy/migrate/test_pass.h"

struct view view;
struct host *host;
struct plan plan;
struct flights flights;
struct targets targets;
static char *text;

int pass_begin(void **state)
{
	struct host hosts[HOSTS] = { { .name = NULL } };

	(void)state;
	for (int i = 0; i < HOSTS; i++)
		hosts[i] = (struct host){
			.speed = 1, .cores = 2, .slots = 4, .up = true
		};
	view_init_hosts(&view, hosts, HOSTS);
	view.now = 50 * SEC;
	host = view.hosts;
	plan = (struct plan)PLAN_INIT;
	flights = (struct flights){ .rate = 100 * MB };
	return 0;
}

int pass_end(void **state)
{
	(void)state;
	flights_clear(&flights);
	targets_clear(&targets);
	plan_clear(&plan);
	view_clear(&view);
	free(text);
	text = NULL;
	return 0;
}

struct job *pass_arrive(int64_t id, uint32_t n)
{
	struct job *j = view_job_create(&view);

	j->id = id;
	j->size = j->min_size = n;
	model_apply(&view, &(struct event){ .type = EVENT_ARRIVE,
					    .at = view.now,
					    .job = j });
	return j;
}

struct job *pass_runs(int64_t id, uint32_t n, const uint32_t *on)
{
	struct job *j = pass_arrive(id, n);

	model_apply(&view, &(struct event){ .type = EVENT_START,
					    .at = view.now,
					    .job = j,
					    .n = n,
					    .hosts = on });
	return j;
}

struct job *pass_runs_anywhere(struct random_stream *r, int64_t id,
			       uint32_t most, uint32_t n)
{
	uint32_t on[PASS_RANKS], ranks = 1 + (uint32_t)random_below(r, most);

	for (uint32_t i = 0; i < ranks; i++)
		on[i] = (uint32_t)random_below(r, n);
	return pass_runs(id, ranks, on);
}

void pass_talks(struct random_stream *r, struct job *j, double bytes,
		double messages)
{
	struct job_talk talk[PASS_RANKS];
	struct event e = { .type = EVENT_TALK,
			   .at = view.now,
			   .job = j,
			   .n = j->n - 1,
			   .talk = talk };

	for (uint32_t i = 0; i < e.n; i++)
		talk[i] = (struct job_talk){
			i, i + 1, random_uniform(r, 0, bytes),
			messages > 0 ? random_uniform(r, 0, messages) : 0
		};
	model_apply(&view, &e);
}

void pass_stands_still(struct job *j, uint32_t rank)
{
	model_apply(&view, &(struct event){ .type = EVENT_FREEZE,
					    .at = view.now,
					    .job = j,
					    .rank = rank });
}

void pass_check_plan(const char *wanted)
{
	size_t size;
	FILE *f;

	free(text);
	f = open_memstream(&text, &size);
	for (size_t i = 0; i < plan.nr; i++) {
		const struct plan_entry *e = &plan.entry[i];
		char line[200];

		plan_print(&view, e, line, sizeof(line));
		*strstr(line, ": ") = '\0';
		if (e->type == PLAN_WAKE)
			fprintf(f, "wake %d", (int)(e->at / SEC));
		else
			fputs(line, f);
		fputc(';', f);
	}
	fclose(f);
	assert_string_equal(text, wanted);
}

void pass_wanted_back(uint32_t h, usec_t leave_by)
{
	host[h].owner_active = true;
	host[h].closed = CLOSED_OWNER;
	host[h].leave_by = leave_by;
}
