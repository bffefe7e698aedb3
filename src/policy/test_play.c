/* test_play.c - see test_play.h */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "policy/test_play.h"

void machine_init(struct machine *m, const char *policy, uint32_t procs)
{
	struct error err = ERROR_INIT;

	memset(m, 0, sizeof(*m));
	view_init(&m->view, procs);
	if (policy_create(policy, 1, &m->view, &m->policy, &err) < 0)
		fail_msg("%s", err.text);
}

void machine_clear(struct machine *m)
{
	policy_destroy(m->policy);
	plan_clear(&m->plan);
	view_clear(&m->view);
}

void tell(struct machine *m, enum event_type type, struct job *job)
{
	struct event e = { .type = type, .at = m->view.now, .job = job };

	model_apply(&m->view, &e);
	policy_event(m->policy, &m->view, &e);
}

void pass(struct machine *m)
{
	plan_reset(&m->plan, &m->view);
	policy_decide(m->policy, &m->view, &m->plan);
	for (size_t i = 0; i < m->plan.nr; i++) {
		struct plan_entry *p = &m->plan.entry[i];
		struct event e = { .at = m->view.now,
				   .job = p->job,
				   .n = p->n };

		assert_true(p->type == PLAN_START || p->type == PLAN_RESIZE);
		e.type = p->type == PLAN_START ? EVENT_START : EVENT_RESIZE;
		assert_true(p->n >= 1 && p->n <= p->job->size);
		assert_true(p->n != p->job->n);
		model_apply(&m->view, &e);
		/*
		 * Entries are carried out in order: never more processors at
		 * once than there are.
		 */
		assert_true(m->view.nr_free >= 0);
	}
}

void obey(struct machine *m, const char *word)
{
	long id = 0, size = 0, seconds = 100;
	struct job *job;

	if (*word == '-') {
		job = view_find_job(&m->view, strtol(word + 1, NULL, 10));
		assert_non_null(job);
		tell(m, EVENT_END, job);
		view_job_destroy(&m->view, job);
		return;
	}
	sscanf(word + (*word == '!'), "%ld:%ld:%ld", &id, &size, &seconds);
	job = view_job_create(&m->view);
	job->id = id;
	job->size = (uint32_t)size;
	job->min_size = *word == '!' ? job->size : 1;
	job->kind = *word == '!' ? JOB_RIGID : JOB_MALLEABLE;
	job->estimate = seconds * USEC_PER_SEC;
	tell(m, EVENT_ARRIVE, job);
}

void show(const struct machine *m, char *to, size_t size)
{
	const struct job *job;
	size_t at = 0;

	*to = '\0';
	for (int64_t id = 1; id < 20; id++) {
		job = view_find_job(&m->view, id);
		if (job && job->n)
			at += (size_t)snprintf(to + at, size - at, "%s%d=%u",
					       at ? " " : "", (int)id, job->n);
	}
}

void play(const char *policy, uint32_t procs, const char *steps,
	  const char *wanted)
{
	char *copy = strdup(steps), *word = copy, got[1024] = "", now[200];
	struct machine m;

	machine_init(&m, policy, procs);
	while (*word) {
		size_t n = strcspn(word, " ;");
		char end = word[n];

		word[n] = '\0';
		if (n)
			obey(&m, word);
		word += n + 1;
		if (end != ';')
			continue;
		m.view.now += USEC_PER_SEC;
		pass(&m);
		show(&m, now, sizeof(now));
		strncat(got, now, sizeof(got) - strlen(got) - 1);
		strncat(got, ";", sizeof(got) - strlen(got) - 1);
	}
	if (strcmp(got, wanted) != 0)
		fail_msg("%s: %s\n  gives %s\n  not   %s", policy, steps, got,
			 wanted);
	machine_clear(&m);
	free(copy);
}
