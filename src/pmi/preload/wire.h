/*
 * wire.h - the rank's end of PMI-1, for a library inside the rank
 *
 * The launcher's end is pmi/pmi.h.  One conversation of a process, over the
 * descriptor in PMI_FD; any thread may call, and those that wait for an answer
 * wait for each other.  Numbers are 0 or negative errnos; -EPROTO where the
 * answer is another one than was expected.
 */
#ifndef PMI_PRELOAD_WIRE_H
#define PMI_PRELOAD_WIRE_H

#include <stddef.h>
#include <stdint.h>

#include "pmi/pmi.h"

/* From PMI_FD, PMI_RANK and PMI_SIZE; -ENOENT without them. */
int pmi_wire_open(uint32_t *ret_rank, uint32_t *ret_size);

/* Says hello; the job's name, unique in its cluster. */
int pmi_wire_begin(char ret_name[PMI_KVSNAME_MAX]);

/*
 * Bytes of this rank out, those of all ranks, one after the other, in (malloc'd;
 * the caller frees).  Returns when all ranks have called.
 */
int pmi_wire_fence(const void *mine, size_t n, void **ret, size_t *ret_n);

int pmi_wire_finalize(void);

/* Ends the job.  Does not wait, also not for another thread's fence. */
void pmi_wire_abort(int code);

#endif
