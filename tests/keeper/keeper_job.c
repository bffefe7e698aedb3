/*
 * keeper_job.c - a job through keepers alone, for the system tests
 *
 * Plays agent and controller at once (job.h): starts a keeper for each rank,
 * carries fences between them, prints output in the order of its offsets,
 * and follows a script:
 *
 *	sleep SECONDS
 *	await BYTES		until rank 0 has put out so many
 *	move RANK		to the next run directory ("host"), and back
 *	begin RANK		the same, but the script does not wait for it
 *	strangers COUNT		come before the rank, at each later move
 *	settle			until that move is over
 *	stopped			until an engine of that move stands still
 *	murder RANK old|new	SIGKILL to the keeper at that end of its move
 *	reconnect		drop all connections and come again
 *	signal RANK SIGNO, suspend RANK, resume RANK, kill RANK
 *
 *	keeper-job [-n RANKS] [-r RUN_DIR]... [-s SCRIPT] [-i] [-a ADDRESS]
 *		[-l LIMITS]... [-m BYTES] PROGRAM ARG...
 *
 * -i: stdin goes to rank 0.  -a: routed capsules from this address on,
 * otherwise there is loopback only and no PMI.  -l: what the keepers of the next
 * run directory are told; -m: memory that ranks ask for.  Exits with the first failing
 * rank's status, 128 + signal, or 125 when something here fails; moves are
 * told on stderr.
 */
#include <arpa/inet.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cluster/capsule/capsule.h"
#include "core/xalloc.h"
#include "job.h"

struct job job;

void die(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fputs("keeper-job: ", stderr);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	for (unsigned i = 0; i < job.nr_keepers; i++)
		if (job.keepers[i].pid > 0)
			kill(job.keepers[i].pid, SIGKILL);
	exit(125);
}

static bool all_over(void)
{
	for (unsigned i = 0; i < job.nr_keepers; i++)
		if (!job.keepers[i].over)
			return false;
	return job.nr_exited == job.nr_ranks;
}

static void loop(void)
{
	static struct pollfd p[KEEPERS_MAX];

	while (!all_over()) {
		script_follow();
		controller_feed();
		for (unsigned i = 0; i < job.nr_keepers; i++)
			p[i] = (struct pollfd){ job.keepers[i].fd, POLLIN, 0 };
		poll(p, job.nr_keepers, 20);
		for (unsigned i = 0, n = job.nr_keepers; i < n; i++)
			if (p[i].revents && job.keepers[i].fd >= 0)
				agent_hear(&job.keepers[i]);
		controller_mourn();
	}
}

static void options(int argc, char **argv)
{
	unsigned nr_limits = 0;
	int c;

	while ((c = getopt(argc, argv, "+n:r:s:ia:l:m:")) != -1) {
		if (c == 'n')
			job.nr_ranks = (unsigned)strtoul(optarg, NULL, 10);
		else if (c == 'r' && job.nr_hosts < HOSTS_MAX)
			job.hosts[job.nr_hosts++] = optarg;
		else if (c == 's')
			script_open(optarg);
		else if (c == 'l' && nr_limits < HOSTS_MAX)
			job.limits[nr_limits++] = optarg;
		else if (c == 'm')
			job.memory = strtoull(optarg, NULL, 10);
		else if (c == 'i')
			job.want_stdin = true;
		else if (c != 'a' || inet_pton(AF_INET, optarg, &job.base) != 1)
			die("bad option");
	}
	if (optind == argc || !job.nr_hosts || !job.nr_ranks)
		die("a program and a run directory are needed");
}

/* As agents do when they start: what killed keepers have left. */
static void sweep_hosts(void)
{
	struct error err;

	for (unsigned i = 0; i < job.nr_hosts; i++)
		if (capsule_sweep(job.hosts[i], &err) < 0)
			die("%s", err.text);
}

int main(int argc, char **argv)
{
	const char *build = getenv("STINT_BUILD");

	job.nr_ranks = 1;
	options(argc, argv);
	sweep_hosts();
	job.stint = xasprintf("%s/src/cmd/stint", build ? build : "build");
	job.name = xasprintf("j%d", getpid());
	controller_start(argv + optind);
	loop();
	for (unsigned i = 0; i < job.nr_keepers; i++)
		waitpid(job.keepers[i].pid, NULL, 0);
	if (!job.status)
		controller_check_output();
	return job.status;
}
