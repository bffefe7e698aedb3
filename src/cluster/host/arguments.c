/* arguments.c - how much a program can be given, see arguments.h */
#include "cluster/host/arguments.h"

#include <errno.h>
#include <string.h>

int arguments_add(struct arguments *sum, char *const *list, size_t n,
		  struct error *err)
{
	for (size_t i = 0; i < n; i++) {
		size_t size = strlen(list[i]) + 1;

		if (size > ARGUMENT_MAX)
			return error_set(err, -E2BIG,
					 "an argument or variable of %zu bytes "
					 "('%.20s...'): %d at most",
					 size - 1, list[i], ARGUMENT_MAX - 1);
		sum->bytes += size + sizeof(char *);
		if (sum->bytes > ARGUMENTS_MAX)
			return error_set(err, -E2BIG,
					 "arguments and environment of more "
					 "than %d MiB: no program can be given "
					 "so much",
					 ARGUMENTS_MAX >> 20);
	}
	return 0;
}
