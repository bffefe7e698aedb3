/*
 * unkept.c - what a move does not keep, as no call sets it (doc/design/20, 21)
 *
 *	unkept		all of it is as it was, as nobody moves the program
 *	unkept moved	none of it is
 *
 * Whoever finds a way to keep one of these sees it here, and takes it out of the
 * notes.
 */
#include <linux/futex.h>
#include <linux/sched.h>
#include <sched.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/times.h>

#include "check.h"

#define USED	   500000000ll /* ns of processor time before READY */
#define THREADS	   200000000ll /* and of a thread's */
#define TRIES_MOST 1000

static int over = -1, locked = -1, pair[2];

static int64_t by_getrusage(void)
{
	struct rusage ru;

	CHECK(getrusage(RUSAGE_SELF, &ru) == 0);
	return (ru.ru_utime.tv_sec + ru.ru_stime.tv_sec) * 1000000ll +
	       ru.ru_utime.tv_usec + ru.ru_stime.tv_usec;
}

static int64_t by_times(void)
{
	struct tms t;

	CHECK(times(&t) != (clock_t)-1);
	return t.tms_utime + t.tms_stime;
}

static int64_t by_clock(void)
{
	struct timespec t;

	CHECK(syscall(SYS_clock_gettime, CLOCK_PROCESS_CPUTIME_ID, &t) == 0);
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}

/* The process that /proc/locks names as the holder of our flock() lock. */
static int64_t by_locks(void)
{
	unsigned long long ino;
	struct stat st;
	char line[256];
	long pid;
	FILE *f = fopen("/proc/locks", "re");

	CHECK(f && fstat(locked, &st) == 0);
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "%*d: FLOCK %*s %*s %ld %*x:%*x:%llu", &pid,
			   &ino) == 2 &&
		    ino == st.st_ino) {
			fclose(f);
			return pid;
		}
	fclose(f);
	return -1;
}

/* The port at the other end of a connection that is over. */
static int64_t by_peername(void)
{
	struct sockaddr_in in = { 0 };
	socklen_t n = sizeof(in);

	CHECK(getsockopt(over, SOL_SOCKET, SO_PEERNAME, &in, &n) == 0);
	return in.sin_port;
}

static int64_t by_peercred(void)
{
	struct ucred c;
	socklen_t n = sizeof(c);

	CHECK(getsockopt(pair[0], SOL_SOCKET, SO_PEERCRED, &c, &n) == 0);
	return c.pid;
}

/* ---- a thread that gets the number of one that has ended ---- */

static pthread_t first;
static pid_t first_tid;
static _Atomic bool used_up, first_may_go;
static int64_t of_second;

static void *run_first(void *arg)
{
	first_tid = gettid();
	while (check_clock(CLOCK_THREAD_CPUTIME_ID) < THREADS) {
		/* use it up */
	}
	used_up = true;
	while (!first_may_go)
		check_nap();
	return NULL;
}

static _Noreturn void run_second(void)
{
	of_second = check_clock(CLOCK_THREAD_CPUTIME_ID);
	syscall(SYS_exit, 0);
	__builtin_unreachable();
}

/*
 * pthread_create() cannot be asked for a pid. The new thread uses our
 * thread-local memory, so we wait meanwhile.
 */
static long start_second(pid_t *tid)
{
	static char stack[65536] __attribute__((aligned(16)));
	struct clone_args args = {
		.flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND |
			 CLONE_THREAD | CLONE_SYSVSEM | CLONE_PARENT_SETTID |
			 CLONE_CHILD_CLEARTID,
		.child_tid = (uintptr_t)tid,
		.parent_tid = (uintptr_t)tid,
		.stack = (uintptr_t)stack,
		.stack_size = sizeof(stack) - 16,
		.set_tid = (uintptr_t)&first_tid,
		.set_tid_size = 1,
	};
	long r = SYS_clone3;

	__asm__ volatile("syscall\n\t"
			 "test %%rax, %%rax\n\t"
			 "jnz 1f\n\t"
			 "call *%3\n\t"
			 "1:"
			 : "+a"(r)
			 : "D"(&args), "S"(sizeof(args)), "r"(run_second)
			 : "rcx", "r11", "memory");
	return r;
}

static int64_t clock_of_second(void)
{
	pid_t tid = 0, was;
	long r = -EEXIST;

	first_may_go = true;
	CHECK(pthread_join(first, NULL) == 0);
	/* the kernel gives a number back some time after its thread has ended */
	for (int i = 0; i < TRIES_MOST && r == -EEXIST; i++) {
		r = start_second(&tid);
		if (r == -EEXIST)
			check_nap();
	}
	CHECK(r == first_tid, "clone3() with number %d: %ld", first_tid, r);
	while ((was = *(volatile pid_t *)&tid))
		syscall(SYS_futex, &tid, FUTEX_WAIT, was, NULL, NULL, 0);
	return of_second;
}

/* Does its clock begin with the time that the first thread had used? */
static int64_t by_used_number(void)
{
	if (first)
		return clock_of_second() >= THREADS;
	CHECK(pthread_create(&first, NULL, run_first, NULL) == 0);
	while (!used_up)
		check_nap();
	return false;
}

static struct thing {
	const char *name;
	int64_t (*ask)(void);
	bool grows;
	int64_t was;
} things[] = {
	{ "the time of getrusage()", by_getrusage, true },
	{ "the time of times()", by_times, true },
	{ "the time of clock_gettime() without the vdso", by_clock, true },
	{ "that the clock of a thread with a used number begins elsewhere",
	  by_used_number, false },
	{ "the process that has a lock by flock()", by_locks, false },
	{ "the peer's address of a connection that is over", by_peername,
	  false },
	{ "the peer's process of a socket pair", by_peercred, false },
};

/*
 * Both ends have sent and received all: the one that is left has only its
 * addresses.
 */
static void make_over(void)
{
	struct sockaddr_in at;
	socklen_t n = sizeof(at);
	int listener = check_listen(&at), other;
	char c;

	over = socket(AF_INET, SOCK_STREAM, 0);
	CHECK(connect(over, (void *)&at, n) == 0);
	other = accept(listener, NULL, NULL);
	CHECK(other >= 0 && shutdown(other, SHUT_WR) == 0);
	CHECK(read(over, &c, 1) == 0 && shutdown(over, SHUT_WR) == 0);
	CHECK(read(other, &c, 1) == 0);
	close(other);
	close(listener);
}

int main(int argc, char **argv)
{
	bool moved = argc > 1;

	make_over();
	locked = open(check_path("locked"), O_RDWR | O_CREAT, 0600);
	CHECK(locked >= 0 && flock(locked, LOCK_EX) == 0);
	CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
	while (by_clock() < USED) {
		/* use it up */
	}
	for (size_t i = 0; i < sizeof(things) / sizeof(*things); i++)
		things[i].was = things[i].ask();
	CHECK(by_locks() == getpid());
	check_ready();
	while (check_running())
		check_nap();
	if (check_sabotaged())
		moved = !moved;
	for (size_t i = 0; i < sizeof(things) / sizeof(*things); i++) {
		const struct thing *t = &things[i];
		int64_t is = t->ask();
		bool kept = t->grows ? is >= t->was : is == t->was;

		CHECK(kept != moved, "%s was %lld and is %lld", t->name,
		      (long long)t->was, (long long)is);
	}
	return check_pass();
}
