/* owner_options.c - see owner_options.h */
#include "cmd/sim/owner_options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/kit/command.h"
#include "core/json.h"
#include "core/xalloc.h"
#include "sim/workload/inflate.h"

enum {
	KEY_ACTIVITY = 1024,
	KEY_TERM,
	KEY_NO_TERMS,
	KEY_LINK,
	KEY_PRECOPY,
	KEY_MEMORY,
	KEY_HOST_MEMORY,
	KEY_REQUEUE,
};

static const struct argp_option options[] = {
	{ "activity", KEY_ACTIVITY, "FILE", 0,
	  "what the owners of hosts do (stint-activity(5)); without --hosts and "
	  "--procs the machine is its hosts",
	  0 },
	{ "term", KEY_TERM, "NAME=VALUE", 0,
	  "one of the terms of all owners, as in [owner] of stint.conf; may be "
	  "given several times",
	  0 },
	{ "no-terms", KEY_NO_TERMS, 0, 0,
	  "hosts are open to guests always; what owners bear is counted all the "
	  "same",
	  0 },
	{ "link", KEY_LINK, "SIZE", 0,
	  "moves take their time: bytes a second that a host sends or receives "
	  "for them; the job stands still meanwhile",
	  0 },
	{ "precopy", KEY_PRECOPY, 0, 0,
	  "with --link: it stands still for --migrate-cost at the end alone (and "
	  "beside an owner for 0.3 s of the copy)",
	  0 },
	{ "rank-memory", KEY_MEMORY, "SIZE", 0,
	  "memory of each rank, of jobs that do not say (0)", 0 },
	{ "host-memory", KEY_HOST_MEMORY, "SIZE", 0,
	  "memory of each host (0: not known)", 0 },
	{ "requeue", KEY_REQUEUE, 0, 0,
	  "users let their jobs be taken off and begin anew", 0 },
	{ 0 }
};

void owner_args_init(struct owner_args *a, struct sim_config *config)
{
	*a = (struct owner_args){ .config = config };
	owner_terms_init(&a->terms);
}

void owner_args_clear(struct owner_args *a)
{
	activity_clear(&a->activity);
	owner_terms_clear(&a->terms);
}

static int set_term(struct owner_terms *terms, const char *text,
		    struct error *err)
{
	char *name = xstrdup(text), *value = strchr(name, '=');
	int r = -EINVAL;

	if (value) {
		*value++ = '\0';
		r = owner_terms_set(terms, name, value, err);
	}
	if (r == -ENOENT || !value)
		r = error_set(
			err, -EINVAL,
			"--term: '%.60s' is not NAME=VALUE, with NAME one "
			"of %s",
			text, owner_terms_names);
	else if (!r && !terms->disturb) /* they would be waited for, for ever */
		r = error_set(err, -EINVAL,
			      "--term: with disturb=0 no host ever takes a "
			      "guest: give 1 or more");
	free(name);
	return r;
}

static int parse_bytes(const char *text, const char *option, uint64_t *ret,
		       struct error *err)
{
	int r = parse_size(text, ret, err);

	return r < 0 ? error_prefix(err, r, "%s", option) : 0;
}

static int parse_link(const char *text, uint64_t *ret, struct error *err)
{
	int r = parse_bytes(text, "--link", ret, err);

	if (!r && !*ret)
		r = error_set(err, -EINVAL,
			      "--link: over one of no bytes a second nothing "
			      "ever moves: leave it out, and moves take the "
			      "--rank-cost alone");
	return r;
}

static int parse_value(struct owner_args *a, int key, const char *arg,
		       struct error *err)
{
	struct sim_config *c = a->config;

	switch (key) {
	case KEY_TERM:
		return set_term(&a->terms, arg, err);
	case KEY_LINK:
		return parse_link(arg, &c->costs.link, err);
	case KEY_MEMORY:
		return parse_bytes(arg, "--rank-memory", &c->rank_memory, err);
	default:
		return parse_bytes(arg, "--host-memory", &c->host_memory, err);
	}
}

static error_t parse_owner(int key, char *arg, struct argp_state *state)
{
	struct owner_args *a = state->input;
	struct error err;

	switch (key) {
	case KEY_ACTIVITY:
		a->path = arg;
		return 0;
	case KEY_NO_TERMS:
		a->config->no_terms = true;
		return 0;
	case KEY_PRECOPY:
		a->config->costs.precopy = true;
		return 0;
	case KEY_REQUEUE:
		a->config->requeue = true;
		return 0;
	case KEY_TERM:
	case KEY_LINK:
	case KEY_MEMORY:
	case KEY_HOST_MEMORY:
		return command_parsed(state, parse_value(a, key, arg, &err),
				      &err);
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp owner_argp = { options, parse_owner, 0, 0, 0, 0, 0 };
const struct argp_child owner_children[] = { { &owner_argp, 0, 0, 0 }, { 0 } };

int owner_args_check(const struct owner_args *a, struct error *err)
{
	if (a->config->costs.precopy && !a->config->costs.link)
		return error_set(err, -EINVAL,
				 "--precopy goes with --link SIZE");
	if (a->config->no_terms && !a->path)
		return error_set(err, -EINVAL,
				 "--no-terms goes with --activity FILE");
	return 0;
}

int owner_args_open(struct owner_args *a, struct error *err)
{
	char *text;
	size_t size;
	int r;

	if (!a->path)
		return 0;
	r = inflate_read(a->path, &text, &size, err);
	if (r < 0)
		return r;
	r = activity_parse(text, size, a->path, &a->activity, err);
	free(text);
	if (r < 0)
		return r;
	if (!a->activity.nr_hosts)
		return error_set(err, -EINVAL, "%s: no host in it", a->path);
	a->config->activity = &a->activity;
	a->config->terms = &a->terms;
	return 0;
}

void owner_args_json(const struct owner_args *a, json_t *to)
{
	const struct sim_config *c = a->config;

	if (a->path) {
		json_object_set_new(to, "activity_file", json_text(a->path));
		json_object_set_new(to, "terms", json_boolean(!c->no_terms));
	}
	if (c->costs.link) {
		json_object_set_new(to, "link",
				    json_integer((json_int_t)c->costs.link));
		json_object_set_new(to, "precopy",
				    json_boolean(c->costs.precopy));
	}
	if (c->rank_memory)
		json_object_set_new(to, "rank_memory",
				    json_integer((json_int_t)c->rank_memory));
}
