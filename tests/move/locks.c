/*
 * locks.c - mutexes whose owner dies, priority inheritance, rwlocks
 *
 * The kernel knows of these: the robust list of each thread, the owner's tid
 * in a futex word, PI state.  Owners that slept through moves with a lock in
 * hand must still be its owners, and their death must still be told.
 */
#include <semaphore.h>
#include <sys/syscall.h>

#include "check.h"

#define NR 4

static pthread_mutex_t robust[NR], pi, robust_pi, recursive, checking;
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static sem_t sem;
static _Atomic int holding, waiting;
static _Atomic uint64_t pi_count;

static void make_mutex(pthread_mutex_t *m, int type, bool is_robust, bool is_pi)
{
	pthread_mutexattr_t a;

	pthread_mutexattr_init(&a);
	pthread_mutexattr_settype(&a, type);
	if (is_robust)
		pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST);
	if (is_pi)
		pthread_mutexattr_setprotocol(&a, PTHREAD_PRIO_INHERIT);
	CHECK(pthread_mutex_init(m, &a) == 0);
}

static void check_robust_list(const void *head)
{
	void *now;
	size_t len;

	CHECK(syscall(SYS_get_robust_list, 0, &now, &len) == 0);
	CHECK(now == head && len == 24, "robust list %p, was %p", now, head);
}

/* This thread dies while it holds its locks, after all the moves. */
static void *hold_and_die(void *arg)
{
	pthread_mutex_t *m = arg;
	void *head;
	size_t len;

	CHECK(syscall(SYS_get_robust_list, 0, &head, &len) == 0 && head);
	CHECK(pthread_mutex_lock(m) == 0);
	if (m == &robust[0])
		CHECK(pthread_mutex_lock(&robust_pi) == 0);
	holding++;
	while (check_running()) {
		check_robust_list(head);
		check_nap();
	}
	if (check_sabotaged())
		pthread_mutex_unlock(m);
	return NULL;
}

/* This thread is blocked in the futex of a robust mutex while it is moved. */
static void *wait_for_death(void *arg)
{
	pthread_mutex_t *m = arg;
	int e;

	waiting++;
	e = pthread_mutex_lock(m);
	CHECK(e == EOWNERDEAD, "lock gave %d", e);
	CHECK(pthread_mutex_consistent(m) == 0);
	CHECK(pthread_mutex_unlock(m) == 0);
	return NULL;
}

static void *use_pi(void *arg)
{
	while (check_running()) {
		uint64_t before;

		CHECK(pthread_mutex_lock(&pi) == 0);
		before = pi_count;
		if (before % 16 == 0)
			check_nap(); /* the others block in the kernel */
		CHECK(pi_count == before);
		pi_count = before + 1;
		CHECK(pthread_mutex_unlock(&pi) == 0);
	}
	return NULL;
}

static void *use_rw(void *arg)
{
	static uint64_t a, b;

	for (uint64_t i = 0; check_running(); i++) {
		if (i % 8 == (uintptr_t)arg) {
			pthread_rwlock_wrlock(&rw);
			a++;
			if (i % 64 == (uintptr_t)arg)
				check_nap();
			b++;
			pthread_rwlock_unlock(&rw);
		} else {
			pthread_rwlock_rdlock(&rw);
			CHECK(a == b);
			pthread_rwlock_unlock(&rw);
		}
	}
	return NULL;
}

static void *other(void *arg)
{
	CHECK(pthread_mutex_trylock(&recursive) == EBUSY);
	CHECK(pthread_mutex_trylock(&checking) == EBUSY);
	CHECK(pthread_mutex_unlock(&checking) == EPERM);
	return NULL;
}

/* The main thread holds these two all the time; the kernel's tid is in them. */
static void check_own(void)
{
	CHECK(pthread_mutex_lock(&checking) == EDEADLK);
	CHECK(pthread_mutex_lock(&recursive) == 0);
	CHECK(pthread_mutex_unlock(&recursive) == 0);
	check_join(check_thread(other, NULL));
}

int main(void)
{
	pthread_t hold[NR], wait[NR], use[4];
	int e, value;

	for (int i = 0; i < NR; i++)
		make_mutex(&robust[i], PTHREAD_MUTEX_NORMAL, true, false);
	make_mutex(&robust_pi, PTHREAD_MUTEX_NORMAL, true, true);
	make_mutex(&pi, PTHREAD_MUTEX_NORMAL, false, true);
	make_mutex(&recursive, PTHREAD_MUTEX_RECURSIVE, false, false);
	make_mutex(&checking, PTHREAD_MUTEX_ERRORCHECK, false, false);
	sem_init(&sem, 0, 42);
	pthread_mutex_lock(&recursive);
	pthread_mutex_lock(&checking);
	for (int i = 0; i < NR; i++)
		hold[i] = check_thread(hold_and_die, &robust[i]);
	CHECK_WAIT(holding == NR);
	for (int i = 0; i < NR; i++)
		wait[i] = check_thread(wait_for_death, &robust[i]);
	CHECK_WAIT(waiting == NR);
	for (uintptr_t i = 0; i < 4; i++)
		use[i] = check_thread(i < 2 ? use_pi : use_rw, (void *)i);
	check_ready();
	while (check_running()) {
		check_own();
		for (int i = 0; i < 5; i++)
			check_nap();
	}
	for (int i = 0; i < NR; i++)
		check_join(hold[i]);
	for (int i = 0; i < NR; i++)
		check_join(wait[i]);
	for (int i = 0; i < 4; i++)
		check_join(use[i]);
	e = pthread_mutex_lock(&robust_pi);
	CHECK(e == EOWNERDEAD, "PI mutex gave %d", e);
	CHECK(sem_getvalue(&sem, &value) == 0 && value == 42);
	return check_pass();
}
