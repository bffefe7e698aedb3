/*
 * installed.h - files that come with Stint
 *
 * A program run from the build tree finds its files there, not those of an
 * older installed version.
 */
#ifndef CORE_INSTALLED_H
#define CORE_INSTALLED_H

/*
 * The path `built`, relative to the directory of the running program, if it
 * exists and is, with its folder, root's, the program's owner's or ours, and
 * nobody else may write to either; else `installed` (absolute) if that exists;
 * else NULL.  For the caller to free.
 */
char *installed_find(const char *built, const char *installed);

#endif
