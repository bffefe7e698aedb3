#include "pmi/preload/preload.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>

enum { PATHS = 16, PATH_MAX_HERE = 512 };

/* Of loaded libraries that may be those of an MPI. */
struct paths {
	char path[PATHS][PATH_MAX_HERE];
	size_t nr;
};

static int note_path(struct dl_phdr_info *info, size_t size, void *ctx)
{
	static const char *const parts[] = { "libmpi", "libucp.",
					     "libopen-pal.", "libpmix." };
	struct paths *paths = ctx;
	size_t n = strlen(info->dlpi_name);

	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		if (paths->nr < PATHS && n < PATH_MAX_HERE &&
		    strstr(info->dlpi_name, parts[i])) {
			memcpy(paths->path[paths->nr++], info->dlpi_name,
			       n + 1);
			break;
		}
	return 0;
}

/* Not from inside dl_iterate_phdr(), which holds a lock that dlopen() wants. */
static void *find_in(const struct paths *paths, const char *name)
{
	void *library, *found = NULL;

	for (size_t i = 0; i < paths->nr && !found; i++) {
		library = dlopen(paths->path[i], RTLD_LAZY | RTLD_NOLOAD);
		if (!library)
			continue;
		found = dlsym(library, name);
		dlclose(library);
	}
	return found;
}

void *preload_next(const char *name)
{
	void *found = dlsym(RTLD_NEXT, name);
	struct paths paths = { .nr = 0 };

	if (found)
		return found;
	dl_iterate_phdr(note_path, &paths);
	return find_in(&paths, name);
}
