/*
 * preload.c - libstint-pmi.so: progress UCX while MPICH waits for PMI
 *
 * MPICH up to 4.1 can deadlock in MPI_Finalize over UCX/tcp, under any
 * launcher: each rank closes its endpoints, which for TCP sends an empty PUT
 * and waits for the peer's acknowledgement, and then reads in the PMI barrier
 * without looking at UCX any more.  A peer that is still closing waits for an
 * acknowledgement that nobody sends (doc/design/30-pmi.md).  So this small
 * library, preloaded into ranks that are started with PMI, calls UCX while such
 * a read would block.
 *
 * It knows the PMI descriptor from PMI_FD and the workers from their creation;
 * reads of anything else cost one comparison.  A program that never creates
 * a UCX worker is not affected at all.
 *
 * No stdio, no allocation: this is a guest in somebody else's program.
 */
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "pmi/preload/preload.h"

enum { WORKERS_MAX = 64, IDLE_MS = 1 };

/* From ucp.h, of which nothing else is needed. */
int ucp_worker_create(void *context, const void *params, void **ret);
void ucp_worker_destroy(void *worker);

static void *workers[WORKERS_MAX];
static int nr_workers;
static int pmi_fd = -1;

static void *ucp_symbol(const char *name)
{
	/* Not RTLD_NEXT: libucp may have been loaded into a private scope. */
	void *ucp = dlopen("libucp.so.0", RTLD_LAZY | RTLD_NOLOAD);

	return ucp ? dlsym(ucp, name) : NULL;
}

__attribute__((constructor)) static void preload_init(void)
{
	const char *text = getenv("PMI_FD");
	char *end;
	long fd;

	if (!text)
		return;
	fd = strtol(text, &end, 10);
	if (end != text && !*end && fd > 2 && fd < 1 << 20)
		pmi_fd = (int)fd;
}

PRELOAD_EXPORT int ucp_worker_create(void *context, const void *params,
				     void **ret)
{
	int (*real)(void *, const void *, void **) =
		ucp_symbol("ucp_worker_create");
	int r;

	if (!real)
		return -12; /* UCS_ERR_UNSUPPORTED's kin; cannot happen */
	r = real(context, params, ret);
	if (!r && nr_workers < WORKERS_MAX)
		workers[nr_workers++] = *ret;
	return r;
}

PRELOAD_EXPORT void ucp_worker_destroy(void *worker)
{
	void (*real)(void *) = ucp_symbol("ucp_worker_destroy");

	for (int i = 0; i < nr_workers; i++)
		if (workers[i] == worker)
			workers[i--] = workers[--nr_workers];
	if (real)
		real(worker);
}

/*
 * Until fd can be read, or has an error that read() will tell.  A signal ends
 * poll() even where its handler asks for SA_RESTART, and must not end this: the
 * read() that followed would be the one that progresses nothing.
 */
static void progress_until_readable(int fd)
{
	unsigned (*progress)(void *) = ucp_symbol("ucp_worker_progress");
	struct pollfd pfd = { .fd = fd, .events = POLLIN };
	unsigned busy = 1;
	int r;

	while (progress) {
		r = poll(&pfd, 1, busy ? 0 : IDLE_MS);
		if (r > 0 || (r < 0 && errno != EINTR))
			return;
		busy = 0;
		for (int i = 0; i < nr_workers; i++)
			busy |= progress(workers[i]);
	}
}

PRELOAD_EXPORT ssize_t read(int fd, void *p, size_t n)
{
	static ssize_t (*real)(int, void *, size_t);

	if (fd == pmi_fd && nr_workers)
		progress_until_readable(fd);
	if (!real)
		real = dlsym(RTLD_NEXT, "read");
	return real ? real(fd, p, n) : syscall(SYS_read, fd, p, n);
}
