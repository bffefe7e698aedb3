/*
 * execute.c - no rank of several executes an Open MPI that cannot find the others
 *
 * What the keeper starts it has looked at itself (pmi/linked.h).  Behind a shell, env
 * or an interpreter the program is executed in here: this stands in for those of the
 * C library's functions that such call.  (execl() and posix_spawn() reach the kernel
 * without them; a static shell has no library at all.)
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "pmi/linked.h"
#include "pmi/preload/preload.h"

static bool one_of_several;

typedef int execute_function(const char *, char *const[], char *const[]);
static execute_function *real_execve, *real_execvpe;

/* Looked up here: a child of fork() must not wait for the loader's lock. */
__attribute__((constructor)) static void execute_init(void)
{
	const char *size = getenv("PMI_SIZE");

	one_of_several = size && strtoul(size, NULL, 10) > 1;
	real_execve = (execute_function *)preload_next("execve");
	real_execvpe = (execute_function *)preload_next("execvpe");
}

/* Of an error code the caller would say something else, or try another file. */
static void refuse_program(const char *path)
{
	char text[512];
	int n = snprintf(text, sizeof(text),
			 "stint: cannot run %.200s: " PMI_LINKED_REFUSAL "\n",
			 path);

	(void)!write(STDERR_FILENO, text, (size_t)n);
	_exit(126);
}

static void check(const char *path)
{
	if (one_of_several && pmi_linked_statically(path))
		refuse_program(path);
}

/* Folders may be searched, but not executed. */
static bool may_execute(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISREG(st.st_mode) && !access(path, X_OK);
}

/* The first file that may be executed is what execvp() takes. */
static void check_in_path(const char *name)
{
	const char *dir = getenv("PATH"), *end;
	char path[4096];

	for (dir = dir ? dir : "/bin:/usr/bin";; dir = end + 1) {
		end = strchrnul(dir, ':');
		if ((size_t)snprintf(
			    path, sizeof(path), "%.*s%s%s", (int)(end - dir),
			    dir, end == dir ? "" : "/", name) < sizeof(path) &&
		    may_execute(path)) {
			check(path);
			return;
		}
		if (!*end)
			return;
	}
}

PRELOAD_EXPORT int execve(const char *path, char *const argv[],
			  char *const env[])
{
	check(path);
	return real_execve ? real_execve(path, argv, env)
			   : (int)syscall(SYS_execve, path, argv, env);
}

PRELOAD_EXPORT int execv(const char *path, char *const argv[])
{
	return execve(path, argv, environ);
}

PRELOAD_EXPORT int execvpe(const char *file, char *const argv[],
			   char *const env[])
{
	if (strchr(file, '/'))
		check(file);
	else if (one_of_several)
		check_in_path(file);
	if (real_execvpe)
		return real_execvpe(file, argv, env);
	errno = ENOSYS;
	return -1;
}

PRELOAD_EXPORT int execvp(const char *file, char *const argv[])
{
	return execvpe(file, argv, environ);
}
