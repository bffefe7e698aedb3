/* watch.c - a watchdog for an engine; see watch.h */
#include "move/proc/watch.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/hurry.h"
#include "core/io.h"
#include "core/procstat.h"
#include "move/move.h"
#include "move/proc/proc.h"

/* Shared by engine and watch. */
struct watch {
	_Atomic unsigned beat; /* changed each time the engine makes progress */
	_Atomic unsigned limit;
	_Atomic bool stands, waits;
	_Atomic bool hurried;
	_Atomic pid_t also[2]; /* besides the engine */
	_Atomic int note;
	pid_t engine;
	pid_t pid; /* the watch's, about the engine alone */
};

struct looks {
	unsigned beat, idle, hurried;
	uint64_t ticks; /* of processor time that it had had */
};

static bool is_stopped(pid_t pid)
{
	struct proc_status st;

	return proc_read_status(pid, &st, NULL) == 0 &&
	       (st.state == 'T' || st.state == 't');
}

/*
 * The engine wants to run, and has not: others have the processors. An engine that
 * hangs in a loop does run, and so long that it shows.
 */
static bool is_starved(const struct watch *w, struct looks *k)
{
	uint64_t before = k->ticks;
	struct procstat st;

	if (procstat_read(w->engine, &st) < 0)
		return false;
	k->ticks = st.user_ticks + st.system_ticks;
	return st.state == 'R' && k->ticks == before;
}

static bool is_hung(const struct watch *w, struct looks *k)
{
	unsigned beat = w->beat;

	if (!w->stands || beat != k->beat ||
	    (w->waits && !is_stopped(w->engine))) {
		k->beat = beat;
		k->idle = 0;
		return false;
	}
	if (!is_starved(w, k))
		k->idle++;
	return k->idle > w->limit;
}

void move_calm(pid_t pid)
{
	struct error err;
	pid_t *tid;
	ssize_t n = proc_read_tasks(pid, &tid, &err);

	for (ssize_t i = 0; i < n; i++)
		hurry_end(tid[i]);
	if (n >= 0)
		free(tid);
}

static void calm_others(const struct watch *w)
{
	for (size_t i = 0; i < sizeof(w->also) / sizeof(*w->also); i++)
		if (w->also[i])
			move_calm(w->also[i]);
}

static void look_hurry(const struct watch *w, const struct watch_spec *spec,
		       struct looks *k)
{
	if (!w->hurried) {
		k->hurried = 0;
		return;
	}
	if (++k->hurried != WATCH_HURRY)
		return;
	move_calm(w->engine);
	calm_others(w);
	if (spec->calm)
		spec->calm(spec->arg);
}

static bool has_ended(int pidfd, int msec)
{
	struct pollfd p = { .fd = pidfd, .events = POLLIN };

	return poll(&p, 1, msec) > 0;
}

static _Noreturn void watch_process(const struct watch *w,
				    const struct watch_spec *spec, int pidfd)
{
	struct looks k = { 0 };
	bool hung = false;

	prctl(PR_SET_NAME, "stint-watch");
	/*
	 * close inherited descriptors, so that peers notice the engine's death
	 * at once
	 */
	pidfd = dup2(pidfd, STDERR_FILENO + 1);
	(void)close_range((unsigned)pidfd + 1, ~0u, 0);
	while (!hung && !has_ended(pidfd, 1000 / WATCH_RATE)) {
		look_hurry(w, spec, &k);
		hung = is_hung(w, &k);
	}
	if (hung) {
		syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0);
		(void)has_ended(pidfd, -1);
	}
	if (spec->ended)
		spec->ended(spec->arg, w->note, hung);
	if (w->hurried)
		calm_others(w);
	_exit(0);
}

struct watch *watch_start(const struct watch_spec *spec, struct error *err)
{
	fd_auto pidfd = (int)syscall(SYS_pidfd_open, getpid(), 0);
	struct watch *w = mmap(NULL, sizeof(*w), PROT_READ | PROT_WRITE,
			       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t pid;

	if (pidfd < 0 || w == MAP_FAILED) {
		error_sys(err, -errno, "making a watch");
		if (w != MAP_FAILED)
			munmap(w, sizeof(*w));
		return NULL;
	}
	w->engine = getpid();
	pid = fork();
	if (pid == 0)
		watch_process(w, spec, pidfd);
	if (pid < 0) {
		error_sys(err, -errno, "fork");
		munmap(w, sizeof(*w));
		return NULL;
	}
	w->pid = pid;
	return w;
}

void watch_stop(struct watch *w)
{
	if (!w)
		return;
	kill(w->pid, SIGKILL);
	while (waitpid(w->pid, NULL, 0) < 0 && errno == EINTR)
		;
	munmap(w, sizeof(*w));
}

usec_t watch_standstill(usec_t usual)
{
	const char *text = getenv("STINT_STANDSTILL");

	return text ? strtol(text, NULL, 10) * USEC_PER_SEC : usual;
}

void watch_limit(struct watch *w, usec_t limit)
{
	if (w)
		w->limit = (unsigned)(limit * WATCH_RATE / USEC_PER_SEC + 1);
}

void watch_stands(struct watch *w, bool on)
{
	if (!w)
		return;
	w->beat++;
	w->stands = on;
}

void watch_beat(struct watch *w)
{
	if (w)
		w->beat++;
}

void watch_waits(struct watch *w, bool on)
{
	if (!w)
		return;
	w->beat++;
	w->waits = on;
}

void watch_hurried(struct watch *w, bool on, pid_t a, pid_t b)
{
	if (!w)
		return;
	w->also[0] = a;
	w->also[1] = b;
	w->hurried = on;
}

void watch_note(struct watch *w, int note)
{
	if (w)
		w->note = note;
}
