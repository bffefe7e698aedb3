/*
 * test_queue_told.c - what policies that count processors say of who starts and who waits, on
 * random jobs: each number is computed again, and what is promised is kept
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/random.h"
#include "policy/policies.h"

enum { PROCS = 16, JOBS = 80, ROUNDS = 12 };

#define SEC USEC_PER_SEC

static struct view view;
static struct plan plan;
static struct policy *policy;
static const char *spec;
static usec_t ends[JOBS + 1]; /* by the job's number: when it will */
static usec_t
	promised[JOBS + 1]; /* it starts by then; USEC_MAX: nothing is said */
static usec_t wake;
static unsigned said; /* promises */

static void wrong(const char *what, const struct plan_entry *e)
{
	char line[300];

	plan_print(&view, e, line, sizeof(line));
	fail_msg("%s at %d s: %s: %s", spec, (int)(view.now / SEC), what, line);
}

/* The number of that name in its reason; false: it has none. */
static bool number(const struct plan_entry *e, const char *name, int64_t *ret)
{
	const char *names = e->why.reason->names;

	for (int i = 0; *names; i++) {
		size_t n = strcspn(names, ",");

		if (n == strlen(name) && !strncmp(names, name, n)) {
			*ret = e->why.number[i];
			return true;
		}
		names += n + strspn(names + n, ", ");
	}
	return false;
}

static void check(const struct plan_entry *e, const char *name, int64_t want)
{
	int64_t is;

	if (number(e, name, &is) && is != want)
		wrong(name, e);
}

static bool says(const struct plan_entry *e, const char *words)
{
	return strstr(e->why.reason->text, words);
}

/* ---- by definition ---- */

static bool is(const char *name)
{
	return !strncmp(spec, name, strlen(name));
}

static double score(const struct job *j)
{
	double wait = usec_to_seconds(view.now - j->submit);
	double run = usec_to_seconds(j->estimate);

	if (is("sjf"))
		return -run;
	if (is("lxf"))
		return (wait + run) / run;
	if (is("wfp"))
		return pow(wait / run, 3) * j->size;
	return (run <= 3600 ? 12 : run <= 14400 ? 11 : 10) + 0.1 * wait / 3600;
}

static bool came_before(const struct job *a, const struct job *b)
{
	return a->submit < b->submit ||
	       (a->submit == b->submit && a->id < b->id);
}

static const struct job *first_waiting(void)
{
	const struct job *j, *first = NULL;

	for_each_waiting(j, &view) if (!first || came_before(j, first)) first =
		j;
	return first;
}

/* When so many processors are free, if those that run keep to their estimates. */
static usec_t when_free(uint32_t n, int64_t *ret_free)
{
	usec_t at = view.now;

	for (;;) {
		int64_t free = view.nr_free;
		usec_t next = USEC_MAX;
		const struct job *j;

		for_each_running(j, &view)
		{
			if (j->est_end <= at)
				free += j->n;
			else if (j->est_end < next)
				next = j->est_end;
		}
		*ret_free = free;
		if (free >= n)
			return at;
		assert_true(next != USEC_MAX);
		at = next;
	}
}

/* How many have a higher score. */
static int64_t before(const struct job *job)
{
	const struct job *j;
	int64_t n = 0;

	for_each_waiting(j, &view) if (j != job) n +=
		score(j) > score(job) ||
		(score(j) == score(job) && came_before(j, job));
	return n;
}

/* ---- who starts ---- */

/* Behind the one with the highest score, which does not fit. */
static void check_gap(const struct plan_entry *e)
{
	const struct job *j, *head = NULL;
	int64_t left;

	for_each_waiting(j, &view) if (!before(j)) head = j;
	check(e, "job", head->id);
	check(e, "shadow", when_free(head->size, &left));
}

/* Just before it is carried out. */
static void check_start(const struct plan_entry *e)
{
	const struct job *head = first_waiting();
	int64_t left, is_number;
	usec_t at;

	assert_true(e->job->size <= view.nr_free);
	check(e, "free", view.nr_free);
	check(e, "size", e->job->size);
	if (number(e, is("nqs") ? "priority" : "score", &is_number) &&
	    llabs(is_number - (int64_t)fmin(score(e->job) * 1000, 1e15)) > 1)
		wrong("score", e);
	if (says(e, "whose score is higher"))
		check_gap(e);
	if (!says(e, "the first in the queue"))
		return;
	check(e, "head", head->id);
	at = when_free(head->size, &left);
	check(e, "end", view.now + e->job->estimate);
	check(e, "spare", left - head->size);
	if (number(e, "end", &is_number) ? is_number > at
					 : e->job->size > left - head->size)
		wrong("it delays the first", e);
}

/* ---- who waits ---- */

static void promise(const struct plan_entry *e)
{
	int64_t at;

	if (!number(e, "at", &at) || says(e, "would still run"))
		return;
	if (at > promised[e->job->id])
		wrong("it was promised to start earlier", e);
	promised[e->job->id] = at;
	said++;
}

static void check_easy(const struct plan_entry *e)
{
	const struct job *head = first_waiting();
	int64_t left;
	usec_t at = when_free(head->size, &left);

	check(e, "at", at);
	check(e, "head", head->id);
	if (says(e, "it is first") != (e->job == head))
		wrong("who is first", e);
	if (says(e, "would still run") &&
	    (e->job->size > view.nr_free || view.now + e->job->estimate <= at ||
	     e->job->size <= left - head->size))
		wrong("it delays nobody", e);
	if (says(e, ", and job") && e->job->size <= view.nr_free)
		wrong("it fits", e);
}

