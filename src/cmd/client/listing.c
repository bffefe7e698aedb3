/* listing.c - hosts and jobs as several commands list them, see listing.h */
#include "cmd/client/listing.h"

#include <inttypes.h>
#include <jansson.h>
#include <string.h>
#include <time.h>

#include "cluster/host/limit.h"
#include "cmd/client/client_options.h"
#include "core/json.h"
#include "core/plain.h"
#include "core/units.h"

/* ---- hosts ---- */

const char *host_state(const Control__HostInfo *h)
{
	if (!h->up)
		return "down";
	return h->drain ? (h->ranks ? "draining" : "drained") : "up";
}

static void drained_json(const Control__HostDrain *d, json_t *j)
{
	json_object_set_new(j, "drain_who", json_text(d ? d->who : ""));
	json_object_set_new(j, "drain_reason", json_text(d ? d->reason : ""));
	json_object_set_new(j, "drain_since_us",
			    json_integer(d ? (json_int_t)d->at_usec : 0));
	json_object_set_new(j, "drain_by_us",
			    json_integer(d ? (json_int_t)d->by_usec : 0));
}

json_t *host_json(const Control__HostInfo *h)
{
	json_t *j = json_pack(
		"{ss ss ss sb si sf sf sI sI sf si sI si sf sf sf sf sf sI}",
		"host", h->name, "state", host_state(h), "address", h->address,
		"drain", (int)h->drain, "cores", (int)h->cores, "alpha",
		h->alpha, "load", h->load, "memory", (json_int_t)h->memory,
		"memory_free", (json_int_t)h->memory_free, "memory_pressure",
		h->pressure, "users", (int)h->users, "idle_us",
		(json_int_t)h->idle_usec, "ranks", (int)h->ranks, "runnable",
		h->runnable, "cpu_pressure", h->pressure_cpu, "io_pressure",
		h->pressure_io, "major_faults", h->faults, "refaults",
		h->refaults, "link_bits", (json_int_t)h->link_bits);

	drained_json(h->drained, j);
	json_object_set_new(j, "open_until_us",
			    json_integer((json_int_t)h->open_until_usec));
	return j;
}

static void print_clock(const char *word, uint64_t usec, FILE *to)
{
	time_t t = (time_t)(usec / USEC_PER_SEC);
	struct tm tm;
	char text[40];

	if (usec && localtime_r(&t, &tm) &&
	    strftime(text, sizeof(text), "%F %T", &tm))
		fprintf(to, ", %s %s", word, text);
}

/* Who has it drained, and why. */
static void print_drained(const Control__HostInfo *h, FILE *to)
{
	Control__HostDrain *d = h->drained;

	if (!d || (!*d->who && !*d->reason && !d->by_usec))
		return;
	plain_text(d->who);
	plain_text(d->reason);
	fprintf(to, "%s is drained by %s", h->name,
		*d->who ? d->who : "somebody");
	print_clock("since", d->at_usec, to);
	print_clock("to be empty by", d->by_usec, to);
	fprintf(to, "%s%s\n", *d->reason ? ": " : "", d->reason);
}

/* What the calendar says of one that is not drained yet. */
static void print_open(const Control__HostInfo *h, FILE *to)
{
	if (!h->open_until_usec || h->drain)
		return;
	fputs(h->name, to);
	print_clock("by the calendar open until", h->open_until_usec, to);
	fputc('\n', to);
}

void hosts_table(const Control__Hosts *hosts, FILE *to)
{
	if (hosts->n_hosts)
		fprintf(to, "%-16s %-9s %5s %5s %6s %6s %10s %5s\n", "HOST",
			"STATE", "RANKS", "CORES", "ALPHA", "LOAD", "FREE",
			"USERS");
	for (size_t i = 0; i < hosts->n_hosts; i++) {
		const Control__HostInfo *h = hosts->hosts[i];

		fprintf(to, "%-16s %-9s %5u %5u %6.2f %6.2f %10s %5u\n",
			h->name, host_state(h), h->ranks, h->cores, h->alpha,
			h->load, show_bytes(h->memory_free), h->users);
	}
	for (size_t i = 0; i < hosts->n_hosts; i++)
		print_drained(hosts->hosts[i], to);
	for (size_t i = 0; i < hosts->n_hosts; i++)
		print_open(hosts->hosts[i], to);
}

/* ---- jobs ---- */

double rank_writes_told(const Control__RankInfo *r)
{
	return r->written_in_usec ? (double)r->written * USEC_PER_SEC /
					    (double)r->written_in_usec
				  : -1;
}

/* null: it has not moved, or that was not seen. */
static void rank_seen_json(const Control__RankInfo *r, struct json_out *to)
{
	double writes = rank_writes_told(r);

	json_out_tree(to, "last_predicted_us",
		      r->predicted_usec
			      ? json_integer((json_int_t)r->predicted_usec)
			      : json_null());
	json_out_tree(to, "writes",
		      writes >= 0 ? json_real(writes) : json_null());
}

/* What it gets and had, and whom it talks to. */
static void rank_use_json(const Control__RankInfo *r, struct json_out *to)
{
	json_out_number(to, "share", r->share);
	json_out_number(to, "waits", r->waits);
	json_out_number(to, "major_faults", r->faults);
	json_out_int(to, "memory", (int64_t)r->memory);
	json_out_int(to, "cpu_us", (int64_t)r->cpu_usec);
	json_out_int(to, "stood_us", (int64_t)r->stood_usec);
	json_out_int(to, "sent_bytes", (int64_t)r->sent_bytes);
	json_out_open(to, "sent", '[');
	for (size_t i = 0; i < r->n_sent; i++) {
		json_out_open(to, NULL, '{');
		json_out_int(to, "rank", r->sent[i]->rank);
		json_out_int(to, "bytes", (int64_t)r->sent[i]->bytes);
		json_out_int(to, "segments", (int64_t)r->sent[i]->segments);
		json_out_close(to, '}');
	}
	json_out_close(to, ']');
}

