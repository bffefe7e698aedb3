/*
 * hosts.c - stint hosts: the hosts of the cluster
 */
#include <argp.h>
#include <stdio.h>

#include "cmd/client/client_options.h"
#include "cmd/client/listing.h"
#include "cmd/client/screen.h"
#include "core/json.h"
#include "core/units.h"

#define EVERY (2 * USEC_PER_SEC)

static const struct argp_option options[] = {
	{ "watch", 'w', 0, 0, "show them again every two seconds", 0 }, { 0 }
};

struct args {
	struct client_options client;
	bool watch;
};

static error_t parse_hosts(int key, char *arg, struct argp_state *state)
{
	struct args *a = state->input;

	if (key != 'w')
		return ARGP_ERR_UNKNOWN;
	a->watch = true;
	return 0;
}

static const struct argp argp = {
	options, parse_hosts, 0, "Show the hosts of the cluster.", 0, 0, 0
};

static void print_hosts(bool as_json, const Control__Hosts *hosts, FILE *to)
{
	if (!hosts->n_hosts && !as_json)
		fputs("stint hosts: none yet: make one a key with `stint "
		      "controller --enrol=host/NAME`, and start `stint agent` "
		      "there\n",
		      stderr);
	if (!as_json)
		hosts_table(hosts, to);
	for (size_t i = 0; as_json && i < hosts->n_hosts; i++)
		json_line(host_json(hosts->hosts[i]), to);
}

static int show_hosts(struct client *c, const struct args *a,
		      struct screen *screen, struct error *err)
{
	Control__ListHosts list = CONTROL__LIST_HOSTS__INIT;
	Control__Message *m;
	int r = client_ask(c, MESSAGE_BODY(LIST_HOSTS), &list,
			   MESSAGE_BODY(HOSTS), NULL, NULL, &m, err);

	if (r < 0)
		return r;
	if (*m->hosts->warning)
		fprintf(stderr, "stint hosts: %s\n", m->hosts->warning);
	print_hosts(a->client.json, m->hosts, screen_begin(screen));
	screen_show(screen);
	message_free(m);
	return 0;
}

static int ask_hosts(struct client *c, void *args, struct error *err)
{
	const struct args *a = args;
	struct screen *screen = screen_open(
		a->client.json ? SCREEN_LINES : SCREEN_TABLE, !a->watch);
	int r;

	if (a->watch)
		client_insist(c);
	do
		r = show_hosts(c, a, screen, err);
	while (!r && screen_wait(screen, EVERY) != SCREEN_OVER);
	screen_close(screen);
	return r < 0 ? r : EXIT_OK;
}

int cmd_hosts(int argc, char **argv)
{
	struct args a = { .watch = false };

	return client_main("hosts", &argp, CLIENT_JSON, argc, argv, ask_hosts,
			   &a);
}
