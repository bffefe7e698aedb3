/*
 * xalloc.h - memory allocation that cannot fail
 *
 * Running out of memory is fatal: these functions print one line and abort; a
 * restarted daemon recovers from its store.  Free with free().
 */
#ifndef CORE_XALLOC_H
#define CORE_XALLOC_H

#include <stddef.h>
#include <stdio.h>

void *xmalloc(size_t size) __attribute__((malloc, returns_nonnull));
void *xcalloc(size_t n, size_t size) __attribute__((malloc, returns_nonnull));
/* Filled with zeros, at a multiple of `align`, which is a power of two and divides the size. */
void *xcalloc_aligned(size_t align, size_t size)
	__attribute__((malloc, returns_nonnull));
void *xrealloc(void *p, size_t size) __attribute__((returns_nonnull));
/* n members of size each; aborts when the product overflows. */
void *xreallocarray(void *p, size_t n, size_t size)
	__attribute__((returns_nonnull));
char *xstrdup(const char *s) __attribute__((malloc, returns_nonnull));
char *xasprintf(const char *fmt, ...)
	__attribute__((format(printf, 1, 2), returns_nonnull));
/* open_memstream(): fclose() completes the text, which is free()'d. */
FILE *xmemstream(char **ret, size_t *ret_size) __attribute__((returns_nonnull));

/*
 * Make room for one more member in a growing array: *p has room for *cap
 * members of size each, n are in use.  Doubles, so appending is amortized O(1).
 */
#define array_room(p, n, cap)   \
	((void)((n) < *(cap) || \
		((p) = array_grow((p), (cap), sizeof(*(p))), 0)))
void *array_grow(void *p, size_t *cap, size_t size);

#endif
