/*
 * test_recorded.c - jobs of a live run: random runs are recorded, and what each job got is
 * known second by second
 *
 * A host has ranks of one job at a time, so that nobody's pace depends on others.
 */
#include <errno.h>
#include <inttypes.h>
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
#include "model/record.h"
#include "sim/workload/recorded.h"

enum { HOSTS = 8, JOBS = 30, SECONDS = 150, ROUNDS = 200 };

#define SEC    USEC_PER_SEC
#define ORIGIN (1700000000 * SEC)

static const char *const names[HOSTS] = {
	"a", "b", "c", "d", "e", "f", "g", "h"
};

struct truth {
	struct job *job; /* NULL once it has ended */
	int64_t id;
	usec_t submit;
	uint32_t size, n;
	double work,
		most; /* seconds of a processor of speed 1: in this try, in any */
	usec_t still_until;
	bool running, ran, ended;
};

static struct random_stream rnd;
static struct view view;
static struct host hosts[HOSTS];
static struct truth truth[JOBS];
static size_t nr;
static int64_t taken[HOSTS]; /* by the job with that id; 0: by none */
static FILE *out;

static uint32_t below(uint32_t n)
{
	return (uint32_t)random_below(&rnd, n);
}

/* Write it down, and let it happen. */
static void happens(struct event e, bool told)
{
	e.at = view.now;
	record_event(&view, &e, told, out);
	model_apply(&view, &e);
}

/* ---- the pace of a job ---- */

/* Seconds a host takes for what an idle one of speed 1 does in one. */
static double delay(uint32_t h)
{
	double share = (1 + hosts[h].load) / hosts[h].cores;

	return hosts[h].speed * (share > 1 ? share : 1);
}

static double pace(const struct truth *t)
{
	double slowest = 0;

	for (uint32_t h = 0; h < HOSTS; h++)
		if (taken[h] == t->id)
			slowest = fmax(slowest, delay(h));
	return 1 / slowest;
}

static bool stands(const struct truth *t)
{
	return t->still_until > view.now;
}

static bool frozen(const struct truth *t)
{
	for (uint32_t i = 0; i < t->n; i++)
		if (job_rank_frozen(t->job, i))
			return true;
	return false;
}

static void a_second_passes(void)
{
	for (size_t i = 0; i < nr; i++) {
		struct truth *t = &truth[i];

		if (t->running && !stands(t) && !frozen(t))
			t->work += t->n * pace(t);
		t->most = fmax(t->most, t->work);
	}
	view.now += SEC;
}

/* ---- what happens ---- */

static void arrives(void)
{
	struct job *j = view_job_create(&view);
	struct truth *t = &truth[nr++];

	j->id = (int64_t)(2 * nr + below(2)); /* not one after the other */
	j->min_size = 1 + below(2);
	j->size = j->min_size + below(2);
	j->submit = view.now - (usec_t)below(4) * SEC;
	j->estimate = (usec_t)below(100) * SEC;
	j->user = (int32_t)below(5);
	*t = (struct truth){
		.job = j, .id = j->id, .submit = j->submit, .size = j->size
	};
	happens((struct event){ .type = EVENT_ARRIVE, .job = j }, true);
}

static int free_host(void)
{
	uint32_t first = below(HOSTS);

	for (uint32_t i = 0; i < HOSTS; i++)
		if (!taken[(first + i) % HOSTS])
			return (int)((first + i) % HOSTS);
	return -1;
}

static void starts(struct truth *t)
{
	uint32_t least = t->job->min_size, on[4];
	uint32_t n = least + below(t->size - least + 1);

	for (uint32_t i = 0; i < n; i++) {
		int h = free_host();

		if (h < 0) { /* it waits */
			while (i--)
				taken[on[i]] = 0;
			return;
		}
		on[i] = (uint32_t)h;
		taken[h] = t->id;
	}
	t->n = n;
	t->work = 0;
	t->running = t->ran = true;
	happens((struct event){ .type = EVENT_START,
				.job = t->job,
				.n = n,
				.hosts = on },
		below(2));
}

