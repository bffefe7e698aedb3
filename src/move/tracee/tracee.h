/*
 * tracee.h - stop all threads of a process and make calls in their name
 *
 * Life cycle: tracee_create() only looks; tracee_stop() seizes and stops
 * every thread, tracee_resume() lets them continue exactly as they were.  In
 * between, tracee_map_area() makes or finds the landing area, and tracee_run()
 * runs lists of calls in it.  tracee_destroy() resumes.
 *
 * Crash safety: if this process dies at any time, each thread continues by
 * itself and gets back to where it was, because the code that it runs meanwhile
 * ends by restoring its registers (the tail of the vdso for the first mapping,
 * a signal frame for lists).  Registers are put back as soon as a list is done,
 * not when the tracee is resumed.
 */
#ifndef MOVE_TRACEE_TRACEE_H
#define MOVE_TRACEE_TRACEE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/user.h>

#include "core/error.h"
#include "core/units.h"
#include "move/tracee/stub.h"
#include "move/tracee/wait.h"

struct task {
	pid_t tid; /* as this process sees it */
	bool seized, gone;
	bool going;		      /* resumed, and not waited for since */
	bool hurried;		      /* its priority is raised by us */
	bool stirred;		      /* or its claim, see core/claim.h */
	struct user_regs_struct regs; /* as found */
	struct user_regs_struct cont; /* as to be resumed, see settle */
	int64_t syscall; /* interrupted call for restart_syscall, or -1 */
	int restart;	 /* settle_code() of the call that is in cont, or 0 */
	struct task_wait {
		const struct wait_kind *kind; /* NULL: it does not wait */
		int64_t until;		      /* as in wait.h */
		bool in_place; /* the kernel wrote the rest over the limit */
	} wait;
	uint64_t mask;
	void *xstate; /* NT_X86_XSTATE, xsave_size bytes */
};

struct tracee {
	pid_t pid;
	struct task *task; /* task[0] is the leader when stopped */
	size_t nr, cap;
	int stop_sig;	     /* with which lists end */
	bool hurry;	     /* while they stand still: see core/hurry.h */
	struct watch *watch; /* is told when they are stopped; NULL: none */
	/* move_source_ops.stir(), where there is one */
	void (*stir)(void *ctx, bool on);
	void *stir_ctx;
	uint64_t area; /* landing area, or 0 */
	size_t area_size;
	uint64_t vdso, vdso_end; /* once the area is mapped */
	bool leave_vdso;	 /* stop threads outside of it, if possible */
	bool lose_vdso;		 /* -EAGAIN if one cannot */
	size_t xsave_size;
	int64_t clock_shift;	/* its CLOCK_MONOTONIC minus ours */
	struct wait_seen *seen; /* look.c's, by thread */
	size_t nr_seen, cap_seen;
};

struct tracee *tracee_create(pid_t pid, struct error *err) must_check;
void tracee_destroy(struct tracee *t);
/*
 * Free t and leave its threads as they are, stopped, until this process exits:
 * for a process that something else holds or has killed.
 */
void tracee_abandon(struct tracee *t);

/*
 * Before a stop: record which threads sleep and since when, so that an
 * interrupted wait need not start over.  This process runs on the processors of
 * the sleeping threads for that, and may have to wait for them.
 */
void tracee_look(struct tracee *t);

/*
 * Stop one thread (the leader), or all, including those created meanwhile.
 * -EAGAIN if one cannot be stopped now: resume, and try again later.
 */
int tracee_stop_leader(struct tracee *t, struct error *err) must_check;
int tracee_stop(struct tracee *t, struct error *err) must_check;

/*
 * Let all threads continue as if nothing had happened.  Also after a failed
 * stop.
 */
void tracee_resume(struct tracee *t);

/*
 * look.c, for task.c.  A thread has just been stopped: find out which system
 * call was interrupted (k->syscall) and what it waits for (k->wait).
 */
void tracee_found_call(struct tracee *t, struct task *k);
/*
 * Just before a thread is resumed: have the kernel continue its call.  A wait
 * that cannot be continued starts over and ends too late.
 */
void tracee_resume_call(struct tracee *t, size_t i);

/*
 * The leader makes one call without needing any memory of its own: it runs a
 * few instructions in the unused end of the vdso's last page.  *ret is what
 * the call returned.
 */
int tracee_call(struct tracee *t, long nr, const uint64_t arg[6], int64_t *ret,
		struct error *err) must_check;

/* Find or map the landing area for at least nr threads. */
int tracee_map_area(struct tracee *t, size_t nr_threads,
		    struct error *err) must_check;

/*
 * Run lists, all at the same time: task[i] runs n[i] calls from call[i],
 * which get their results.  n[i] may be 0, but not for all tasks.  Task 0 has
 * STUB_BOX_CALLS - 16 to spend and `data` of nr_data bytes, which is copied to
 * box.data before and back after; the others have STUB_THREAD_CALLS - 4.
 */
