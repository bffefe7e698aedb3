/*
 * hooks_word.h - what an agent found at its host's network hooks, for its
 * keepers
 *
 * Whether anything on the host inspects forwarded packets (net/fast_path.h) is
 * the same for all ranks there, and expensive to find out.  So the agent looks
 * once a second while it has keepers, and writes the result and the time into
 * RUN_DIR/hooks, which keepers read when the next one is due.  An old result is
 * ignored: the agent is gone or too busy, and the keeper looks for itself.
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
/* A descriptor for writing; the file is created if missing.  Or -errno. */
int hooks_open(const char *run_dir, struct error *err) must_check;
/* Write the result, with the present time. */
int hooks_write(int fd, const struct net_hooks *word) must_check;
/*
 * False: the file is missing, incomplete or not fresh.  *ret_when is when it was
 * written, by CLOCK_MONOTONIC.
 */
bool hooks_read(const char *run_dir, struct net_hooks *ret, usec_t *ret_when);

#endif
