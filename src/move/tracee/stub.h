/*
 * stub.h - the landing area: Stint's code and mailboxes inside a process
 *
 * At an address that is free in the process (below every program, where
 * possible) lies, at the source while it is being moved and at the
 * destination from the first moment on:
 *
 *	+0		the stub's code, one page, read and execute
 *	+STUB_BOX	struct stub_box: the calls that the engine wants made
 *	+STUB_THREADS	one slot per thread: its own calls, its signal frame
 *
 * The rest of the first page holds snippets, with which threads repeat a call
 * with another time limit than the program gave: one system call instruction,
 * after which the changed argument and the program's place are put back.  A
 * thread or a signal frame may point into a snippet at any time, so snippets
 * are never changed, move with the process, and are shared by equal waits.
 *
 * The stub walks lists of calls; every list ends in something that does not
 * return: STUB_SIGRETURN, STUB_BOX_WAIT or STUB_JUMP.  The area never moves
 * and is never part of what is moved, so a moved process keeps it for its next
 * move.
 *
 * At the source the data is private memory written with process_vm_writev.
 * At the destination it is a memfd shared with the engine and the shepherd,
 * whose word `released` decides whether the copy may run.
 */
#ifndef MOVE_TRACEE_STUB_H
#define MOVE_TRACEE_STUB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define STUB_PAGE	  4096
#define STUB_MAGIC	  "STINT landing 2"
#define STUB_MAGIC_SIZE	  16
#define STUB_ENTRY	  64 /* offset of the first instruction */
#define STUB_SNIPPETS	  1024
#define STUB_SNIPPET	  32 /* bytes each */
#define STUB_BOX	  STUB_PAGE
#define STUB_BOX_SIZE	  (256 * 1024)
#define STUB_BOX_CALLS	  1700
#define STUB_THREADS	  (STUB_BOX + STUB_BOX_SIZE)
#define STUB_THREAD_CALLS 40

/* Not system calls but the stub's own verbs, in struct stub_call.nr. */
enum stub_verb {
	STUB_SIGRETURN = -1, /* arg0: address of the ucontext */
	STUB_BOX_WAIT = -2,  /* arg0: the box, arg1: its first call */
	STUB_JUMP = -3,	     /* arg0: the next call */
	STUB_SPAWN = -4,     /* arg0, arg1: clone3's arguments */
	STUB_ARRIVE = -5,    /* arg0: word to increment, and wake at arg1 */
	STUB_WAIT = -6,	     /* arg0: word to wait for until not zero */
	STUB_INSIST = -7,    /* the call before this must not fail: again, and
				again, each after the time that arg0 points to */
	STUB_TILES = -8,     /* have the kernel make room for AMX's tiles */
};

struct stub_call {
	int64_t nr; /* system call or enum stub_verb */
	uint64_t arg[6];
	int64_t ret;
	uint64_t copy; /* where to store ret as well, or 0 */
	uint64_t must; /* not zero: to fail is an error; the stub ignores it */
};

/*
 * Before the copy may run, F must activate its connections: when the engine
 * tells it to or, if the engine is dead, when STUB_ALIVE_WANTED is stored here;
 * then F also releases the copy.
 */
enum stub_alive { STUB_ALIVE_NOT, STUB_ALIVE_WANTED, STUB_ALIVE };

struct stub_box {
	uint32_t request;  /* counted up by the engine, then woken */
	uint32_t done;	   /* the last request whose calls were made */
	uint32_t released; /* not zero: the copy may run */
	uint32_t ready;	   /* threads that wait for `released` */
	uint32_t alive;	   /* enum stub_alive: are its connections active? */
	uint32_t timed; /* not zero: timers are armed, other threads may run */
	uint64_t unused[5];
	struct stub_call call[STUB_BOX_CALLS];
	char data[STUB_BOX_SIZE - 64 -
		  STUB_BOX_CALLS * sizeof(struct stub_call)];
};

/* Each thread's slot; a signal frame with its XSAVE image follows it. */
struct stub_thread {
	struct stub_call call[STUB_THREAD_CALLS];
	char data[4096 - STUB_THREAD_CALLS * sizeof(struct stub_call) - 16];
	uint64_t limit[2]; /* of the call that it repeats, until it is made */
	char frame[];
};

/* The code, to be copied to +0 of the area. */
extern const char stub_begin[], stub_end[];

/* Fill page[STUB_PAGE] with the code of an area of that size. */
void stub_fill_code(void *page, uint64_t area_size);

/*
 * Find or create in page[STUB_PAGE] the snippet that makes a call with a
 * changed argument i, restores the argument's value and jumps back to the
 * address.  Returns its offset, or 0 if the page is full.
 */
size_t stub_snippet(void *page, int i, uint64_t value, uint64_t back);
bool stub_has_snippets(const void *page);
/* Is rip the first instruction of a snippet of the area? */
bool stub_is_snippet(uint64_t area, uint64_t rip);

/* Bytes of a slot where XSAVE images take that many bytes. */
size_t stub_slot_size(size_t xsave_size);

/* Whole size of an area with room for nr threads. */
size_t stub_area_size(size_t nr_threads, size_t xsave_size);

/* Threads that fit in an area of that size. */
size_t stub_area_room(size_t area_size, size_t xsave_size);

struct user_regs_struct;
struct stub_frame {
	const struct user_regs_struct *regs;
	uint64_t mask;
	uint64_t altstack_sp, altstack_size;
	uint32_t altstack_flags;
	const void *xstate; /* as NT_X86_XSTATE gives it */
	size_t xstate_size;
};

/* Where an XSAVE image says which of its components are not all zeros. */
#define STUB_XSTATE_USED 512
uint64_t stub_used(const void *xstate);

/*
 * Build at buf, which is or will be at address `at` in the process (64-byte
 * aligned), what rt_sigreturn takes; *ret_uc is the argument of
 * STUB_SIGRETURN.  Returns the bytes used.
 */
size_t stub_build_frame(void *buf, uint64_t at, const struct stub_frame *f,
			uint64_t *ret_uc);
/* Where such a frame holds argument i of a system call. */
void *stub_frame_arg(void *buf, int i);

#endif