static void leaves_hosts(struct truth *t)
{
	for (uint32_t h = 0; h < HOSTS; h++)
		if (taken[h] == t->id)
			taken[h] = 0;
	t->running = false;
}

static void ends(struct truth *t)
{
	happens((struct event){ .type = EVENT_END,
				.job = t->job,
				.outcome = below(2) ? END_DONE : END_KILLED },
		true);
	view_job_destroy(&view, t->job);
	leaves_hosts(t);
	t->ended = true;
	t->job = NULL;
}

static void begins_anew(struct truth *t)
{
	happens((struct event){ .type = EVENT_REQUEUE, .job = t->job }, true);
	leaves_hosts(t);
}

/* It stands still for some seconds, to where it is as fast as before. */
static void moves(struct truth *t)
{
	uint32_t rank = below(t->n), from = t->job->hosts[rank];
	double before = pace(t);
	int to = free_host();
	usec_t cost = (usec_t)(1 + below(4)) * SEC;

	if (to < 0)
		return;
	taken[from] = 0;
	taken[to] = t->id;
	if (pace(t) != before) {
		taken[to] = 0;
		taken[from] = t->id;
		return;
	}
	t->still_until = view.now + cost;
	happens((struct event){ .type = EVENT_MIGRATE,
				.job = t->job,
				.rank = rank,
				.host = (uint32_t)to,
				.cost = cost },
		true);
}

static void freezes(struct truth *t)
{
	uint32_t rank = below(t->n);
	bool was = job_rank_frozen(t->job, rank);

	happens((struct event){ .type = was ? EVENT_THAW : EVENT_FREEZE,
				.job = t->job,
				.rank = rank },
		below(2));
}

/* Nobody comes to be slower while he stands still: when is he to be taken to have been? */
static void host_changes(void)
{
	uint32_t h = below(HOSTS);

	for (size_t i = 0; i < nr; i++)
		if (truth[i].id == taken[h] && stands(&truth[i]))
			return;
	hosts[h].load = below(3);
	hosts[h].drain = !below(3);
	happens((struct event){ .type = EVENT_HOST,
				.host = h,
				.fresh = &hosts[h] },
		true);
}

static void something_of(struct truth *t, bool last)
{
	if (!t->job || stands(t))
		return;
	if (!t->running)
		return below(4) ? (void)0 : starts(t);
	if (!below(15))
		ends(t);
	else if (!below(30))
		begins_anew(t);
	else if (!below(6) || frozen(t))
		freezes(t);
	else if (!below(4) && !last)
		moves(t);
}

static void begins(void)
{
	for (uint32_t h = 0; h < HOSTS; h++)
		hosts[h] = (struct host){ .ix = h,
					  .name = names[h],
					  .speed = 1 + below(2),
					  .cores = 1 + below(2),
					  .slots = 8,
					  .load = below(3),
					  .drain = !below(4),
					  .up = true };
	view_init_hosts(&view, hosts, HOSTS);
	view.now = ORIGIN;
	memset(taken, 0, sizeof(taken));
	nr = 0;
	record_begin(&view, 1, "fcfs", out);
}

/* A run, whose text is for the caller to free. */
static char *record_run(size_t *ret_size)
{
	char *text;

	out = open_memstream(&text, ret_size);
	fputs(RECORD_HEADER "\n", out);
	begins();
	for (int s = 0; s < SECONDS; s++) {
		if (nr < JOBS && !below(4))
			arrives();
		for (size_t i = 0; i < nr; i++)
			something_of(&truth[i], s + 5 > SECONDS);
		if (!below(5))
			host_changes();
		a_second_passes();
	}
	happens((struct event){ .type = EVENT_TIMER }, true);
	view_clear(&view);
	fclose(out);
	return text;
}

