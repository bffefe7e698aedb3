/* movers.c - keepers and engines beside a busy owner, see movers.h */
#include "cluster/agent/movers.h"

#include <fcntl.h>
#include <inttypes.h>
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

#define EACH		    (25 * USEC_PER_MSEC)
/* Until movers_watch() is called again. */
#define WATCH		    (2 * USEC_PER_SEC)
/* Of the time between two looks, in which it would have run all the while. */
#define TOO_LITTLE(elapsed) ((elapsed) / 4)
#define PLENTY(elapsed)	    ((elapsed) - (elapsed) / 4)
/* A look that comes sooner tells nothing. */
#define AT_LEAST	    (10 * USEC_PER_MSEC)

/* A thread that wants a processor, at a look. */
struct wanting {
	pid_t tid;
	uint64_t ran; /* ns */
};

/* A guest's keeper, and the processes that it has forked. */
struct mover {
	struct process_id keeper;
	unsigned step;
	bool seen;
	struct wanting *was, *is; /* at the last look, at this one */
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

/* Nanoseconds on a processor; false: it is gone. */
static bool ran(pid_t pid, pid_t tid, uint64_t *ret)
{
	char path[64], *text;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/schedstat", pid, tid);
	if (io_read_file(AT_FDCWD, path, 128, &text) < 0)
		return false;
	*ret = strtoull(text, NULL, 10);
	free(text);
	return true;
}

static void note_thread(pid_t pid, pid_t tid, void *arg)
{
	struct mover *v = arg;
	struct procstat s;
	uint64_t ns;

	if (procstat_read(tid, &s) < 0 || s.state != 'R' || !ran(pid, tid, &ns))
		return;
	array_room(v->is, v->nr_is, &v->cap_is);
	v->is[v->nr_is++] = (struct wanting){ tid, ns };
}

/* What it ran since the last look, in microseconds, if it wanted to run then and does. */
static bool wanted_and_ran(const struct mover *v, const struct wanting *w,
			   usec_t *ret)
{
	for (size_t i = 0; i < v->nr_was; i++)
		if (v->was[i].tid == w->tid) {
			*ret = (usec_t)(w->ran - v->was[i].ran) / 1000;
			return true;
		}
	return false;
}

unsigned movers_next(unsigned step, usec_t least, usec_t most, usec_t elapsed)
{
	if (least < TOO_LITTLE(elapsed))
		return step + 1 < CLAIM_STEPS ? step + 1 : step;
	return most > PLENTY(elapsed) && step ? step - 1 : step;
}

/* All of a mover have the same: whoever waits may wait for another of them. */
static unsigned step_after(const struct mover *v, usec_t elapsed)
{
	usec_t least = USEC_MAX, most = 0, us;

	for (size_t i = 0; i < v->nr_is; i++) {
		if (!wanted_and_ran(v, &v->is[i], &us))
			continue;
		least = us < least ? us : least;
		most = us > most ? us : most;
	}
	return movers_next(v->step, least, most, elapsed);
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
	struct wanting *old = v->was;
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

	if (!rec->keeper.pid || !process_alive(&rec->keeper))
		return;
	v = find(l->m, &rec->keeper);
	v->seen = true;
	proctree_walk(rec->keeper.pid, rec->init.pid, note_thread, v);
	v->step = step_after(v, l->elapsed);
	turn_over(v);
	v->changed = 0;
	proctree_walk(rec->keeper.pid, rec->init.pid, set_step, v);
	if (v->changed)
		log_info("capsule=%s step=%u threads=%u", name, v->step,
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
