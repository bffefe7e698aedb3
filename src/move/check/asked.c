/*
 * asked.c - obstacles that cannot be seen from outside, and that keep a process from
 * moving
 *
 * Calls made in the process's name find them: a call that answers more than 0 has found
 * one.
 */
#include <errno.h>
#include <linux/keyctl.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>

#include "core/clock.h"
#include "core/xalloc.h"
#include "move/check/check.h"
#include "move/proc/uapi.h"

#define READ_LDT 0

static const struct question {
	const char *what;
	long nr;
	int64_t arg[3];
	bool buffer; /* second argument: room for an answer */
} questions[] = {
	{ "a local descriptor table (modify_ldt)",
	  SYS_modify_ldt,
	  { READ_LDT, 0, 64 },
	  true },
	{ "a keyring of the process",
	  SYS_keyctl,
	  { KEYCTL_GET_KEYRING_ID, KEY_SPEC_PROCESS_KEYRING },
	  false },
	{ "a keyring of its main thread",
	  SYS_keyctl,
	  { KEYCTL_GET_KEYRING_ID, KEY_SPEC_THREAD_KEYRING },
	  false },
};
#define NR_QUESTIONS (sizeof(questions) / sizeof(*questions))

static int has(const struct tracee *t, const struct question *q,
	       struct error *err)
{
	return error_set(err, -ENOTSUP, "process %d has %s", t->pid, q->what);
}

int check_asked(struct tracee *t, struct error *err)
{
	struct tracee_list *list = xcalloc(t->nr, sizeof(*list));
	struct stub_call call[NR_QUESTIONS];
	int r;

	for (size_t i = 0; i < NR_QUESTIONS; i++) {
		const struct question *q = &questions[i];

		call[i] = (struct stub_call){ .nr = q->nr };
		for (size_t k = 0; k < 3; k++)
			call[i].arg[k] = (uint64_t)q->arg[k];
		if (q->buffer)
			call[i].arg[1] = tracee_box_data(t);
	}
	list[0].call = call;
	list[0].n = NR_QUESTIONS;
	r = tracee_run(t, list, NULL, 0, err);
	free(list);
	for (size_t i = 0; i < NR_QUESTIONS && !r; i++)
		if (call[i].ret > 0)
			r = has(t, &questions[i], err);
	return r;
}

/*
 * These calls have no buffer for their answer: -EFAULT means that there is
 * something to answer.
 */
int check_asked_alone(struct tracee *t, struct error *err)
{
	int64_t ret = 0;
	int r = 0;

	for (size_t i = 0; i < NR_QUESTIONS && !r; i++) {
		const struct question *q = &questions[i];
		uint64_t arg[6] = { 0 };

		for (size_t k = 0; k < 3; k++)
			arg[k] = (uint64_t)q->arg[k];
		r = tracee_call(t, q->nr, arg, &ret, err);
		if (!r && (ret > 0 || ret == -EFAULT))
			r = has(t, q, err);
	}
	return r;
}

/*
 * Syscall user dispatch would intercept the calls that we have the process
 * make; Wine uses it.
 */
int check_dispatch(const struct tracee *t, struct error *err)
{
	for (size_t i = 0; i < t->nr; i++) {
		struct uapi_sud_config conf = { 0 };

		if (ptrace(PTRACE_GET_SYSCALL_USER_DISPATCH_CONFIG,
			   t->task[i].tid, sizeof(conf), &conf) == 0 &&
		    conf.mode)
			return error_set(
				err, -ENOTSUP,
				"thread %d handles its system calls itself (syscall user dispatch)",
				t->task[i].tid);
	}
	return 0;
}

static int stop_patiently(struct tracee *t,
			  int (*stop)(struct tracee *t, struct error *err),
			  struct error *err)
{
	usec_t end = clock_usec(CLOCK_MONOTONIC) + CHECK_PATIENCE;
	int r;

	while ((r = stop(t, err)) == -EAGAIN &&
	       clock_usec(CLOCK_MONOTONIC) < end)
		tracee_resume(t);
	return r;
}

int check_stop_leader(struct tracee *t, struct error *err)
{
	return stop_patiently(t, tracee_stop_leader, err);
}

int check_stop_all(struct tracee *t, struct error *err)
{
	return stop_patiently(t, tracee_stop, err);
}