static void rank_json(const Control__RankInfo *r, size_t n, struct json_out *to)
{
	json_out_open(to, NULL, '{');
	json_out_int(to, "rank", (int64_t)n);
	json_out_text(to, "state", state_name(r->state));
	json_out_text(to, "host", r->host);
	json_out_text(to, "address", r->address);
	json_out_int(to, "epoch", (int64_t)r->epoch);
	json_out_int(to, "moves", r->moves);
	json_out_int(to, "last_downtime_us", (int64_t)r->downtime_usec);
	rank_seen_json(r, to);
	json_out_int(to, "pid", r->pid);
	rank_use_json(r, to);
	if (*r->moving_to)
		json_out_text(to, "moving_to", r->moving_to);
	if (*r->why)
		json_out_text(to, "why", r->why);
	if (r->state == CONTROL__STATE__DONE)
		json_out_int(to, "exit", r->exit);
	json_out_close(to, '}');
}

void limits_json(const Control__Limits *l, struct json_out *to)
{
	static const Control__Limits none = CONTROL__LIMITS__INIT;

	l = l ? l : &none;
	json_out_open(to, "limits", '{');
	json_out_int(to, "memory", (int64_t)l->memory);
	json_out_int(to, "pids", (int64_t)l->pids);
	json_out_number(to, "cpus", (double)l->milli_cpus / 1000);
	json_out_int(to, "output", (int64_t)l->output_max);
	json_out_close(to, '}');
}

void limits_print(const Control__Limits *l, FILE *to)
{
	char text[LIMITS_CPUS_TEXT], size[SIZE_TEXT];
	const char *before = "each rank has at most ";

	if (!l)
		return;
	if (l->memory) {
		fprintf(to, "%s%s of memory", before,
			size_text(l->memory, size));
		before = ", ";
	}
	if (l->pids) {
		fprintf(to, "%s%" PRIu64 " processes and threads", before,
			l->pids);
		before = ", ";
	}
	if (l->milli_cpus) {
		fprintf(to, "%s%s processors", before,
			limits_cpus_text(l->milli_cpus, text));
		before = ", ";
	}
	if (l->output_max)
		fprintf(to, "%s%s in a file", before,
			size_text(l->output_max, size));
	putc('\n', to);
}

static void job_words_json(const Control__JobInfo *i, struct json_out *to)
{
	json_out_open(to, "argv", '[');
	for (size_t n = 0; n < i->n_argv; n++)
		json_out_text(to, NULL, i->argv[n]);
	json_out_close(to, ']');
	json_out_open(to, "ranks", '[');
	for (size_t n = 0; n < i->n_ranks; n++)
		rank_json(i->ranks[n], n, to);
	json_out_close(to, ']');
}

static void after_json(const Control__JobInfo *i, struct json_out *to)
{
	json_out_open(to, "after", '[');
	for (size_t n = 0; n < i->n_after; n++) {
		const Control__After *a = i->after[n];

		json_out_open(to, NULL, '{');
		json_out_int(to, "job", (int64_t)a->job);
		if (a->array) {
			json_out_int(to, "array", (int64_t)a->array);
			json_out_int(to, "task", a->task);
		}
		json_out_text(to, "kind", after_kind((int)a->kind));
		json_out_bool(to, "over", a->over);
		json_out_bool(to, "failed", a->failed);
		json_out_close(to, '}');
	}
	json_out_close(to, ']');
}

void job_json(const Control__JobInfo *i, struct json_out *to)
{
	json_out_open(to, NULL, '{');
	json_out_int(to, "job", (int64_t)i->job);
	json_out_text(to, "state", state_name(i->state));
	json_out_text(to, "user", i->user);
	json_out_int(to, "submit_us", (int64_t)i->submit_usec);
	json_out_int(to, "start_us", (int64_t)i->start_usec);
	json_out_int(to, "end_us", (int64_t)i->end_usec);
	json_out_text(to, "why", i->why);
	job_words_json(i, to);
	json_out_bool(to, "hidden", i->hidden);
	json_out_text(to, "name", i->name);
	json_out_bool(to, "held", i->held);
	json_out_bool(to, "detached", i->detached);
	json_out_int(to, "requeues", i->requeues);
	json_out_int(to, "limit_us", (int64_t)i->limit_usec);
	json_out_text(to, "reason", message_reason(i->reason));
	json_out_text(to, "by", i->by);
	json_out_int(to, "array", (int64_t)i->array);
	json_out_int(to, "task", i->task);
	limits_json(i->limits, to);
	after_json(i, to);
	if (i->state == CONTROL__STATE__DONE)
		json_out_int(to, "exit", i->exit);
	json_out_close(to, '}');
}

int list_jobs_on(struct client *c, Control__ListJobs *list,
		 Control__Message **ret, struct error *err)
{
	int r = client_ask(c, MESSAGE_BODY(LIST_JOBS), list, MESSAGE_BODY(JOBS),
			   NULL, NULL, ret, err);

	if (!r)
		list->from = (*ret)->jobs->next > list->from
				     ? (*ret)->jobs->next
				     : 0;
	return r;
}

void csv_text(char *text)
{
	if (*text) /* what is empty may be a constant */
		plain_text(text);
	putchar('"');
	if (*text && strchr("=+-@\t\r", *text))
		putchar('\'');
	for (; *text; text++) {
		if (*text == '"')
			putchar('"');
		putchar(*text);
	}
	putchar('"');
}