static void check_wait(const struct plan_entry *e)
{
	check(e, "size", e->job->size);
	if (!is("loadleveler"))
		check(e, "free", view.nr_free);
	check(e, "before", before(e->job));
	if (is("easy"))
		check_easy(e);
	if (is("fcfs"))
		check(e, "job", first_waiting()->id);
	if (is("backfill:depth=3"))
		check(e, "reservations",
		      view.nr_waiting < 3 ? view.nr_waiting : 3);
	if (!is("easy") || e->job == first_waiting())
		promise(e);
}

/* ---- jobs ---- */

static void tell(enum event_type type, struct job *job)
{
	struct event e = { .type = type, .at = view.now, .job = job };

	model_apply(&view, &e);
	policy_event(policy, &view, &e);
}

static void arrive(struct random_stream *r, int64_t id)
{
	static const int estimates[] = { 10, 40, 40, 200, 5000, 20000 };
	struct job *j = view_job_create(&view);
	usec_t estimate = estimates[random_below(r, 6)] * SEC;

	j->id = id;
	j->submit = view.now;
	j->user = -1;
	j->kind = JOB_RIGID;
	j->size = j->min_size =
		1 + (uint32_t)random_below(r, random_below(r, 2) ? PROCS : 4);
	j->estimate = estimate;
	promised[id] = USEC_MAX;
	ends[id] = random_below(r, 2)
			   ? estimate
			   : 1 + (usec_t)random_below(r, (uint64_t)estimate);
	tell(EVENT_ARRIVE, j);
}

static void start(const struct plan_entry *e)
{
	int64_t id = e->job->id;

	check_start(e);
	if (view.now > promised[id])
		wrong("it was promised to start earlier", e);
	model_apply(&view, &(struct event){ .type = EVENT_START,
					    .at = view.now,
					    .job = e->job,
					    .n = e->n });
	ends[id] += view.now;
}

static void pass(void)
{
	const struct job *j;

	plan_reset(&plan, &view);
	policy_decide(policy, &view, &plan);
	for (size_t i = 0; i < plan.nr; i++) {
		const struct plan_entry *e = &plan.entry[i];

		if (e->type == PLAN_START)
			start(e);
		else if (e->type == PLAN_WAKE && e->at < wake)
			wake = e->at;
	}
	plan_reset(&plan, &view);
	for_each_waiting(j, &view) policy_explain(policy, &view, j, &plan);
	assert_int_equal(plan.nr, view.nr_waiting);
	for (size_t i = 0; i < plan.nr; i++)
		check_wait(&plan.entry[i]);
}

/* Those that end now. */
static void end_jobs(void)
{
	struct job *j, *next;

	for (j = TAILQ_FIRST(&view.running); j; j = next) {
		next = TAILQ_NEXT(j, link);
		if (ends[j->id] > view.now)
			continue;
		tell(EVENT_END, j);
		view_job_destroy(&view, j);
	}
}

static usec_t next_end(void)
{
	usec_t next = USEC_MAX;
	const struct job *j;

	for_each_running(j, &view) if (ends[j->id] < next) next = ends[j->id];
	return next;
}

static void one_round(uint64_t seed)
{
	struct random_stream r;
	struct error err;
	usec_t arrival = 0;
	int64_t id = 0;

	random_init(&r, seed, "told", 0);
	view_init(&view, PROCS);
	plan = (struct plan)PLAN_INIT;
	if (policy_create(spec, 1, &view, &policy, &err) < 0)
		fail_msg("%s", err.text);
	wake = USEC_MAX;
	while (id < JOBS || view.nr_running || view.nr_waiting) {
		usec_t end = next_end();

		view.now = end < wake ? end : wake;
		if (id < JOBS && arrival < view.now)
			view.now = arrival;
		end_jobs();
		if (id < JOBS && arrival == view.now) {
			arrive(&r, ++id);
			arrival += (usec_t)random_below(&r, 3) *
				   (usec_t)random_below(&r, 400) * SEC;
		}
		if (wake <= view.now) {
			wake = USEC_MAX;
			tell(EVENT_TIMER, NULL);
		}
		pass();
	}
	policy_destroy(policy);
	plan_clear(&plan);
	view_clear(&view);
}

static void numbers_are_right_and_promises_kept(void **state)
{
	static const char *const specs[] = {
		"fcfs",
		"easy",
		"easy:fill=sjf",
		"easy:fill=smallest",
		"easy:fill=largest",
		"sjf",
		"sjf:fit=easy",
		"lxf",
		"wfp:fit=skip",
		"nqs",
		"conservative",
		"conservative:slots=kinds",
		"backfill:depth=3",
		"loadleveler",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(specs) / sizeof(*specs); i++) {
		spec = specs[i];
		said = 0;
		for (uint64_t seed = 0; seed < ROUNDS; seed++)
			one_round(seed);
		assert_true(said >= 100 || !(is("easy") || is("conservative")));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_right_and_promises_kept),
	};

	return cmocka_run_group_tests_name("queue_told", tests, NULL, NULL);
}
