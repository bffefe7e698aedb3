/*
 * scratch.h - a temporary directory for a test, removed however its process
 * ends
 *
 * Linked into unit tests and fuzzers alone.
 */
#ifndef CORE_SCRATCH_H
#define CORE_SCRATCH_H

#define SCRATCH_MAX 40

/* Create a new one below `where` ("/tmp"); exits the process if it cannot. */
void scratch_dir(char ret[SCRATCH_MAX], const char *where);
/* Write that text, and nothing else, to dir/file; aborts if it cannot. */
void scratch_put(const char *dir, const char *file, const char *text);

#endif
