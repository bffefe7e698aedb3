/* signals.c - see signals.h; by system calls, without the library's censor */
#include "core/signals.h"

#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* As the kernel has it. */
struct kernel_action {
	uint64_t handler, flags, restorer, mask;
};

void signals_fill(sigset_t *ret)
{
	memset(ret, 0xff, sizeof(*ret));
}

void signals_block_all(void)
{
	uint64_t all = ~UINT64_C(0);

	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, NULL, sizeof(all));
}

void signals_reset_all(void)
{
	const struct kernel_action none = { 0 };

	for (int sig = 1; sig <= SIGNALS; sig++)
		if (sig != SIGKILL && sig != SIGSTOP)
			syscall(SYS_rt_sigaction, sig, &none, NULL,
				sizeof(none.mask));
}

void signals_spawn_reset(posix_spawnattr_t *attr, short flags)
{
	sigset_t none, all;

	sigemptyset(&none);
	signals_fill(&all);
	posix_spawnattr_setsigmask(attr, &none);
	posix_spawnattr_setsigdefault(attr, &all);
	posix_spawnattr_setflags(attr, (short)(flags | POSIX_SPAWN_SETSIGMASK |
					       POSIX_SPAWN_SETSIGDEF));
}
