/*
 * controller_pass.c - CPU time of a pass of the controller with many hosts and jobs
 *
 * The daemon itself, over connections that are none (tests/fuzz/fake_conn.h), with
 * HOSTS agents that are played, and on each of them a job that starts; JOBS more wait.
 * Before each pass a host tells of another load and a job ends, so that another starts.
 *
 *	controller-pass POLICY [HOSTS [JOBS]]
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "actors.h"
#include "cluster/controller/plan/plan.h"
#include "core/xalloc.h"
#include "model/host.h"

enum { PASSES = 50, TASKS = 1000, BOUND_MS = 50 };

static uint32_t nr_hosts = 10000, nr_jobs = 100000;
static const char *policy;
static struct conn **agents;

static void no_matter(struct conn *c, const Control__Message *m)
{
	if (m->body_case == MESSAGE_BODY(FAILED))
		fail_msg("%s", m->failed->why);
}

/* A host that is new begins another segment of the record, with all of them. */
static bool enrol(void *arg)
{
	struct ctl *ctl = arg;
	char name[32];

	for (uint32_t i = 0; i < nr_hosts; i++) {
		snprintf(name, sizeof(name), "n%u", i);
		store_put_host(ctl->store,
			       &(struct store_host){ .name = name });
	}
	return false;
}

static void come(void)
{
	char name[32];

	agents = xcalloc(nr_hosts, sizeof(*agents));
	for (uint32_t i = 0; i < nr_hosts; i++) {
		snprintf(name, sizeof(name), "host/n%u", i);
		agents[i] = actor_greet(name, -1);
	}
}

static void submit(struct conn *admin, uint32_t n)
{
	static char *argv[] = { (char *)"true" };
	Control__Submit s = CONTROL__SUBMIT__INIT;
	uint32_t tasks[TASKS];

	for (uint32_t i = 0; i < n; i++)
		tasks[i] = i;
	s.argv = argv;
	s.n_argv = s.ranks = 1;
	s.uid = getuid();
	s.detached = true;
	s.estimate_usec = 3600 * (uint64_t)USEC_PER_SEC;
	s.tasks = tasks;
	s.n_tasks = n;
	actor_say(admin, MESSAGE_BODY(SUBMIT), &s);
}

static void report(uint32_t i)
{
	Control__HostReport r = CONTROL__HOST_REPORT__INIT;
	Control__Presence away = CONTROL__PRESENCE__INIT;
	Control__Lending lending = CONTROL__LENDING__INIT;

	lending.guests_most = GUESTS_ANY;
	r.lending = &lending;
	r.presence = &away;
	r.load = 0.1 * (1 + i % 7);
	actor_say(agents[i % nr_hosts], MESSAGE_BODY(HOST_REPORT), &r);
}

static void end(struct conn *admin, uint64_t job)
{
	Control__Signal s = CONTROL__SIGNAL__INIT;

	s.job = job;
	s.signo = SIGKILL;
	actor_say(admin, MESSAGE_BODY(SIGNAL), &s);
}

static double cpu_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void tell(double *took, uint32_t waiting)
{
	qsort(took, PASSES, sizeof(*took), compare);
	printf("{\"what\": \"pass of the controller, %s, %u hosts, %u jobs that "
	       "wait, CPU time\", \"value\": %.3f, \"unit\": \"ms\", \"peer\": "
	       "\"bound %d\", \"ratio\": %.3f, \"n\": %d, \"most\": %.3f}\n",
	       policy, nr_hosts, waiting, took[PASSES / 2], BOUND_MS,
	       took[PASSES / 2] / BOUND_MS, PASSES, took[PASSES - 1]);
}

static uint32_t count_waiting(const struct ctl *ctl)
{
	const struct ctl_job *job;
	uint32_t n = 0;

	TAILQ_FOREACH (job, &ctl->jobs.list, link)
		n += job->state == STATE(WAITING);
	return n;
}

static bool play(void *arg)
{
	struct ctl *ctl = arg;
	struct conn *admin;
	double took[PASSES];
	uint32_t waiting;

	come();
	admin = actor_greet("admin/root", -1);
	for (uint32_t n = nr_hosts + nr_jobs; n; n -= n < TASKS ? n : TASKS)
		submit(admin, n < TASKS ? n : TASKS);
	ctl_plan_pass(ctl);
	waiting = count_waiting(ctl);
	for (uint32_t i = 0; i < PASSES; i++) {
		report(i * 37);
		/* the first job's number stands for the whole of its array */
		end(admin, 2 + i);
		took[i] = cpu_ms();
		ctl_plan_pass(ctl);
		took[i] = cpu_ms() - took[i];
	}
	if (count_waiting(ctl) + PASSES != waiting)
		fail_msg("no job has started for each that ended");
	tell(took, waiting);
	return false;
}

int main(int argc, char **argv)
{
	const char *settings[] = { "policy", NULL, NULL };

	if (argc < 2 || argc > 4)
		return 2;
	settings[1] = policy = argv[1];
	if (argc > 2)
		nr_hosts = (uint32_t)strtoul(argv[2], NULL, 10);
	if (argc > 3)
		nr_jobs = (uint32_t)strtoul(argv[3], NULL, 10);
	actors_said = no_matter;
	actors_begin();
	actors_run(enrol, settings);
	actors_run(play, settings);
	free(agents);
	return 0;
}
