/*
 * renew.c - init between one capsule and the next, see lasting.c
 *
 * What cannot be done leaves it of no use: the next RENEW says so.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cluster/capsule/priv.h"
#include "core/claim.h"
#include "core/io.h"
#include "core/xalloc.h"

enum { CLEAN_TRIES = 30, CLEAN_WAIT_MS = 10 };

static int last_pid = -1; /* where the kernel is told which was the last one */
static bool spoilt;

void renew_prepare(void)
{
	last_pid = open("/proc/sys/kernel/ns_last_pid", O_WRONLY | O_CLOEXEC);
}

/* True: there is no child any more. */
static bool reap_all(void)
{
	pid_t pid;

	do
		pid = waitpid(-1, NULL, WNOHANG | __WALL);
	while (pid > 0);
	return pid < 0 && errno == ECHILD;
}

int renew_clean(int signals, struct error *err)
{
	struct pollfd p = { .fd = signals, .events = POLLIN };
	struct signalfd_siginfo info;

	/*
	 * Whoever is in the namespace descends from a child of ours, or is one.  To kill all, the
	 * kernel looks at each process of the host.
	 */
	for (int i = 0; i < CLEAN_TRIES; i++) {
		if (reap_all())
			return 0;
		(void)kill(-1, SIGKILL);
		(void)!poll(&p, 1, CLEAN_WAIT_MS);
		(void)!read(signals, &info, sizeof(info));
	}
	return error_set(err, -EBUSY, "a process of the capsule does not end");
}

void renew_tidy(void)
{
	spoilt = mount_tidy() < 0 || last_pid < 0 ||
		 pwrite(last_pid, "1", 1, 0) != 1;
}

/* An owner who came has lowered it, and nobody would raise it. */
static bool is_as_new(void)
{
	return sched_getscheduler(0) == SCHED_OTHER && !claim_is_marked(0);
}

static void take_doors(const struct init_args *args, const struct request *req,
		       int *doors)
{
	for (unsigned i = 0; i < req->nr_fds; i++) {
		int *door = &args->cg->doors[req->as[i]];

		io_close(door);
		*door = doors[i];
		doors[i] = -1;
	}
}

/* As put_words() has them. */
static int begin(const struct init_args *args, const struct request *req,
		 const char *words, struct error *err)
{
	struct capsule_spec spec = { .uid = req->uid,
				     .run_dir = args->spec->run_dir };
	const char **keep = xcalloc(req->nr_argv + 1, sizeof(*keep));
	const char *p = words;
	int r = 0;

	memcpy(&spec.net, p, sizeof(spec.net));
	p += sizeof(spec.net);
	memcpy(&spec.address, p, sizeof(spec.address));
	p += sizeof(spec.address);
	spec.hostname = p;
	p += strlen(p) + 1;
	spec.hosts = p;
	for (unsigned i = 0; i < req->nr_argv; i++) {
		p += strlen(p) + 1;
		keep[i] = p;
	}
	spec.keep_tmp = keep;
	if (sethostname(spec.hostname, strlen(spec.hostname)) < 0)
		r = error_sys(err, -errno, "cannot set the host name %s",
			      spec.hostname);
	if (!r)
		r = mount_renew(&spec, err);
	free(keep);
	return r;
}

int renew_begin(const struct init_args *args, const struct request *req,
		const char *words, int *doors, struct error *err)
{
	if (spoilt || !is_as_new())
		return error_set(err, -ESTALE, "init is of no use any more");
	take_doors(args, req, doors);
	return begin(args, req, words, err);
}
