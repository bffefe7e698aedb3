/*
 * mapstates.c - stint mapstates: which placements can SED come to, and how
 */
#include <argp.h>
#include <ctype.h>
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/kit/command.h"
#include "core/json.h"
#include "core/units.h"
#include "core/xalloc.h"
#include "policy/hosts/mapstates.h"
#include "policy/policies.h"
#include "sim/workload/machine.h"

enum { KEY_MIN = 256, KEY_MAX, KEY_NO_UPGRADE, KEY_NO_MIGRATION, KEY_LIMIT };

static const struct argp_option options[] = {
	{ "policy", 'p', "sed1|sed2[:k=v,...]", 0,
	  "whose rules, with the parameters `stint sim` takes (sed2)", 0 },
	{ "hosts", 'H', "COUNTxALPHA,...|FILE", 0,
	  "the system, such as 5x1,25x4 (system 1 of Schnor 1997), or a file of "
	  "stint-platform(5)",
	  0 },
	{ "minsize", KEY_MIN, "N", 0, "of every job (1)", 0 },
	{ "maxsize", KEY_MAX, "N", 0, "of every job (number of hosts)", 0 },
	{ "no-upgrade", KEY_NO_UPGRADE, 0, 0, "leave upgrading out", 0 },
	{ "no-migration", KEY_NO_MIGRATION, 0, 0, "leave migration out", 0 },
	{ "format", 'f', "text|json|dot", 0, "how to print (text)", 0 },
	{ "json", 'j', 0, 0, "same as --format=json", 0 },
	{ "limit", KEY_LIMIT, "N", 0, "give up above N placements (100000)",
	  0 },
	{ 0 }
};

struct args {
	enum sed_kind kind;
	double *alpha;
	size_t nr_hosts, cap_hosts;
	int64_t minsize, maxsize, limit;
	const char *hosts; /* as it was given */
	bool no_upgrade, no_migration, eager;
	const char *format;
};

/* Those of a file, one core each as all here. */
static int read_hosts(struct args *a, const char *path, struct error *err)
{
	struct host *hosts;
	uint32_t n;
	int r = machine_parse(path, &hosts, &n, err);

	for (uint32_t i = 0; !r && i < n; i++) {
		array_room(a->alpha, a->nr_hosts, &a->cap_hosts);
		a->alpha[a->nr_hosts++] = hosts[i].speed;
	}
	if (!r)
		free(hosts);
	return r;
}

/* "5x1,25x4": five hosts of speed factor 1, 25 of 4. */
static int parse_hosts(struct args *a, const char *text, struct error *err)
{
	const char *c = text;
	char *end;

	a->hosts = text;
	a->nr_hosts = 0;
	if (machine_is_file(text))
		return read_hosts(a, text, err);
	for (;;) {
		long n = strtol(c, &end, 10);
		double alpha;

		if (!isdigit((unsigned char)*c) || *end != 'x' || n < 1 ||
		    n > 10000)
			break;
		c = end + 1;
		alpha = isdigit((unsigned char)*c) ? strtod(c, &end) : NAN;
		if (!(alpha >= 1 && alpha <= 1000))
			break;
		while (n--) {
			array_room(a->alpha, a->nr_hosts, &a->cap_hosts);
			a->alpha[a->nr_hosts++] = alpha;
		}
		if (!*end)
			return 0;
		if (*end != ',')
			break;
		c = end + 1;
	}
	return error_set(err, -EINVAL,
			 "--hosts: '%s' is not COUNTxALPHA,... with ALPHA from "
			 "1 (fastest) to 1000, such as 5x1,25x4",
			 text);
}

/* The policy's own table of parameters says what may follow. */
static int parse_policy(struct args *a, const char *text, struct error *err)
{
	const char *rest;
	char *name = param_split(text, &rest);
	bool one = !strcmp(name, "sed1"), two = !strcmp(name, "sed2");
	struct params params;
	int r;

	free(name);
	if (!one && !two)
		return error_set(err, -EINVAL,
				 "--policy: '%s' is neither sed1 nor sed2",
				 text);
	r = params_parse(policy_find(one ? "sed1" : "sed2", NULL)->params, rest,
			 "--policy", &params, err);
	if (r < 0)
		return r;
	a->kind = one ? SED1 : SED2;
	a->no_upgrade |= !params_bool(&params, "upgrade");
	a->no_migration |= !params_bool(&params, "migrate");
	a->eager = params_bool(&params, "eager");
	params_clear(&params);
	return 0;
}

static int parse_format(struct args *a, const char *text, struct error *err)
{
	if (strcmp(text, "text") && strcmp(text, "json") && strcmp(text, "dot"))
		return error_set(err, -EINVAL,
				 "--format: '%s' is none of text, json, dot",
				 text);
	a->format = text;
	return 0;
}

