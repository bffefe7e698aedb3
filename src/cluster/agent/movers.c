/* movers.c - keepers and engines beside a busy owner, see movers.h */
#include "cluster/agent/movers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cluster/agent/guests.h"
#include "cluster/agent/tree.h"
#include "cluster/conn/loop.h"
#include "cluster/host/process.h"
#include "core/claim.h"
#include "core/clock.h"
#include "core/io.h"
#include "core/log.h"
#include "core/procstat.h"
#include "core/xalloc.h"

#define EACH	 (40 * USEC_PER_MSEC)
/* Until movers_watch() is called again. */
#define WATCH	 (2 * USEC_PER_SEC)
/* A look that comes sooner tells nothing. */
#define AT_LEAST (20 * USEC_PER_MSEC)

/* A thread, at a look. */
struct thread {
	pid_t tid;
	bool wants; /* a processor just now */
	struct schedstat had;
};

/* A guest's keeper, and the processes that it has forked. */
struct mover {
	struct process_id keeper;
	unsigned step;
	unsigned hungry; /* see movers_next() */
	bool seen;
	bool works;		 /* it has an engine */
	struct thread *was, *is; /* at the last look, at this one */
	size_t nr_was, nr_is, cap_was, cap_is;
	unsigned changed;
};

struct movers {
	sd_event *event;
	sd_event_source *timer;
	char *run_dir, *owners;
	struct mover *mover;
	size_t nr, cap;
	usec_t at;    /* of the last look; 0: never */
	usec_t until; /* looks come by the timer */
	unsigned changed;
};

struct movers *movers_create(sd_event *event, const char *run_dir)
{
	struct movers *m = xcalloc(1, sizeof(*m));

	m->event = event;
	m->run_dir = xstrdup(run_dir);
	return m;
}

static void mover_clear(struct mover *v)
{
	free(v->was);
	free(v->is);
}

void movers_destroy(struct movers *m)
{
	if (!m)
		return;
	sd_event_source_disable_unref(m->timer);
	for (size_t i = 0; i < m->nr; i++)
		mover_clear(&m->mover[i]);
	free(m->mover);
	free(m->run_dir);
	free(m->owners);
	free(m);
}

/* ---- one look ---- */

/* The engine's watch only looks, now and then: it tells nothing of how that gets on. */
static bool is_watch(pid_t pid)
{
	char path[64], *name;
	bool is;

	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	name = io_read_line(path);
	is = !strcmp(name, "stint-watch");
	free(name);
	return is;
}

static void note_thread(pid_t pid, pid_t tid, void *arg)
{
	struct mover *v = arg;
	struct thread t = { .tid = tid };
	struct procstat s;

	if (procstat_read(tid, &s) < 0 ||
	    schedstat_read(pid, tid, &t.had) < 0 || is_watch(pid))
		return;
	t.wants = s.state == 'R';
	v->works |= pid != v->keeper.pid;
	array_room(v->is, v->nr_is, &v->cap_is);
	v->is[v->nr_is++] = t;
}

static const struct thread *before(const struct mover *v, pid_t tid)
{
	for (size_t i = 0; i < v->nr_was; i++)
		if (v->was[i].tid == tid)
			return &v->was[i];
	return NULL;
}

/* 0: it gets on; 1: it has hardly anything; 2: nothing. */
static unsigned starves(const struct movers_time *t, usec_t elapsed)
{
	if (t->waited <= elapsed / 2)
		return 0;
	return (t->waited / 16 > t->ran) + (t->waited / 128 > t->ran);
}

unsigned movers_next(unsigned step, unsigned *hungry,
		     const struct movers_time *t, size_t n, usec_t elapsed)
{
	unsigned most = 0;
	bool plenty = false;

	for (size_t i = 0; i < n; i++) {
		unsigned is = starves(&t[i], elapsed);

		most = is > most ? is : most;
		plenty |= t[i].ran > elapsed - elapsed / 4;
	}
	*hungry = most ? *hungry + most : 0;
	if (*hungry >= 2) {
		*hungry = 0;
		return step + 1 < CLAIM_STEPS ? step + 1 : step;
	}
	return plenty && !most && step ? step - 1 : step;
}

