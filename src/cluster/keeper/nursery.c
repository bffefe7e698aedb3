/*
 * nursery.c - see nursery.h
 */
#include "cluster/keeper/nursery.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "cluster/capsule/capsule.h"
#include "core/io.h"
#include "core/log.h"
#include "core/packet.h"
#include "core/procstat.h"
#include "core/xalloc.h"

struct nursery {
	int sock;
	nursery_keeper *be;
	struct prctl_mm_map map; /* the kernel's word on our memory */
};

/* ---- in the keeper */

/* So that ps shows it as the keeper that it is, not as a nursery. */
static void show_words(struct nursery *n, char *words, size_t len)
{
	n->map.arg_start = (uintptr_t)words;
	n->map.arg_end = (uintptr_t)words + len;
	n->map.brk = (uintptr_t)sbrk(0);
	if (prctl(PR_SET_MM, PR_SET_MM_MAP, &n->map, sizeof(n->map), 0) < 0)
		log_warnx("ps cannot show this keeper's name: %s",
			  strerror(errno));
}

static int split_order(char *words, size_t len, char ***ret)
{
	char **argv = NULL, *end = words + len;
	size_t n = 0, cap = 0;

	for (char *p = words; p < end; p += strlen(p) + 1) {
		array_room(argv, n, &cap);
		argv[n++] = p;
	}
	array_room(argv, n, &cap);
	argv[n] = NULL;
	*ret = argv;
	return (int)n;
}

static _Noreturn void keeper_main(struct nursery *n, const char *order,
				  size_t len, int ready)
{
	char *words = xmalloc(len), **argv;
	int argc;

	memcpy(words, order, len);
	capsule_store_leave();
	signal(SIGCHLD, SIG_DFL);
	show_words(n, words, len);
	/* In the place of the nursery's socket, which it must not hold. */
	if (dup2(ready, NURSERY_READY) < 0)
		_exit(1);
	if (ready != NURSERY_READY)
		close(ready);
	if (n->sock != NURSERY_READY)
		close(n->sock);
	argc = split_order(words, len, &argv);
	/* Not exit(): all libraries would tidy up what ends with the process. */
	_exit(n->be(argc, argv));
}

/* ---- the nursery */

/* PR_SET_MM_MAP wants all of them to set some. */
static int read_map(struct prctl_mm_map *ret)
{
	struct procstat s;
	int r = procstat_read(0, &s);

	if (r < 0)
		return r;
	*ret = (struct prctl_mm_map){
		.start_code = s.start_code,
		.end_code = s.end_code,
		.start_stack = s.start_stack,
		.start_data = s.start_data,
		.end_data = s.end_data,
		.start_brk = s.start_brk,
		.env_start = s.env_start,
		.env_end = s.env_end,
		.exe_fd = (uint32_t)-1,
	};
	return 0;
}

static void carry_out(struct nursery *n, const char *order, size_t len,
		      int ready)
{
	pid_t pid;

	if (!len || order[len - 1]) {
		log_warnx("malformed request for a keeper");
		return;
	}
	capsule_prepare();
	pid = fork();
	if (!pid)
		keeper_main(n, order, len, ready);
	if (pid < 0)
		log_warnx("cannot fork a keeper: %s", strerror(errno));
}

/* One order; false at the end. */
static bool serve(struct nursery *n, char *order)
{
	int ready = -1;
	unsigned nr = 1;
	ssize_t len = packet_receive_some(n->sock, order, NURSERY_ORDER_MAX,
					  &ready, &nr, 0);

	if (len > 0 && nr)
		carry_out(n, order, (size_t)len, ready);
	io_close(&ready);
	return len >= 0 || len == -EBADMSG;
}

void nursery_serve(int sock, nursery_keeper *be)
{
	struct nursery n = { .sock = sock, .be = be };
	char *order = xmalloc(NURSERY_ORDER_MAX);
	struct pollfd p[] = { { .fd = sock, .events = POLLIN },
			      { .events = POLLIN } };

	unsetenv(NURSERY_BINDS);
	setsid();
	signal(SIGCHLD, SIG_IGN); /* nobody waits for keepers */
	if (read_map(&n.map) < 0)
		log_warnx("/proc/self/stat is not as proc(5) has it");
	/* Without one, poll() leaves it out. */
	p[1].fd = capsule_store_open();
	do {
		if (poll(p, 2, -1) < 0)
			continue;
		if (p[1].revents)
			capsule_store_serve();
	} while (!p[0].revents || serve(&n, order));
	free(order);
}
