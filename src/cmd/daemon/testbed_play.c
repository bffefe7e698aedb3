/*
 * testbed_play.c - owners by a script, see testbed_play.h
 *
 * An owner who comes says so to the agent of their host, as people there do, and
 * for no longer than the script has them there: whoever kills this leaves nobody
 * behind.  An agent that does not answer, since it was killed, say, is told when
 * it does.  Load is processes of the host that compute, and go with this one.
 */
#include "cmd/daemon/testbed_play.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cluster/owner/owner.h"
#include "cluster/testbed/testbed.h"
#include "core/clock.h"
#include "core/io.h"
#include "core/xalloc.h"
#include "model/activity.h"

/* Said again to an agent that did not take it; and how long a word outlasts the
 * script's, so that the script's end of it comes first. */
#define PLAY_AGAIN (USEC_PER_SEC / 2)
#define PLAY_LATE  (10 * USEC_PER_SEC)
#define LOAD_CYCLE (USEC_PER_SEC / 10)

enum { PLAY_LOAD_MAX = 64, PLAY_SCRIPT_MAX = 1 << 28 };

struct seat {
	char *run_dir;
	struct activity_host is; /* by the script, now */
	bool here;		 /* as its agent was told last */
	double load;		 /* as it has workers */
	pid_t worker[PLAY_LOAD_MAX];
	unsigned nr;
};

struct player {
	const struct testbed_play *play;
	struct activity script;
	struct seat *seats;
	usec_t began; /* of the monotonic clock, at play->from */
	size_t next;  /* change */
	sigset_t signals;
};

static struct timespec timespec_of(usec_t t)
{
	return clock_timespec(t * (NSEC_PER_SEC / USEC_PER_SEC));
}

/* ---- what the script says ---- */

static int read_script(struct player *p, struct error *err)
{
	char *text;
	ssize_t n =
		io_read_file(AT_FDCWD, p->play->path, PLAY_SCRIPT_MAX, &text);
	int r;

	if (n < 0)
		return error_sys(err, (int)n, "%s", p->play->path);
	r = activity_parse(text, (size_t)n, p->play->path, &p->script, err);
	free(text);
	return r;
}

/* What cannot be played is said before any of it is. */
static int check_changes(const struct activity *script, struct error *err)
{
	bool left_out = false;

	for (size_t i = 0; i < script->nr; i++) {
		const struct activity_change *c = &script->change[i];

		if (c->what == ACTIVITY_LOAD && c->value > PLAY_LOAD_MAX)
			return error_set(err, -ERANGE,
					 "a load of %g on %s: a host of a "
					 "testbed can have %d at most",
					 c->value, script->host[c->host].name,
					 PLAY_LOAD_MAX);
		left_out |= c->what == ACTIVITY_MEMORY ||
			    c->what == ACTIVITY_USERS ||
			    c->what == ACTIVITY_OWN;
	}
	if (left_out)
		fprintf(stderr, "stint testbed: memory, users and own of the "
				"script are not played\n");
	return 0;
}

static int find_hosts(struct player *p, struct error *err)
{
	int r;

	for (uint32_t i = 0; i < p->script.nr_hosts; i++) {
		struct seat *s = &p->seats[i];

		activity_host_init(&s->is);
		s->run_dir =
			testbed_run_dir(p->play->bed, p->script.host[i].name);
		r = testbed_check_host(p->play->bed, p->script.host[i].name,
				       err);
		if (r < 0)
			return r;
	}
	return 0;
}

static bool is_here(const struct activity_host *h)
{
	return h->value[ACTIVITY_OWNER] > 0 || h->value[ACTIVITY_KEYBOARD] > 0;
}

/* When that change comes; the end of the script, if there is no such one. */
static usec_t due(const struct player *p, size_t change)
{
	size_t i = change < p->script.nr ? change : p->script.nr - 1;
	double after = (double)(p->script.change[i].at - p->play->from);

	return p->began + (usec_t)(after > 0 ? after / p->play->faster : 0);
}

/* For how long that host's owner stays. */
static usec_t stay(const struct player *p, uint32_t host, usec_t now)
{
	struct activity_host is = p->seats[host].is;
	size_t i;

	for (i = p->next; i < p->script.nr && is_here(&is); i++)
		if (p->script.change[i].host == host)
			activity_apply(&p->script.change[i], &is);
	return due(p, is_here(&is) ? p->script.nr : i - 1) - now + PLAY_LATE;
}

/* ---- load ---- */

