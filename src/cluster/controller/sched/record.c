/*
 * record.c - the record of what the policy was told and planned
 *
 * Each line (model/record.h) is a row of the store, written in the same transaction as
 * the change that it tells of.  The record grows to conf->record lines and then by one
 * more segment.  A segment begins with a new view and policy, as after a restart; the
 * oldest segments are deleted when the others have enough lines.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cluster/controller/sched/priv.h"
#include "cluster/controller/state/find.h"
#include "cluster/controller/state/say.h"
#include "cluster/controller/state/state.h"
#include "model/record.h"

enum {
	SEGMENTS = 4, /* about how many segments the record has */
	SEGMENT_LEAST = 100,
	UNCOMMITTED = 1000, /* lines that may be uncommitted, at most */
	CHUNK = 256 << 10,  /* bytes in one answer */
	KEEP = 64 << 10,    /* bytes of text whose stream is kept */
};

static bool recording(const struct ctl *ctl)
{
	return ctl->conf->record > 0;
}

static FILE *text_open(struct sched_text *t)
{
	t->to = open_memstream(&t->text, &t->size);
	if (!t->to)
		abort(); /* out of memory */
	return t->to;
}

static void text_close(struct sched_text *t)
{
	if (t->to)
		fclose(t->to);
	free(t->text);
	*t = (struct sched_text){ NULL };
}

/* The stream is kept from event to event: to make one was a tenth of a job's cancelling. */
static FILE *lines_open(struct ctl *ctl)
{
	struct sched_text *t = &ctl->sched->lines;

	if (!t->to)
		text_open(t);
	rewind(t->to);
	return t->to;
}

/* Store what was written, line by line. */
static void put_lines(struct ctl *ctl, const struct job *job, bool begin)
{
	struct sched_text *t = &ctl->sched->lines;
	struct store_line row = { .at = ctl_now(),
				  .job = job ? (uint64_t)job->id : 0,
				  .begin = begin };
	char *rest, *line;

	fflush(t->to);
	t->text[t->size] = 0;
	rest = t->text;
	while ((line = strsep(&rest, "\n"))) {
		if (!*line)
			continue;
		row.line = line;
		store_put_line(ctl->store, &row);
		row.begin = false;
		ctl->sched->record.nr++;
	}
	if (t->size > KEEP)
		text_close(t);
}

void ctl_record_close(struct ctl *ctl)
{
	text_close(&ctl->sched->lines);
}

void ctl_record_begin(struct ctl *ctl)
{
	store_trim_lines(ctl->store, (uint64_t)ctl->conf->record);
	ctl->sched->record = (struct sched_record){ .nr = 0 };
	if (!recording(ctl))
		return;
	record_begin(&ctl->sched->view, CTL_SEED, ctl->conf->policy,
		     lines_open(ctl));
	put_lines(ctl, NULL, true);
}

void ctl_record_event(struct ctl *ctl, const struct event *e, bool told)
{
	if (!recording(ctl))
		return;
	record_event(&ctl->sched->view, e, told, lines_open(ctl));
	put_lines(ctl, e->job, false);
}

void ctl_record_state(struct ctl *ctl, const char *state)
{
	if (!recording(ctl))
		return;
	record_state(state, lines_open(ctl));
	put_lines(ctl, NULL, false);
}

void ctl_record_pass(struct ctl *ctl)
{
	if (!recording(ctl))
		return;
	record_pass(&ctl->sched->view, ctl->sched->plan.nr, lines_open(ctl));
	put_lines(ctl, NULL, false);
	for (size_t i = 0; i < ctl->sched->plan.nr; i++) {
		const struct plan_entry *e = &ctl->sched->plan.entry[i];

		record_plan(&ctl->sched->view, e, lines_open(ctl));
		put_lines(ctl, e->job, false);
	}
}

void ctl_record_flush(struct ctl *ctl)
{
	if (ctl->sched->record.nr - ctl->sched->record.flushed < UNCOMMITTED)
		return;
	store_commit(ctl->store);
	ctl->sched->record.flushed = ctl->sched->record.nr;
}

/*
 * The lines of a segment's beginning do not count: with many jobs these are more than a
 * segment, and each segment would be full when it begins.
 */
bool ctl_record_full(const struct ctl *ctl)
{
	const struct sched_record *record = &ctl->sched->record;
	uint64_t most = (uint64_t)ctl->conf->record / SEGMENTS;

	if (most < SEGMENT_LEAST)
		most = SEGMENT_LEAST;
	if (most < record->entered)
		most = record->entered;
	return recording(ctl) && record->nr - record->entered > most;
}

/* ---- handing it out ---- */

struct chunk {
	FILE *to;
	uint64_t next, last; /* sequence numbers of lines */
};

static bool add_line(void *arg, const struct store_line *row)
{
	struct chunk *c = arg;

	if (row->seq > c->last || ftell(c->to) > CHUNK)
		return false;
	fprintf(c->to, "%s\n", row->line);
	c->next = row->seq + 1;
	return true;
}

void ctl_record_read(struct ctl_peer *p, uint64_t re,
		     const Control__GetRecord *g)
{
	Control__Record answer = CONTROL__RECORD__INIT;
	struct store *store = p->ctl->store;
	uint64_t first, last;
	struct sched_text t;
	struct chunk c;

	store_lines(store, &first, &last);
	if (!first) {
		ctl_send_failed(p, re, -ENOENT, "there is no record: %s",
				recording(p->ctl)
					? "no host has come yet"
					: "the controller keeps none (its "
					  "setting record is 0)");
		return;
	}
	if (g->from && g->from < first) {
		ctl_send_failed(p, re, -ESTALE,
				"the record was cut meanwhile; try again");
		return;
	}
	c = (struct chunk){ .next = g->from ? g->from : first,
			    .last = g->last ? g->last : last };
	c.to = text_open(&t);
	store_each_line(store, c.next, 0, add_line, &c);
	fclose(c.to);
	answer.text = t.text;
	answer.next = c.next;
	answer.last = c.last;
	ctl_send(p, 0, re, MESSAGE_BODY(RECORD), &answer);
	free(t.text);
}