struct tracee_list {
	struct stub_call *call;
	size_t n;
	/*
	 * If set: two calls, of which the second takes the first's result as
	 * its first argument, and between them the thread pauses for this.
	 * So a descriptor can be fetched from the process and is closed there
	 * even if the engine dies.
	 */
	int (*at_pause)(void *arg, const struct stub_call *made,
			struct error *err);
	void *arg;
};
int tracee_run(struct tracee *t, struct tracee_list *list, void *data,
	       size_t nr_data, struct error *err) must_check;

/*
 * tracee_run() in parts, for lists with pauses at which the engine does
 * something else: TRACEE_PAUSE calls that tracee_pause() has filled.  Until
 * tracee_end() the threads stay at the point of their lists that they have
 * reached; if the engine dies, they run them to the end.
 */
#define TRACEE_PAUSE 3
void tracee_pause(struct stub_call *c);
/* Where call n of the leader's list will lie in the tracee. */
uint64_t tracee_call_at(const struct tracee *t, size_t n);
int tracee_begin(struct tracee *t, struct tracee_list *list, const void *data,
		 size_t nr_data, struct error *err) must_check;
/* Wait until the leader is at the pause that begins with call n. */
int tracee_reach(struct tracee *t, size_t n, struct error *err) must_check;
/*
 * Let it continue from there, but past the call that follows the pause, which it
 * makes only if there is no engine any more to say so.
 */
int tracee_go_past(struct tracee *t, struct error *err) must_check;
/*
 * Let all threads run their lists to the end, within the limit; -EAGAIN if one
 * does not, and then all stay where they are.
 */
int tracee_end(struct tracee *t, const struct tracee_list *list, usec_t limit,
	       struct error *err) must_check;
/* The leader's calls, with what they returned so far. */
int tracee_look_at(struct tracee *t, struct stub_call *call, size_t n,
		   struct error *err) must_check;

/* Address of box.data and of a slot's data in the tracee. */
uint64_t tracee_box_data(const struct tracee *t);
uint64_t tracee_slot(const struct tracee *t, size_t i);
/* How many threads the area has slots for. */
size_t tracee_room(const struct tracee *t);
/*
 * Write to memory that the process itself may not write; its threads are
 * stopped.
 */
int tracee_poke(pid_t tid, uint64_t addr, const void *p, size_t n) must_check;

/*
 * Wait for events of traced threads until look() returns true or the time limit
 * has passed; returns the last result of look().
 */
bool tracee_await(bool (*look)(void *arg), void *arg, usec_t limit);

/* How many signals wait for a thread that stands still, and for its process. */
size_t tracee_count_signals(pid_t tid);

/* Transfer all n bytes, or fail. */
int tracee_read(pid_t pid, uint64_t addr, void *p, size_t n) must_check;
int tracee_write(pid_t pid, uint64_t addr, const void *p, size_t n) must_check;
/* The same of nr pieces at once: here[i] is as long as there[i]. */
int tracee_read_all(pid_t pid, const struct iovec *here,
		    const struct iovec *there, size_t nr) must_check;
int tracee_write_all(pid_t pid, const struct iovec *here,
		     const struct iovec *there, size_t nr) must_check;

/* The kernel's private codes of calls that were interrupted. */
enum settle_code {
	ERESTARTSYS = 512,	     /* a handler ends it, but for SA_RESTART */
	ERESTARTNOINTR = 513,	     /* nothing ends it */
	ERESTARTNOHAND = 514,	     /* any handler ends it */
	ERESTART_RESTARTBLOCK = 516, /* so; the kernel knows how to go on */
};

/*
 * Compute the registers with which an interrupted call is resumed without the
 * kernel's help: *cont gets rip and rax set.  Returns the number of the call
 * that only restart_syscall can continue, or -1.
 */
int64_t settle_syscall(const struct user_regs_struct *regs,
		       struct user_regs_struct *cont);

/* The code that a stop has found; 0 if it did not interrupt a call. */
int settle_code(const struct user_regs_struct *regs);

/*
 * Turn the registers made by settle_syscall() back into those of a call that
 * has just been interrupted.  When ptrace writes them, the kernel decides as
 * usual when the thread continues: a handler for a signal that has arrived runs
 * and ends the call with EINTR, or the call is restarted.  Code 0 changes
 * nothing.
 */
void settle_give_back(struct user_regs_struct *regs, int code);

/*
 * tiles.c, with thread i stopped: does it have room for AMX's tiles?  To be asked
 * only where the process may use them.
 */
bool tracee_has_room_for_tiles(const struct tracee *t, size_t i);

/*
 * cut.c: has a stop cut this call of pid short, and can the whole call be made
 * again?  Its result is then replaced by -ERESTARTNOINTR.
 */
bool cut_by_stop(pid_t pid, const struct user_regs_struct *regs);

#endif
