/*
 * nursery.c - the agent's side of the process that forks its keepers
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cluster/agent/priv.h"
#include "cluster/keeper/nursery.h"
#include "core/installed.h"
#include "core/io.h"
#include "core/packet.h"
#include "core/signals.h"
#include "core/xalloc.h"

enum { SOCKET_IN_IT = 3 };

int nursery_find_program(struct agent *a, struct error *err)
{
	char *path = a->conf->keeper
			     ? xstrdup(a->conf->keeper)
			     : installed_find("stint-keeper", STINT_KEEPER);
	int fd;

	if (!path)
		return error_set(err, -ENOENT,
				 STINT_KEEPER " is not there; it comes with "
					      "Stint, and the ranks need it");
	fd = open(path, O_PATH | O_CLOEXEC);
	if (fd < 0)
		error_sys(err, fd = -errno, "%s", path);
	free(path);
	if (fd < 0)
		return fd;
	/* Above what a child has as its standard descriptors and socket. */
	a->keeper = fcntl(fd, F_DUPFD_CLOEXEC, SOCKET_IN_IT + 1);
	close(fd);
	return a->keeper < 0 ? error_sys(err, -errno, "descriptors") : 0;
}

/*
 * Does it concern keepers?  Their ranks' processes begin as copies of them, so what
 * the administrator has in the agent's environment besides is not theirs to hold.
 */
static bool is_for_keepers(const char *variable)
{
	static const char *const begin[] = {
		"STINT_", "PATH=", "TZ=",	   "TMPDIR=",
		"LANG",	  "LC_",   "LD_",	   "JOURNAL_STREAM=",
		"ASAN_",  "LSAN_", "UBSAN_OPTIONS"
	};

	for (size_t i = 0; i < sizeof(begin) / sizeof(*begin); i++)
		if (!strncmp(variable, begin[i], strlen(begin[i])))
			return true;
	return false;
}

/* Of ours, and NURSERY_BINDS; the list alone is for the caller to free. */
static char **make_env(void)
{
	extern char **environ;
	size_t n = 0, nr = 1;
	char **env;

	while (environ[n])
		n++;
	env = xcalloc(n + 2, sizeof(*env));
	env[0] = (char *)NURSERY_BINDS "=1";
	for (size_t i = 0; i < n; i++)
		if (is_for_keepers(environ[i]))
			env[nr++] = environ[i];
	return env;
}

static int spawn(int program, int sock)
{
	char path[32];
	char **env = make_env();
	char *argv[] = { (char *)"stint", (char *)"keeper",
			 (char *)"--nursery=3", NULL };
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	pid_t pid;
	int k;

	posix_spawnattr_init(&attr);
	signals_spawn_reset(&attr, 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", program);
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_adddup2(&files, sock, SOCKET_IN_IT);
	k = posix_spawn(&pid, path, &files, &attr, argv, env);
	free(env);
	posix_spawn_file_actions_destroy(&files);
	posix_spawnattr_destroy(&attr);
	return -k;
}

/* Our end does not block: a nursery that is stopped must not stop us. */
static int make_nursery(struct agent *a)
{
	int pair[2], r;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return -errno;
	r = fcntl(pair[0], F_SETFL, O_NONBLOCK) < 0 ? -errno
						    : spawn(a->keeper, pair[1]);
	close(pair[1]);
	if (r < 0)
		close(pair[0]);
	else
		a->nursery = pair[0];
	return r;
}

int nursery_order(struct agent *a, const char *words, size_t n, int ready)
{
	int r = -EPIPE;

	if (n > NURSERY_ORDER_MAX)
		return -E2BIG;
	if (a->nursery >= 0)
		r = packet_send(a->nursery, words, n, &ready, 1);
	if (r != -EPIPE && r != -ECONNRESET)
		return r;
	/* There was none yet, or it has died. */
	nursery_close(a);
	r = make_nursery(a);
	return r < 0 ? r : packet_send(a->nursery, words, n, &ready, 1);
}

void nursery_close(struct agent *a)
{
	io_close(&a->nursery);
}
