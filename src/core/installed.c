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

/* `path` itself is freed. */
static char *if_trusted(char *path)
{
	char *real = path ? realpath(path, NULL) : NULL;

	free(path);
	if (real && is_trusted(real))
		return real;
	free(real);
	return NULL;
}

/*
 * What is `installed` below the configured prefix lies as far below the prefix that
 * this tree has now, which is what its folder of programs is in.
 */
static char *in_this_tree(const char *folder, const char *installed)
{
	static const char *const programs[] = { "/" STINT_BIN_DIR,
						"/" STINT_LIBEXEC_DIR };
	size_t prefix = strlen(STINT_PREFIX), n = strlen(folder), end;

	if (strncmp(installed, STINT_PREFIX "/", prefix + 1) != 0)
		return NULL;
	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
		end = strlen(programs[i]);
		if (n >= end && !strcmp(folder + n - end, programs[i]))
			return xasprintf("%.*s%s", (int)(n - end), folder,
					 installed + prefix);
	}
	return NULL;
}

char *installed_find(const char *built, const char *installed)
{
	char folder[4096], *path = NULL, *slash;
	ssize_t n = readlink("/proc/self/exe", folder, sizeof(folder) - 1);

	if (n > 0) {
		folder[n] = '\0';
		slash = strrchr(folder, '/');
		if (slash)
			*slash = '\0';
		path = if_trusted(xasprintf("%s/%s", folder, built));
		if (!path)
			path = if_trusted(in_this_tree(folder, installed));
	}
	if (!path && !access(installed, R_OK))
		path = xstrdup(installed);
	return path;
}
