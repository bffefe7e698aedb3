/*
 * test_activity_record.c - what owners did on live hosts: random records, of which the script
 * that is made of them says at any second what was seen last
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/random.h"
#include "core/scratch.h"
#include "model/record.h"
#include "sim/workload/activity_import.h"

enum { HOSTS = 4, SECONDS = 60, ROUNDS = 200 };

#define SEC    USEC_PER_SEC
#define ORIGIN (1700000000 * SEC)
#define MB     (UINT64_C(1) << 20)

static const char *const names[HOSTS] = { "a", "b.c", "d-1", "e_2" };

static struct random_stream rnd;
static struct view view;
static struct host hosts[HOSTS];
static struct job *job; /* on the first two hosts */
static double seen[SECONDS][HOSTS][ACTIVITY_WHATS];
static FILE *out;
static char dir[SCRATCH_MAX], path[SCRATCH_MAX + 16];

static uint32_t below(uint32_t n)
{
	return (uint32_t)random_below(&rnd, n);
}

static void happens(struct event e)
{
	e.at = view.now;
	record_event(&view, &e, true, out);
	model_apply(&view, &e);
}

static void draw_host(uint32_t h)
{
	struct host *f = &hosts[h];

	f->load = below(3);
	f->users = below(3);
	f->memory_free = below(5) * 100 * MB;
	f->idle_since = below(2) ? USEC_MAX : view.now - below(99) * SEC;
	f->up = below(6);
	f->nr_owners = below(3);
	f->owner[0] = (int32_t)below(3);
	f->owner[1] = 77;
}

/* Of what the next line of that host says; the memory of guests is known by then. */
static void note(int second, uint32_t h)
{
	const struct host *f = &hosts[h];
	uint64_t guests = job && h < 2 ? job->demand : 0;
	uint64_t free = f->memory_free + guests;
	bool here = !f->up || f->idle_since == USEC_MAX;
	double *is = seen[second][h];

	is[ACTIVITY_OWNER] = is[ACTIVITY_KEYBOARD] = here;
	is[ACTIVITY_LOAD] = f->load;
	is[ACTIVITY_USERS] = f->users;
	is[ACTIVITY_MEMORY] = f->memory > free ? (double)(f->memory - free) : 0;
	is[ACTIVITY_OWN] = f->nr_owners ? f->owner[0] + 1 : 0;
}

/* A controller that is new knows of no job at first. */
static void begins(int second)
{
	for (uint32_t h = 0; h < HOSTS; h++) {
		hosts[h] = (struct host){ .ix = h,
					  .name = names[h],
					  .speed = 1,
					  .cores = 4,
					  .slots = 4,
					  .memory = h < 3 ? 400 * MB : 0 };
		draw_host(h);
	}
	view_init_hosts(&view, hosts, HOSTS);
	view.now = ORIGIN + second * SEC;
	job = NULL;
	record_begin(&view, 1, "fcfs", out);
	for (uint32_t h = 0; h < HOSTS; h++)
		note(second, h);
}

static void starts(void)
{
	const uint32_t on[] = { 0, 1 };

	job = view_job_create(&view);
	job->id = 1;
	job->size = job->min_size = 2;
	job->submit = view.now;
	happens((struct event){ .type = EVENT_ARRIVE, .job = job });
	happens((struct event){
		.type = EVENT_START, .job = job, .n = 2, .hosts = on });
}

static void a_second(int s)
{
	uint32_t h = below(HOSTS);

	view.now = ORIGIN + s * SEC;
	memcpy(seen[s], seen[s - 1], sizeof(seen[s]));
	if (!below(20)) {
		view_clear(&view);
		begins(s);
	} else if (!job && !below(5)) {
		starts();
	} else if (job && !below(5)) {
		happens((struct event){ .type = EVENT_DEMAND,
					.job = job,
					.bytes = below(4) * 100 * MB });
	} else if (below(2)) {
		draw_host(h);
		note(s, h);
		happens((struct event){
			.type = EVENT_HOST, .host = h, .fresh = &hosts[h] });
	}
}

static void record_hosts(void)
{
	char *text;
	size_t size;

	out = open_memstream(&text, &size);
	fputs(RECORD_HEADER "\n", out);
	begins(0);
	for (int s = 1; s < SECONDS; s++)
		a_second(s);
	view_clear(&view);
	fclose(out);
	scratch_put(dir, "record", text);
	free(text);
}

static void check_second(const struct activity *a, int second)
{
	double is[HOSTS][ACTIVITY_WHATS] = { { 0 } };

	for (size_t i = 0; i < a->nr; i++)
		if (a->change[i].at <= ORIGIN + second * SEC)
			is[a->change[i].host][a->change[i].what] =
				a->change[i].value;
	for (uint32_t h = 0; h < HOSTS; h++)
		for (int what = 0; what < ACTIVITY_WHATS; what++)
			if (is[h][what] != seen[second][h][what])
				fail_msg("second %d, host %s: %d is %g, not %g",
					 second, names[h], what, is[h][what],
					 seen[second][h][what]);
}

static void hosts_are_as_they_were_seen(void **state)
{
	(void)state;
	random_init(&rnd, 1, "activity_record", 0);
	for (int round = 0; round < ROUNDS; round++) {
		struct activity a;
		struct error err;

		record_hosts();
		if (activity_import_record(path, &a, &err) < 0)
			fail_msg("%s", err.text);
		assert_int_equal(a.nr_hosts, HOSTS);
		for (uint32_t h = 0; h < HOSTS; h++)
			assert_string_equal(a.host[h].name, names[h]);
		for (int s = 0; s < SECONDS; s++)
			check_second(&a, s);
		activity_clear(&a);
	}
}

static void refused(const char *text, const char *why)
{
	struct activity a;
	struct error err;

	scratch_put(dir, "record", text);
	assert_true(activity_import_record(path, &a, &err) < 0);
	if (!strstr(err.text, why))
		fail_msg("'%s' does not say '%s'", err.text, why);
}

#define HOST                                                               \
	" speed=1 cores=1 slots=1 memory=0 free=0 load=0 users=0 owner=0 " \
	"idle=0 up=1 drain=0 own= closed=open by=0 until=0 freeze=0 "      \
	"faults=0 link=0 open=0\n"

static void what_is_no_record_is_told(void **state)
{
	(void)state;
	refused("time,host,what,value\n", "record:1: ");
	refused(RECORD_HEADER "\nbegin 5 1 1 fcfs\ndefine 0 name=h%201" HOST,
		"cannot be called 'h 1'");
	refused(RECORD_HEADER "\nbegin 5 1 1 fcfs\ndefine 0 name=h1" HOST
			      "host 6 9 load=1\n",
		"record:4: ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hosts_are_as_they_were_seen),
		cmocka_unit_test(what_is_no_record_is_told),
	};

	scratch_dir(dir, "/tmp");
	snprintf(path, sizeof(path), "%s/record", dir);
	return cmocka_run_group_tests_name("activity_record", tests, NULL,
					   NULL);
}
