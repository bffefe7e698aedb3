/*
 * linked.h - programs that Open MPI is linked into statically
 *
 * MPICH finds its job by PMI-1 over a descriptor, statically linked or not.
 * Open MPI is reached by a preloaded library (pmi/preload/pmix.c), and a static
 * program loads none: each of its ranks would take itself for a job of one.  So
 * it is recognized, and refused, where it is about to be executed.
 */
#ifndef PMI_LINKED_H
#define PMI_LINKED_H

#include <stdbool.h>

/*
 * Whether the file is an ELF program without a dynamic loader that has Open
 * MPI's initialization in it, by its symbols or, if it is stripped, by its
 * messages.  false for all else, and for a file that cannot be read.  Allocates
 * nothing and changes no errno: it may be called between fork() and execve().
 */
bool pmi_linked_statically(const char *path);

/* What there is to say of it, after the path. */
#define PMI_LINKED_REFUSAL                                                    \
	"Open MPI is linked into it statically, so that its ranks cannot be " \
	"told of each other; link it with the shared libmpi, or run it with " \
	"-n 1"

#endif
