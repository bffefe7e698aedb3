/* rank.c - where a rank is, which keeper has it, and its state: changed only here */
#include "cluster/controller/state/rank.h"

#include <stdlib.h>
#include <string.h>

#include "cluster/controller/state/find.h"
#include "core/bisect.h"
#include "core/xalloc.h"
#include "model/record.h"

void ctl_rank_init(struct ctl_rank *r, struct ctl_job *job, uint32_t rank)
{
	r->job = job;
	r->rank = rank;
	r->state = STATE(WAITING);
	TAILQ_INIT(&r->klinks);
}

static void rank_store(struct ctl_rank *r)
{
	struct store_rank row = { .job = r->job->id,
				  .rank = r->rank,
				  .state = r->lost ? STATE(LOST) : r->state,
				  .host = r->host ? r->host->name : "",
				  .address = ntohl(r->address.s_addr),
				  .epoch = r->epoch,
				  .last_epoch = r->last_epoch,
				  .first_epoch = r->first_epoch,
				  .cpu_usec = r->had.cpu_usec,
				  .max_rss = r->had.max_rss,
				  .held_usec = r->had.held_usec,
				  .returns = r->had.returns,
				  .give_back_usec = r->had.give_back_usec,
				  .late_usec = r->had.late_usec,
				  .late = r->had.late,
				  .stood_usec = r->had.stood_usec,
				  .moved_bytes = r->had.moved_bytes,
				  .exit = r->exit,
				  .moves = r->moves,
				  .downtime = r->downtime,
				  .stdout_end = r->stdout_end,
				  .stderr_end = r->stderr_end };

	store_put_rank(r->job->ctl->store, &row);
}

/* A rank has its address to itself until its job is over. */
static void set_address(struct ctl_rank *r, struct in_addr address)
{
	struct ctl_jobs *jobs = &r->job->ctl->jobs;

	ctl_rank_free_address(r);
	r->address = address;
	if (address.s_addr && r->job->state != STATE(DONE))
		HASH_ADD(by_address, jobs->by_address, address,
			 sizeof(r->address), r);
}

void ctl_rank_free_address(struct ctl_rank *r)
{
	struct ctl_jobs *jobs = &r->job->ctl->jobs;

	if (r->by_address.tbl)
		HASH_DELETE(by_address, jobs->by_address, r);
	r->by_address.tbl = NULL;
}

void ctl_rank_place(struct ctl_rank *r, struct ctl_host *host,
		    struct in_addr address)
{
	r->host = host;
	set_address(r, address);
	r->state = STATE(STARTING);
	rank_store(r);
}

void ctl_rank_place_again(struct ctl_rank *r, struct ctl_host *host)
{
	r->host = host;
	r->starts += !r->refused;
	r->refused = false;
	r->epoch = ++r->last_epoch;
	rank_store(r);
}

void ctl_rank_is_refused(struct ctl_rank *r)
{
	r->refused = true;
}

void ctl_rank_is_unready(struct ctl_rank *r)
{
	r->unready_at[r->unready++ % RANK_UNREADY_MOST] = r->host->ix;
	r->refused = true;
}

void ctl_rank_runs(struct ctl_rank *r)
{
	r->state = STATE(RUNNING);
	rank_store(r);
}

void ctl_rank_has_pid(struct ctl_rank *r, uint32_t pid)
{
	r->pid = pid;
}

uint64_t ctl_rank_next_epoch(struct ctl_rank *r)
{
	r->last_epoch++;
	rank_store(r);
	return r->last_epoch;
}

void ctl_rank_moved(struct ctl_rank *r, struct ctl_host *to, uint64_t epoch,
		    usec_t downtime)
{
	r->host = to;
	r->epoch = epoch;
	r->moves++;
	r->downtime = downtime;
	rank_store(r);
}

void ctl_rank_stood_still(struct ctl_rank *r, usec_t downtime)
{
	r->downtime = downtime;
	rank_store(r);
}

void ctl_rank_could_not_go(struct ctl_rank *r, const struct ctl_host *to)
{
	move_pause_failed(&r->pause, to->ix, ctl_now());
}

/* What a record can be read with again; a host may say anything. */
static bool can_be(const Control__Moved *m)
{
	const uint64_t most = RECORD_ESTIMATE_MAX;

	return m->downtime_usec < most && m->predicted_usec < most &&
	       m->written < most && m->written_in_usec < most;
}

void ctl_rank_was_seen(struct ctl_rank *r, const Control__Moved *m)
{
	const struct rank_seen seen = {
		.stood = (usec_t)m->downtime_usec,
		.predicted = (usec_t)m->predicted_usec,
		.written = m->written,
		.written_in = (usec_t)m->written_in_usec,
	};

	if (can_be(m))
		rank_seen_again(&r->seen, &seen);
}

void ctl_rank_stands(struct ctl_rank *r, usec_t since)
{
	r->frozen_since = since;
}

void ctl_rank_printed(struct ctl_rank *r, uint64_t stdout_end,
		      uint64_t stderr_end)
{
	r->stdout_end = stdout_end;
	r->stderr_end = stderr_end;
}

void ctl_rank_give_up(struct ctl_rank *r)
{
	r->lost = true;
}

void ctl_rank_used(struct ctl_rank *r, uint64_t cpu_usec, uint64_t max_rss)
{
	r->had.cpu_usec += cpu_usec;
	if (max_rss > r->had.max_rss)
		r->had.max_rss = max_rss;
	r->use = (struct rank_use){ .share = 0 };
}

void ctl_rank_was_held(struct ctl_rank *r, uint64_t usec)
{
	r->had.held_usec += usec;
}

