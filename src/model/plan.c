/*
 * plan.c - building a plan, and putting it into words
 */
#include "model/plan.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/xalloc.h"

/* Host arrays: blocks that never move, all freed but the newest at a reset. */
struct plan_block {
	struct plan_block *next;
	size_t used, size;
	uint32_t ix[];
};

static void forget_sizes(struct plan *plan)
{
	for (size_t i = 0; i < plan->nr; i++)
		if (plan->entry[i].job &&
		    plan->entry[i].job->ix < plan->nr_size)
			plan->size[plan->entry[i].job->ix] = 0;
}

static void free_blocks(struct plan_block *b)
{
	while (b) {
		struct plan_block *next = b->next;

		free(b);
		b = next;
	}
}

static void reset_hosts(struct plan *plan, const struct view *view)
{
	if (plan->blocks) {
		free_blocks(plan->blocks->next);
		plan->blocks->next = NULL;
		plan->blocks->used = 0;
	}
	if (plan->nr_ranks < view->nr_hosts) {
		free(plan->ranks);
		free(plan->leaving);
		plan->ranks = xcalloc(view->nr_hosts, sizeof(*plan->ranks));
		plan->leaving = xcalloc(view->nr_hosts, sizeof(*plan->leaving));
		plan->nr_ranks = view->nr_hosts;
	} else if (plan->nr_ranks && (plan->nr || plan->expects)) {
		memset(plan->ranks, 0, plan->nr_ranks * sizeof(*plan->ranks));
		memset(plan->leaving, 0,
		       plan->nr_ranks * sizeof(*plan->leaving));
	}
}

void plan_reset(struct plan *plan, const struct view *view)
{
	if (plan->nr)
		forget_sizes(plan);
	if (plan->nr_size < view->nr_slots) {
		free(plan->size);
		plan->nr_size = 2 * (size_t)view->nr_slots;
		plan->size = xcalloc(plan->nr_size, sizeof(*plan->size));
	}
	if (view->nr_hosts || plan->blocks)
		reset_hosts(plan, view);
	plan->nr = 0;
	plan->nr_ahead = 0;
	plan->looked_ahead = plan->shrinks = plan->expects = false;
	plan->view = view;
	plan->free = view->nr_free;
}

void plan_clear(struct plan *plan)
{
	free(plan->entry);
	free(plan->size);
	free(plan->ranks);
	free(plan->leaving);
	free(plan->ahead);
	free_blocks(plan->blocks);
	*plan = (struct plan)PLAN_INIT;
}

uint32_t *plan_hosts(struct plan *plan, uint32_t n)
{
	struct plan_block *b = plan->blocks;

	if (!b || b->size - b->used < n) {
		size_t size = n > 1024 ? n : 1024;

		b = xmalloc(sizeof(*b) + size * sizeof(b->ix[0]));
		b->size = size;
		b->used = 0;
		b->next = plan->blocks;
		plan->blocks = b;
	}
	b->used += n;
	return b->ix + b->used - n;
}

/* Note where ranks come (or go, sign -1), for plan_room(). */
static void count_ranks(struct plan *plan, const uint32_t *hosts, uint32_t n,
			int sign)
{
	if (!hosts || !plan->nr_ranks)
		return;
	for (uint32_t i = 0; i < n; i++)
		plan->ranks[hosts[i]] += sign;
}

/* A rank moves: it is counted where it goes, and keeps its slot until it is there. */
static void count_move(struct plan *plan, uint32_t from, uint32_t to)
{
	if (from == to || !plan->nr_ranks)
		return;
	plan->ranks[from]--;
	plan->leaving[from]++;
	plan->ranks[to]++;
}

static void set_size(struct plan *plan, const struct job *job, uint32_t n)
{
	plan->free += (int64_t)plan_size(plan, job) - n;
	plan->size[job->ix] = (int32_t)n + 1;
}

