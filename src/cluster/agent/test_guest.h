/*
 * test_guest.h - for tests: processes, and records that make them guests
 */
#ifndef CLUSTER_AGENT_TEST_GUEST_H
#define CLUSTER_AGENT_TEST_GUEST_H

#include <sys/types.h>

/* Forks one that runs until it is stopped or killed, or its parent ends. */
pid_t guest_spin(void);
/* Kill it. */
void guest_end(pid_t pid);

/*
 * As RUN_DIR has it while a capsule of that name is there; its keeper is init;
 * RUN_DIR/capsules is there.
 */
void guest_capsule(const char *run_dir, const char *name, pid_t init);
void guest_capsule_of(const char *run_dir, const char *name, pid_t init,
		      pid_t keeper);
/* It is in that control group from now on. */
void guest_capsule_in(const char *run_dir, const char *name, const char *group);
void guest_capsule_remove(const char *run_dir, const char *name);

#endif
