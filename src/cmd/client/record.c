/*
 * record.c - stint record: what the controller's policy was told and planned
 */
#include <argp.h>
#include <stdio.h>
#include <string.h>

#include "cmd/client/client_options.h"
#include "model/record.h"
#include "sim/report/output.h"

static const struct argp_option options[] = {
	{ "out", 'o', "FILE", 0, "write it there (- : standard output)", 0 },
	{ 0 }
};

struct args {
	struct client_options client;
	const char *out;
};

static error_t parse_record(int key, char *arg, struct argp_state *state)
{
	struct args *a = state->input;

	switch (key) {
	case 'o':
		a->out = arg;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {
	options,
	parse_record,
	0,
	"Write down what the controller's policy was told, and what it planned, "
	"a line an event.\v"
	"`stint sim --replay FILE` gives the events to the same policy again and "
	"compares the plans; with --policy, another one runs the same jobs.",
	0,
	0,
	0
};

static int copy(struct client *c, FILE *to, struct error *err)
{
	Control__GetRecord ask = CONTROL__GET_RECORD__INIT;
	Control__Message *m;
	int r;

	do {
		r = client_ask(c, MESSAGE_BODY(GET_RECORD), &ask,
			       MESSAGE_BODY(RECORD), NULL, NULL, &m, err);
		if (r < 0)
			return r;
		if (!ask.from)
			fputs(RECORD_HEADER "\n", to);
		fputs(m->record->text, to);
		ask.from = m->record->next;
		ask.last = m->record->last;
		message_free(m);
	} while (ask.from <= ask.last);
	return 0;
}

static int ask_record(struct client *c, void *args, struct error *err)
{
	const struct args *a = args;
	struct output *out = NULL;
	int r = output_open(a->out, &out, err);

	if (!r)
		r = copy(c, output_stream(out), err);
	return output_end(&out, r, err);
}

int cmd_record(int argc, char **argv)
{
	struct args a = { .out = "-" };

	return client_main("record", &argp, CLIENT_PLAIN, argc, argv,
			   ask_record, &a);
}
