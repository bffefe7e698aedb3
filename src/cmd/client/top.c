/*
 * top.c - stint top: hosts, their owners and load; what each rank gets
 */
#include <argp.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cmd/client/client_options.h"
#include "cmd/client/listing.h"
#include "cmd/client/screen.h"
#include "core/clock.h"
#include "core/json.h"
#include "core/plain.h"
#include "core/xalloc.h"
#include "model/contract.h"

enum { KEY_ONCE = 256 };

static const struct argp_option options[] = {
	{ "delay", 'd', "TIME", 0, "between two frames (2s)", 0 },
	{ "frames", 'n', "N", 0, "show so many, and end", 0 },
	{ "once", KEY_ONCE, 0, 0, "the same as -n 1", 0 },
	{ "sort", 's', "KEY", 0,
	  "ranks by: job, share, waits, memory, cpu, sent, moves, stood, host",
	  0 },
	{ 0 }
};

/* A rank, or a job that has none running. */
struct row {
	const Control__JobInfo *job;
	const Control__RankInfo *rank; /* NULL: the job waits */
	size_t number;
};

struct args {
	struct client_options client;
	uint64_t delay;
	int64_t frames;
	size_t sort; /* of keys */
};

/* What was answered; jobs come in pages. */
struct state {
	Control__Message *hosts;
	Control__Message **pages;
	size_t nr_pages, cap_pages;
	struct row *rows;
	size_t nr, cap;
};

/* ---- the order of rows ---- */

static int compare_real(double a, double b)
{
	return (a < b) - (a > b); /* the greatest first */
}

#define COMPARE(name, field)                                           \
	static int by_##name(const struct row *a, const struct row *b) \
	{                                                              \
		return compare_real(a->rank->field, b->rank->field);   \
	}
COMPARE(share, share)
COMPARE(waits, waits)
COMPARE(memory, memory)
COMPARE(cpu, cpu_usec)
COMPARE(sent, sent_bytes)
COMPARE(moves, moves)
COMPARE(stood, stood_usec)
#undef COMPARE

static int by_host(const struct row *a, const struct row *b)
{
	return strcmp(a->rank->host, b->rank->host);
}

static const struct key {
	const char *name;
	int (*compare)(const struct row *a, const struct row *b); /* ranks */
} keys[] = {
	{ "job", NULL },	 { "share", by_share }, { "waits", by_waits },
	{ "memory", by_memory }, { "cpu", by_cpu },	{ "sent", by_sent },
	{ "moves", by_moves },	 { "stood", by_stood }, { "host", by_host },
};
#define NR_KEYS (sizeof(keys) / sizeof(*keys))

/* Who waits comes last; what the key does not tell apart is by number. */
static int compare_rows(const void *x, const void *y, void *arg)
{
	const struct key *key = arg;
	const struct row *a = x, *b = y;
	int r = !a->rank - !b->rank;

	if (!r && a->rank && key->compare)
		r = key->compare(a, b);
	if (!r && a->job->job != b->job->job)
		r = a->job->job < b->job->job ? -1 : 1;
	return r ? r : a->number < b->number ? -1 : a->number > b->number;
}

/* ---- asking ---- */

static void state_clear(struct state *s)
{
	message_free(s->hosts);
	for (size_t i = 0; i < s->nr_pages; i++)
		message_free(s->pages[i]);
	free(s->pages);
	free(s->rows);
	*s = (struct state){ .hosts = NULL };
}

static void add_row(struct state *s, const Control__JobInfo *job,
		    const Control__RankInfo *rank, size_t number)
{
	array_room(s->rows, s->nr, &s->cap);
	s->rows[s->nr++] = (struct row){ job, rank, number };
}

static void add_job(struct state *s, const Control__JobInfo *job)
{
	if (job->state == CONTROL__STATE__WAITING)
		add_row(s, job, NULL, 0);
	else
		for (size_t i = 0; i < job->n_ranks; i++)
			add_row(s, job, job->ranks[i], i);
}

static int ask_page(struct client *c, struct state *s, Control__ListJobs *list,
		    struct error *err)
{
	Control__Message *m;
	int r = list_jobs_on(c, list, &m, err);

	if (r < 0)
		return r;
	array_room(s->pages, s->nr_pages, &s->cap_pages);
	s->pages[s->nr_pages++] = m;
	for (size_t i = 0; i < m->jobs->n_jobs; i++)
		add_job(s, m->jobs->jobs[i]);
	return 0;
}