/* ---- what should be made of it ---- */

static usec_t submit_of(const struct truth *t)
{
	return t->submit > ORIGIN ? t->submit - ORIGIN : 0;
}

static const struct truth *find(int64_t id)
{
	for (size_t i = 0; i < nr; i++)
		if (truth[i].id == id)
			return &truth[i];
	fail_msg("job %d was never there", (int)id);
	return NULL;
}

static void check_job(const struct workload_job *j)
{
	const struct truth *t = find(j->id);
	double run = t->most * (double)SEC / t->size;

	assert_true(t->ran);
	assert_int_equal(j->submit, submit_of(t));
	assert_int_equal(j->size, t->size);
	if (fabs((double)j->run - fmax(run, 1)) > 2)
		fail_msg("job %d got %.6f s, not %.6f", (int)j->id,
			 run / (double)SEC, usec_to_seconds(j->run));
}

static void check_jobs(const struct recorded *r)
{
	struct workload_job j, last = { .submit = -1 };
	size_t ran = 0, never = 0, still = 0;
	struct error err;

	for (size_t i = 0; i < nr; i++) {
		never += !truth[i].ran;
		still += truth[i].ran && !truth[i].ended;
	}
	for (; workload_next(r->workload, &j, &err) == 1; last = j, ran++) {
		check_job(&j);
		assert_true(j.submit >= last.submit);
	}
	assert_int_equal(ran + never, nr);
	assert_int_equal(r->never_ran, never);
	assert_int_equal(r->still_ran, still);
}

/* In the end all hosts take jobs. */
static void check_hosts(const struct recorded *r)
{
	bool drain[HOSTS];

	assert_int_equal(r->nr_hosts, HOSTS);
	assert_int_equal(r->script.nr_hosts, HOSTS);
	for (uint32_t h = 0; h < HOSTS; h++) {
		assert_string_equal(r->hosts[h].name, names[h]);
		assert_true(r->hosts[h].speed == hosts[h].speed);
		drain[h] = r->hosts[h].drain;
	}
	for (size_t i = 0; i < r->script.nr; i++) {
		const struct script_event *e = &r->script.event[i];

		assert_int_equal(e->type, SCRIPT_HOST);
		assert_in_range(e->at, 0, SECONDS * SEC);
		drain[e->target] = e->fresh->drain;
	}
	for (uint32_t h = 0; h < HOSTS; h++)
		assert_false(drain[h]);
}

static void jobs_have_what_they_got(void **state)
{
	unsigned jobs = 0;

	(void)state;
	random_init(&rnd, 1, "recorded", 0);
	for (int i = 0; i < ROUNDS; i++) {
		struct recorded r;
		struct error err;
		size_t size;
		char *text = record_run(&size);

		if (recorded_parse(text, size, "run", &r, &err) < 0)
			fail_msg("%s", err.text);
		check_jobs(&r);
		check_hosts(&r);
		jobs += (unsigned)nr;
		recorded_clear(&r);
		free(text);
	}
	assert_true(jobs > 20 * ROUNDS); /* or nothing was tried */
}

/* A run in which nobody ran is no workload. */
static void without_jobs_there_is_none(void **state)
{
	struct recorded r;
	struct error err;
	size_t size;
	char *text;

	(void)state;
	random_init(&rnd, 2, "recorded", 0);
	out = open_memstream(&text, &size);
	fputs(RECORD_HEADER "\n", out);
	begins();
	arrives();
	view_clear(&view);
	fclose(out);
	assert_int_equal(recorded_parse(text, size, "run", &r, &err), -EINVAL);
	assert_non_null(strstr(err.text, "no job ran"));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(jobs_have_what_they_got),
		cmocka_unit_test(without_jobs_there_is_none),
	};

	return cmocka_run_group_tests_name("recorded", tests, NULL, NULL);
}
