/*
 * asked.c - what nothing shows from outside and cannot move
 *
 * The process's own calls tell: what answers more than 0 is in the way.
 */
#include <errno.h>
#include <linux/keyctl.h>
#include <stdlib.h>
#include <sys/syscall.h>

#include "core/xalloc.h"
#include "move/send/recheck.h"

#define READ_LDT 0

static const struct question {
	const char *what;
	long nr;
	int64_t arg[3];
	bool buffer; /* the second argument: room for answers */
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

int recheck_asked(struct tracee *t, struct error *err)
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
	for (size_t i = 0; i < NR_QUESTIONS && r == 0; i++)
		if (call[i].ret > 0)
			r = error_set(err, -ENOTSUP, "process %d has %s",
				      t->pid, questions[i].what);
	return r;
}
