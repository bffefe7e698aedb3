/*
 * owner_all.c - stint owner status --all, see owner_all.h
 */
#include "cmd/client/owner_all.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <time.h>

#include "cmd/client/client_options.h"
#include "core/json.h"
#include "model/contract.h"
#include "model/presence.h"

static const char *cause_of(const Control__Presence *p)
{
	const char *name = p ? presence_cause_name(p->cause) : NULL;

	return name ? name : "unknown";
}

static const char *closed_of(const Control__Lending *l)
{
	const char *name = l ? closed_name(l->closed) : NULL;

	return name ? name : "unknown";
}

static json_t *return_json(const Control__OwnerReturn *r)
{
	return json_pack("{sI so si sb sI so}", "at_us", (json_int_t)r->at_usec,
			 "took_us",
			 r->done ? json_integer((json_int_t)r->took_usec)
				 : json_null(),
			 "guests", (int)r->guests, "disturbed",
			 (int)r->disturbed, "late_us", (json_int_t)r->late_usec,
			 "late", *r->late ? json_text(r->late) : json_null());
}

static json_t *guest_json(const Control__HostGuest *g)
{
	return json_pack("{sI si so sb}", "job", (json_int_t)g->job, "rank",
			 (int)g->rank, "user", json_text(g->user), "frozen",
			 (int)g->frozen);
}

static json_t *host_json(const Control__HostInfo *h)
{
	const Control__Presence *p = h->presence;
	const Control__Lending *l = h->lending;
	json_t *last = json_array(), *ranks = json_array();

	for (size_t i = 0; i < l->n_last; i++)
		json_array_append_new(last, return_json(l->last[i]));
	for (size_t i = 0; i < h->n_guests; i++)
		json_array_append_new(ranks, guest_json(h->guests[i]));
	return json_pack("{so sb ss sI ss so ss sb si si si sb si so so}",
			 "host", json_text(h->name), "up", (int)h->up, "owner",
			 p->here ? "here" : "away", "since_us",
			 (json_int_t)p->since_usec, "cause", cause_of(p), "who",
			 json_text(p->who), "closed", closed_of(l), "leave",
			 (int)l->leave, "returns", (int)l->returns, "disturbed",
			 (int)l->disturbed, "left", (int)l->left, "giving",
			 (int)l->giving, "guests", (int)l->guests, "last", last,
			 "ranks", ranks);
}

/* The latest return for which guests were there; NULL: none. */
static const Control__OwnerReturn *latest(const Control__Lending *l)
{
	for (size_t i = l->n_last; i-- > 0;)
		if (l->last[i]->guests)
			return l->last[i];
	return NULL;
}

/* How long giving back took, for people. */
static const char *last_took(const Control__Lending *l)
{
	const Control__OwnerReturn *r = latest(l);

	return l->giving ? "under way"
	       : !r	 ? "-"
	       : r->done ? show_usec((double)r->took_usec)
			 : "not done";
}

static void print_late(const Control__OwnerReturn *r)
{
	if (r && r->late_usec)
		printf("  late by %s (%s)", show_usec((double)r->late_usec),
		       r->late);
	else if (r && *r->late)
		printf("  late (%s)", r->late);
}

static void print_host(const Control__HostInfo *h)
{
	const Control__Presence *p = h->presence;
	const Control__Lending *l = h->lending;

	printf("%-16s %-5s %10s  %-10s %7u %6u/%-4u %10s ", h->name,
	       !h->up	 ? "down"
	       : p->here ? "here"
			 : "away",
	       show_usec((double)p->since_usec), closed_of(l), l->returns,
	       l->disturbed, l->disturbed + l->left, last_took(l));
	for (size_t i = 0; i < h->n_guests; i++)
		printf(" %" PRIu64 ".%u(%s%s)", h->guests[i]->job,
		       h->guests[i]->rank, h->guests[i]->user,
		       h->guests[i]->frozen ? ", frozen" : "");
	print_late(latest(l));
	putchar('\n');
}

static void print_all(const Control__Hosts *hosts, bool as_json)
{
	if (!as_json)
		printf("%-16s %-5s %10s  %-10s %7s %11s %10s  %s\n", "HOST",
		       "OWNER", "SINCE", "LENDS", "RETURNS", "DISTURBED",
		       "GAVE BACK", "GUESTS");
	for (size_t i = 0; i < hosts->n_hosts; i++) {
		const Control__HostInfo *h = hosts->hosts[i];

		if (!h->presence || !h->lending)
			continue; /* an older controller's */
		if (as_json)
			json_line(host_json(h), stdout);
		else
			print_host(h);
	}
}

int owner_all(struct client_conf *conf, bool as_json, struct error *err)
{
	Control__ListHosts list = CONTROL__LIST_HOSTS__INIT;
	struct client *c = NULL;
	Control__Message *m;
	int r = client_open(conf, &c, err);

	if (!r)
		r = client_ask(c, MESSAGE_BODY(LIST_HOSTS), &list,
			       MESSAGE_BODY(HOSTS), NULL, NULL, &m, err);
	if (r >= 0) {
		print_all(m->hosts, as_json);
		message_free(m);
	}
	client_close(c);
	return r;
}