/* All of a mover have the same: whoever waits may wait for another of them. */
static unsigned step_after(struct mover *v, usec_t elapsed)
{
	struct movers_time *t = xcalloc(v->nr_is + 1, sizeof(*t));
	unsigned step;

	for (size_t i = 0; i < v->nr_is; i++) {
		const struct thread *is = &v->is[i], *was = before(v, is->tid);

		if (!was)
			continue;
		t[i].ran = (usec_t)(is->had.ran - was->had.ran) / 1000;
		/* The kernel counts a wait when it is over. */
		t[i].waited =
			is->wants && was->wants &&
					is->had.turns == was->had.turns
				? elapsed
				: (usec_t)(is->had.waited - was->had.waited) /
					  1000;
	}
	step = movers_next(v->step, &v->hungry, t, v->nr_is, elapsed);
	free(t);
	return step;
}

static void set_step(pid_t pid, pid_t tid, void *arg)
{
	struct mover *v = arg;

	if (!claim_is_marked(tid) && !claim_lower(tid))
		return;
	v->changed += claim_step(tid, v->step);
}

static struct mover *find(struct movers *m, const struct process_id *keeper)
{
	for (size_t i = 0; i < m->nr; i++)
		if (m->mover[i].keeper.pid == keeper->pid &&
		    m->mover[i].keeper.start == keeper->start)
			return &m->mover[i];
	array_room(m->mover, m->nr, &m->cap);
	m->mover[m->nr] = (struct mover){ .keeper = *keeper };
	return &m->mover[m->nr++];
}

static void turn_over(struct mover *v)
{
	struct thread *old = v->was;
	size_t cap = v->cap_was;

	v->was = v->is;
	v->nr_was = v->nr_is;
	v->cap_was = v->cap_is;
	v->is = old;
	v->cap_is = cap;
	v->nr_is = 0;
}

struct look {
	struct movers *m;
	usec_t elapsed;
};

static void look_at(const char *name, const struct capsule_record *rec,
		    void *arg)
{
	const struct look *l = arg;
	struct mover *v;

	/* Before there is an init, the rank would have its keeper's step from it. */
	if (!rec->init.pid || !rec->keeper.pid || !process_alive(&rec->keeper))
		return;
	v = find(l->m, &rec->keeper);
	v->seen = true;
	v->works = false;
	proctree_walk(rec->keeper.pid, rec->init.pid, note_thread, v);
	v->step = step_after(v, l->elapsed);
	/* Else what it does is the guest's bidding, who is to be felt by nobody. */
	if (!v->works && v->step > 1)
		v->step = 1;
	turn_over(v);
	v->changed = 0;
	proctree_walk(rec->keeper.pid, rec->init.pid, set_step, v);
	if (v->changed)
		log_debug("capsule=%s step=%u threads=%u", name, v->step,
			  v->changed);
	l->m->changed += v->changed;
}

static void drop_gone(struct movers *m)
{
	size_t nr = 0;

	for (size_t i = 0; i < m->nr; i++) {
		if (!m->mover[i].seen) {
			mover_clear(&m->mover[i]);
			continue;
		}
		m->mover[i].seen = false;
		m->mover[nr++] = m->mover[i];
	}
	m->nr = nr;
}

unsigned movers_look(struct movers *m, const char *owners, usec_t now)
{
	struct look l = { m, now - m->at };

	if (m->at && l.elapsed < AT_LEAST)
		return 0;
	m->at = now;
	m->changed = 0;
	guests_each(m->run_dir, owners, look_at, &l);
	drop_gone(m);
	return m->changed;
}

/* ---- again and again ---- */

static int on_timer(sd_event_source *src, uint64_t usec, void *arg)
{
	struct movers *m = arg;
	usec_t now = clock_usec(CLOCK_MONOTONIC);

	movers_look(m, m->owners, now);
	m->timer = sd_event_source_disable_unref(m->timer);
	if (now < m->until)
		loop_after(m->event, &m->timer, EACH, on_timer, m);
	return 0;
}

void movers_watch(struct movers *m, const char *owners, bool giving)
{
	usec_t now = clock_usec(CLOCK_MONOTONIC);

	free(m->owners);
	m->owners = owners ? xstrdup(owners) : NULL;
	m->until = giving ? now + WATCH : 0;
	movers_look(m, m->owners, now);
	if (giving && !m->timer)
		loop_after(m->event, &m->timer, EACH, on_timer, m);
}

void movers_rest(struct movers *m)
{
	m->timer = sd_event_source_disable_unref(m->timer);
	m->until = m->at = 0;
	drop_gone(m);
}
