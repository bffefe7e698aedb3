/* release.c - letting a landed copy run; see land.h and move.h */
#include <errno.h>
#include <linux/futex.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "move/land/land.h"

void landing_wake(uint32_t *word, int nr)
{
	syscall(SYS_futex, word, FUTEX_WAKE, nr, NULL, NULL, 0);
}

void landing_release_box(struct stub_box *box)
{
	__atomic_store_n(&box->released, 1, __ATOMIC_RELEASE);
	landing_wake(&box->released, INT32_MAX);
}

int move_release(int fd, struct error *err)
{
	struct stub_box *box = mmap(NULL, STUB_PAGE, PROT_READ | PROT_WRITE,
				    MAP_SHARED, fd, 0);
	uint32_t alive = STUB_ALIVE_NOT;

	if (box == MAP_FAILED)
		return error_sys(err, -errno, "the landing memory");
	/* F does the rest, or has done so long ago. */
	if (!__atomic_compare_exchange_n(&box->alive, &alive, STUB_ALIVE_WANTED,
					 false, __ATOMIC_ACQ_REL,
					 __ATOMIC_ACQUIRE) &&
	    alive == STUB_ALIVE)
		landing_release_box(box);
	landing_wake(&box->alive, 1);
	munmap(box, STUB_PAGE);
	return 0;
}
