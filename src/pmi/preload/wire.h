/*
 * wire.h - the rank's end of PMI-1, for a library inside the rank
 *
 * The launcher's end is pmi/pmi.h.  One conversation per process, over the
 * descriptor in PMI_FD.  Any thread may call; calls are serialized.  Results
 * are 0 or negative errnos; -EPROTO for an unexpected answer.
 */
#ifndef PMI_PRELOAD_WIRE_H
#define PMI_PRELOAD_WIRE_H

#include <stddef.h>
#include <stdint.h>

#include "pmi/pmi.h"

/* From PMI_FD, PMI_RANK and PMI_SIZE; -ENOENT without them. */
int pmi_wire_open(uint32_t *ret_rank, uint32_t *ret_size);

/* Begins the conversation; returns the job's name, unique in its cluster. */
int pmi_wire_begin(char ret_name[PMI_KVSNAME_MAX]);

/*
 * Sends this rank's bytes and gets those of all ranks, concatenated (malloc'd;
 * the caller frees).  Returns when all ranks have called it.
 */
int pmi_wire_fence(const void *mine, size_t n, void **ret, size_t *ret_n);

int pmi_wire_finalize(void);

/* Ends the job.  Does not wait, not even for another thread's fence. */
void pmi_wire_abort(int code);

#endif
