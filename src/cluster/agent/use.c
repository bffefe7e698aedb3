/* use.c - what each guest gets of this host, see use.h */
#include "cluster/agent/use.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cluster/agent/burden.h"
#include "cluster/agent/guests.h"
#include "cluster/agent/large.h"
#include "cluster/agent/tree.h"
#include "cluster/host/process.h"
#include "core/clock.h"
#include "core/io.h"
#include "core/procstat.h"
#include "core/xalloc.h"

#define TRAFFIC_REST 1000 /* times what a look takes */
/* Likewise, of one guest: a thousand threads take a fiftieth of a second. */
#define GUEST_REST   1000
#define LOOK_ANYHOW  (10 * USEC_PER_SEC)
#define AT_LEAST     (USEC_PER_SEC / 2) /* between looks, for rates */

/* Of a guest, since its processes began. */
struct counts {
	uint64_t run, wait; /* ns */
	uint64_t faults, pages;
	uint64_t swapped; /* bytes */
	bool swaps;	  /* count that as well */
};

struct known {
	struct process_id init;
	struct counts last;
	usec_t at;	/* of last; 0: never */
	usec_t look_at; /* not before that */
	bool seen;
	bool older; /* than we, and its traffic was never looked at */
	/* Of the last look at its traffic: */
	uint64_t ran;	/* what it had run by then */
	usec_t look_by; /* the next comes by then, even if it does not run */
	int score;	/* by burden_put(); -1: not known */
};

struct uses {
	char *run_dir;
	usec_t now;
	uint64_t memory; /* of this host */
	/* Side by side. */
	struct known *known;
	struct guest_use *use;
	size_t nr, cap, cap_use;
	struct large large;
	size_t next; /* of known: guests come in the order of the last look */
	bool first;  /* look */
	bool swaps;  /* this host may swap */
	usec_t traffic_at; /* is looked at from then on */
};

struct uses *uses_create(const char *run_dir)
{
	struct uses *u = xcalloc(1, sizeof(*u));

	u->run_dir = xstrdup(run_dir);
	u->first = true;
	return u;
}

void uses_destroy(struct uses *u)
{
	if (!u)
		return;
	for (size_t i = 0; i < u->nr; i++)
		traffic_clear(&u->use[i].traffic);
	large_clear(&u->large);
	free(u->run_dir);
	free(u->known);
	free(u->use);
	free(u);
}

/* ---- what the kernel has counted ---- */

/* Bytes; a process that pages needs them back. */
static uint64_t swapped(pid_t pid)
{
	int64_t kib;

	return process_status(pid, "VmSwap", &kib) < 0 ? 0
						       : (uint64_t)kib << 10;
}

/* Is there anything to swap to?  The first line of /proc/swaps is a heading. */
static bool may_swap(void)
{
	char *text, *at;
	bool may = false;

	if (io_read_file(AT_FDCWD, "/proc/swaps", 1 << 16, &text) >= 0) {
		at = strchr(text, '\n');
		may = at && at[1];
		free(text);
	}
	return may;
}

static void count_process(pid_t pid, struct counts *c)
{
	struct procstat s;

	if (procstat_read(pid, &s) < 0)
		return;
	c->faults += s.major_faults;
	c->pages += s.resident;
	if (c->swaps)
		c->swapped += swapped(pid);
}

static void count_thread(pid_t pid, pid_t tid, void *arg)
{
	struct counts *c = arg;
	struct schedstat s;

	if (!schedstat_read(pid, tid, &s)) {
		c->run += s.ran;
		c->wait += s.waited;
	}
	if (pid == tid)
		count_process(pid, c);
}

/* ---- from one look to the next ---- */

static double rate(uint64_t before, uint64_t now, double seconds)
{
	return now > before ? (double)(now - before) / seconds : 0;
}

static void set_use(struct known *k, const struct counts *c, usec_t now,
		    struct guest_use *ret)
{
	double ns = (double)(now - k->at) * 1000;

	ret->cpu_usec = c->run / 1000;
	ret->memory = c->pages * (uint64_t)sysconf(_SC_PAGESIZE) + c->swapped;
	if (k->at && now - k->at < AT_LEAST)
		return;
	if (k->at) {
		ret->share = rate(k->last.run, c->run, ns);
		ret->waits = rate(k->last.wait, c->wait, ns);
		ret->faults = rate(k->last.faults, c->faults, ns / 1e9);
	}
	k->last = *c;
	k->at = now;
}

