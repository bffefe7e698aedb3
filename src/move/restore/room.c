/*
 * room.c - does this host let the process have what it has at the source?
 *
 * Asked as soon as there is a landing process, whose limits and privileges are
 * those of its capsule, not the engine's.
 */
#include <errno.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "move/proc/proc.h"
#include "move/restore/restore.h"

/*
 * Bytes are locked here for a moment, where there are no pages. The landing area is in
 * the lowest hole of a process, the vdso near the top.
 */
#define TRY_AT (UINT64_C(1) << 44)

/* The kernel counts the signals that wait for all processes of the user. */
static int check_signals(const struct landing *l, uint64_t queued,
			 struct error *err)
{
	struct proc_status st;
	struct rlimit now;
	int r;

	if (!queued)
		return 0;
	restore_lift_signals(l);
	r = proc_read_status(l->pid, &st, err);
	if (r < 0)
		return r;
	if (prlimit(l->pid, RLIMIT_SIGPENDING, NULL, &now) < 0)
		return error_sys(err, -errno, "RLIMIT_SIGPENDING");
	if (now.rlim_cur == RLIM_INFINITY ||
	    (st.queued <= now.rlim_cur && queued <= now.rlim_cur - st.queued))
		return 0;
	return error_set(
		err, -ENOTSUP,
		"%llu signals wait for the process, and at the destination its user may have %llu queued (RLIMIT_SIGPENDING), of which %llu are taken",
		(unsigned long long)queued, (unsigned long long)now.rlim_cur,
		(unsigned long long)st.queued);
}

static int try_lock(struct landing *l, uint64_t n, struct error *err)
{
	int r = landing_call(l, "mlock2", SYS_mlock2, TRY_AT, n, MLOCK_ONFAULT,
			     0, 0, 0, err);

	return r < 0 ? r : landing_flush(l, err);
}

static int check_locked(struct landing *l, uint64_t locked, struct error *err)
{
	struct rlimit now = { 0 };
	struct error why;
	int r;

	if (!locked)
		return 0;
	r = landing_call(l, "mapping what is to be locked", SYS_mmap, TRY_AT,
			 locked, PROT_NONE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE |
				 MAP_FIXED_NOREPLACE,
			 (uint64_t)-1, 0, err);
	if (!r)
		r = landing_flush(l, err);
	if (r < 0)
		return r;
	r = try_lock(l, locked, &why);
	if (!r)
		return landing_call(l, "munmap", SYS_munmap, TRY_AT, locked, 0,
				    0, 0, 0, err);
	if (r != -ENOMEM && r != -EPERM) {
		*err = why;
		return r;
	}
	(void)!prlimit(l->pid, RLIMIT_MEMLOCK, NULL, &now);
	return error_set(
		err, -ENOTSUP,
		"%llu KiB of the process are locked (mlock), and the destination lets it lock %llu KiB (RLIMIT_MEMLOCK; more takes CAP_IPC_LOCK)",
		(unsigned long long)(locked >> 10),
		(unsigned long long)(now.rlim_cur >> 10));
}

int restore_check_room(struct landing *l, uint64_t queued, uint64_t locked,
		       struct error *err)
{
	int r = check_signals(l, queued, err);

	return r < 0 ? r : check_locked(l, locked, err);
}
