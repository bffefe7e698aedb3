/*
 * vdso.h - the code that a kernel lends to processes, on another kernel
 *
 * The vdso reads pages of its own kernel, whose layout is between those two.
 * Programs keep pointers into it.  So where the destination's is another one,
 * the process gets a copy of its old one as ordinary memory, of which every
 * entry is a plain system call.  That is slower (a clock costs 0.1 us instead
 * of 0.03), and works on any kernel, on later moves as well.
 */
#ifndef MOVE_TRACEE_VDSO_H
#define MOVE_TRACEE_VDSO_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/error.h"

#define VDSO_MAX (64u << 10)

/* That of a process, as its kernel made it, malloc'd, and where it lies; NULL and 0: it has none. */
int vdso_read(pid_t pid, uint8_t **ret, size_t *ret_n, uint64_t *ret_at);

/* Is that one, so that two of the same kernel have the same?  0: no vdso. */
uint64_t vdso_hash(const void *image, size_t n);

/*
 * Turn all its functions into system calls; those that nobody knows say
 * -ENOSYS.  The image is not trusted.
 */
int vdso_redirect(uint8_t *image, size_t n, struct error *err) must_check;

#endif