void plan_start_on(struct plan *plan, const struct job *job, uint32_t n,
		   uint32_t *hosts, struct because why)
{
	struct plan_entry *e = plan_append(plan, PLAN_START, job, why);

	e->n = n;
	e->hosts = hosts;
	set_size(plan, job, n);
	count_ranks(plan, hosts, n, 1);
}

bool plan_start(struct plan *plan, const struct job *job, uint32_t n,
		struct because why)
{
	if (plan->view->nr_reservations) {
		if (!plan_allows(plan, job, n, n))
			return false;
		plan_ahead_take(plan, job, n);
	}
	plan_start_on(plan, job, n, NULL, why);
	return true;
}

void plan_resize(struct plan *plan, const struct job *job, uint32_t n,
		 uint32_t *hosts, struct because why)
{
	struct plan_entry *e = plan_append(plan, PLAN_RESIZE, job, why);

	if (plan->view->nr_reservations)
		plan_ahead_take(plan, job, n);
	e->n = n;
	e->hosts = hosts;
	set_size(plan, job, n);
	if (hosts) {
		count_ranks(plan, job->hosts, job->n, -1);
		count_ranks(plan, hosts, n, 1);
	}
}

void plan_migrate_by(struct plan *plan, const struct job *job, uint32_t n,
		     uint32_t *ranks, uint32_t *hosts, usec_t by,
		     struct because why)
{
	struct plan_entry *e = plan_append(plan, PLAN_MIGRATE, job, why);

	e->n = n;
	e->ranks = ranks;
	e->hosts = hosts;
	e->at = by;
	for (uint32_t i = 0; i < n; i++)
		count_move(plan, job->hosts[ranks[i]], hosts[i]);
}

void plan_migrate(struct plan *plan, const struct job *job, uint32_t rank,
		  uint32_t host, struct because why)
{
	uint32_t *both = plan_hosts(plan, 2);

	both[0] = rank;
	both[1] = host;
	plan_migrate_by(plan, job, 1, both, both + 1, 0, why);
}

void plan_freeze(struct plan *plan, const struct job *job, uint32_t rank,
		 struct because why)
{
	plan_append(plan, PLAN_FREEZE, job, why)->rank = rank;
}

void plan_thaw(struct plan *plan, const struct job *job, uint32_t rank,
	       struct because why)
{
	plan_append(plan, PLAN_THAW, job, why)->rank = rank;
}

void plan_requeue(struct plan *plan, const struct job *job, struct because why)
{
	plan_append(plan, PLAN_REQUEUE, job, why);
	set_size(plan, job, 0);
	count_ranks(plan, job->hosts, job->n, -1);
}

void plan_suspend(struct plan *plan, const struct job *job, struct because why)
{
	plan_append(plan, PLAN_SUSPEND, job, why);
	set_size(plan, job, 0);
}

void plan_resume(struct plan *plan, const struct job *job, uint32_t *hosts,
		 struct because why)
{
	struct plan_entry *e = plan_append(plan, PLAN_RESUME, job, why);

	e->n = job->n;
	e->hosts = hosts;
	set_size(plan, job, job->n);
	for (uint32_t i = 0; hosts && i < job->n; i++)
		count_move(plan, job->hosts[i], hosts[i]);
}

void plan_reserve(struct plan *plan, uint32_t host, struct because why)
{
	plan_append(plan, PLAN_RESERVE, NULL, why)->host = host;
}

void plan_release(struct plan *plan, uint32_t host, struct because why)
{
	plan_append(plan, PLAN_RELEASE, NULL, why)->host = host;
}

void plan_wake(struct plan *plan, usec_t at, struct because why)
{
	plan_append(plan, PLAN_WAKE, NULL, why)->at = at;
}

void plan_expect(struct plan *plan, uint32_t host)
{
	count_ranks(plan, &host, 1, 1);
	plan->expects = true;
}

uint32_t plan_active(const struct plan *plan, const struct host *host)
{
	int64_t n = (int64_t)host->nr_active + plan->ranks[host->ix];

	return n > 0 ? (uint32_t)n : 0;
}

