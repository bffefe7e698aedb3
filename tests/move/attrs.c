/*
 * attrs.c - what else belongs to a process or a thread
 *
 * Names, limits, priorities, prctl settings, credentials, personality,
 * arguments and environment as /proc shows them, pid and parent.
 */
#include <fcntl.h>
#include <sched.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "check.h"

struct attrs {
	char comm[16];
	long tid;
	pid_t pid, ppid, pgid, sid;
	uid_t uid[3];
	gid_t gid[3];
	struct rlimit limit[RLIM_NLIMITS];
	int nice, policy, dumpable, keepcaps, subreaper, no_new_privs, thp;
	int timer_slack, tsc, bounding, ioprio;
	cpu_set_t cpus;
	char oom[16];
	unsigned long persona, deathsig;
	struct {
		uint32_t version;
		int pid;
	} cap_head;
	uint32_t caps[6];
	char cmdline[512], environ[4096], exe[256], root[256];
};

static void slurp(const char *path, char *buf, size_t n)
{
	int fd = open(path, O_RDONLY);

	memset(buf, 0, n);
	if (fd < 0)
		return;
	CHECK(read(fd, buf, n) >= 0);
	close(fd);
}

static void get_prctls(struct attrs *a)
{
	int sig = 0, reaper = 0;

	a->dumpable = prctl(PR_GET_DUMPABLE);
	a->keepcaps = prctl(PR_GET_KEEPCAPS);
	prctl(PR_GET_CHILD_SUBREAPER, &reaper);
	a->subreaper = reaper;
	a->no_new_privs = prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0);
	a->thp = prctl(PR_GET_THP_DISABLE, 0, 0, 0, 0);
	a->timer_slack = prctl(PR_GET_TIMERSLACK);
	prctl(PR_GET_PDEATHSIG, &sig);
	a->deathsig = (unsigned long)sig;
	for (int cap = 0; cap < 41; cap++)
		a->bounding += prctl(PR_CAPBSET_READ, cap);
}

static void get_attrs(struct attrs *a)
{
	memset(a, 0, sizeof(*a));
	prctl(PR_GET_NAME, a->comm);
	a->tid = syscall(SYS_gettid);
	a->pid = getpid();
	a->ppid = getppid();
	a->pgid = getpgrp();
	a->sid = getsid(0);
	getresuid(&a->uid[0], &a->uid[1], &a->uid[2]);
	getresgid(&a->gid[0], &a->gid[1], &a->gid[2]);
	for (int i = 0; i < RLIM_NLIMITS; i++)
		getrlimit(i, &a->limit[i]);
	a->nice = getpriority(PRIO_PROCESS, 0);
	a->policy = sched_getscheduler(0);
	a->ioprio = (int)syscall(SYS_ioprio_get, 1, 0);
	CHECK(sched_getaffinity(0, sizeof(a->cpus), &a->cpus) == 0);
	CHECK(CPU_ISSET(sched_getcpu(), &a->cpus), "runs elsewhere");
	slurp("/proc/self/oom_score_adj", a->oom, sizeof(a->oom));
	get_prctls(a);
	a->persona = (unsigned long)personality(0xffffffff);
	a->cap_head.version = 0x20080522;
	syscall(SYS_capget, &a->cap_head, a->caps);
	slurp("/proc/self/cmdline", a->cmdline, sizeof(a->cmdline));
	slurp("/proc/self/environ", a->environ, sizeof(a->environ));
	if (readlink("/proc/self/exe", a->exe, sizeof(a->exe) - 1) < 0 ||
	    readlink("/proc/self/root", a->root, sizeof(a->root) - 1) < 0)
		a->exe[0] = 0;
}

#define SAME(field)                                            \
	CHECK(!memcmp(&a->field, &b->field, sizeof(a->field)), \
	      "thread \"%s\"", a->comm)

static void compare(const struct attrs *a, const struct attrs *b)
{
	SAME(comm);
	SAME(tid);
	SAME(pid);
	/*
	 * A parent, group or session outside of the capsule does not exist
	 * inside.
	 */
	if (a->ppid == 1)
		SAME(ppid);
	if (a->pgid == a->pid)
		SAME(pgid);
	if (a->sid == a->pid)
		SAME(sid);
	SAME(uid);
	SAME(gid);
	for (int i = 0; i < RLIM_NLIMITS; i++)
		CHECK(a->limit[i].rlim_cur == b->limit[i].rlim_cur &&
			      a->limit[i].rlim_max == b->limit[i].rlim_max,
		      "limit %d: %ld", i, (long)b->limit[i].rlim_cur);
	SAME(nice);
	SAME(policy);
	SAME(ioprio);
	SAME(cpus);
	SAME(oom);
	SAME(dumpable);
	SAME(keepcaps);
	SAME(subreaper);
	SAME(no_new_privs);
	SAME(thp);
	SAME(timer_slack);
	SAME(deathsig);
	SAME(bounding);
	SAME(persona);
	SAME(caps);
	SAME(cmdline);
	SAME(environ);
	SAME(exe);
	SAME(root);
}

static void watch(void)
{
	struct attrs first, now;

	get_attrs(&first);
	if (check_sabotaged())
		first.timer_slack++;
	while (check_running()) {
		get_attrs(&now);
		compare(&first, &now);
		check_nap();
	}
}

static void *run(void *arg)
{
	struct sched_param none = { 0 };

	cpu_set_t one, all;

	prctl(PR_SET_NAME, "an odd name");
	/* only the last of its CPUs */
	sched_getaffinity(0, sizeof(all), &all);
	CPU_ZERO(&one);
	for (int cpu = CPU_SETSIZE - 1; !CPU_COUNT(&one); cpu--)
		if (CPU_ISSET(cpu, &all))
			CPU_SET(cpu, &one);
	CHECK(sched_setaffinity(0, sizeof(one), &one) == 0);
	/* best effort, 6 */
	CHECK(syscall(SYS_ioprio_set, 1, 0, 2 << 13 | 6) == 0);
	CHECK(setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), 7) == 0);
	CHECK(sched_setscheduler(0, SCHED_BATCH, &none) == 0);
	prctl(PR_SET_TIMERSLACK, 123456);
	watch();
	return NULL;
}

int main(void)
{
	struct rlimit files = { 333, 444 }, core = { 0, 0 };
	pthread_t t;

	CHECK(setrlimit(RLIMIT_NOFILE, &files) == 0);
	CHECK(setrlimit(RLIMIT_CORE, &core) == 0);
	CHECK(setpriority(PRIO_PROCESS, 0, 3) == 0);
	int oom = open("/proc/self/oom_score_adj", O_WRONLY);

	CHECK(write(oom, "321", 3) == 3);
	close(oom);
	prctl(PR_SET_KEEPCAPS, 1);
	prctl(PR_SET_NAME, "attrs-main");
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
	prctl(PR_SET_PDEATHSIG, 10);
	prctl(PR_SET_TIMERSLACK, 70001);
	t = check_thread(run, NULL);
	check_ready();
	watch();
	check_join(t);
	return check_pass();
}
