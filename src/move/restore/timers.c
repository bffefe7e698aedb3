/*
 * timers.c - make POSIX timers with the ids they had
 *
 * Since Linux 6.16 a process can ask for ids.  Before, the kernel numbers a
 * process's timers one after the other from 0 on, freed numbers included, and L
 * has never had any: so create one after the other and delete the unneeded
 * ones.
 */
#include <errno.h>
#include <linux/prctl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>

#include "move/proc/uapi.h"
#include "move/restore/restore.h"

/* How many ids are counted up to; each costs less than a microsecond. */
#define IDS_MOST 20000

/* The kernel's struct sigevent, and where it stores the id. */
struct timer_args {
	struct {
		uint64_t value;
		int32_t signo, notify, tid;
		char unused[44];
	} event;
	int32_t id;
};

/*
 * Queue one call; *ret_args is where its arguments lie here, until the flush.
 */
static int make_timer(struct landing *l, int32_t clock,
		      const struct timer_args *a, const struct timer_args **ret,
		      struct error *err)
{
	uint64_t at;
	int r = landing_data(l, a, sizeof(*a), &at, err);

	if (r < 0)
		return r;
	*ret = landing_here(l, at);
	return landing_call(l, "timer_create", SYS_timer_create,
			    (uint64_t)clock, at,
			    at + offsetof(struct timer_args, id), 0, 0, 0, err);
}

static int make_kept(struct landing *l, const Move__PosixTimer *t,
		     struct error *err)
{
	struct timer_args a = {
		.event = { t->sigval, t->signo, t->notify, t->tid },
		.id = t->id,
	};
	const struct timer_args *made;
	int r = make_timer(l, t->clock, &a, &made, err);

	if (!r)
		r = landing_flush(l, err);
	if (!r && made->id != t->id)
		r = error_set(
			err, -ENOTSUP,
			"POSIX timer %d became number %d at the destination",
			t->id, made->id);
	return r;
}

/* Use up the numbers below the id that no timer of the process has now. */
static int skip_ids(struct landing *l, int32_t from, int32_t to,
		    struct error *err)
{
	struct timer_args a = { .event.notify = SIGEV_NONE };
	const struct timer_args *made;
	int r = 0;

	for (int32_t id = from; id < to && !r; id++) {
		r = make_timer(l, CLOCK_MONOTONIC, &a, &made, err);
		if (!r)
			r = landing_call(l, "timer_delete", SYS_timer_delete,
					 (uint64_t)id, 0, 0, 0, 0, 0, err);
	}
	return r;
}

static int by_id(const void *a, const void *b)
{
	const Move__PosixTimer *x = *(Move__PosixTimer *const *)a;
	const Move__PosixTimer *y = *(Move__PosixTimer *const *)b;

	return (x->id > y->id) - (x->id < y->id);
}

static int count_up(struct landing *l, const Move__State *s, struct error *err)
{
	int32_t next = 0;
	int r = 0;

	if (s->n_timer)
		qsort(s->timer, s->n_timer, sizeof(*s->timer), by_id);
	for (size_t i = 0; i < s->n_timer && !r; i++) {
		int32_t id = s->timer[i]->id;

		if (id > IDS_MOST)
			return error_set(
				err, -ENOTSUP,
				"POSIX timer %d: the destination's kernel cannot give timers ids (Linux 6.16), and counting up ends at %d",
				id, IDS_MOST);
		r = skip_ids(l, next, id, err);
		if (!r)
			r = make_kept(l, s->timer[i], err);
		next = id + 1;
	}
	return r;
}

/* Does timer_create() take ids? STINT_OLD_TIMERS: no, as on older kernels. */
static int take_ids(struct landing *l, bool on, bool *ret, struct error *err)
{
	int r = landing_flush(l, err);

	*ret = false;
	if (r < 0 || getenv("STINT_OLD_TIMERS"))
		return r;
	r = landing_call(l, NULL, SYS_prctl, PR_TIMER_CREATE_RESTORE_IDS,
			 on ? PR_TIMER_CREATE_RESTORE_IDS_ON
			    : PR_TIMER_CREATE_RESTORE_IDS_OFF,
			 0, 0, 0, 0, err);
	if (!r)
		r = landing_flush(l, err);
	*ret = !r && l->box->call[0].ret == 0;
	return r;
}

int restore_timers(struct landing *l, const Move__State *s, struct error *err)
{
	bool taken;
	int r;

	if (!s->n_timer)
		return 0;
	r = take_ids(l, true, &taken, err);
	if (!r && !taken)
		return count_up(l, s, err);
	for (size_t i = 0; i < s->n_timer && !r; i++)
		r = make_kept(l, s->timer[i], err);
	return r < 0 ? r : take_ids(l, false, &taken, err);
}