static int state_ask(struct client *c, struct state *s, struct error *err)
{
	Control__ListHosts hosts = CONTROL__LIST_HOSTS__INIT;
	Control__ListJobs jobs = CONTROL__LIST_JOBS__INIT;
	int r = client_ask(c, MESSAGE_BODY(LIST_HOSTS), &hosts,
			   MESSAGE_BODY(HOSTS), NULL, NULL, &s->hosts, err);

	if (r < 0)
		return r;
	do
		r = ask_page(c, s, &jobs, err);
	while (!r && jobs.from);
	return r;
}

/* ---- for people ---- */

static void print_head(const struct state *s, const char *sort, FILE *to)
{
	const Control__Hosts *hosts = s->hosts->hosts;
	unsigned up = 0, here = 0, ranks = 0, waiting = 0;
	char clock[16];
	time_t now = time(NULL);
	struct tm tm;

	for (size_t i = 0; i < hosts->n_hosts; i++) {
		const Control__HostInfo *h = hosts->hosts[i];

		up += h->up;
		here += h->up && h->presence && h->presence->here;
	}
	for (size_t i = 0; i < s->nr; i++) {
		ranks += s->rows[i].rank != NULL;
		waiting += !s->rows[i].rank;
	}
	localtime_r(&now, &tm);
	strftime(clock, sizeof(clock), "%H:%M:%S", &tm);
	fprintf(to,
		"stint top  %s  %u of %zu hosts up, owners at %u; %u ranks; "
		"%u jobs wait; by %s\n\n",
		clock, up, hosts->n_hosts, here, ranks, waiting, sort);
}

static void print_host(const Control__HostInfo *h, FILE *to)
{
	const Control__Presence *p = h->presence;
	const char *lends = h->lending ? closed_name(h->lending->closed) : NULL;

	fprintf(to,
		"%-16s %-9s %-5s %-8s %5u %5u %6.2f %4.0f %4.0f %4.0f %4.0f "
		"%9s\n",
		h->name, host_state(h),
		!h->up || !p ? "-"
		: p->here    ? "here"
			     : "away",
		h->up && lends ? lends : "-", h->ranks, h->cores, h->load,
		h->runnable, h->pressure_cpu, h->pressure, h->pressure_io,
		show_bytes(h->memory_free));
}

static void print_hosts(const Control__Hosts *hosts, FILE *to)
{
	fprintf(to, "%-16s %-9s %-5s %-8s %5s %5s %6s %4s %4s %4s %4s %9s\n",
		"HOST", "STATE", "OWNER", "LENDS", "RANKS", "CORES", "LOAD",
		"RUN", "CPU%", "MEM%", "IO%", "FREE");
	for (size_t i = 0; i < hosts->n_hosts; i++)
		print_host(hosts->hosts[i], to);
}

static void print_program(const Control__JobInfo *job, FILE *to)
{
	if (*job->name)
		fprintf(to, " %s:", job->name);
	for (size_t i = 0; i < job->n_argv; i++) {
		plain_text(job->argv[i]);
		fprintf(to, " %s", job->argv[i]);
	}
	if (*job->why)
		fprintf(to, "  (%s)", job->why);
	fputc('\n', to);
}

static const char *show_writes(const Control__RankInfo *r)
{
	double writes = rank_writes_told(r);

	return writes >= 0 ? show_bytes((uint64_t)writes) : "unknown";
}

static void print_row(const struct row *row, FILE *to)
{
	const Control__RankInfo *r = row->rank;
	char name[48];

	if (r)
		snprintf(name, sizeof(name), "%" PRIu64 ".%zu", row->job->job,
			 row->number);
	else
		snprintf(name, sizeof(name), "%" PRIu64, row->job->job);
	fprintf(to, "%-9s %-9s %-9s ", name, row->job->user,
		state_name(r ? r->state : row->job->state));
	if (r)
		fprintf(to, "%-16s %5.2f %5.2f %9s %9s %9s %9s %5u %9s ",
			*r->host ? r->host : "-", r->share, r->waits,
			show_bytes(r->memory), show_writes(r),
			show_usec(r->cpu_usec), show_bytes(r->sent_bytes),
			r->moves, show_usec(r->stood_usec));
	else
		fprintf(to, "%-16s %5s %5s %9s %9s %9s %9s %5s %9s ", "-", "-",
			"-", "-", "-", "-", "-", "-", "-");
	print_program(row->job, to);
}

