/*
 * preload.h - what the pieces of libstint-pmi.so share
 *
 * The library is preloaded into ranks, that is, into other people's programs;
 * in those that are not MPI it does nothing.  It must not change what the
 * program sees.  Functions that it replaces must be exported (PRELOAD_EXPORT);
 * all others are hidden.
 */
#ifndef PMI_PRELOAD_PRELOAD_H
#define PMI_PRELOAD_PRELOAD_H

#define PRELOAD_EXPORT __attribute__((visibility("default")))

/*
 * The function of this name that would have been called without this library,
 * or NULL.  Libraries loaded into a scope of their own (by Python modules) call
 * the preloaded function, but RTLD_NEXT does not find theirs: they are searched
 * last.
 */
void *preload_next(const char *name);

#endif
