/*
 * owner.c - stint owner: what somebody at a host says to its agent, and asks it;
 * from elsewhere it can be asked, too
 */
#include <argp.h>
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cluster/owner/owner.h"
#include "cmd/client/client_options.h"
#include "cmd/client/owner_all.h"
#include "core/json.h"
#include "core/plain.h"

enum { KEY_FOR = 1024, KEY_RUN_DIR, KEY_JSON, KEY_ALL };

static const struct argp_option options[] = {
	{ "for", KEY_FOR, "TIME", 0, "here, away, evict: that long (1h)", 0 },
	{ "run-dir", KEY_RUN_DIR, "DIR", 0,
	  "the agent's (else STINT_RUN_DIR, else /run/stint)", 0 },
	{ "all", KEY_ALL, 0, 0,
	  "status: of all hosts, as the controller knows them", 0 },
	{ "json", KEY_JSON, 0, 0, "status: print JSON", 0 },
	{ 0 }
};

struct args {
	struct client_options client;
	const char *verb, *run_dir;
	const char *host; /* NULL: this one */
	uint64_t span;
	bool json, all;
};

static error_t parse_owner(int key, char *arg, struct argp_state *state)
{
	struct args *a = state->input;
	struct error err;
	int r;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &a->client;
		return 0;
	case KEY_ALL:
		a->all = true;
		return 0;
	case KEY_FOR:
		r = command_span(arg, "--for", &a->span, &err);
		return command_parsed(
			state, r ? r : owner_check_span(a->span, &err), &err);
	case KEY_RUN_DIR:
		a->run_dir = arg;
		return 0;
	case KEY_JSON:
		a->json = true;
		return 0;
	case ARGP_KEY_ARG:
		if (a->host)
			command_misuse(state, "what is '%s'?", arg);
		*(a->verb ? &a->host : &a->verb) = arg;
		return 0;
	case ARGP_KEY_NO_ARGS:
		command_misuse(state, "give here, away, evict or status");
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_child children[] = { { &client_argp, 0, NULL, 0 },
					      { 0 } };
static const struct argp argp = {
	options,
	parse_owner,
	"here|away|evict\nstatus [HOST]",
	"Say to the agent of this host that its owner is here, or away, or that "
	"all guests are to leave; or ask what it knows, or that of another HOST.",
	children,
	0,
	0
};

/* What a newer agent may say. */
static const char *cause_text(uint32_t cause, const char *(*word)(unsigned))
{
	const char *text = word(cause);

	return text ? text : "unknown";
}

static const char *cause_name(unsigned cause)
{
	return presence_cause_name(cause);
}

static const char *text_of(unsigned cause)
{
	return presence_cause_text(cause);
}

static json_t *host_json(const Control__OwnerHost *h)
{
	const Control__Presence *p = h->presence;

	return json_pack("{so ss sb sI sI ss so so}", "host",
			 json_text(h->name), "owner", p->here ? "here" : "away",
			 "evict", (int)p->evict, "since_us",
			 (json_int_t)p->since_usec, "idle_us",
			 (json_int_t)p->idle_usec, "cause",
			 cause_text(p->cause, cause_name), "lost",
			 p->lost ? json_text(cause_text(p->lost, cause_name))
				 : json_null(),
			 "who", json_text(p->who));
}

static void print_host(const Control__OwnerHost *h)
{
	const Control__Presence *p = h->presence;

	printf("%s: the owner is %s, for %s: %s", h->name,
	       p->here ? "here" : "away", show_usec(p->since_usec),
	       cause_text(p->cause, text_of));
	if (p->lost)
		printf(" (%s)", cause_text(p->lost, cause_name));
	if (*p->who)
		printf(" (%s)", p->who);
	puts(p->evict ? "; all guests are to leave" : "");
}

/* By way of the controller. */
static int ask_elsewhere(struct args *a, Control__Message **ret,
			 struct error *err)
{
	Control__OwnerAsk ask = CONTROL__OWNER_ASK__INIT;
	struct client *c = NULL;
	int r = client_open(&a->client.conf, &c, err);

	ask.host = (char *)a->host;
	if (!r)
		r = client_ask(c, MESSAGE_BODY(OWNER_ASK), &ask,
			       MESSAGE_BODY(OWNER_HOST), NULL, NULL, ret, err);
	client_close(c);
	if (r < 0 || (*ret)->owner_host->presence)
		return r;
	message_free(*ret);
	return error_set(err, -EPROTO, "the agent answers something else");
}

static int ask_here(struct args *a, Control__Message **ret, struct error *err)
{
	Control__OwnerAsk ask = CONTROL__OWNER_ASK__INIT;

	return owner_ask(a->run_dir, MESSAGE_BODY(OWNER_ASK), &ask, ret, err);
}

static int show_status(struct args *a, struct error *err)
{
	Control__Message *m;
	int r = a->host ? ask_elsewhere(a, &m, err) : ask_here(a, &m, err);

	if (r < 0)
		return r;
	plain_text(m->owner_host->name);
	plain_text(m->owner_host->presence->who);
	if (a->json)
		json_line(host_json(m->owner_host), stdout);
	else
		print_host(m->owner_host);
	message_free(m);
	return EXIT_OK;
}

static int run_verb(struct args *a, struct error *err)
{
	int r;

	if (!strcmp(a->verb, "status")) {
		if (a->span)
			return error_set(err, -EINVAL,
					 "--for is of here, away and evict");
		if (a->all && a->host)
			return error_set(err, -EINVAL,
					 "--all is of all hosts, and '%s' one",
					 a->host);
		if (a->all)
			return owner_all(&a->client.conf, a->json, err);
		return show_status(a, err);
	}
	if (a->all)
		return error_set(err, -EINVAL, "--all is of status");
	if (a->host)
		return error_set(err, -EINVAL,
				 "'%s' is said at the host itself; from "
				 "elsewhere status alone is answered",
				 a->verb);
	r = owner_say(a->run_dir, a->verb, a->span, err);
	return r < 0 ? r : EXIT_OK;
}

int cmd_owner(int argc, char **argv)
{
	const char *run_dir = getenv("STINT_RUN_DIR");
	struct args a = { .run_dir = run_dir && *run_dir ? run_dir
							 : "/run/stint" };
	struct error err;
	int r;

	command_parse(&argp, argc, argv, 0, &a);
	r = run_verb(&a, &err);
	client_conf_clear(&a.client.conf);
	return r < 0 ? command_fail("owner", command_code(r), &err) : r;
}
