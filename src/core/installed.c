/*
 * installed.c - files that come with Stint
 */
#include "core/installed.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/xalloc.h"

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
		if (real)
			return real;
	}
	return access(installed, R_OK) ? NULL : xstrdup(installed);
}
