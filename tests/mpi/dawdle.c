/*
 * dawdle.c - preloaded, lets MPI calls begin late, at random
 *
 * A test of MPI's is over in milliseconds; this one's ranks are somewhere in the
 * middle of it for long enough to be moved there.  The first calls of a rank are
 * all late, later ones ever fewer, so that what calls a million times ends, too.
 * MPI_Init is left alone, and what only asks: MPI_Test after a pause is no poll.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>

#define LATE	60	 /* so many calls are all late */
#define LONGEST 10000000 /* ns */

/* Waits, and returns where the call is to go on; called by the stubs below. */
void *dawdle(const char *call);

void *dawdle(const char *call)
{
	static unsigned int calls;
	static _Thread_local unsigned int seed;
	unsigned int n = __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED);
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	seed += (unsigned int)t.tv_nsec;
	if ((unsigned int)rand_r(&seed) % n < LATE) {
		t = (struct timespec){ .tv_nsec = rand_r(&seed) % LONGEST };
		nanosleep(&t, NULL);
	}
	return dlsym(RTLD_NEXT, call);
}

/*
 * Whatever the arguments are (none is a floating-point number), they are kept
 * in their registers and on the stack.
 */
__asm__(".irp call, "
	"Send Ssend Bsend Rsend Recv Sendrecv Sendrecv_replace Isend "
	"Issend Ibsend Irsend Irecv Mrecv Imrecv Probe Mprobe Start "
	"Startall Cancel Wait Waitall Waitany Waitsome Barrier Bcast "
	"Gather Gatherv Scatter Scatterv Allgather Allgatherv "
	"Alltoall Alltoallv Alltoallw Reduce Allreduce Reduce_scatter "
	"Reduce_scatter_block Scan Exscan Ibarrier Ibcast Iallreduce "
	"Ireduce Ialltoall Iallgather Igather Iscatter "
	"Neighbor_allgather Neighbor_alltoall Comm_dup Comm_idup "
	"Comm_split Comm_create Comm_create_group Comm_free "
	"Cart_create Cart_map Cart_sub Graph_create Graph_map "
	"Dist_graph_create Dist_graph_create_adjacent "
	"Comm_disconnect Intercomm_create Intercomm_merge Win_create "
	"Win_allocate Win_fence Win_lock Win_unlock Win_lock_all "
	"Win_unlock_all Win_flush Win_flush_all Win_post Win_start "
	"Win_complete Win_wait Win_free Put Get Accumulate "
	"Get_accumulate Fetch_and_op Compare_and_swap Finalize\n"
	".section .rodata\n1: .string \"MPI_\\call\"\n.text\n"
	".globl MPI_\\call\n.type MPI_\\call, @function\nMPI_\\call:\n"
	"push %rdi; push %rsi; push %rdx; push %rcx; push %r8; push %r9\n"
	"push %rax; lea 1b(%rip), %rdi; call dawdle@PLT; mov %rax, %r11\n"
	"pop %rax; pop %r9; pop %r8; pop %rcx; pop %rdx; pop %rsi; pop %rdi\n"
	"jmp *%r11\n.size MPI_\\call, . - MPI_\\call\n"
	".endr");
