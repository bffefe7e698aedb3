/*
 * wait.c - MPICH and Open MPI block while they wait
 *
 * Stands in for what the MPI libraries call in their waits (pmi/preload/idle.h), for
 * the C library's functions that they look with, and for the calls of MPI that
 * do not wait.  All of them are forwarded as machine words: what is an int in
 * one MPI and a pointer in another is passed alike.
 *
 * MPI's waits are told from a program's own use of the same libraries by who
 * calls.  STINT_SPIN=always: nothing of this.
 */
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "pmi/preload/apart.h"
#include "pmi/preload/idle.h"
#include "pmi/preload/preload.h"

enum { THREAD_MULTIPLE = 3 }; /* in MPICH and in Open MPI */

typedef long word;
typedef word function(word, word, word, word, word, word);

/* Looks it up once; two threads that both do find the same. */
static function *next_function(_Atomic(function *) *cache, const char *name)
{
	function *f = atomic_load_explicit(cache, memory_order_relaxed);

	if (!f) {
		f = (function *)preload_next(name);
		if (!f)
			abort(); /* a call of a function that no library has */
		atomic_store_explicit(cache, f, memory_order_relaxed);
	}
	return f;
}

#define NEXT(NAME)                                \
	({                                        \
		static _Atomic(function *) cache; \
		next_function(&cache, NAME);      \
	})

#define STAND_IN(NAME)                                                   \
	PRELOAD_EXPORT word NAME(word a, word b, word c, word d, word e, \
				 word f);                                \
	word NAME(word a, word b, word c, word d, word e, word f)

/* ---- when waits may block ---- */

/* Where the code of MPI is, once it is initialized. */
static const char *mpi_begin, *mpi_end;

static bool is_mpi(const void *caller)
{
	const char *at = caller;

	return at >= mpi_begin && at < mpi_end;
}

/* Under MPI_THREAD_MULTIPLE (mpi4py asks for it) a wait holds a lock that other
 * threads want. */
static void initialized(void)
{
	int (*query)(int *) = (int (*)(int *))preload_next("MPI_Query_thread");
	const char *spin = getenv("STINT_SPIN");
	struct dl_find_object mpi;
	int level;

	if ((spin && !strcmp(spin, "always")) || !query || query(&level) ||
	    _dl_find_object((void *)query, &mpi))
		return;
	mpi_begin = mpi.dlfo_map_start;
	mpi_end = mpi.dlfo_map_end;
	idle_allow(level >= THREAD_MULTIPLE ? IDLE_OFFER : IDLE_BLOCK);
}

