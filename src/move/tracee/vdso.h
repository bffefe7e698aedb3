/*
 * vdso.h - replacing the vdso for a process that moves to another kernel
 *
 * The vdso reads data pages of its own kernel, in a layout private to the two.
 * Programs keep pointers into it.  So if the destination's vdso differs, the
 * process gets a copy of its old one as ordinary memory, in which every
 * function is a plain system call.  That is slower (a clock costs 0.1 us
 * instead of 0.03), and works on any kernel, on later moves as well.
 */
#ifndef MOVE_TRACEE_VDSO_H
#define MOVE_TRACEE_VDSO_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/error.h"

#define VDSO_MAX (64u << 10)

/*
 * A copy of a process's vdso (malloc'd) and its address; NULL and 0 if it has
 * none.
 */
int vdso_read(pid_t pid, uint8_t **ret, size_t *ret_n, uint64_t *ret_at);

/* A hash that is equal for vdsos of the same kernel.  0: no vdso. */
uint64_t vdso_hash(const void *image, size_t n);

/*
 * Turn all its functions into system calls; unknown ones return -ENOSYS.  The
 * image is not trusted.
 */
int vdso_redirect(uint8_t *image, size_t n, struct error *err) must_check;

#endif
