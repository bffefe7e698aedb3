/*
 * installed.h - files that come with Stint
 *
 * A program run from the build tree, or from an install tree that was moved, finds its
 * files there, not those of another version that is installed.
 */
#ifndef CORE_INSTALLED_H
#define CORE_INSTALLED_H

/*
 * The first of these that is there: the path `built`, relative to the directory of the
 * running program; where the file that is called `installed` (absolute) lies in the
 * running program's own install tree, which may have been moved as a whole; `installed`.
 * NULL if none is.  For the caller to free.
 *
 * Of the first two it must be true that file and folder are root's, the program's owner's
 * or ours, and that nobody else may write to either; else they count as not there.
 */
char *installed_find(const char *built, const char *installed);

#endif
