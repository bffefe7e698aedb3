/* xalloc.c - allocation that cannot fail, see xalloc.h */
#include "core/xalloc.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *checked(void *p, size_t size)
{
	if (!p) {
		fprintf(stderr, "stint: out of memory (%zu bytes)\n", size);
		abort();
	}
	return p;
}

void *xmalloc(size_t size)
{
	return checked(malloc(size ? size : 1), size);
}

void *xcalloc(size_t n, size_t size)
{
	return checked(calloc(n ? n : 1, size ? size : 1), size);
}

void *xcalloc_aligned(size_t align, size_t size)
{
	return memset(checked(aligned_alloc(align, size), size), 0, size);
}

void *xrealloc(void *p, size_t size)
{
	return checked(realloc(p, size ? size : 1), size);
}

void *xreallocarray(void *p, size_t n, size_t size)
{
	size_t total;

	if (__builtin_mul_overflow(n, size, &total))
		total = SIZE_MAX;
	return checked(total == SIZE_MAX ? NULL : realloc(p, total ? total : 1),
		       total);
}

char *xstrdup(const char *s)
{
	return checked(strdup(s), strlen(s));
}

char *xasprintf(const char *fmt, ...)
{
	va_list ap;
	char *s;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&s, fmt, ap);
	va_end(ap);
	return checked(n < 0 ? NULL : s, 0);
}

FILE *xmemstream(char **ret, size_t *ret_size)
{
	return checked(open_memstream(ret, ret_size), 0);
}

void *array_grow(void *p, size_t *cap, size_t size)
{
	*cap = *cap ? *cap * 2 : 16;
	return xreallocarray(p, *cap, size);
}