void ctl_rank_meets_return(struct ctl_rank *r, usec_t at)
{
	r->had.returns++;
	r->met_return = at;
	r->late_return = 0;
	rank_store(r);
}

void ctl_rank_is_late(struct ctl_rank *r, usec_t at, enum late why)
{
	r->had.late = why;
	r->late_return = at;
	rank_store(r);
}

void ctl_rank_given_back(struct ctl_rank *r, usec_t at, usec_t took,
			 usec_t late)
{
	if (r->met_return != at && r->late_return != at)
		return;
	if (r->met_return == at)
		r->had.give_back_usec += (uint64_t)took;
	if (r->late_return == at)
		r->had.late_usec += (uint64_t)late;
	if (!r->had.late_usec)
		r->had.late = LATE_NOT; /* it was gone in time after all */
	r->met_return = r->late_return = 0;
	rank_store(r);
}

void ctl_rank_uses(struct ctl_rank *r, const struct rank_use *use)
{
	r->use = *use;
}

/* The index of the entry, or where it would be inserted. */
static size_t find_sent(const struct rank_traffic *t, uint32_t rank)
{
	size_t at;

	bisect(at, t->nr, t->to[at].rank < rank);
	return at;
}

void ctl_rank_sent(struct ctl_rank *r, const struct rank_sent *more)
{
	struct rank_traffic *t = &r->sent;
	size_t i = find_sent(t, more->rank);

	if (i == t->nr || t->to[i].rank != more->rank) {
		array_room(t->to, t->nr, &t->cap);
		memmove(t->to + i + 1, t->to + i,
			(t->nr++ - i) * sizeof(*t->to));
		t->to[i] = (struct rank_sent){ .rank = more->rank };
	}
	t->to[i].bytes += more->bytes;
	t->to[i].segments += more->segments;
}

void ctl_rank_forget_sent(struct ctl_rank *r)
{
	free(r->sent.to);
	r->sent = (struct rank_traffic){ .nr = 0 };
}

void ctl_rank_cost(struct ctl_rank *r, uint64_t stood_usec, uint64_t bytes)
{
	r->had.stood_usec += stood_usec;
	r->had.moved_bytes += bytes;
	rank_store(r);
}

void ctl_rank_done(struct ctl_rank *r, int code)
{
	r->state = STATE(DONE);
	r->exit = code;
	ctl_rank_forget_sent(r);
	/* One that never was anywhere has no row: see end_with_job(). */
	if (r->host || r->last_epoch || r->inherited)
		rank_store(r);
}

void ctl_rank_again(struct ctl_rank *r)
{
	r->state = STATE(WAITING);
	r->host = NULL;
	set_address(r, (struct in_addr){ 0 });
	r->first_epoch = r->epoch = ++r->last_epoch;
	r->exit = 0;
	r->stdout_end = r->stderr_end = 0;
	r->inherited = r->aborted = r->lost = r->refused = false;
	r->late_return = 0;
	r->pid = 0;
	r->use = (struct rank_use){ .share = 0 };
	ctl_rank_forget_sent(r);
	r->limits = (struct rank_limits){ .over_memory = false };
	r->starts = r->unready = 0;
	r->frozen_since = 0;
	rank_store(r);
}

/* What the report of its last move said, which an earlier controller heard. */
static void see_again(void *arg, const struct store_move *row)
{
	Control__Moved *m =
		control__moved__unpack(NULL, row->moved_n, row->moved);

	if (m) {
		ctl_rank_was_seen(arg, m);
		control__moved__free_unpacked(m, NULL);
	}
}

static void load_rank(void *arg, const struct store_rank *row)
{
	struct ctl_job *job = arg;
	struct ctl_rank *r;

	if (row->rank >= job->nr)
		return;
	r = &job->ranks[row->rank];
	r->lost = row->state == STATE(LOST);
	r->state = r->lost ? STATE(DONE) : row->state;
	r->host = *row->host ? ctl_host_find(job->ctl, row->host) : NULL;
	set_address(r, (struct in_addr){ htonl(row->address) });
	r->epoch = row->epoch;
	r->last_epoch = row->last_epoch;
	r->first_epoch = row->first_epoch;
	r->had = (struct rank_account){ .cpu_usec = row->cpu_usec,
					.max_rss = row->max_rss,
					.held_usec = row->held_usec,
					.returns = row->returns,
					.give_back_usec = row->give_back_usec,
					.late_usec = row->late_usec,
					.late = row->late,
					.stood_usec = row->stood_usec,
					.moved_bytes = row->moved_bytes };
	r->exit = row->exit;
	r->moves = row->moves;
	r->downtime = row->downtime;
	r->stdout_end = row->stdout_end;
	r->stderr_end = row->stderr_end;
	r->inherited = true;
	if (r->moves && ctl_rank_active(r))
		store_last_move(job->ctl->store, job->id, r->rank, see_again,
				r);
	/* So that barriers are not waited in for it, as ctl_pmi_exited() sees to. */
	if (r->state == STATE(DONE))
		pmi_gather_gone(job->pmi.gather, r->rank);
}

/* Ranks without a row: their job was ended while it waited. */
static void end_with_job(struct ctl_job *job)
{
	for (uint32_t i = 0; i < job->nr; i++) {
		job->ranks[i].state = STATE(DONE);
		job->ranks[i].exit = job->exit;
	}
}

void ctl_ranks_read(struct ctl_job *job)
{
	if (job->state == STATE(DONE))
		end_with_job(job);
	store_each_rank(job->ctl->store, job->id, load_rank, job);
}
