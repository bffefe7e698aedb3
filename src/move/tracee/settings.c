/*
 * settings.c - what prctl(2) sets in a thread or process, as a table
 */
#include "move/tracee/settings.h"

#include <assert.h>
#include <errno.h>
#include <linux/prctl.h>
#include <sys/syscall.h>

#include "core/xalloc.h"
#include "move/proc/uapi.h"
#include "move/wire/append.h"

enum form {
	PLAIN,	    /* get() is the value, set(value) */
	WORD,	    /* get(&value), set(value) */
	SUBCOMMAND, /* get(), set(which, value) */
	WHICH,	    /* get(which), set(which, value) */
	FLAGS,	    /* get() is on or off and flags, set(on, flags) */
};

static const struct setting {
	int get, set;
	enum form form;
	uint32_t which;
	uint64_t usual; /* the default, which is not moved */
	uint64_t told;	/* bits of the answer that are set again */
} settings[] = {
	{ PR_GET_TSC, PR_SET_TSC, WORD, 0, PR_TSC_ENABLE, 3 },
	{ PR_MCE_KILL_GET, PR_MCE_KILL, SUBCOMMAND, PR_MCE_KILL_SET,
	  PR_MCE_KILL_DEFAULT, 3 },
	{ PR_GET_IO_FLUSHER, PR_SET_IO_FLUSHER, PLAIN, 0, 0, 1 },
	/* PR_SPEC_PRCTL, the lowest bit, tells that it can be set at all */
	{ PR_GET_SPECULATION_CTRL, PR_SET_SPECULATION_CTRL, WHICH,
	  PR_SPEC_STORE_BYPASS, PR_SPEC_ENABLE, 0x1e },
	{ PR_GET_SPECULATION_CTRL, PR_SET_SPECULATION_CTRL, WHICH,
	  PR_SPEC_INDIRECT_BRANCH, PR_SPEC_ENABLE, 0x1e },
	{ PR_GET_SPECULATION_CTRL, PR_SET_SPECULATION_CTRL, WHICH,
	  PR_SPEC_L1D_FLUSH, PR_SPEC_DISABLE, 0x1e },
	{ PR_GET_CHILD_SUBREAPER, PR_SET_CHILD_SUBREAPER, WORD, 0, 0, 1 },
	{ PR_GET_THP_DISABLE, PR_SET_THP_DISABLE, FLAGS, 0, 0, 0xff },
	{ PR_GET_MEMORY_MERGE, PR_SET_MEMORY_MERGE, PLAIN, 0, 0, 1 },
	/* last, as it forbids what restores memory */
	{ PR_GET_MDWE, PR_SET_MDWE, PLAIN, 0, 0, 0xff },
};
static_assert(sizeof(settings) / sizeof(*settings) == SETTINGS,
	      "settings.h counts them");

void settings_ask(struct settings which, struct stub_call *call, uint64_t word)
{
	for (size_t i = which.first; i < which.first + which.nr; i++) {
		const struct setting *s = &settings[i];

		*call++ = (struct stub_call){
			.nr = SYS_prctl,
			.arg = { (uint64_t)s->get,
				 s->form == WORD    ? word + i * sizeof(word)
				 : s->form == WHICH ? s->which
						    : 0 },
		};
	}
}

/* Is the answer one that can be set again, and not the default? */
static bool is_told(const struct setting *s, uint64_t answer)
{
	if (s->form == WHICH && !(answer & PR_SPEC_PRCTL))
		return false;
	return (answer & s->told) != s->usual;
}

void settings_take(struct settings which, const struct stub_call *call,
		   const uint64_t word[SETTINGS], Move__Thread *t)
{
	for (size_t i = which.first; i < which.first + which.nr; i++, call++) {
		const struct setting *s = &settings[i];
		uint64_t answer =
			s->form == WORD ? word[i] : (uint64_t)call->ret;
		Move__Setting *m;

		/* that kernel has none, or only the privileged may ask */
		if (call->ret < 0 || !is_told(s, answer))
			continue;
		m = append_new(&move__setting__descriptor);
		m->option = (uint32_t)s->set;
		m->which = s->which;
		m->value = answer & s->told;
		append_to(t->setting, t->n_setting, m);
	}
}

static struct stub_call call_of(const struct setting *s, uint64_t value)
{
	struct stub_call c = { .nr = SYS_prctl, .must = 1 };

	c.arg[0] = (uint64_t)s->set;
	c.arg[1] = value;
	if (s->form == SUBCOMMAND || s->form == WHICH) {
		c.arg[1] = s->which;
		c.arg[2] = value;
	} else if (s->form == FLAGS) {
		c.arg[1] = value & 1;
		c.arg[2] = value & ~UINT64_C(1);
	}
	return c;
}

int settings_make(const Move__Setting *m, struct stub_call *ret,
		  struct error *err)
{
	for (size_t i = 0; i < SETTINGS; i++) {
		const struct setting *s = &settings[i];

		if ((uint32_t)s->set == m->option && s->which == m->which &&
		    !(m->value & ~s->told)) {
			*ret = call_of(s, m->value);
			return 0;
		}
	}
	return error_set(err, -EPROTO, "unknown setting %u", m->option);
}
