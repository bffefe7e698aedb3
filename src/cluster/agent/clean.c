/*
 * clean.c - a host that leaves a cluster for good, see agent.h
 */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "cluster/agent/bind.h"
#include "cluster/agent/priv.h"
#include "cluster/capsule/bounds.h"
#include "cluster/capsule/capsule.h"
#include "cluster/host/process.h"
#include "core/io.h"
#include "core/xalloc.h"

enum { END_MS = 5000 }; /* for a keeper that is killed */

/* The pid of the process that listens on that socket; 0: none. */
static pid_t listener(const char *path)
{
	fd_auto fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	struct ucred cred;

	if (fd < 0 || strlen(path) >= sizeof(sun.sun_path))
		return 0;
	memcpy(sun.sun_path, path, strlen(path) + 1);
	if (connect(fd, (struct sockaddr *)&sun, sizeof(sun)) < 0 ||
	    io_peer_cred(fd, &cred) < 0)
		return 0;
	return cred.pid;
}

/*
 * Ask twice who listens: in between, the pid could have become another
 * process's.
 */
static void end_keeper(const char *path)
{
	pid_t pid = listener(path);
	struct process_id id;

	if (pid > 0 && !process_identify(pid, &id) && listener(path) == pid)
		(void)!process_end(&id, SIGKILL, END_MS);
}

/* Call fn for each entry of DIR/SUB whose name ends in `end`. */
static void for_each(const char *dir, const char *sub, const char *end,
		     void (*fn)(const char *path))
{
	char *path = xasprintf("%s/%s", dir, sub), *file;
	DIR *d = opendir(path);
	struct dirent *e;
	size_t n;

	while (d && (e = readdir(d))) {
		n = strlen(e->d_name);
		if (n < strlen(end) || strcmp(e->d_name + n - strlen(end), end))
			continue;
		file = xasprintf("%s/%s", path, e->d_name);
		fn(file);
		free(file);
	}
	if (d)
		closedir(d);
	free(path);
}

static void remove_file(const char *path)
{
	unlink(path);
}

/*
 * A directory that is not empty stays: it has records of moves, or files
 * that are not ours.
 */
static void remove_run_dir(const char *dir)
{
	static const char *const files[] = { "capsules/.lock", "agent.lock",
					     "score",	       "hooks",
					     "owner.sock",     "owner",
					     "contract",       "pace" };
	static const char *const dirs[] = { "capsules", "keepers", "jobs", "" };

	for_each(dir, "keepers", ".sock", remove_file);
	for_each(dir, "jobs", "", remove_file);
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		char *path = xasprintf("%s/%s", dir, files[i]);

		unlink(path);
		free(path);
	}
	for (size_t i = 0; i < sizeof(dirs) / sizeof(*dirs); i++) {
		char *path = xasprintf("%s/%s", dir, dirs[i]);

		rmdir(path);
		free(path);
	}
}

int agent_clean_up(const struct agent_conf *conf, struct error *err)
{
	fd_auto lock = -1;
	char *capsules, *guests;
	int r;

	if (!conf->run_dir)
		return error_set(err, -EINVAL,
				 "no run directory: give --run-dir=DIR");
	if (access(conf->run_dir, F_OK) < 0)
		return error_sys(err, -errno, "%s", conf->run_dir);
	lock = agent_take_run_dir(conf->run_dir, err);
	if (lock < 0)
		return lock;
	(void)agent_find_home(conf);
	for_each(conf->run_dir, "keepers", ".sock", end_keeper);
	r = capsule_end_keepers(conf->run_dir, err);
	if (r >= 0)
		r = capsule_sweep(conf->run_dir, err);
	if (r < 0)
		return r;
	guests = bounds_name(conf->run_dir);
	bounds_remove(guests);
	bind_forget(guests, conf);
	free(guests);
	capsules = xasprintf("%s/capsules", conf->run_dir);
	remove_run_dir(conf->run_dir);
	if (!access(capsules, F_OK))
		r = error_set(err, -EBUSY,
			      "%s: a process in a capsule does not die; try "
			      "again later",
			      capsules);
	free(capsules);
	return r < 0 ? r : 0;
}
