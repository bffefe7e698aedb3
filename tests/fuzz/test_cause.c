/*
 * test_cause.c - which rank is blamed when several of a job end, whatever their
 * ends are heard after, and whether or not the controller is restarted meanwhile
 *
 * The controller of fuzz_controller.c, with peers that are played by hand.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#include "actors.h"
#include "cluster/controller/job/job.h"
#include "cluster/controller/state/find.h"

enum { RANKS = 3, ENDS = 3, LATE = 100 };

/* In the order in which they are heard. */
static const struct play {
	struct end {
		uint32_t rank;
		int code; /* -N: by signal N; LATE and more: MPI_Abort with it */
		int at;	  /* in tenths of seconds; 0: unknown */
		bool killed;
	} ends[ENDS];
	uint32_t blamed;
	int exit;
	bool stops; /* it is told to end after the first */
} plays[] = {
	/* An abort may follow from what came at about the same time. */
	{ { { 0, -SIGABRT, 100 }, { 1, 3, 105 }, { 2, -SIGKILL, 106, true } },
	  1,
	  3 },
	{ { { 1, 3, 105 }, { 0, -SIGABRT, 100 }, { 2, -SIGKILL, 106, true } },
	  1,
	  3 },
	{ { { 0, -SIGABRT, 100 }, { 1, -SIGSEGV, 0 }, { 2, -SIGABRT, 99 } },
	  1,
	  128 + SIGSEGV },
	/* ... and not from what came long after. */
	{ { { 0, -SIGABRT, 100 }, { 1, 3, 125 }, { 2, 4, 120 } },
	  0,
	  128 + SIGABRT },
	{ { { 1, 3, 125 }, { 0, -SIGABRT, 100 }, { 2, 4, 120 } },
	  0,
	  128 + SIGABRT },
	/* Of a kind the first. */
	{ { { 0, -SIGABRT, 101 }, { 1, -SIGABRT, 100 }, { 2, -SIGABRT, 102 } },
	  1,
	  128 + SIGABRT },
	{ { { 0, 3, 101 }, { 1, 4, 102 }, { 2, 5, 100 } }, 2, 5 },
	/* A library's abort follows, whenever it was. */
	{ { { 0, 1000, 100 },
	    { 1, -SIGABRT, 200 },
	    { 2, -SIGKILL, 201, true } },
	  1,
	  128 + SIGABRT },
	{ { { 0, 1000, 100 }, { 1, 3, 0 }, { 2, 4, 0 } }, 1, 3 },
	/* A program's own is the cause as an exit code is. */
	{ { { 0, -SIGABRT, 100 }, { 1, 142, 105 }, { 2, 0, 106 } }, 1, 142 },
	/* Who is told to end is not to blame, whenever that was. */
	{ { { 0, 3, 105 }, { 1, 143, 100 }, { 2, 142, 100 } }, 0, 3, true },
	/* A code of no bits that a shell sees is success, and excuses nobody. */
	{ { { 0, 3, 105 }, { 1, 1 << 16, 100 }, { 2, 0, 106 } }, 0, 3 },
};

static const struct play *p;
static struct conn *hosts[RANKS];
static size_t told;
static bool restarts;

static void greet(struct ctl *ctl, uint32_t rank, Keeper__State state)
{
	char name[] = "host/h1";

	name[6] += (char)rank;
	actors_rank = rank;
	hosts[rank] = actor_greet(name, state ? 0 : -1);
	if (state)
		actor_keeper_hello(hosts[rank], 0, state, 0);
	ctl_host_find(ctl, name + 5)->skew = (struct skew){ .known = true };
}

static void begin(struct ctl *ctl)
{
	Control__Submit s = CONTROL__SUBMIT__INIT;
	Keeper__Started started = KEEPER__STARTED__INIT;
	char *argv[] = { (char *)"true" };
	char *names[] = { (char *)"h1", (char *)"h2", (char *)"h3" };

	for (uint32_t i = 0; i < RANKS; i++)
		greet(ctl, i, KEEPER__STATE__EMPTY);
	s.argv = argv;
	s.hosts = names;
	s.n_argv = 1;
	s.n_hosts = s.ranks = RANKS;
	s.uid = getuid();
	actor_say(actor_greet("admin/root", -1), MESSAGE_BODY(SUBMIT), &s);
	for (actors_rank = 0; actors_rank < RANKS; actors_rank++) {
		actor_keeper_hello(hosts[actors_rank], 0, KEEPER__STATE__EMPTY,
				   0);
		actor_keeper(hosts[actors_rank], 0, 1, 0,
			     KEEPER__EVENT__BODY_STARTED, &started);
	}
}

static void tell(const struct end *e)
{
	Keeper__Exited exited = KEEPER__EXITED__INIT;
	Keeper__PmiAbort gone = KEEPER__PMI_ABORT__INIT;
	bool aborts = e->code >= LATE && e->code < 1 << 16;

	actors_rank = e->rank;
	exited.at_usec = gone.at_usec = (uint64_t)e->at * 100000;
	exited.code = e->code;
	exited.signaled = e->code < 0 || aborts;
	exited.killed = e->killed || aborts;
	if (e->code < 0)
		exited.code = -e->code;
	if (aborts) {
		gone.code = e->code;
		exited.code = SIGKILL;
		actor_keeper(hosts[e->rank], 0, 0, 0,
			     KEEPER__EVENT__BODY_PMI_ABORT, &gone);
	}
	actor_keeper(hosts[e->rank], 0, 2, 0, KEEPER__EVENT__BODY_EXITED,
		     &exited);
}

static bool plays_on(void *ctx)
{
	struct ctl *ctl = ctx;
	struct ctl_job *job;

	if (!told)
		begin(ctl);
	else
		for (size_t i = told; i < ENDS; i++)
			greet(ctl, p->ends[i].rank, KEEPER__STATE__RUNNING);
	job = TAILQ_FIRST(&ctl->jobs.list);
	do {
		tell(&p->ends[told++]);
		if (told == 1 && p->stops)
			ctl_job_stop(job, "it was told to end");
	} while (told < ENDS && !restarts);
	assert_int_equal(job->state == STATE(DONE), told == ENDS);
	if (told == ENDS &&
	    (job->exit != p->exit || job->bad_rank != (int)p->blamed))
		fail_msg("play %td%s: %d, \"%s\"", p - plays,
			 restarts ? ", with restarts" : "", job->exit,
			 job->why);
	return false;
}

static void the_first_is_blamed(void **state)
{
	for (size_t i = 0; i < sizeof(plays) / sizeof(*plays) * 2; i++) {
		p = &plays[i / 2];
		restarts = i % 2;
		told = 0;
		actors_begin();
		while (told < ENDS)
			actors_run(plays_on, NULL);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_is_blamed),
	};

	return cmocka_run_group_tests_name("cause", tests, NULL, NULL);
}
