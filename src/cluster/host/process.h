/*
 * process.h - identify a process beyond the reuse of its pid
 *
 * A pid may be reused once its process has died.  A process is identified by
 * pid and start time, within one boot of the host; a pidfd pins it while it is
 * examined.
 */
#ifndef CLUSTER_HOST_PROCESS_H
#define CLUSTER_HOST_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/error.h"

struct process_id {
	pid_t pid;
	uint64_t start; /* clock ticks after boot, /proc/PID/stat field 22 */
};

#define PROCESS_BOOT_LEN 37
/* The kernel's boot id of this host. */
int process_boot_id(char ret[PROCESS_BOOT_LEN], struct error *err) must_check;

/* The process that has that pid now; -ESRCH if there is none. */
int process_identify(pid_t pid, struct process_id *ret) must_check;
/* This process, which is looked up once. */
int process_self(struct process_id *ret) must_check;
/* False for a process that has exited or is exiting, zombies included. */
bool process_alive(const struct process_id *id);
/* A pidfd of just this process, or -ESRCH. */
int process_open(const struct process_id *id) must_check;

/*
 * Send sig, and with SIGKILL or SIGTERM wait up to timeout_ms for the end.
 * 0 when it is gone (also if it already was), -EAGAIN when it still exists.
 */
int process_end(const struct process_id *id, int sig, int timeout_ms);

/*
 * When memory runs out, have the kernel kill other processes before this one
 * and its children; process_spare_no_more() undoes that for a child.  Without
 * CAP_SYS_RESOURCE nothing is changed.
 */
void process_spare(void);
void process_spare_no_more(pid_t pid);

/* The number after "KEY:" in /proc/self/fdinfo/FD, such as a pidfd's "Pid". */
int process_fdinfo(int fd, const char *key, int64_t *ret) must_check;
/* The same in /proc/PID/status, such as "VmSwap". */
int process_status(pid_t pid, const char *key, int64_t *ret) must_check;

#endif