/* Its place in the table, made if there is none. */
static size_t find_known(struct uses *u, const struct process_id *init)
{
	for (size_t n = 0; n < u->nr; n++) {
		size_t i = (u->next + n) % u->nr;

		if (u->known[i].init.pid == init->pid &&
		    u->known[i].init.start == init->start) {
			u->next = i + 1;
			return i;
		}
	}
	array_room(u->known, u->nr, &u->cap);
	array_room(u->use, u->nr, &u->cap_use);
	u->known[u->nr] = (struct known){
		.init = *init,
		.older = u->first,
		.score = u->first ? -1 : 0,
	};
	u->use[u->nr] = (struct guest_use){ .job = 0 };
	return u->nr++;
}

/*
 * Whose processes have not run has written nothing; but what they wrote before
 * goes on leaving, or waits for its peer.
 */
static void look_at_traffic(struct uses *u, size_t i,
			    const struct capsule_record *rec, uint64_t run)
{
	struct known *k = &u->known[i];
	struct traffic *t = &u->use[i].traffic;
	uint64_t before = t->total;

	if (u->now < u->traffic_at || (k->ran == run && u->now < k->look_by))
		return;
	traffic_look(t, rec, !k->older);
	k->older = false;
	k->ran = run;
	k->look_by = t->total != before ? u->now : u->now + LOOK_ANYHOW;
}

static void look_at_burden(const struct uses *u, struct known *k,
			   const struct capsule_record *rec)
{
	uint64_t least = u->memory / 100;
	int score = burden_score(
		burden_of(rec->cgroups, rec->nr_cgroups, least), u->memory);

	if (score == k->score)
		return;
	burden_put(rec->init.pid, score);
	k->score = score;
}

/*
 * All guests together take a thousandth of a processor at most, so that each waits for so
 * many times what a look at it takes.
 */
static void look_at_guest(struct uses *u, size_t i,
			  const struct capsule_record *rec,
			  struct large_guest *large)
{
	struct counts c = { .swaps = u->swaps };
	usec_t from = clock_usec(CLOCK_MONOTONIC);
	usec_t began = clock_usec(CLOCK_THREAD_CPUTIME_ID);

	proctree_walk(rec->init.pid, 0, count_thread, &c);
	set_use(&u->known[i], &c, from, &u->use[i]);
	u->known[i].look_at =
		u->now + GUEST_REST * (usec_t)u->nr *
				 (clock_usec(CLOCK_THREAD_CPUTIME_ID) - began);
	look_at_traffic(u, i, rec, c.run);
	if (large)
		large_looked(&u->large, large, from);
}

static void begin_use(struct uses *u, size_t i, uint64_t job, uint32_t rank)
{
	const struct known was = u->known[i];

	if (u->use[i].job) {
		traffic_clear(&u->use[i].traffic);
		u->known[i] =
			(struct known){ .init = was.init, .score = was.score };
	}
	u->use[i] = (struct guest_use){ .job = job, .rank = rank };
}

static void look_at(const char *name, const struct capsule_record *rec,
		    void *arg)
{
	struct uses *u = arg;
	struct large_guest *large;
	struct guest_use *use;
	uint64_t job;
	uint32_t rank;
	size_t i;

	if (!rec->init.pid || !process_alive(&rec->init))
		return;
	i = find_known(u, &rec->init);
	use = &u->use[i];
	if (sscanf(name, "%" SCNu64 ".%" SCNu32, &job, &rank) != 2)
		return;
	/* Init may have had another before. */
	if (use->job != job || use->rank != rank)
		begin_use(u, i, job, rank);
	u->known[i].seen = true;
	look_at_burden(u, &u->known[i], rec);
	large = large_guest(&u->large, rec);
	/* What is known of it stays. */
	if (u->now < u->known[i].look_at ||
	    (large && !large_may(&u->large, large)))
		return;
	look_at_guest(u, i, rec, large);
}

static void drop_gone(struct uses *u)
{
	size_t nr = 0;

	for (size_t i = 0; i < u->nr; i++) {
		if (!u->known[i].seen) {
			traffic_clear(&u->use[i].traffic);
			continue;
		}
		u->known[nr] = u->known[i];
		u->use[nr++] = u->use[i];
	}
	u->nr = nr;
}

void uses_look(struct uses *u, uint64_t memory)
{
	usec_t began = clock_usec(CLOCK_THREAD_CPUTIME_ID);

	u->now = clock_usec(CLOCK_MONOTONIC);
	u->memory = memory;
	u->swaps = may_swap();
	for (size_t i = 0; i < u->nr; i++)
		u->known[i].seen = false;
	u->next = 0;
	large_begin(&u->large);
	guests_each(u->run_dir, NULL, look_at, u);
	large_end(&u->large);
	drop_gone(u);
	u->first = false;
	if (u->now >= u->traffic_at)
		u->traffic_at =
			u->now +
			TRAFFIC_REST *
				(clock_usec(CLOCK_THREAD_CPUTIME_ID) - began);
}

struct guest_use *uses_all(struct uses *u, size_t *ret_nr)
{
	*ret_nr = u->nr;
	return u->use;
}
