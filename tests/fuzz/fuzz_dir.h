/*
 * fuzz_dir.h - a directory on a tmpfs that goes however its process ends
 */
#ifndef FUZZ_DIR_H
#define FUZZ_DIR_H

/* Made once for the process. */
const char *fuzz_dir(void);

#endif
