/*
 * start.c - an agent starts a keeper, and answers once it is ready
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "cluster/agent/priv.h"
#include "cluster/conn/loop.h"
#include "core/log.h"
#include "core/signals.h"
#include "core/xalloc.h"

#define START_PATIENCE (20 * USEC_PER_SEC)

static void start_answer(struct relay *r, const char *failed)
{
	struct agent *a = r->agent;
	struct agent_asker starter = r->starter;

	relay_end_start(r);
	if (!failed) {
		agent_answer_ok(a, starter);
		if (a->greeted)
			relay_connect(r);
		return;
	}
	log_warnx("job=%s rank=%u keeper=failed why=\"%s\"", r->job, r->rank,
		  failed);
	if (!agent_answer_failed(a, starter, -EIO, failed))
		relay_tell_gone(r);
	relay_destroy(r);
}

static int on_ready(sd_event_source *src, int fd, uint32_t revents, void *arg)
{
	char c;

	start_answer(arg, read(fd, &c, 1) == 1
				  ? NULL
				  : "its keeper ended at once; the agent's log "
				    "says why");
	return 0;
}

static int on_patience(sd_event_source *src, uint64_t usec, void *arg)
{
	start_answer(arg, "its keeper does not get ready");
	return 0;
}

/* Run `stint keeper` with the write end of a pipe as its --ready-fd=3. */
static int spawn_keeper(struct relay *r, int ready)
{
	extern char **environ;
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	sigset_t none, all;
	const struct agent_conf *conf = r->agent->conf;
	const char *guests_of = lend_guests_of(r->agent);
	char *argv[12], *of = NULL;
	int n = 9;
	pid_t pid;
	int k;

	argv[0] = (char *)"stint";
	argv[1] = (char *)"keeper";
	argv[2] = xasprintf("%s.%u", r->job, r->rank); /* what ps shows */
	argv[3] = xasprintf("--run-dir=%s", conf->run_dir);
	argv[4] = xasprintf("--epoch=%" PRIu64, r->epoch);
	argv[5] = xasprintf("--min-uid=%" PRIu32, r->agent->min_uid);
	argv[6] = xasprintf("--min-gid=%" PRIu32, r->agent->min_gid);
	argv[7] = xasprintf("--limits=%s", r->agent->terms);
	argv[8] = (char *)"--ready-fd=3";
	if (conf->no_fast_path)
		argv[n++] = (char *)"--no-fast-path";
	if (guests_of)
		argv[n++] = of = xasprintf("--guests-of=%s", guests_of);
	argv[n] = NULL;
	sigemptyset(&none);
	signals_fill(&all);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setsigdefault(&attr, &all);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK |
						POSIX_SPAWN_SETSIGDEF);
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_adddup2(&files, ready, 3);
	k = posix_spawn(&pid, "/proc/self/exe", &files, &attr, argv, environ);
	posix_spawn_file_actions_destroy(&files);
	posix_spawnattr_destroy(&attr);
	for (int i = 2; i < 8; i++)
		free(argv[i]);
	free(of);
	return -k;
}

void relay_start(struct agent *a, const Control__KeeperName *name,
		 struct agent_asker starter)
{
	struct relay *r = relay_find(a, name);
	int fds[2], k;

	if (r) {
		agent_answer_ok(a, starter);
		return;
	}
	if (pipe2(fds, O_CLOEXEC) < 0) {
		agent_answer_failed(a, starter, -errno, "cannot make a pipe");
		return;
	}
	r = relay_create(a, name->job, name->rank, name->epoch);
	r->starter = starter;
	r->coming = true;
	r->ready_fd = fds[0];
	hooks_freshen(a);
	k = spawn_keeper(r, fds[1]);
	close(fds[1]);
	if (k < 0) {
		start_answer(r, strerror(-k));
		return;
	}
	k = sd_event_add_io(a->event, &r->ready, fds[0], EPOLLIN, on_ready, r);
	if (k < 0) {
		start_answer(r, "its keeper cannot be waited for");
		return;
	}
	loop_after(a->event, &r->patience, START_PATIENCE, on_patience, r);
}