static void print_all(const struct state *s, const char *sort, FILE *to)
{
	print_head(s, sort, to);
	print_hosts(s->hosts->hosts, to);
	fprintf(to,
		"\n%-9s %-9s %-9s %-16s %5s %5s %9s %9s %9s %9s %5s %9s  %s\n",
		"RANK", "USER", "STATE", "HOST", "SHARE", "WAITS", "MEMORY",
		"WRITES/S", "CPU", "SENT", "MOVES", "STOOD", "PROGRAM");
	for (size_t i = 0; i < s->nr; i++)
		print_row(&s->rows[i], to);
}

/* ---- for programs ---- */

static void print_state_json(const struct state *s, FILE *to)
{
	const Control__Hosts *hosts = s->hosts->hosts;
	struct json_out o = { .to = to };

	json_out_open(&o, NULL, '{');
	json_out_int(&o, "at_us", (int64_t)clock_usec(CLOCK_REALTIME));
	json_out_open(&o, "hosts", '[');
	for (size_t i = 0; i < hosts->n_hosts; i++)
		json_out_tree(&o, NULL, host_json(hosts->hosts[i]));
	json_out_close(&o, ']');
	json_out_open(&o, "jobs", '[');
	for (size_t p = 0; p < s->nr_pages; p++)
		for (size_t i = 0; i < s->pages[p]->jobs->n_jobs; i++)
			job_json(s->pages[p]->jobs->jobs[i], &o);
	json_out_close(&o, ']');
	json_out_close(&o, '}');
	fputc('\n', to);
}

/* ---- the command ---- */

static int show_frame(struct client *c, const struct args *a,
		      struct screen *screen, struct error *err)
{
	struct state s = { .hosts = NULL };
	int r = state_ask(c, &s, err);

	if (r >= 0 && a->client.json) {
		print_state_json(&s, screen_begin(screen));
		screen_show(screen);
	} else if (r >= 0) {
		qsort_r(s.rows, s.nr, sizeof(*s.rows), compare_rows,
			(void *)&keys[a->sort]);
		print_all(&s, keys[a->sort].name, screen_begin(screen));
		screen_show(screen);
	}
	state_clear(&s);
	return r < 0 ? r : 0;
}

static int ask_top(struct client *c, void *args, struct error *err)
{
	struct args *a = args;
	struct screen *screen =
		screen_open(a->client.json ? SCREEN_LINES : SCREEN_TABLE,
			    (uint64_t)a->frames);
	int r, key = 0;

	client_insist(c);
	do {
		if (key == 's')
			a->sort = (a->sort + 1) % NR_KEYS;
		r = show_frame(c, a, screen, err);
		key = r < 0 ? SCREEN_OVER
			    : screen_wait(screen, (usec_t)a->delay);
	} while (key != SCREEN_OVER);
	screen_close(screen);
	return r < 0 ? r : EXIT_OK;
}

static int parse_sort(const char *text, size_t *ret, struct error *err)
{
	for (size_t i = 0; i < NR_KEYS; i++)
		if (!strcmp(text, keys[i].name)) {
			*ret = i;
			return 0;
		}
	return error_set(err, -EINVAL,
			 "--sort: '%s' is not a key: there are job, share, "
			 "waits, memory, cpu, sent, moves, stood, host",
			 text);
}

static error_t parse_top(int key, char *arg, struct argp_state *state)
{
	struct args *a = state->input;
	struct error err;

	switch (key) {
	case 'd':
		return command_parsed(
			state, command_span(arg, "--delay", &a->delay, &err),
			&err);
	case 'n':
		return command_parsed(state,
				      parse_int(arg, 1, INT64_MAX, "--frames",
						&a->frames, &err),
				      &err);
	case KEY_ONCE:
		a->frames = 1;
		return 0;
	case 's':
		return command_parsed(state, parse_sort(arg, &a->sort, &err),
				      &err);
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {
	options,
	parse_top,
	0,
	"Show hosts, their owners and load, and what each rank gets, again and "
	"again.\v"
	"On a terminal `q` ends it, and `s` sorts by the next key.",
	0,
	0,
	0
};

int cmd_top(int argc, char **argv)
{
	struct args a = { .delay = 2 * USEC_PER_SEC };

	return client_main("top", &argp, CLIENT_JSON, argc, argv, ask_top, &a);
}
