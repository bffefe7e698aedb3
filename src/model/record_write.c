/* record_write.c - lines of a record, written, see record.h */
#include "model/record.h"

#include <inttypes.h>

static void write_real(const char *name, double v, FILE *to)
{
	char text[REAL_TEXT];

	fprintf(to, " %s=%s", name, real_text(v, text));
}

static void write_escaped(const char *text, FILE *to)
{
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (c <= ' ' || c == '%' || c == 0x7f)
			fprintf(to, "%%%02x", c);
		else
			fputc(c, to);
	}
}

static void write_owners(const struct host *h, FILE *to)
{
	fputs(" own=", to);
	for (uint32_t i = 0; i < h->nr_owners; i++)
		fprintf(to, "%s%" PRId32, i ? "," : "", h->owner[i]);
}

static void write_host(const struct host *h, unsigned given, FILE *to)
{
	if (given & RECORD_NAME) {
		fputs(" name=", to);
		write_escaped(h->name ? h->name : "", to);
	}
	if (given & RECORD_SPEED)
		write_real("speed", h->speed, to);
	if (given & RECORD_CORES)
		fprintf(to, " cores=%" PRIu32, h->cores);
	if (given & RECORD_SLOTS)
		fprintf(to, " slots=%" PRIu32, h->slots);
	if (given & RECORD_MEMORY)
		fprintf(to, " memory=%" PRIu64, h->memory);
	if (given & RECORD_FREE)
		fprintf(to, " free=%" PRIu64, h->memory_free);
	if (given & RECORD_LOAD)
		write_real("load", h->load, to);
	if (given & RECORD_USERS)
		fprintf(to, " users=%" PRIu32, h->users);
	if (given & RECORD_OWNER)
		fprintf(to, " owner=%d", h->owner_active);
	if (given & RECORD_IDLE)
		fprintf(to, " idle=%" PRId64, h->idle_since);
	if (given & RECORD_UP)
		fprintf(to, " up=%d", h->up);
	if (given & RECORD_DRAIN)
		fprintf(to, " drain=%d", h->drain);
	if (given & RECORD_CLOSED)
		fprintf(to, " closed=%s", closed_name(h->closed));
	if (given & RECORD_LEAVE)
		fprintf(to, " by=%" PRId64, h->leave_by);
	if (given & RECORD_UNTIL)
		fprintf(to, " until=%" PRId64, h->freeze_until);
	if (given & RECORD_FREEZE)
		fprintf(to, " freeze=%" PRId64, h->freeze_most);
	if (given & RECORD_FAULTS)
		write_real("faults", h->faults, to);
	if (given & RECORD_OWNERS)
		write_owners(h, to);
	if (given & RECORD_LINK)
		write_real("link", h->link, to);
	if (given & RECORD_OPEN)
		fprintf(to, " open=%" PRId64, h->open_until);
	fputc('\n', to);
}

static unsigned difference(const struct host *a, const struct host *b)
{
	return (a->speed != b->speed ? RECORD_SPEED : 0) |
	       (a->cores != b->cores ? RECORD_CORES : 0) |
	       (a->slots != b->slots ? RECORD_SLOTS : 0) |
	       (a->memory != b->memory ? RECORD_MEMORY : 0) |
	       (a->memory_free != b->memory_free ? RECORD_FREE : 0) |
	       (a->load != b->load ? RECORD_LOAD : 0) |
	       (a->users != b->users ? RECORD_USERS : 0) |
	       (a->owner_active != b->owner_active ? RECORD_OWNER : 0) |
	       (a->idle_since != b->idle_since ? RECORD_IDLE : 0) |
	       (a->up != b->up ? RECORD_UP : 0) |
	       (a->drain != b->drain ? RECORD_DRAIN : 0) |
	       (a->closed != b->closed ? RECORD_CLOSED : 0) |
	       (a->leave_by != b->leave_by ? RECORD_LEAVE : 0) |
	       (a->freeze_until != b->freeze_until ? RECORD_UNTIL : 0) |
	       (a->freeze_most != b->freeze_most ? RECORD_FREEZE : 0) |
	       (a->faults != b->faults ? RECORD_FAULTS : 0) |
	       (host_same_owners(a, b) ? 0 : RECORD_OWNERS) |
	       (a->link != b->link ? RECORD_LINK : 0) |
	       (a->open_until != b->open_until ? RECORD_OPEN : 0);
}

