/*
 * strangers.h - how far processes of other users are looked into
 *
 * Whether anybody else has something of the process that is to move, each process of the
 * machine is asked.  One user's millions of descriptors, or mappings, would so keep all
 * others' processes from moving, for minutes each.  What is another user's, and not root's,
 * is therefore looked into to some depth only, all of them together: more than people's
 * programs have, and whoever hides behind more than that has a copy of what the other
 * gave him.
 */
#ifndef MOVE_PROC_STRANGERS_H
#define MOVE_PROC_STRANGERS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#define STRANGERS_MOST (1 << 16) /* descriptors and mappings */
#define STRANGERS_FEW  16	 /* that each is asked for anyhow */

struct strangers {
	uid_t uid; /* whose are no strangers */
	int64_t left;
};

struct strangers strangers_to(pid_t pid);

/* Is that one, whom root can see, somebody else's? */
bool strangers_are(const struct strangers *s, pid_t pid);

/* Has that process the file open?  Of a stranger's descriptors, as many as are left. */
bool strangers_have_open(struct strangers *s, pid_t pid, const struct stat *st);

#endif