#define INITIALIZES(NAME)                               \
	STAND_IN(NAME)                                  \
	{                                               \
		word r = NEXT(#NAME)(a, b, c, d, e, f); \
                                                        \
		if (!(int)r)                            \
			initialized();                  \
		return r;                               \
	}

INITIALIZES(MPI_Init)
INITIALIZES(MPI_Init_thread)
INITIALIZES(PMPI_Init)
INITIALIZES(PMPI_Init_thread)

/* ---- the waits ---- */

STAND_IN(ucp_worker_progress)
{
	function *real = NEXT("ucp_worker_progress");
	word r;

	if (!idle_entered() && !is_mpi(__builtin_return_address(0)))
		return real(a, b, c, d, e, f);
	idle_enter();
	r = real(a, b, c, d, e, f);
	idle_leave((unsigned)r);
	return r;
}

/* What it did it tells in some versions; the descriptors tell it in all. */
STAND_IN(opal_progress)
{
	function *real = NEXT("opal_progress");
	word r;

	idle_enter();
	r = real(a, b, c, d, e, f);
	idle_leave(false);
	return r;
}

/*
 * A wait before a look, if it can begin.  What a signal ends has found nothing, since who
 * only looks is told of no signal.
 *
 * An epoll set is polled, too: who is woken in epoll_pwait2() is drawn to the sender's core
 * (pmi/preload/apart.h).
 */
static void wait_first(struct pollfd *fds, nfds_t n,
		       const struct timespec *bound)
{
	int saved = errno, r = apart_poll(fds, n, bound);

	if (r >= 0 || errno == EINTR)
		idle_waited_here(r > 0);
	errno = saved;
}

PRELOAD_EXPORT int epoll_wait(int fd, struct epoll_event *events, int n,
			      int timeout)
{
	struct pollfd set = { .fd = fd, .events = POLLIN };
	bool looks = !timeout && idle_entered();
	struct timespec bound;
	int r;

	if (looks && idle_waits_here(fd, 1, &bound))
		wait_first(&set, 1, &bound);
	r = (int)NEXT("epoll_wait")(fd, (word)events, n, timeout, 0, 0);
	if (looks)
		idle_looked(fd, POLLIN, r);
	return r;
}

PRELOAD_EXPORT int poll(struct pollfd *fds, nfds_t n, int timeout)
{
	bool looks = !timeout && n && idle_entered();
	struct timespec bound;
	int r;

	if (looks && idle_waits_here(fds[0].fd, (unsigned)n, &bound))
		wait_first(fds, n, &bound);
	r = (int)NEXT("poll")((word)fds, (word)n, timeout, 0, 0, 0);
	for (nfds_t i = 0; looks && i < n; i++)
		idle_looked(fds[i].fd, fds[i].events, r);
	return r;
}

/* ---- calls that do not wait ---- */

#define DOES_NOT_WAIT(NAME)                        \
	STAND_IN(NAME)                             \
	{                                          \
		word r;                            \
                                                   \
		idle_test_begin();                 \
		r = NEXT(#NAME)(a, b, c, d, e, f); \
		idle_test_end();                   \
		return r;                          \
	}

#define ASKS(NAME) DOES_NOT_WAIT(MPI_##NAME) DOES_NOT_WAIT(PMPI_##NAME)

ASKS(Test)
ASKS(Testall)
ASKS(Testany)
ASKS(Testsome)
ASKS(Iprobe)
ASKS(Improbe)
ASKS(Win_test)
ASKS(Request_get_status)
ASKS(Parrived)

/* ---- calls that look once even if they need not wait ---- */

#define LOOKS_ONCE(NAME)                              \
	STAND_IN(NAME)                                \
	{                                             \
		idle_begin();                         \
		return NEXT(#NAME)(a, b, c, d, e, f); \
	}

#define SEES_TO(NAME) LOOKS_ONCE(MPI_##NAME) LOOKS_ONCE(PMPI_##NAME)

SEES_TO(Win_flush)
SEES_TO(Win_flush_all)
SEES_TO(Win_flush_local)
SEES_TO(Win_flush_local_all)
SEES_TO(Win_unlock)
SEES_TO(Win_unlock_all)
SEES_TO(Win_complete)
SEES_TO(Win_fence)
SEES_TO(Win_free)
SEES_TO(Win_sync)
SEES_TO(Request_free)
SEES_TO(Waitany)
SEES_TO(Waitsome)
SEES_TO(Bsend)
SEES_TO(Start)
SEES_TO(Startall)
SEES_TO(Buffer_detach)

/* The one of these that takes seven arguments. */
typedef word function_of_7(word, word, word, word, word, word, word);

#define SEES_TO_IBSEND(NAME)                                                 \
	PRELOAD_EXPORT function_of_7 NAME;                                   \
	word NAME(word a, word b, word c, word d, word e, word f, word g)    \
	{                                                                    \
		function *real = NEXT(#NAME);                                \
                                                                             \
		idle_begin();                                                \
		return ((function_of_7 *)(void *)real)(a, b, c, d, e, f, g); \
	}

SEES_TO_IBSEND(MPI_Ibsend)
SEES_TO_IBSEND(PMPI_Ibsend)