_Noreturn static void burn_share(double share)
{
	usec_t cycle = clock_usec(CLOCK_MONOTONIC), now;
	struct timespec at;

	for (;; cycle = now > cycle + LOAD_CYCLE ? now : cycle + LOAD_CYCLE) {
		do
			now = clock_usec(CLOCK_MONOTONIC);
		while (now < cycle + (usec_t)(share * LOAD_CYCLE));
		at = timespec_of(cycle + LOAD_CYCLE);
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
	}
}

static int start_worker(struct player *p, uint32_t host, double share,
			struct error *err)
{
	struct seat *s = &p->seats[host];
	pid_t us = getpid(), pid = fork();

	if (pid < 0)
		return error_sys(err, -errno, "fork");
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		sigprocmask(SIG_UNBLOCK, &p->signals, NULL);
		if (getppid() != us ||
		    testbed_enter(p->play->bed, p->script.host[host].name,
				  err) < 0)
			_exit(1);
		burn_share(share);
	}
	s->worker[s->nr++] = pid;
	return 0;
}

static void end_workers(struct seat *s)
{
	for (unsigned i = 0; i < s->nr; i++)
		kill(s->worker[i], SIGKILL);
	while (s->nr)
		waitpid(s->worker[--s->nr], NULL, 0);
	s->load = 0;
}

/* A load of 1.5 is one that always computes, and one half of the time. */
static int set_load(struct player *p, uint32_t host, struct error *err)
{
	struct seat *s = &p->seats[host];
	double load = s->is.value[ACTIVITY_LOAD];
	int r = 0;

	if (load == s->load)
		return 0;
	end_workers(s);
	for (double left = load; left > 0 && !r; left -= 1)
		r = start_worker(p, host, fmin(left, 1), err);
	s->load = load;
	return r;
}

/* ---- the play ---- */

/* False: its agent is to be told again. */
static bool tell_agent(struct seat *s, bool here, usec_t span)
{
	struct error err;

	if (here == s->here)
		return true;
	if (owner_say(s->run_dir, here ? "here" : "away", (uint64_t)span,
		      &err) < 0)
		return false;
	s->here = here;
	return true;
}

/* *ret_again: not all agents have been told. */
static int set_scene(struct player *p, bool *ret_again, struct error *err)
{
	usec_t now = clock_usec(CLOCK_MONOTONIC);
	int r = 0;

	*ret_again = false;
	for (uint32_t i = 0; i < p->script.nr_hosts && !r; i++) {
		struct seat *s = &p->seats[i];

		if (!tell_agent(s, is_here(&s->is), stay(p, i, now)))
			*ret_again = true;
		r = set_load(p, i, err);
	}
	return r;
}

/* The signal that ends it, or 0 when that instant has come. */
static int wait_until(const struct player *p, usec_t at)
{
	usec_t now = clock_usec(CLOCK_MONOTONIC);
	struct timespec span = timespec_of(at > now ? at - now : 0);
	int r;

	do
		r = sigtimedwait(&p->signals, NULL, &span);
	while (r < 0 && errno == EINTR);
	return r > 0 ? r : 0;
}

static int play_script(struct player *p, struct error *err)
{
	bool again = true;
	int r = 0;

	p->began = clock_usec(CLOCK_MONOTONIC);
	while (!r && p->next < p->script.nr) {
		usec_t now = clock_usec(CLOCK_MONOTONIC);
		usec_t at = due(p, p->next);

		if (at > now) {
			r = set_scene(p, &again, err);
			if (again && at > now + PLAY_AGAIN)
				at = now + PLAY_AGAIN;
			if (!r)
				r = wait_until(p, at);
			continue;
		}
		activity_apply(&p->script.change[p->next],
			       &p->seats[p->script.change[p->next].host].is);
		p->next++;
	}
	return r;
}

static void clear(struct player *p)
{
	for (uint32_t i = 0; p->seats && i < p->script.nr_hosts; i++) {
		end_workers(&p->seats[i]);
		tell_agent(&p->seats[i], false, 0);
		free(p->seats[i].run_dir);
	}
	free(p->seats);
	activity_clear(&p->script);
}

int testbed_play(const struct testbed_play *play, struct error *err)
{
	struct player p = { .play = play };
	int r = read_script(&p, err);

	if (r < 0)
		return r;
	p.seats = xcalloc(p.script.nr_hosts + 1, sizeof(*p.seats));
	sigemptyset(&p.signals);
	sigaddset(&p.signals, SIGINT);
	sigaddset(&p.signals, SIGTERM);
	sigprocmask(SIG_BLOCK, &p.signals, NULL);
	r = find_hosts(&p, err);
	if (!r)
		r = check_changes(&p.script, err);
	if (!r)
		r = play_script(&p, err);
	clear(&p);
	return r;
}
