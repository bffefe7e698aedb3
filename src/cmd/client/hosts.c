/*
 * hosts.c - stint hosts: the hosts of the cluster
 */
#include <argp.h>
#include <jansson.h>
#include <stdio.h>

#include "cmd/client/client_options.h"
#include "core/json.h"

static const struct argp argp = { 0, 0, 0, "Show the hosts of the cluster.",
				  0, 0, 0 };

static const char *host_state(const Control__HostInfo *h)
{
	if (!h->up)
		return "down";
	return h->drain ? (h->ranks ? "draining" : "drained") : "up";
}

static json_t *host_json(const Control__HostInfo *h)
{
	return json_pack(
		"{ss ss ss sb si sf sf sI sI sf si sI si sf sf sf sf sI}",
		"host", h->name, "state", host_state(h), "address", h->address,
		"drain", (int)h->drain, "cores", (int)h->cores, "alpha",
		h->alpha, "load", h->load, "memory", (json_int_t)h->memory,
		"memory_free", (json_int_t)h->memory_free, "memory_pressure",
		h->pressure, "users", (int)h->users, "idle_us",
		(json_int_t)h->idle_usec, "ranks", (int)h->ranks, "runnable",
		h->runnable, "cpu_pressure", h->pressure_cpu, "io_pressure",
		h->pressure_io, "major_faults", h->faults, "link_bits",
		(json_int_t)h->link_bits);
}

static void print_hosts(bool as_json, const Control__Hosts *hosts)
{
	if (!hosts->n_hosts && !as_json)
		fputs("stint hosts: none yet: make one a key with `stint "
		      "controller --enrol=host/NAME`, and start `stint agent` "
		      "there\n",
		      stderr);
	if (!as_json && hosts->n_hosts)
		printf("%-16s %-9s %5s %5s %6s %6s %10s %5s\n", "HOST", "STATE",
		       "RANKS", "CORES", "ALPHA", "LOAD", "FREE", "USERS");
	for (size_t i = 0; i < hosts->n_hosts; i++) {
		const Control__HostInfo *h = hosts->hosts[i];

		if (as_json)
			json_line(host_json(h), stdout);
		else
			printf("%-16s %-9s %5u %5u %6.2f %6.2f %10s %5u\n",
			       h->name, host_state(h), h->ranks, h->cores,
			       h->alpha, h->load, show_bytes(h->memory_free),
			       h->users);
	}
}

static int ask_hosts(struct client *c, void *args, struct error *err)
{
	Control__ListHosts list = CONTROL__LIST_HOSTS__INIT;
	const struct client_options *o = args;
	Control__Message *m;
	int r = client_ask(c, MESSAGE_BODY(LIST_HOSTS), &list,
			   MESSAGE_BODY(HOSTS), NULL, NULL, &m, err);

	if (r < 0)
		return r;
	if (*m->hosts->warning)
		fprintf(stderr, "stint hosts: %s\n", m->hosts->warning);
	print_hosts(o->json, m->hosts);
	message_free(m);
	return EXIT_OK;
}

int cmd_hosts(int argc, char **argv)
{
	struct client_options o = { .json = false };

	return client_main("hosts", &argp, CLIENT_JSON, argc, argv, ask_hosts,
			   &o);
}
