/* script.c - see script.h */
#include "cluster/agent/script.h"

#include <errno.h>
#include <inttypes.h>
#include <libgen.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cluster/host/process.h"
#include "core/signals.h"
#include "core/xalloc.h"

enum { VARIABLES = 6 };

/* A directory in which nobody removes what is another's may be anybody's. */
static bool is_safe(const struct stat *st)
{
	return (st->st_uid == 0 || st->st_uid == geteuid()) &&
	       (!(st->st_mode & (S_IWGRP | S_IWOTH)) ||
		(S_ISDIR(st->st_mode) && st->st_mode & S_ISVTX));
}

/* The file, and each directory above it. */
static int check_chain(char *at, struct error *err)
{
	struct stat st;

	for (;; at = dirname(at)) {
		if (stat(at, &st) < 0)
			return error_sys(err, -errno, "%s", at);
		if (!is_safe(&st))
			return error_set(err, -EPERM,
					 "%s: others than root may change it",
					 at);
		if (!strcmp(at, "/"))
			return 0;
	}
}

int script_check(const char *path, struct error *err)
{
	char real[PATH_MAX];
	struct stat st;

	if (!realpath(path, real) || stat(real, &st) < 0)
		return error_sys(err, -errno, "%s", path);
	if (!S_ISREG(st.st_mode) || access(real, X_OK) < 0)
		return error_set(err, -EACCES, "%s is no program", path);
	return check_chain(real, err);
}

/* The last is NULL; the strings are for the caller to free. */
static void make_env(const struct script_job *job, char *to[VARIABLES + 1])
{
	to[0] = xstrdup("PATH=/usr/sbin:/usr/bin:/sbin:/bin");
	to[1] = xasprintf("STINT_JOB_ID=%s", job->id);
	to[2] = xasprintf("STINT_RANK=%" PRIu32, job->rank);
	to[3] = xasprintf("STINT_USER=%s", job->user);
	to[4] = xasprintf("STINT_UID=%" PRIu32, job->uid);
	to[5] = xasprintf("STINT_HOST=%s", job->host);
	to[6] = NULL;
}

/* What it prints goes where our own log does. */
static int spawn(const char *path, char **env, pid_t *ret)
{
	char *argv[] = { (char *)path, NULL };
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	int r;

	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_addopen(&files, 0, "/dev/null", 0, 0);
	posix_spawn_file_actions_adddup2(&files, 2, 1);
	posix_spawn_file_actions_addchdir_np(&files, "/");
	posix_spawnattr_init(&attr);
	signals_spawn_reset(&attr, POSIX_SPAWN_SETPGROUP);
	r = -posix_spawn(ret, path, &files, &attr, argv, env);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&files);
	return r;
}

pid_t script_spawn(const char *path, const struct script_job *job,
		   struct error *err)
{
	char *env[VARIABLES + 1];
	pid_t pid = 0;
	int r = script_check(path, err);

	if (r < 0)
		return r;
	make_env(job, env);
	r = spawn(path, env, &pid);
	for (char **p = env; *p; p++)
		free(*p);
	if (r < 0)
		return error_sys(err, r, "%s", path);
	process_spare_no_more(pid);
	return pid;
}
