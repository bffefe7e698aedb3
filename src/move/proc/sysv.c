/* sysv.c - does the process have System V objects?  see sysv.h */
#include "move/proc/sysv.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/stat.h>

#include "core/io.h"

/* Does pid use the object in that slot? Not if the slot is empty. */
typedef bool is_its_fn(int slot, pid_t pid);

static bool is_its_set(int slot, pid_t pid)
{
	struct semid_ds set;
	int id = semctl(slot, 0, SEM_STAT, &set);
	bool its = false;

	for (unsigned i = 0; id >= 0 && i < set.sem_nsems && !its; i++)
		its = semctl(id, (int)i, GETPID) == pid;
	return its;
}

static bool is_its_queue(int slot, pid_t pid)
{
	struct msqid_ds queue;

	return msgctl(slot, MSG_STAT, &queue) >= 0 &&
	       (queue.msg_lspid == pid || queue.msg_lrpid == pid);
}

static bool is_its_segment(int slot, pid_t pid)
{
	struct shmid_ds segment;

	return shmctl(slot, SHM_STAT, &segment) >= 0 &&
	       (segment.shm_cpid == pid || segment.shm_lpid == pid);
}

static bool has_any(int last, is_its_fn *is_its, pid_t pid)
{
	for (int slot = 0; slot <= last; slot++)
		if (is_its(slot, pid))
			return true;
	return false;
}

/*
 * What objects of pid, or (all) any objects, the namespace that we are in has;
 * NULL: none.
 */
static const char *find_sysv(pid_t pid, bool all)
{
	struct seminfo sem = { 0 };
	struct msginfo msg = { 0 };
	struct shm_info shm = { 0 };
	int last_sem = semctl(0, 0, SEM_INFO, &sem);
	int last_msg = msgctl(0, MSG_INFO, (struct msqid_ds *)(void *)&msg);
	int last_shm = shmctl(0, SHM_INFO, (struct shmid_ds *)(void *)&shm);

	if (all)
		return sem.semusz     ? "semaphores"
		       : msg.msgpool  ? "message queues"
		       : shm.used_ids ? "shared memory"
				      : NULL;
	return has_any(last_sem, is_its_set, pid)	? "semaphores"
	       : has_any(last_msg, is_its_queue, pid)	? "message queues"
	       : has_any(last_shm, is_its_segment, pid) ? "shared memory"
							: NULL;
}

static int open_namespace(const char *of)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%s/ns/ipc", of);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static bool is_same(int a, int b)
{
	struct stat x, y;

	return fstat(a, &x) == 0 && fstat(b, &y) == 0 && x.st_ino == y.st_ino &&
	       x.st_dev == y.st_dev;
}

/*
 * We enter that namespace for a moment; neither namespace has objects of ours.
 */
static int find_in(int its, int ours, const char **ret)
{
	if (setns(its, CLONE_NEWIPC) < 0)
		return -errno;
	*ret = find_sysv(0, true);
	return setns(ours, CLONE_NEWIPC) < 0 ? -errno : 0;
}

int sysv_check(pid_t pid, struct error *err)
{
	const char *what = NULL;
	char name[16];
	fd_auto ours = open_namespace("self"), its = -1;
	int r = 0;

	snprintf(name, sizeof(name), "%d", pid);
	its = open_namespace(name);
	if (its < 0 || ours < 0)
		r = its < 0 ? its : ours;
	else if (is_same(its, ours))
		what = find_sysv(pid, false);
	else
		r = find_in(its, ours, &what);
	if (r < 0)
		return error_sys(err, r, "process %d: its IPC namespace", pid);
	return what ? error_set(err, -ENOTSUP, "process %d has System V %s",
				pid, what)
		    : 0;
}