void record_begin(const struct view *view, uint64_t seed, const char *policy,
		  FILE *to)
{
	fprintf(to, "begin %" PRId64 " %" PRIu32 " %" PRIu64 " %s\n", view->now,
		view->nr_hosts, seed, policy);
	for (uint32_t i = 0; i < view->nr_hosts; i++) {
		fprintf(to, "define %" PRIu32, i);
		write_host(&view->hosts[i], RECORD_ALL, to);
	}
}

static void write_job(const struct job *job, FILE *to)
{
	fprintf(to,
		" size=%" PRIu32 " min=%" PRIu32 " submit=%" PRId64
		" estimate=%" PRId64 " user=%" PRId32,
		job->size, job->min_size, job->submit, job->estimate,
		job->user);
	if (job->requeue)
		fputs(" requeue=1", to);
}

static void write_on(const struct event *e, FILE *to)
{
	for (uint32_t i = 0; i < e->n; i++)
		fprintf(to, "%s%" PRIu32, i ? "," : " on=", e->hosts[i]);
}

static void write_seen(const struct rank_seen *s, FILE *to)
{
	if (rank_is_seen(s))
		fprintf(to,
			" seen=%" PRId64 ":%" PRId64 ":%" PRIu64 ":%" PRId64,
			s->stood, s->predicted, s->written, s->written_in);
}

static void write_move(const struct event *e, FILE *to)
{
	fprintf(to, " rank=%" PRIu32 " to=%" PRIu32 " cost=%" PRId64 "%s%s",
		e->rank, e->host, e->cost, e->refused ? " refused=1" : "",
		e->untried ? " untried=1" : "");
	write_seen(&e->seen, to);
}

static void write_pairs(const struct event *e, FILE *to)
{
	char bytes[REAL_TEXT], segments[REAL_TEXT];

	fputs(" pairs=", to);
	for (uint32_t i = 0; i < e->n; i++) {
		const struct job_talk *t = &e->talk[i];

		fprintf(to, "%s%" PRIu32 "-%" PRIu32 ":%s:%s", i ? "," : "",
			t->a, t->b, real_text(t->bytes, bytes),
			real_text(t->segments, segments));
	}
}

void record_event(const struct view *view, const struct event *e, bool told,
		  FILE *to)
{
	fprintf(to, "%s %" PRId64, event_name(e->type), e->at);
	if (e->type == EVENT_HOST) {
		fprintf(to, " %" PRIu32, e->host);
		write_host(e->fresh,
			   difference(&view->hosts[e->host], e->fresh), to);
		return;
	}
	if (e->type == EVENT_RESERVE || e->type == EVENT_RELEASE)
		fprintf(to, " %" PRIu32, e->host);
	if (e->job)
		fprintf(to, " job=%" PRId64, e->job->id);
	if (e->type == EVENT_ARRIVE)
		write_job(e->job, to);
	else if (e->type == EVENT_START)
		write_on(e, to);
	else if (e->type == EVENT_MIGRATE)
		write_move(e, to);
	else if (e->type == EVENT_FREEZE || e->type == EVENT_THAW)
		fprintf(to, " rank=%" PRIu32, e->rank);
	else if (e->type == EVENT_DEMAND)
		fprintf(to, " bytes=%" PRIu64, e->bytes);
	else if (e->type == EVENT_TALK)
		write_pairs(e, to);
	else if (e->type == EVENT_END)
		fprintf(to, " outcome=%s", event_outcome_name(e->outcome));
	fputs(told ? "\n" : " planned\n", to);
}

void record_state(const char *text, FILE *to)
{
	fputs("state ", to);
	write_escaped(text, to);
	fputc('\n', to);
}

void record_pass(const struct view *view, size_t n, FILE *to)
{
	fprintf(to, "pass %" PRId64 " %zu\n", view->now, n);
}

void record_planned(const struct view *view, const struct plan_entry *entry,
		    FILE *to)
{
	plan_write(view, entry, to);
	fputc('\t', to);
	because_write_numbers(view, &entry->why, to);
}

void record_plan(const struct view *view, const struct plan_entry *entry,
		 FILE *to)
{
	fputs("plan ", to);
	record_planned(view, entry, to);
	fputc('\n', to);
}
