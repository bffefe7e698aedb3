/*
 * hooks_word.h - what an agent found at its host's hooks, for all its keepers
 *
 * Whether somebody on the host wants to see forwarded packets (net/fast_path.h)
 * is the same for all ranks there, and not cheap to find out.  So the agent looks
 * once a second while it has keepers, and writes what it found into
 * RUN_DIR/hooks; the keepers are told of each write by the kernel (inotify).  A
 * word that is not fresh counts for nothing: then the agent is gone or does not
 * get round to it, and who needs to know looks himself.
 *
 * The file stays the same one for as long as the run directory is there, so that
 * keepers hear a new agent too.
 */
#ifndef CLUSTER_HOST_HOOKS_WORD_H
#define CLUSTER_HOST_HOOKS_WORD_H

#include <stdbool.h>

#include "core/error.h"
#include "core/units.h"
#include "net/fast_path.h"

#define HOOKS_EVERY USEC_PER_SEC
#define HOOKS_FRESH (5 * USEC_PER_SEC / 2)

/* RUN_DIR/hooks, for the caller to free. */
char *hooks_path(const char *run_dir);
/* A descriptor to write it with, made if need be; or -errno. */
int hooks_open(const char *run_dir, struct error *err) must_check;
/* Say it, as of now. */
int hooks_write(int fd, const struct net_hooks *word) must_check;
/* False: there is no word, none that is whole, or none that is fresh. */
bool hooks_read(const char *run_dir, struct net_hooks *ret);

#endif