static uint32_t slots_left(const struct plan *plan, const struct host *host)
{
	int64_t room = (int64_t)host->slots - host->nr_ranks;

	if (plan->nr_ranks)
		room -= (int64_t)plan->ranks[host->ix] +
			plan->leaving[host->ix];
	return !host->reserved && room > 0 ? (uint32_t)room : 0;
}

uint32_t plan_room(const struct plan *plan, const struct host *host)
{
	return host_usable(host) ? slots_left(plan, host) : 0;
}

uint32_t plan_room_of(const struct plan *plan, const struct host *host,
		      const struct job *job)
{
	return host_takes(host, job) ? slots_left(plan, host) : 0;
}

static void print_hosts(FILE *f, const struct view *view,
			const struct plan_entry *e, const char *before)
{
	for (uint32_t i = 0; e->hosts && i < e->n; i++) {
		fputs(i ? "," : before, f);
		reason_write_host(f, view, e->hosts[i]);
	}
}

/* A second or more to the hundredth, ten or more to the second. */
static usec_t legible(usec_t span)
{
	usec_t unit = span < USEC_PER_SEC	 ? 1
		      : span < 10 * USEC_PER_SEC ? 10 * USEC_PER_MSEC
						 : USEC_PER_SEC;

	return (span + unit / 2) / unit * unit;
}

static void print_migrate(FILE *f, const struct view *view,
			  const struct plan_entry *e)
{
	fprintf(f, "migrate job %" PRId64, e->job->id);
	for (uint32_t i = 0; i < e->n; i++)
		fprintf(f, "%s%" PRIu32,
			i	   ? ","
			: e->n > 1 ? " ranks "
				   : " rank ",
			e->ranks[i]);
	print_hosts(f, view, e, " to ");
	if (!e->at)
		return;
	if (view && e->at <= view->now) {
		fputs(" at once", f); /* it should be gone by now */
		return;
	}
	fputs(view ? " within " : " by ", f);
	reason_write_usec(f, view ? legible(e->at - view->now) : e->at);
}

static void print_what(FILE *f, const struct view *view,
		       const struct plan_entry *e)
{
	int64_t id = e->job ? e->job->id : 0;

	switch (e->type) {
	case PLAN_START:
		fprintf(f, "start job %" PRId64 " with %" PRIu32, id, e->n);
		break;
	case PLAN_RESIZE:
		fprintf(f, "resize job %" PRId64 " to %" PRIu32, id, e->n);
		break;
	case PLAN_MIGRATE:
		print_migrate(f, view, e);
		return;
	case PLAN_SUSPEND:
		fprintf(f, "suspend job %" PRId64, id);
		break;
	case PLAN_RESUME:
		fprintf(f, "resume job %" PRId64, id);
		break;
	case PLAN_FREEZE:
	case PLAN_THAW:
		fprintf(f, "%s job %" PRId64 " rank %" PRIu32,
			e->type == PLAN_FREEZE ? "freeze" : "thaw", id,
			e->rank);
		break;
	case PLAN_REQUEUE:
		fprintf(f, "requeue job %" PRId64, id);
		break;
	case PLAN_RESERVE:
	case PLAN_RELEASE:
		fputs(e->type == PLAN_RESERVE ? "reserve " : "release ", f);
		reason_write_host(f, view, e->host);
		break;
	case PLAN_DEFER:
		fprintf(f, "defer job %" PRId64, id);
		break;
	case PLAN_WAKE:
		fputs("wake at ", f);
		reason_write_usec(f, e->at);
		break;
	}
	print_hosts(f, view, e, " on ");
}

void plan_write(const struct view *view, const struct plan_entry *entry,
		FILE *to)
{
	print_what(to, view, entry);
	fputs(": ", to);
	because_write(view, &entry->why, to);
}

int plan_print(const struct view *view, const struct plan_entry *entry,
	       char *buf, size_t size)
{
	char *text = NULL;
	size_t length = 0;
	FILE *f = xmemstream(&text, &length);

	plan_write(view, entry, f);
	fclose(f);
	if (size)
		snprintf(buf, size, "%s", text);
	free(text);
	return (int)length;
}
