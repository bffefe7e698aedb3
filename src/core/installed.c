/*
 * installed.c - files that come with Stint
 */
#include "core/installed.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/xalloc.h"

/*
 * Who may write to it?  A group of the same number as its owner is the owner's
 * own, where such a one is every user's, and files are made with umask 002.
 */
static bool is_kept_well(const char *path, uid_t program)
{
	struct stat st;

	if (stat(path, &st) < 0 || st.st_mode & S_IWOTH)
		return false;
	if (st.st_mode & S_IWGRP && st.st_gid && st.st_gid != st.st_uid)
		return false;
	return !st.st_uid || st.st_uid == program || st.st_uid == geteuid();
}

/*
 * Where the program lies in a folder that all may write to, such as /tmp, what
 * is beside it may be anybody's, and is executed.  The folder counts, too: who
 * may write to it can put another file there.
 */
static bool is_trusted(const char *real)
{
	struct stat program;
	char *folder;
	bool ret;

	if (stat("/proc/self/exe", &program) < 0 ||
	    !is_kept_well(real, program.st_uid))
		return false;
	folder = xstrdup(real);
	*strrchr(folder, '/') = '\0';
	ret = is_kept_well(*folder ? folder : "/", program.st_uid);
	free(folder);
	return ret;
}

char *installed_find(const char *built, const char *installed)
{
	char exe[4096], *path, *real, *slash;
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);

	if (n > 0) {
		exe[n] = '\0';
		slash = strrchr(exe, '/');
		if (slash)
			*slash = '\0';
		path = xasprintf("%s/%s", exe, built);
		real = realpath(path, NULL);
		free(path);
		if (real && is_trusted(real))
			return real;
		free(real);
	}
	return access(installed, R_OK) ? NULL : xstrdup(installed);
}
