/*
 * settings.c - what a thread or process has set for itself, one by one
 *
 * prctl(2) and its relatives that attrs.c leaves out, of the process and of
 * two threads which have set them otherwise.  What this machine or user cannot
 * set is left as it is, and must be so afterwards.
 */
#include <asm/prctl.h>
#include <fcntl.h>
#include <linux/membarrier.h>
#include <linux/mempolicy.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "check.h"

#define SET_MDWE	  65
#define SET_MEMORY_MERGE  67
#define NR_READINGS	  32
#define GET_REGISTRATIONS (1 << 9)
#define NODES		  1024

/* prctl() options whose second argument says where the answer goes. */
static const int by_word[] = { PR_GET_TSC, PR_GET_CHILD_SUBREAPER,
			       PR_GET_PDEATHSIG };
static const int by_value[] = { PR_MCE_KILL_GET,      PR_GET_IO_FLUSHER,
				PR_GET_THP_DISABLE,   SET_MDWE + 1,
				SET_MEMORY_MERGE + 1, PR_GET_TIMERSLACK,
				PR_GET_DUMPABLE,      PR_GET_KEEPCAPS,
				PR_GET_SECUREBITS,    PR_GET_NO_NEW_PRIVS,
				PR_GET_SECCOMP };
static const int limits[] = { RLIMIT_CORE, RLIMIT_MSGQUEUE, RLIMIT_NOFILE };
#define LEN(a) (sizeof(a) / sizeof(*(a)))

struct settings {
	long reading[NR_READINGS]; /* of the calls above, and others */
	size_t nr;
	unsigned long nodes[NODES / 64];
	char coredump[16];
};

static void note(struct settings *s, long v)
{
	s->reading[s->nr++] = v;
}

static void get(struct settings *s)
{
	uint64_t permitted = 0;
	struct rlimit limit;
	int mode = 0, word;
	int fd = open("/proc/self/coredump_filter", O_RDONLY);

	memset(s, 0, sizeof(*s));
	CHECK(read(fd, s->coredump, sizeof(s->coredump)) > 0);
	close(fd);
	for (size_t i = 0; i < LEN(by_word); i++) {
		word = 0;
		prctl(by_word[i], &word, 0, 0, 0);
		note(s, word);
	}
	for (size_t i = 0; i < LEN(by_value); i++)
		note(s, prctl(by_value[i], 0, 0, 0, 0));
	for (int which = 0; which < 3; which++)
		note(s, prctl(PR_GET_SPECULATION_CTRL, which, 0, 0, 0));
	note(s, syscall(SYS_membarrier, GET_REGISTRATIONS, 0, 0));
	syscall(SYS_arch_prctl, ARCH_GET_XCOMP_PERM, &permitted);
	note(s, (long)permitted);
	note(s, syscall(SYS_get_mempolicy, &mode, s->nodes, NODES, NULL, 0));
	note(s, mode);
	note(s, syscall(SYS_ioprio_get, 1, 0));
	note(s, sched_getscheduler(0));
	for (size_t i = 0; i < LEN(limits); i++) {
		CHECK(getrlimit(limits[i], &limit) == 0);
		note(s, (long)limit.rlim_cur);
		note(s, (long)limit.rlim_max);
	}
}

static void watch(const char *who)
{
	struct settings first, now;

	get(&first);
	if (check_sabotaged())
		first.reading[0]++;
	while (check_running()) {
		get(&now);
		for (size_t i = 0; i < now.nr; i++)
			CHECK(now.reading[i] == first.reading[i],
			      "%s, reading %zu: was %#lx, is %#lx", who, i,
			      first.reading[i], now.reading[i]);
		CHECK(!memcmp(first.nodes, now.nodes, sizeof(now.nodes)));
		CHECK(!strcmp(first.coredump, now.coredump), "%s",
		      now.coredump);
		check_nap();
	}
}

static void policy(int mode, unsigned long nodes)
{
	/* a kernel without NUMA has no such call */
	CHECK(syscall(SYS_set_mempolicy, mode, &nodes, 64) == 0 ||
	      errno == ENOSYS);
}

static void *early(void *arg)
{
	CHECK(prctl(PR_MCE_KILL, PR_MCE_KILL_SET, PR_MCE_KILL_EARLY, 0, 0) ==
	      0);
	for (int which = 0; which < 3; which++)
		prctl(PR_SET_SPECULATION_CTRL, which, PR_SPEC_DISABLE, 0, 0);
	policy(MPOL_INTERLEAVE | MPOL_F_STATIC_NODES, 1);
	watch("thread");
	return NULL;
}

static atomic_bool over;

/*
 * Reading the time stamp counter, as clock_gettime() does, would end the
 * process.
 */
static void *no_counter(void *arg)
{
	struct timespec ms = { .tv_nsec = 1000000 };
	int word = 0;

	prctl(PR_SET_IO_FLUSHER, 1, 0, 0, 0);
	CHECK(prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0) == 0);
	while (!over)
		syscall(SYS_nanosleep, &ms, NULL);
	CHECK(prctl(PR_GET_TSC, &word, 0, 0, 0) == 0 && word == PR_TSC_SIGSEGV,
	      "it may read the counter");
	return NULL;
}

static void make_process(void)
{
	static const int commands[] = {
		MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED,
		MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED,
		MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE,
	};
	/* the soft one may be raised again, up to the hard one */
	const struct rlimit core = { 4096, 12288 }, queue = { 1000, 3000 };
	int fd = open("/proc/self/coredump_filter", O_WRONLY);

	CHECK(setrlimit(RLIMIT_CORE, &core) == 0);
	CHECK(setrlimit(RLIMIT_MSGQUEUE, &queue) == 0);
	CHECK(write(fd, "0x13", 4) == 4 && close(fd) == 0);
	for (size_t i = 0; i < LEN(commands); i++)
		syscall(SYS_membarrier, commands[i], 0, 0);
	for (int feature = 17; feature < 20; feature++)
		syscall(SYS_arch_prctl, ARCH_REQ_XCOMP_PERM, feature);
	/* except where huge pages are asked for */
	if (prctl(PR_SET_THP_DISABLE, 1, 2, 0, 0) < 0)
		prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
	prctl(SET_MEMORY_MERGE, 1, 0, 0, 0);
	policy(MPOL_BIND, 1);
}

/* Memory can never become executable: this setting cannot be taken back. */
static void make_mdwe(void)
{
	if (prctl(SET_MDWE, 1, 0, 0, 0) < 0)
		check_skip("PR_SET_MDWE");
}

int main(int argc, char **argv)
{
	pthread_t t[2];

	make_process();
	if (argc > 1)
		make_mdwe();
	t[0] = check_thread(early, NULL);
	t[1] = check_thread(no_counter, NULL);
	check_ready();
	watch("main thread");
	over = true;
	check_join(t[0]);
	check_join(t[1]);
	return check_pass();
}
