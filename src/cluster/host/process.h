/*
 * process.h - who a process is, over time
 *
 * A pid alone names a stranger once its owner has died.  A process is the pair
 * of pid and start time, on one boot of the host; a descriptor (pidfd) holds
 * it while we look.
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
/* This boot of this host, as the kernel names it. */
int process_boot_id(char ret[PROCESS_BOOT_LEN], struct error *err) must_check;

/* Who has that pid now; -ESRCH when nobody has. */
int process_identify(pid_t pid, struct process_id *ret) must_check;
/* Who is a zombie, or on the way to become one, is no longer alive. */
bool process_alive(const struct process_id *id);
/* A pidfd of just this process, or -ESRCH. */
int process_open(const struct process_id *id) must_check;

/*
 * Send sig, and with SIGKILL or SIGTERM wait up to timeout_ms for the end.
 * 0 when it is gone (also when it was), -EAGAIN when it still is there.
 */
int process_end(const struct process_id *id, int sig, int timeout_ms);

/*
 * When memory runs out the kernel kills others before this process and those it
 * forks; or no longer, for a process forked since.  Without CAP_SYS_RESOURCE
 * nothing is changed.
 */
void process_spare(void);
void process_spare_no_more(pid_t pid);

/* The number after "KEY:" in /proc/self/fdinfo/FD, such as a pidfd's "Pid". */
int process_fdinfo(int fd, const char *key, int64_t *ret) must_check;

/*
 * Field 22 and the state letter of a /proc/PID/stat text, 'X' for who is
 * exiting; or -EBADMSG.
 */
int process_parse_stat(const char *text, char *ret_state,
		       uint64_t *ret_start) must_check;

#endif
