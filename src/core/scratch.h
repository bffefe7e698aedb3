/*
 * scratch.h - a directory for a test, which goes however its process ends
 *
 * Linked into unit tests and fuzzers alone.
 */
#ifndef CORE_SCRATCH_H
#define CORE_SCRATCH_H

#define SCRATCH_MAX 40

/* Makes a new one below WHERE ("/tmp"); ends the process if it cannot. */
void scratch_dir(char ret[SCRATCH_MAX], const char *where);

#endif
