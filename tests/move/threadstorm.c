/*
 * threadstorm.c - threads that come and go all the time
 *
 * Each lives for a moment, checks what it was given and its own stack, and
 * leaves a result that the one who joins it compares; some are detached.
 */
#include <sys/syscall.h>

#include "check.h"

#define NR 8

static _Atomic uint64_t started, finished;
static _Thread_local uint64_t tls = 0x5555;

static void *live(void *arg)
{
	unsigned char buf[20000];
	uint64_t n = (uintptr_t)arg;
	long tid = syscall(SYS_gettid);

	CHECK(tls == 0x5555);
	tls = n;
	check_fill(buf, sizeof(buf), n);
	if (n % 3 == 0)
		check_nap();
	CHECK(check_same(buf, sizeof(buf), n) && tls == n);
	CHECK(syscall(SYS_gettid) == tid);
	finished++;
	return (void *)(uintptr_t)(n * n);
}

static pthread_t start(uint64_t n)
{
	started++;
	return check_thread(live, (void *)(uintptr_t)n);
}

static void *breed(void *arg)
{
	uint64_t n = (uintptr_t)arg * 1000003;

	while (check_running()) {
		pthread_t t[NR];
		void *result;

		for (unsigned i = 0; i < NR; i++)
			t[i] = start(n + i);
		for (unsigned i = 0; i < NR; i++) {
			if (i == 5) {
				pthread_detach(t[i]);
				continue;
			}
			CHECK(pthread_join(t[i], &result) == 0);
			CHECK((uintptr_t)result == (n + i) * (n + i));
		}
		n += NR;
		if (n % 64 == 0)
			check_nap();
	}
	return NULL;
}

int main(void)
{
	pthread_t t[2];

	for (uintptr_t i = 0; i < 2; i++)
		t[i] = check_thread(breed, (void *)(i + 1));
	check_ready();
	for (int i = 0; i < 2; i++)
		check_join(t[i]);
	CHECK_WAIT(finished >= started);
	if (check_sabotaged())
		started++;
	CHECK(finished == started);
	return check_pass();
}
