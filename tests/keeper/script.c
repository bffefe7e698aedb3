/*
 * script.c - what is to happen to the job when, see keeper_job.c
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "job.h"

static FILE *script;
static double wake;		/* when it goes on */
static uint64_t awaited;	/* bytes of rank 0's output it waits for */
static bool settling, stopping; /* it waits for this, in a move */

void script_open(const char *path)
{
	script = fopen(path, "re");
	if (!script)
		die("%s: %s", path, strerror(errno));
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static void command(const char *verb, unsigned rank, double x)
{
	Keeper__Signal sig = KEEPER__SIGNAL__INIT;
	Keeper__Suspend sus = KEEPER__SUSPEND__INIT;
	Keeper__Kill kl = KEEPER__KILL__INIT;
	Keeper__Request req = KEEPER__REQUEST__INIT;

	if (!strcmp(verb, "signal")) {
		req.body_case = KEEPER__REQUEST__BODY_SIGNAL;
		req.signal = &sig;
		sig.signo = (uint32_t)x;
	} else if (!strcmp(verb, "suspend") || !strcmp(verb, "resume")) {
		req.body_case = KEEPER__REQUEST__BODY_SUSPEND;
		req.suspend = &sus;
		sus.on = !strcmp(verb, "suspend");
	} else if (!strcmp(verb, "kill")) {
		req.body_case = KEEPER__REQUEST__BODY_KILL;
		req.kill = &kl;
	} else {
		die("'%s' in the script", verb);
	}
	agent_say(job.ranks[rank].at, &req);
}

/* Has a keeper forked an engine that stands still (STINT_FAULT=POINT:stop)? */
static bool engine_stopped(const struct keeper *k)
{
	char path[64], stat[512], *p;
	FILE *f, *s;
	int pid;
	bool found = false;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", k->pid,
		 k->pid);
	f = fopen(path, "re");
	while (f && !found && fscanf(f, "%d", &pid) == 1) {
		snprintf(path, sizeof(path), "/proc/%d/stat", pid);
		s = fopen(path, "re");
		p = s && fgets(stat, sizeof(stat), s) ? strrchr(stat, ')')
						      : NULL;
		found = p && !strncmp(p, ") T", 3);
		if (s)
			fclose(s);
	}
	if (f)
		fclose(f);
	return found;
}

/* Does the script wait for what has not come yet? */
static bool waiting(void)
{
	if (job.moving || now() < wake)
		return true;
	if (awaited && job.ranks[0].next[0] < awaited && !job.ranks[0].exited)
		return true;
	if (settling && job.unsettled)
		return true;
	if (stopping && job.unsettled && !engine_stopped(job.unsettled->from) &&
	    !engine_stopped(job.unsettled->to))
		return true;
	awaited = 0;
	settling = stopping = false;
	return false;
}

static bool begins_wait(const char *verb, const char *line)
{
	double x = 0;

	if (!strcmp(verb, "sleep")) {
		sscanf(line, "%*s %lf", &x);
		wake = now() + x;
	} else if (!strcmp(verb, "await")) {
		sscanf(line, "%*s %" SCNu64, &awaited);
	} else if (!strcmp(verb, "strangers")) {
		sscanf(line, "%*s %u", &job.strangers);
	} else if (!strcmp(verb, "settle")) {
		settling = true;
	} else if (!strcmp(verb, "stopped")) {
		stopping = true;
	} else {
		return false;
	}
	return true;
}

static void reconnect(void)
{
	agent_reconnect();
	controller_again();
}

/* To the keeper at that end of the rank's last move. */
static void murder(const struct rank *r, bool old)
{
	kill((old ? r->from : r->to)->pid, SIGKILL);
}

void script_follow(void)
{
	char line[256], verb[32];
	unsigned rank;
	double x;

	while (script && !waiting()) {
		if (!fgets(line, sizeof(line), script)) {
			script = NULL;
			return;
		}
		rank = 0;
		x = 0;
		if (sscanf(line, "%31s", verb) != 1)
			continue;
		if (begins_wait(verb, line))
			continue;
		sscanf(line, "%*s %u %lf", &rank, &x);
		if (rank >= job.nr_ranks)
			die("no rank %u", rank);
		if (!strcmp(verb, "reconnect"))
			reconnect();
		else if (!strcmp(verb, "move") || !strcmp(verb, "begin"))
			controller_move(rank, *verb == 'm');
		else if (!strcmp(verb, "murder"))
			murder(&job.ranks[rank], strstr(line, "old"));
		else
			command(verb, rank, x);
	}
}
