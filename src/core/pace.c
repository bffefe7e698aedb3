/* pace.c - a rate that several processes keep together, see pace.h */
#include "core/pace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/io.h"
#include "core/xalloc.h"

/* Whoever has taken nothing for so long may have as much at once. */
#define SAVED	(50 * USEC_PER_MSEC)
/* What a damaged file says must not stop a move for good. */
#define LONGEST (2 * USEC_PER_SEC)

struct shared {
	uint64_t rate;
	int64_t next[PACE_WAYS]; /* when all that was taken has gone */
};

struct pace {
	struct shared *shared;
};

static struct pace *map_shared(int fd, int flags)
{
	void *at = mmap(NULL, sizeof(struct shared), PROT_READ | PROT_WRITE,
			MAP_SHARED | flags, fd, 0);
	struct pace *p;

	if (at == MAP_FAILED)
		return NULL;
	p = xcalloc(1, sizeof(*p));
	p->shared = at;
	return p;
}

char *pace_path(const char *run_dir)
{
	return xasprintf("%s/pace", run_dir);
}

int pace_open(const char *path, struct pace **ret, struct error *err)
{
	fd_auto fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	if (fd < 0 || ftruncate(fd, sizeof(struct shared)) < 0 ||
	    !(*ret = map_shared(fd, 0)))
		return error_sys(err, -errno, "%s", path);
	return 0;
}

struct pace *pace_own(uint64_t rate)
{
	struct pace *p = map_shared(-1, MAP_ANONYMOUS);

	if (!p)
		abort(); /* out of memory */
	pace_set(p, rate);
	return p;
}

void pace_close(struct pace *p)
{
	if (!p)
		return;
	munmap(p->shared, sizeof(*p->shared));
	free(p);
}

void pace_set(struct pace *p, uint64_t rate)
{
	__atomic_store_n(&p->shared->rate, rate, __ATOMIC_RELAXED);
}

uint64_t pace_rate(const struct pace *p)
{
	return p ? __atomic_load_n(&p->shared->rate, __ATOMIC_RELAXED) : 0;
}

usec_t pace_take(struct pace *p, enum pace_way way, size_t n, usec_t now)
{
	int64_t *next = &p->shared->next[way];
	int64_t old = __atomic_load_n(next, __ATOMIC_RELAXED), from, to;
	uint64_t rate = pace_rate(p);

	if (!rate)
		return now;
	do {
		/* A boot, or a rate of before, may have left it far ahead. */
		from = old < now - SAVED || old > now + LONGEST ? now - SAVED
								: old;
		to = from + (int64_t)((double)n * USEC_PER_SEC / (double)rate);
		if (to > now + LONGEST)
			to = now + LONGEST;
	} while (!__atomic_compare_exchange_n(
		next, &old, to, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	return to > now ? to : now;
}

void pace_wait(struct pace *p, enum pace_way way, size_t n)
{
	usec_t now = clock_usec(CLOCK_MONOTONIC), till;
	struct timespec at;

	if (!pace_rate(p))
		return;
	till = pace_take(p, way, n, now);
	at = (struct timespec){ till / USEC_PER_SEC,
				till % USEC_PER_SEC * 1000 };
	while (till > now && clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME,
					     &at, NULL) == EINTR)
		;
}