static error_t parse_mapstates(int key, char *arg, struct argp_state *state)
{
	struct args *a = state->input;
	struct error err;
	int r = 0;

	switch (key) {
	case 'p':
		r = parse_policy(a, arg, &err);
		break;
	case 'H':
		r = parse_hosts(a, arg, &err);
		break;
	case KEY_MIN:
		r = parse_int(arg, 1, 100000, "--minsize", &a->minsize, &err);
		break;
	case KEY_MAX:
		r = parse_int(arg, 1, 100000, "--maxsize", &a->maxsize, &err);
		break;
	case KEY_LIMIT:
		r = parse_int(arg, 1, INT32_MAX, "--limit", &a->limit, &err);
		break;
	case KEY_NO_UPGRADE:
		a->no_upgrade = true;
		break;
	case KEY_NO_MIGRATION:
		a->no_migration = true;
		break;
	case 'f':
		r = parse_format(a, arg, &err);
		break;
	case 'j':
		a->format = "json";
		break;
	case ARGP_KEY_ARG:
		r = error_set(&err, -EINVAL, "takes options only, not '%s'",
			      arg);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return command_parsed(state, r, &err);
}

static const struct argp argp = {
	.options = options,
	.parser = parse_mapstates,
	.doc = "Enumerate the mapping states that SED can come to on a system, "
	       "with the arrivals, departures, upgrades and migrations between "
	       "them (Schnor 1997, section 4.2).",
};

static const char *kind_name(unsigned kind)
{
	if (kind & MAPSTATES_MIGRATION)
		return kind & MAPSTATES_UPGRADE ? "upgrade+migration"
						: "migration";
	if (kind & MAPSTATES_UPGRADE)
		return "upgrade";
	return kind & MAPSTATES_ARRIVAL ? "arrival" : "departure";
}

static void print_states(const struct mapstates *ms)
{
	printf("%zu states, %zu transitions\n", ms->nr_nodes, ms->nr_edges);
	for (size_t i = 0; i < ms->nr_edges; i++)
		printf("%s -> %s  %s\n", ms->nodes[ms->edges[i].from],
		       ms->nodes[ms->edges[i].to],
		       kind_name(ms->edges[i].kind));
	puts("\nstint " STINT_VERSION);
}

static void print_states_json(const struct args *a,
			      const struct mapstates_conf *conf,
			      const struct mapstates *ms)
{
	json_t *root = json_pack(
		"{s:s, s:s, s:s, s:b, s:b, s:b, s:i, s:i}", "version",
		STINT_VERSION, "policy", a->kind == SED1 ? "sed1" : "sed2",
		"hosts", a->hosts, "upgrade", conf->rules.upgrade, "migrate",
		conf->rules.migrate, "eager", conf->rules.eager, "minsize",
		conf->minsize, "maxsize", conf->maxsize);
	json_t *states = json_array(), *edges = json_array();

	for (size_t i = 0; i < ms->nr_nodes; i++)
		json_array_append_new(states, json_string(ms->nodes[i]));
	for (size_t i = 0; i < ms->nr_edges; i++)
		json_array_append_new(
			edges, json_pack("{s:s, s:s, s:s}", "from",
					 ms->nodes[ms->edges[i].from], "to",
					 ms->nodes[ms->edges[i].to], "kind",
					 kind_name(ms->edges[i].kind)));
	json_object_set_new(root, "states", states);
	json_object_set_new(root, "transitions", edges);
	json_line(root, stdout);
}

static void print_mapstates(const struct args *a,
			    const struct mapstates_conf *conf,
			    const struct mapstates *ms)
{
	char *title = xasprintf(
		"SED%d%s%s%s on %s, sizes %d to %d; stint " STINT_VERSION,
		a->kind, a->no_upgrade ? "-NU" : "",
		a->no_migration ? "-NM" : "", a->eager ? " (eager)" : "",
		a->hosts, conf->minsize, conf->maxsize);

	if (!strcmp(a->format, "json"))
		print_states_json(a, conf, ms);
	else if (!strcmp(a->format, "dot"))
		mapstates_dot(ms, title, stdout);
	else
		print_states(ms);
	free(title);
}

int cmd_mapstates(int argc, char **argv)
{
	struct args a = {
		.kind = SED2, .minsize = 1, .limit = 100000, .format = "text"
	};
	struct mapstates_conf conf;
	struct mapstates ms;
	struct error err;
	int r;

	command_parse(&argp, argc, argv, 0, &a);
	if (!a.nr_hosts && parse_hosts(&a, "5x1,25x4", &err) < 0)
		return command_fail("mapstates", EXIT_FAILED, &err);
	conf = (struct mapstates_conf){
		.kind = a.kind,
		.alpha = a.alpha,
		.nr_hosts = (int)a.nr_hosts,
		.minsize = (int)a.minsize,
		.maxsize = a.maxsize ? (int)a.maxsize : (int)a.nr_hosts,
		.rules = { .upgrade = !a.no_upgrade,
			   .migrate = !a.no_migration,
			   .eager = a.eager },
	};
	if (conf.minsize > conf.maxsize)
		r = error_set(&err, -EINVAL, "--minsize is above --maxsize");
	else
		r = mapstates_enumerate(&conf, a.limit, &ms, &err);
	free(a.alpha);
	if (r < 0)
		return command_fail("mapstates", command_code(r), &err);
	print_mapstates(&a, &conf, &ms);
	mapstates_clear(&ms);
	if (fflush(stdout) || ferror(stdout)) {
		error_sys(&err, -errno, "writing the diagram");
		return command_fail("mapstates", EXIT_FAILED, &err);
	}
	return EXIT_OK;
}
