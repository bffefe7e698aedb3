/* listing.c - hosts and jobs as several commands list them, see listing.h */
#include "cmd/client/listing.h"

#include <inttypes.h>
#include <jansson.h>
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

/* What it gets and had, and whom it talks to. */
static void rank_use_json(const Control__RankInfo *r, json_t *j)
{
	json_t *sent = json_array();

	json_object_set_new(j, "share", json_number(r->share));
	json_object_set_new(j, "waits", json_number(r->waits));
	json_object_set_new(j, "major_faults", json_number(r->faults));
	json_object_set_new(j, "memory", json_integer((json_int_t)r->memory));
	json_object_set_new(j, "cpu_us", json_integer((json_int_t)r->cpu_usec));
	json_object_set_new(j, "stood_us",
			    json_integer((json_int_t)r->stood_usec));
	json_object_set_new(j, "sent_bytes",
			    json_integer((json_int_t)r->sent_bytes));
	for (size_t i = 0; i < r->n_sent; i++)
		json_array_append_new(
			sent,
			json_pack("{si sI sI}", "rank", (int)r->sent[i]->rank,
				  "bytes", (json_int_t)r->sent[i]->bytes,
				  "segments",
				  (json_int_t)r->sent[i]->segments));
	json_object_set_new(j, "sent", sent);
}

static json_t *rank_json(const Control__RankInfo *r, size_t n)
{
	json_t *j =
		json_pack("{si ss ss ss sI si sI si}", "rank", (int)n, "state",
			  state_name(r->state), "host", r->host, "address",
			  r->address, "epoch", (json_int_t)r->epoch, "moves",
			  (int)r->moves, "last_downtime_us",
			  (json_int_t)r->downtime_usec, "pid", (int)r->pid);

	rank_use_json(r, j);
	if (*r->moving_to)
		json_object_set_new(j, "moving_to", json_string(r->moving_to));
	if (*r->why)
		json_object_set_new(j, "why", json_text(r->why));
	if (r->state == CONTROL__STATE__DONE)
		json_object_set_new(j, "exit", json_integer(r->exit));
	return j;
}

void limits_json(const Control__Limits *l, json_t *to)
{
	static const Control__Limits none = CONTROL__LIMITS__INIT;

	l = l ? l : &none;
	json_object_set_new(to, "memory", json_integer((json_int_t)l->memory));
	json_object_set_new(to, "pids", json_integer((json_int_t)l->pids));
	json_object_set_new(to, "cpus",
			    json_number((double)l->milli_cpus / 1000));
	json_object_set_new(to, "output",
			    json_integer((json_int_t)l->output_max));
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

json_t *job_json(const Control__JobInfo *i)
{
	json_t *j =
		json_pack("{sI ss ss sI sI sI so}", "job", (json_int_t)i->job,
			  "state", state_name(i->state), "user", i->user,
			  "submit_us", (json_int_t)i->submit_usec, "start_us",
			  (json_int_t)i->start_usec, "end_us",
			  (json_int_t)i->end_usec, "why", json_text(i->why));
	json_t *argv = json_array(), *ranks = json_array(), *limits;

	for (size_t n = 0; n < i->n_argv; n++)
		json_array_append_new(argv, json_text(i->argv[n]));
	for (size_t n = 0; n < i->n_ranks; n++)
		json_array_append_new(ranks, rank_json(i->ranks[n], n));
	json_object_set_new(j, "argv", argv);
	json_object_set_new(j, "ranks", ranks);
	json_object_set_new(j, "hidden", json_boolean(i->hidden));
	json_object_set_new(j, "name", json_text(i->name));
	json_object_set_new(j, "held", json_boolean(i->held));
	json_object_set_new(j, "detached", json_boolean(i->detached));
	json_object_set_new(j, "requeues", json_integer(i->requeues));
	json_object_set_new(j, "limit_us",
			    json_integer((json_int_t)i->limit_usec));
	json_object_set_new(j, "reason", json_string(reason_name(i->reason)));
	json_object_set_new(j, "by", json_text(i->by));
	json_object_set_new(j, "array", json_integer((json_int_t)i->array));
	json_object_set_new(j, "task", json_integer(i->task));
	json_object_set_new(j, "limits", limits = json_object());
	limits_json(i->limits, limits);
	if (i->state == CONTROL__STATE__DONE)
		json_object_set_new(j, "exit", json_integer(i->exit));
	return j;
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
