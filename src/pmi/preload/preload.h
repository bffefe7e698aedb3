/*
 * preload.h - what the pieces of libstint-pmi.so share
 *
 * The library is preloaded into ranks: a guest in somebody else's program, and
 * all but asleep in those that are not MPI.  It keeps what the program sees as
 * it would be without.  What it stands in for must be exported (PRELOAD_EXPORT); all
 * else is hidden.
 */
#ifndef PMI_PRELOAD_PRELOAD_H
#define PMI_PRELOAD_PRELOAD_H

#define PRELOAD_EXPORT __attribute__((visibility("default")))

/*
 * The function of this name that would have been called without this library,
 * or NULL.  Libraries that were loaded into a scope of their own (those of
 * Python's modules) call what is preloaded, but are not among what comes after
 * it: they are searched last.
 */
void *preload_next(const char *name);

#endif
