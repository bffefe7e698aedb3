/*
 * audit.c - stint audit: what administrators did, and what was refused
 */
#include <argp.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cmd/client/client_options.h"
#include "cmd/client/instants.h"
#include "cmd/client/listing.h"
#include "core/json.h"
#include "core/plain.h"

enum { KEY_CSV = 256 };

static const struct argp_option options[] = {
	{ "since", 's', "TIME", 0,
	  "from then on: 2h (ago), 18:30, 2026-12-24 18:30", 0 },
	{ "user", 'u', "USER", 0, "of this user or key (admin/NAME) alone", 0 },
	{ "csv", KEY_CSV, 0, 0, "print a table of comma-separated values", 0 },
	{ 0 }
};

struct args {
	struct client_options client;
	Control__GetAudit ask;
	bool csv, head; /* is printed */
};

/* ---- forms ---- */

static void clean(Control__AuditAct *a)
{
	char *const texts[] = { a->who, a->what, a->target, a->detail, a->why };

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		if (*texts[i]) /* what is empty may be a constant */
			plain_text(texts[i]);
}

static void print_act(struct args *args, Control__AuditAct *a)
{
	char when[32];

	clean(a);
	if (!args->head)
		puts("TIME                 WHO              WHAT");
	args->head = true;
	printf("%s  %-15s  %s%s%s", show_time(a->at_usec, when), a->who,
	       a->what, *a->target ? " " : "", a->target);
	if (*a->detail)
		printf(" (%s)", a->detail);
	if (a->code)
		printf(": refused: %s", a->why);
	putchar('\n');
}

static void print_csv(struct args *args, Control__AuditAct *a)
{
	char *const texts[] = { a->who, a->what, a->target, a->detail };

	if (!args->head)
		puts("at_us,who,what,target,detail,done,why");
	args->head = true;
	printf("%" PRIu64, a->at_usec);
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		putchar(',');
		csv_text(texts[i]);
	}
	printf(",%d,", !a->code);
	csv_text(a->why);
	putchar('\n');
}

static void print_json(const Control__AuditAct *a)
{
	struct json_out o = { .to = stdout };

	json_out_open(&o, NULL, '{');
	json_out_int(&o, "at_us", (int64_t)a->at_usec);
	json_out_text(&o, "who", a->who);
	json_out_text(&o, "what", a->what);
	json_out_text(&o, "target", a->target);
	json_out_text(&o, "detail", a->detail);
	json_out_bool(&o, "done", !a->code);
	json_out_text(&o, "why", a->code ? a->why : NULL);
	json_out_close(&o, '}');
	putchar('\n');
}

/* ---- the command ---- */

static error_t parse_audit(int key, char *arg, struct argp_state *state)
{
	struct args *a = state->input;
	struct error err;
	int r;

	switch (key) {
	case KEY_CSV:
		a->csv = true;
		return 0;
	case 's':
		r = command_since(arg, "--since", &a->ask.since_usec, &err);
		return command_parsed(state, r, &err);
	case 'u':
		if (!*arg)
			command_misuse(state, "--user: the name is empty");
		a->ask.who = arg;
		return 0;
	case ARGP_KEY_END:
		if (a->client.json && a->csv)
			command_misuse(state, "one of --csv and --json");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {
	options, parse_audit,
	0,	 "Show what administrators did, and what was refused.",
	0,	 0,
	0
};

static void print_page(struct args *a, const Control__Audit *page)
{
	for (size_t i = 0; i < page->n_acts; i++)
		if (a->client.json)
			print_json(page->acts[i]);
		else if (a->csv)
			print_csv(a, page->acts[i]);
		else
			print_act(a, page->acts[i]);
}

static int ask_audit(struct client *c, void *args, struct error *err)
{
	struct args *a = args;
	Control__Message *m;
	uint64_t next;
	int r;

	do {
		r = client_ask(c, MESSAGE_BODY(GET_AUDIT), &a->ask,
			       MESSAGE_BODY(AUDIT), NULL, NULL, &m, err);
		if (r < 0)
			return r;
		print_page(a, m->audit);
		next = m->audit->next;
		message_free(m);
		/* whatever it answers, this comes to an end */
		next = next > a->ask.from ? next : 0;
		a->ask.from = next;
	} while (next);
	return 0;
}

int cmd_audit(int argc, char **argv)
{
	struct args a = { .ask = CONTROL__GET_AUDIT__INIT };

	return client_main("audit", &argp, CLIENT_JSON, argc, argv, ask_audit,
			   &a);
}
