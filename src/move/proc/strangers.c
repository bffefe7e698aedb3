/* strangers.c - see strangers.h */
#include "move/proc/strangers.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/io.h"
#include "move/proc/proc.h"

#define ENTRY_LEAST 24 /* bytes of a short name in a list of them */

struct strangers strangers_to(pid_t pid)
{
	struct strangers s = { .left = STRANGERS_MOST };
	struct proc_status st;

	if (proc_read_status(pid, &st, NULL) == 0)
		s.uid = st.uid;
	return s;
}

/* By its status: the directory of one that must not be traced is root's. */
bool strangers_are(const struct strangers *s, pid_t pid)
{
	struct proc_status st;

	return proc_read_status(pid, &st, NULL) == 0 && st.uid &&
	       st.uid != s->uid;
}

/* What getdents64(2) writes. */
struct entry {
	uint64_t ino;
	int64_t next;
	uint16_t length;
	uint8_t type;
	char name[];
};

/* Is one of these it?  room: of them; of a stranger's, as many as are left. */
static bool is_among(int dir, const char *entries, long room,
		     const struct stat *want, int64_t *left)
{
	const struct entry *e;
	struct stat st;

	for (long at = 0; at < room; at += e->length) {
		e = (const void *)(entries + at);
		if (left && (*left)-- <= 0)
			return false;
		if (fstatat(dir, e->name, &st, 0) == 0 &&
		    st.st_dev == want->st_dev && st.st_ino == want->st_ino)
			return true;
	}
	return false;
}

/*
 * Not by readdir(3): for each number that the kernel lists it makes an entry in a cache, and
 * readdir asks for more than a thousand at once, also of one of which few are wanted.
 */
bool strangers_have_open(struct strangers *s, pid_t pid, const struct stat *st)
{
	_Alignas(struct entry) char few[STRANGERS_FEW * ENTRY_LEAST];
	_Alignas(struct entry) char many[16384];
	bool found, stranger;
	char path[32];
	fd_auto dir = -1;
	long n;

	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	n = syscall(SYS_getdents64, dir, few, sizeof(few));
	found = n > 0 && is_among(dir, few, n, st, NULL);
	stranger = n > 0 && !found && strangers_are(s, pid);
	while (n > 0 && !found && (!stranger || s->left > 0)) {
		n = syscall(SYS_getdents64, dir, many, sizeof(many));
		if (n > 0)
			found = is_among(dir, many, n, st,
					 stranger ? &s->left : NULL);
	}
	return found;
}
