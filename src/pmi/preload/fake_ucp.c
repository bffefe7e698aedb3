/* fake_ucp.c - a libucp.so.0 whose progress is what the test makes of it */
#include "pmi/preload/fake_ucp.h"

#include <stdlib.h>

static void (*on_progress)(void);

void fake_ucp_init(void (*progress)(void))
{
	on_progress = progress;
}

/* These have the shape of ucp.h. */
int ucp_worker_create(void *context, const void *params, void **ret);
unsigned ucp_worker_progress(void *worker);
void ucp_worker_destroy(void *worker);

int ucp_worker_create(void *context, const void *params, void **ret)
{
	*ret = malloc(1);
	return 0;
}

unsigned ucp_worker_progress(void *worker)
{
	on_progress();
	return 0;
}

void ucp_worker_destroy(void *worker)
{
	free(worker);
}
