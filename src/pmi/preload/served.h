/*
 * served.h - whether this process is a rank with a PMIx server of its own
 * (pmi/preload/pmix.c)
 */
#ifndef PMI_PRELOAD_SERVED_H
#define PMI_PRELOAD_SERVED_H

#include <pmix.h>
#include <stdint.h>

/*
 * The name by which its PMIx client goes, and how many ranks the job has; NULL
 * before the server has begun, and in programs that are no ranks.  The name
 * lasts as long as the process.
 */
const pmix_proc_t *pmix_served(uint32_t *ranks);

#endif
