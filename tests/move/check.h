/*
 * check.h - what the self-checking programs share
 *
 * Each program of this directory is an ordinary one that knows nothing of
 * being moved.  It sets something up, says READY, goes on using it while the
 * harness moves it as often as it likes, and when the stop file appears
 * verifies all of it and says PASS (exit 0), or says FAIL and where at once.
 *
 *	CHECK_STOP=FILE  run until FILE exists; otherwise for 0.3 s
 *	CHECK_SABOTAGE=1 spoil the own state after READY, so that a test can
 *	                 see that the program would notice damage
 *
 * Exit status: 0 passed, 1 failed, 77 this kernel or user cannot do it.
 */
#ifndef CHECK_H
#define CHECK_H

#include <errno.h>
#include <ftw.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define CHECK_PAGE 4096ul

/* If the condition does not hold, say so and end the program. */
#define CHECK(cond, ...)                                      \
	do {                                                  \
		if (!(cond))                                  \
			check_fail(__FILE__, __LINE__, #cond, \
				   " " __VA_ARGS__);          \
	} while (0)

__attribute__((noreturn, format(printf, 4, 5))) static inline void check_fail(
	const char *file, int line, const char *cond, const char *fmt, ...)
{
	int e = errno;
	char text[512];
	const char *base = strrchr(file, '/');
	int n = snprintf(text, sizeof(text),
			 "FAIL %s:%d: %s:", base ? base + 1 : file, line, cond);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text + n, sizeof(text) - (size_t)n, fmt, ap);
	va_end(ap);
	dprintf(STDOUT_FILENO, "%s (errno %d)\n", text, e);
	_exit(1);
}

__attribute__((noreturn)) static inline void check_skip(const char *why)
{
	dprintf(STDOUT_FILENO, "SKIP %s: %s\n", why, strerror(errno));
	_exit(77);
}

/* All is set up; from now on the program may be moved. */
static inline void check_ready(void)
{
	dprintf(STDOUT_FILENO, "READY\n");
}

/*
 * A path in a scratch directory of this program, in CHECK_DIR or /tmp; the
 * string is good until the next call.  check_pass() removes the directory.
 */
static char check_scratch[256];

static inline const char *check_path(const char *name)
{
	static char path[512];
	const char *dir = getenv("CHECK_DIR");

	if (!check_scratch[0]) {
		snprintf(check_scratch, sizeof(check_scratch),
			 "%s/check-XXXXXX", dir ? dir : "/tmp");
		CHECK(mkdtemp(check_scratch));
	}
	snprintf(path, sizeof(path), "%s/%s", check_scratch, name);
	return path;
}

static inline int check_remove(const char *path, const struct stat *st,
			       int type, struct FTW *ftw)
{
	return remove(path);
}

static inline int check_pass(void)
{
	if (check_scratch[0])
		nftw(check_scratch, check_remove, 8, FTW_DEPTH | FTW_PHYS);
	dprintf(STDOUT_FILENO, "PASS\n");
	return 0;
}

static inline bool check_sabotaged(void)
{
	return getenv("CHECK_SABOTAGE") != NULL;
}

static inline int64_t check_clock(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * 1000000000ll + ts.tv_nsec;
}

/* CLOCK_MONOTONIC in nanoseconds; it must never go back, on whatever host. */
static inline int64_t check_now(void)
{
	static _Thread_local int64_t last;
	int64_t now = check_clock(CLOCK_MONOTONIC);

	CHECK(now >= last, "monotonic clock went back by %lld ns",
	      (long long)(last - now));
	last = now;
	return now;
}

/*
 * False once it is time to verify. Looks at the file system only every few
 * milliseconds, so it may be called in the tightest loop.
 */
static inline bool check_running(void)
{
	static _Atomic bool stop;
	static _Atomic int64_t next, end;
	const char *file = getenv("CHECK_STOP");
	int64_t now;

	if (stop)
		return false;
	now = check_now();
	if (!end)
		end = now + 300000000;
	if (now < next)
		return true;
	next = now + 5000000;
	if (file ? access(file, F_OK) == 0 : now > end)
		stop = true;
	return !stop;
}

static inline void check_nap(void)
{
	struct timespec ms = { .tv_nsec = 1000000 };

	nanosleep(&ms, NULL);
}

/*
 * Wait for a condition that must come true: 300 s are for ever, on any machine.
 * It need not come true if the state was spoilt.
 */
#define CHECK_WAIT(cond)                                                  \
	do {                                                              \
		int64_t check_s_ = check_sabotaged() ? 5 : 300,           \
			check_end_ = check_now() + check_s_ * 1000000000; \
		while (!(cond)) {                                         \
			CHECK(check_now() < check_end_,                   \
			      "waited in vain for: " #cond);              \
			check_nap();                                      \
		}                                                         \
	} while (0)

/* A pseudo-random stream; any seed will do (splitmix64, public domain). */
static inline uint64_t check_rand(uint64_t *state)
{
	uint64_t z = (*state += 0x9e3779b97f4a7c15ull);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

static inline void check_fill(void *p, size_t n, uint64_t seed)
{
	unsigned char *c = p;

	for (size_t i = 0; i < n; i++)
		c[i] = (unsigned char)(check_rand(&seed) >> 24);
}

/* Do n bytes at p have what check_fill() put there? */
static inline bool check_same(const void *p, size_t n, uint64_t seed)
{
	const unsigned char *c = p;

	for (size_t i = 0; i < n; i++)
		if (c[i] != (unsigned char)(check_rand(&seed) >> 24))
			return false;
	return true;
}

/*
 * Write all n bytes. A call that blocks may do less when the process is stopped
 * and goes on, moved or not, so a correct program has such loops. check_read()
 * returns false at the end of the stream, if nothing was read.
 */
static inline void check_write(int fd, const void *p, size_t n)
{
	for (size_t done = 0; done < n;) {
		ssize_t k = write(fd, (const char *)p + done, n - done);

		CHECK(k > 0, "write to %d", fd);
		done += (size_t)k;
	}
}

static inline bool check_read(int fd, void *p, size_t n)
{
	for (size_t done = 0; done < n;) {
		ssize_t k = read(fd, (char *)p + done, n - done);

		if (k == 0 && done == 0)
			return false;
		CHECK(k > 0, "read from %d after %zu of %zu", fd, done, n);
		done += (size_t)k;
	}
	return true;
}

/* Make a listener on loopback; *ret gets its address. */
static inline int check_listen(struct sockaddr_in *ret)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	socklen_t n = sizeof(*ret);

	*ret = (struct sockaddr_in){ .sin_family = AF_INET,
				     .sin_addr.s_addr =
					     htonl(INADDR_LOOPBACK) };
	if (bind(fd, (void *)ret, n) < 0)
		check_skip("no loopback");
	CHECK(listen(fd, 1) == 0 && getsockname(fd, (void *)ret, &n) == 0);
	return fd;
}

static inline pthread_t check_thread(void *(*fn)(void *), void *arg)
{
	pthread_t t;
	int e = pthread_create(&t, NULL, fn, arg);

	CHECK(e == 0, "pthread_create: %s", strerror(e));
	return t;
}

static inline void check_join(pthread_t t)
{
	CHECK(pthread_join(t, NULL) == 0);
}

#endif
