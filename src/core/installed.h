/*
 * installed.h - files that come with Stint
 *
 * What is used from the build tree finds its parts there, so that nothing of an
 * older version that is installed comes between.
 */
#ifndef CORE_INSTALLED_H
#define CORE_INSTALLED_H

/*
 * The file `built`, seen from the directory that the running program is in, if
 * there is one; else `installed` (absolute), if there is one; else NULL.  In
 * fresh memory for the caller to free.
 */
char *installed_find(const char *built, const char *installed);

#endif
