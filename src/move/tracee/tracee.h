/*
 * tracee.h - stop all threads of a process and make calls in their name
 *
 * Life cycle: tracee_create() only looks; tracee_stop() seizes and stops
 * every thread, tracee_resume() lets go of them exactly as they were.  In
 * between, tracee_map_area() makes or finds the landing area, and
 * tracee_run() runs lists of calls in it.  tracee_destroy() resumes.
 *
 * Crash safety: whenever this process dies, each thread goes on by itself
 * and ends up where it was, because the code it runs meanwhile ends in
 * putting its registers back (the tail of the vdso for the first mapping, a
 * signal frame for lists).  Registers are put back as soon as a list is
 * done, not when the tracee is resumed.
 */
#ifndef MOVE_TRACEE_TRACEE_H
#define MOVE_TRACEE_TRACEE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

#include "core/error.h"
#include "core/units.h"
#include "move/tracee/stub.h"
#include "move/tracee/wait.h"

struct task {
	pid_t tid;    /* as this process sees it */
	pid_t ns_tid; /* as the task sees it, once tasks are stopped */
	bool seized, gone;
	bool going;   /* nobody has waited for it since it was told to */
	bool hurried; /* put ahead by us */
	struct user_regs_struct regs; /* as found */
	struct user_regs_struct cont; /* as to be resumed, see settle */
	int64_t syscall; /* interrupted and to be restarted by 219, or -1 */
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
	struct watch *watch; /* knows when they stand still; NULL: nobody */
	uint64_t area;	     /* landing area, or 0 */
	size_t area_size;
	uint64_t vdso, vdso_end; /* once the area is mapped */
	bool leave_vdso;	 /* stop threads outside of it, if they can */
	bool lose_vdso;		 /* -EAGAIN if one cannot */
	size_t xsave_size;
	int64_t clock_shift;	/* its CLOCK_MONOTONIC less ours */
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
 * Before a stop: see which threads sleep and since when, so that the wait
 * which the stop interrupts need not begin anew.  It goes to the processors
 * of the sleeping threads and may wait for its turn there.
 */
void tracee_look(struct tracee *t);

/*
 * Stop one thread (the leader), or all, however many are being made.  -EAGAIN
 * if one does not stop for now: resume, and try again later.
 */
int tracee_stop_leader(struct tracee *t, struct error *err) must_check;
int tracee_stop(struct tracee *t, struct error *err) must_check;

/* Let all run again as if nothing had been.  Also after a failed stop. */
void tracee_resume(struct tracee *t);

/*
 * look.c, for stop.c.  A thread has just been stopped: find out which call
 * of it was interrupted (k->syscall) and what that waited for (k->wait).
 */
void tracee_found_call(struct tracee *t, struct task *k);
/*
 * Just before it goes on: the kernel is to continue its call.  A wait that it
 * cannot continue begins anew and ends too late.
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
 * which get their results.  n[i] may be 0 except for nothing at all.  Task 0
 * has STUB_BOX_CALLS - 16 to spend and `data` of nr_data bytes, which is
 * copied to box.data before and back after; the others have
 * STUB_THREAD_CALLS - 4.
 */
struct tracee_list {
	struct stub_call *call;
	size_t n;
	/*
	 * If set: two calls, of which the second takes the first's result as
	 * its first argument, and between them the thread pauses for this.
	 * So a descriptor can be fetched from the process and does not stay
	 * in it whatever happens to the engine.
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
 * tracee_end() the threads are where their lists have got to; if the engine
 * dies they walk them to the end.
 */
#define TRACEE_PAUSE 3
void tracee_pause(struct stub_call *c);
/* Where call n of the leader's list will lie in the tracee. */
uint64_t tracee_call_at(const struct tracee *t, size_t n);
int tracee_begin(struct tracee *t, struct tracee_list *list, const void *data,
		 size_t nr_data, struct error *err) must_check;
/* Until the leader stands at the pause that begins with call n. */
int tracee_reach(struct tracee *t, size_t n, struct error *err) must_check;
/* It goes on from there. */
void tracee_go_on(struct tracee *t);
/*
 * The same, but past the call that follows the pause: which it makes only if
 * there is no engine any more to say so.
 */
int tracee_go_past(struct tracee *t, struct error *err) must_check;
/*
 * Let all of them get to the end, for so long at most; -EAGAIN: one does not,
 * and all of them are where they are.
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
/* Write what the process itself may not; its threads are stopped. */
int tracee_poke(pid_t tid, uint64_t addr, const void *p, size_t n) must_check;

/*
 * Until the traced threads' news have made look() true, or the time is over;
 * what it said last.
 */
bool tracee_await(bool (*look)(void *arg), void *arg, usec_t limit);

/* Whole or an error. */
int tracee_read(pid_t pid, uint64_t addr, void *p, size_t n) must_check;
int tracee_write(pid_t pid, uint64_t addr, const void *p, size_t n) must_check;

/* The kernel's private codes of calls that were interrupted. */
enum settle_code {
	ERESTARTSYS = 512,	     /* a handler ends it, but for SA_RESTART */
	ERESTARTNOINTR = 513,	     /* nothing ends it */
	ERESTARTNOHAND = 514,	     /* any handler ends it */
	ERESTART_RESTARTBLOCK = 516, /* so; the kernel knows how to go on */
};

/*
 * What an interrupted call has to look like to be resumed without the
 * kernel's help: *cont gets rip and rax put right.  Returns the number of the
 * call that only restart_syscall can continue, or -1.
 */
int64_t settle_syscall(const struct user_regs_struct *regs,
		       struct user_regs_struct *cont);

/* Which of these a stop has found; 0 if it did not interrupt a call. */
int settle_code(const struct user_regs_struct *regs);

/*
 * Turn what settle_syscall() made of an interrupted call into what the kernel
 * takes for one that has just been interrupted.  Written by ptrace, it has the
 * kernel decide when the thread goes on: a handler for a signal that came
 * meanwhile runs and ends the call with EINTR, or the call is made again, all
 * by the rules.  By 0 nothing is changed.
 */
void settle_give_back(struct user_regs_struct *regs, int code);

/*
 * cut.c: has a stop cut that call of pid short, which can as well be made again
 * whole?  Its answer then becomes -ERESTARTNOINTR.
 */
bool cut_by_stop(pid_t pid, const struct user_regs_struct *regs);

#endif
