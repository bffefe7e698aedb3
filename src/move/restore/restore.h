/*
 * restore.h - turn the landing process into the one that is described
 */
#ifndef MOVE_RESTORE_RESTORE_H
#define MOVE_RESTORE_RESTORE_H

#include <sys/resource.h>

#include "core/error.h"
#include "move/land/land.h"
#include "move/wire/state.pb-c.h"

/* ---- map.c: its memory ---- */

/* Unmap all but the stub, and put the vdso where the source has it. */
int restore_clear(struct landing *l, uint64_t vdso,
		  struct error *err) must_check;
/*
 * Instead of that: place the image at `at`, redirected to system calls
 * (tracee/vdso.h).
 */
int restore_vdso(struct landing *l, uint64_t at, const void *image, size_t n,
		 struct error *err) must_check;

/*
 * room.c: may L, which has none yet, have so many signals queued and lock so many
 * bytes? L makes the calls that find out, right after restore_clear().
 */
int restore_check_room(struct landing *l, uint64_t queued, uint64_t locked,
		       struct error *err) must_check;

/* Open the file of a mapping, as landing_open(). */
int restore_open(struct landing *l, const Move__Vma *v,
		 struct error *err) must_check;
/*
 * Queue one mapping, of that file, or fd -1; private ones writable for the time
 * being.
 */
int restore_map(struct landing *l, const Move__Vma *v, int fd,
		struct error *err) must_check;

/* ---- protect.c: what may be done with it ---- */

/*
 * Private mappings that the process may not write to, ascending and disjoint.  All
 * others, and those that are not set, L can write to.
 */
struct restore_protected {
	struct restore_protection {
		uint64_t start, end;
		uint32_t prot;
		bool set; /* L has this protection there */
	} * v;
	size_t nr, cap;
};

/* That was mapped, in place of what was there; or unmapped. */
void restore_mapped(struct restore_protected *p, const Move__Vma *v);
void restore_unmapped(struct restore_protected *p, uint64_t start,
		      uint64_t end);
/* Protect them all, between two rounds. */
int restore_protect(struct landing *l, struct restore_protected *p,
		    struct error *err) must_check;
/* Pages are to be written there. */
int restore_open_range(struct landing *l, struct restore_protected *p,
		       uint64_t start, uint64_t end,
		       struct error *err) must_check;
/* Queue the calls that protect all mappings, when their pages are in place. */
int restore_protections(struct landing *l, const Move__State *s,
			const struct restore_protected *p,
			struct error *err) must_check;

/* ---- the rest of it ---- */

/* Set L's executable (/proc/PID/exe); before landing_restore_fds(). */
int restore_exe(struct landing *l, const char *path,
		struct error *err) must_check;

/*
 * L's credentials before it becomes the process, as its own calls report them.
 */
struct restore_ids {
	uint32_t uid[3], gid[3];
	int32_t nr_groups;
	uint32_t group[256];
	uint64_t caps[5]; /* inheritable permitted effective bounding ambient */
	uint64_t most[RLIM_NLIMITS]; /* hard limits */
};

/* creds.c: fill ids; all threads are the same. */
int restore_read_ids(struct landing *l, struct restore_ids *ids,
		     struct error *err) must_check;

/*
 * All pages are in place: protections, advice, the process's own settings,
 * its threads.  When it returns, every thread waits for the release.
 */
int restore_state(struct landing *l, const Move__State *s,
		  const struct restore_ids *ids, struct restore_protected *p,
		  struct error *err) must_check;

/* cpu.c: CPU clocks continue, if they are read through the vdso. */
int restore_cpu_clocks(struct landing *l, const Move__State *s,
		       struct restore_protected *p,
		       struct error *err) must_check;

/* locks.c: take fcntl(F_SETLK) locks, when all else is restored. */
int restore_locks(struct landing *l, struct error *err) must_check;

/* timers.c: POSIX timers with their ids, not armed yet. */
int restore_timers(struct landing *l, const Move__State *s,
		   struct error *err) must_check;

/*
 * signals.c: signals that wait, where they are too many for
 * restore_thread_list(), and the mask of their numbers; own: of the leader, or
 * of the process.
 */
uint64_t restore_by_leader(Move__Signal *const *s, size_t n, bool own);
/* Have as many signals as there are wait for L, as far as this engine may. */
void restore_lift_signals(const struct landing *l);
int restore_many_signals(struct landing *l, const Move__State *s,
			 struct error *err) must_check;

/* A thread's last steps, written into its slot. */
int restore_thread_list(struct landing *l, const Move__State *s, size_t i,
			const struct restore_ids *ids,
			struct error *err) must_check;
/* Have all steps succeeded that must? */
int restore_thread_check(struct landing *l, const Move__State *s, size_t i,
			 struct error *err) must_check;

/*
 * creds.c: append to call[0..*nr) the calls that give a thread of L the
 * process's credentials; at most RESTORE_CRED_CALLS.
 */
#define RESTORE_CRED_CALLS 100
int restore_creds(struct landing *l, const Move__Creds *c,
		  const struct restore_ids *ids, struct stub_call *call,
		  size_t *nr, struct error *err) must_check;

#endif
