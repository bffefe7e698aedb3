/*
 * threads.c - threads that meet in a mutex, condition variables, a barrier
 *
 *	threads [N]
 *
 * A ring of threads hands a token on through condition variables while all
 * of them also count under one mutex.  Each thread keeps what makes it
 * itself: its tid, its thread-local data, its name and its stack.
 */
#include <sys/syscall.h>

#include "check.h"

#define NR_MOST 1000

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turn[NR_MOST];
static pthread_barrier_t barrier;
static unsigned nr = 6;
static unsigned holder;
static uint64_t passed, counted;
static bool last_round;
static _Thread_local uint64_t mine;

struct member {
	unsigned id;
	uint64_t turns;
	pthread_t thread;
};

static void check_self(const struct member *m, long tid, const char *name,
		       const uint64_t *stack)
{
	char now[16];

	CHECK(syscall(SYS_gettid) == tid);
	CHECK(pthread_equal(pthread_self(), m->thread));
	CHECK(pthread_getname_np(pthread_self(), now, sizeof(now)) == 0);
	CHECK(strcmp(now, name) == 0, "%s is now called %s", name, now);
	CHECK(check_same(stack, 64 * sizeof(*stack), m->id));
}

/*
 * Returns false after the last turn; thread 0 decides that while it holds the
 * token.
 */
static bool take_turn(struct member *m)
{
	bool go_on;

	pthread_mutex_lock(&lock);
	while (holder != m->id)
		pthread_cond_wait(&turn[m->id], &lock);
	holder = (m->id + 1) % nr;
	if (m->id == 0 && !check_running())
		last_round = true;
	go_on = !last_round;
	passed++;
	m->turns++;
	mine++;
	CHECK(mine == m->turns, "thread-local counter is wrong");
	pthread_cond_signal(&turn[holder]);
	pthread_mutex_unlock(&lock);
	return go_on;
}

static void *run(void *arg)
{
	struct member *m = arg;
	long tid = syscall(SYS_gettid);
	uint64_t stack[64];
	char name[16];

	snprintf(name, sizeof(name), "ring-%u", m->id);
	pthread_setname_np(pthread_self(), name);
	check_fill(stack, sizeof(stack), m->id);
	pthread_barrier_wait(&barrier);
	for (bool go_on = true; go_on;) {
		go_on = take_turn(m);
		check_self(m, tid, name, stack);
		pthread_mutex_lock(&lock);
		counted++;
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	static struct member m[NR_MOST];
	uint64_t turns = 0;

	if (argc > 1)
		nr = (unsigned)atoi(argv[1]);
	CHECK(nr > 0 && nr <= NR_MOST, "threads: from 1 to %d", NR_MOST);
	pthread_barrier_init(&barrier, NULL, nr + 1);
	for (unsigned i = 0; i < nr; i++)
		pthread_cond_init(&turn[i], NULL);
	for (unsigned i = 0; i < nr; i++) {
		m[i].id = i;
		m[i].thread = check_thread(run, &m[i]);
	}
	pthread_barrier_wait(&barrier); /* all of m[].thread are set */
	check_ready();
	if (check_sabotaged())
		__atomic_add_fetch(&counted, 1, __ATOMIC_RELAXED);
	for (unsigned i = 0; i < nr; i++) {
		check_join(m[i].thread);
		turns += m[i].turns;
	}
	CHECK(passed == turns && counted == turns, "%llu %llu %llu",
	      (unsigned long long)passed, (unsigned long long)turns,
	      (unsigned long long)counted);
	return check_pass();
}
