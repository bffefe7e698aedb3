/* newcomers.c - see newcomers.h */
#include "cluster/agent/newcomers.h"

#include <errno.h>
#include <stdlib.h>

#include "cluster/agent/guests.h"
#include "core/xalloc.h"

void newcomers_add(struct newcomers *n, const char *capsule)
{
	array_room(n->name, n->nr, &n->cap);
	n->name[n->nr++] = xstrdup(capsule);
}

uint32_t newcomers_know(struct newcomers *n, const char *run_dir,
			const char *owners)
{
	uint32_t guests = 0;
	size_t kept = 0;

	for (size_t i = 0; i < n->nr; i++) {
		int r = guest_is(run_dir, owners, n->name[i]);

		if (r == -EAGAIN) {
			n->name[kept++] = n->name[i];
			continue;
		}
		guests += r != 0;
		free(n->name[i]);
	}
	n->nr = kept;
	return guests;
}

void newcomers_clear(struct newcomers *n)
{
	for (size_t i = 0; i < n->nr; i++)
		free(n->name[i]);
	free(n->name);
	*n = (struct newcomers){ .nr = 0 };
}
