/*
 * policies.c - stint policies: which there are, and what each does
 */
#include <argp.h>
#include <errno.h>
#include <jansson.h>
#include <string.h>

#include "cmd/kit/command.h"
#include "cmd/sim/own_policy.h"
#include "cmd/sim/try_laws.h"
#include "core/json.h"
#include "policy/policies.h"

static const struct argp_option options[] = {
	{ "json", 'j', 0, 0, "print JSON", 0 },
	{ "test", 't', 0, 0,
	  "try what every policy must keep on NAME, which may have parameters",
	  0 },
	{ 0 }
};

struct args {
	const char *name;
	bool json, test;
};

static error_t parse_policies(int key, char *arg, struct argp_state *state)
{
	struct args *a = state->input;

	if (key == 'j')
		a->json = true;
	else if (key == 't')
		a->test = true;
	else if (key == ARGP_KEY_ARG && !a->name)
		a->name = arg;
	else
		return ARGP_ERR_UNKNOWN;
	return 0;
}

static const struct {
	unsigned flag;
	const char *name, *text;
} flags[] = {
	{ POLICY_HOSTS, "hosts", "chooses the hosts itself" },
	{ POLICY_FOLDS, "folds", "may start a job on fewer processors" },
	{ POLICY_RESIZES, "resizes", "changes running jobs' processors" },
	{ POLICY_ESTIMATES, "estimates", "needs users' estimates" },
	{ POLICY_SLICES, "slices", "suspends and resumes: time slices" },
	{ POLICY_SHARES, "shares", "puts several ranks on a core" },
	{ POLICY_LIVE, "live", "made for the live cluster" },
};

/* Text wrapped at 78 columns, indented by two. */
static void print_wrapped(const char *text)
{
	size_t column = 0;

	while (*text) {
		size_t word = strcspn(text, " \n");

		if (column && column + 1 + word > 76) {
			putchar('\n');
			column = 0;
		}
		printf("%s%.*s", column ? " " : "  ", (int)word, text);
		column += word + (column ? 1 : 0);
		text += word;
		text += strspn(text, " \n");
	}
	putchar('\n');
}

static void explain_policy(const struct policy_ops *p)
{
	printf("%s: %s\nSource: %s\n\n", p->name, p->summary, p->source);
	print_wrapped(p->details);
	for (size_t i = 0; i < sizeof(flags) / sizeof(*flags); i++)
		if (p->flags & flags[i].flag)
			printf("  - %s\n", flags[i].text);
	if (p->params && p->params->name) {
		printf("\nParameters (%s:key=value,...):\n", p->name);
		params_explain(p->params, stdout);
	}
	puts("\n  (stint " STINT_VERSION ")");
}

static json_t *param_json(const struct param *p)
{
	static const char *const types[] = { "int",  "real",   "bool",
					     "time", "choice", "text" };
	json_t *j = json_pack("{ss ss so so so ss}", "name", p->name, "type",
			      types[p->type], "default", json_number(p->def),
			      "min", json_number(p->min), "max",
			      json_number(p->max), "summary", p->summary);
	json_t *choices = json_array();

	for (size_t c = 0; p->type == PARAM_CHOICE && p->choices[c]; c++)
		json_array_append_new(choices, json_string(p->choices[c]));
	if (p->type == PARAM_CHOICE)
		json_object_set(j, "choices", choices);
	json_decref(choices);
	return j;
}

static void print_policy_json(const struct policy_ops *p)
{
	json_t *names = json_array(), *params = json_array();

	for (size_t i = 0; i < sizeof(flags) / sizeof(*flags); i++)
		if (p->flags & flags[i].flag)
			json_array_append_new(names,
					      json_string(flags[i].name));
	for (size_t i = 0; p->params && p->params[i].name; i++)
		json_array_append_new(params, param_json(&p->params[i]));
	json_line(json_pack("{ss ss ss ss ss so so}", "name", p->name,
			    "version", STINT_VERSION, "summary", p->summary,
			    "source", p->source, "details", p->details, "flags",
			    names, "parameters", params),
		  stdout);
}

static void list(bool json)
{
	const struct policy_ops *p;

	for (size_t i = 0; (p = policy_nth(i)); i++)
		if (json)
			print_policy_json(p);
		else
			printf("%-12s %s\n%-12s   %s\n", p->name, p->summary,
			       "", p->source);
	if (!json)
		puts("\n  (stint " STINT_VERSION ")");
}

/* The laws make policies of their own, with the parameters in name. */
static int test_policy(const struct args *a)
{
	struct error err;

	if (policy_check(a->name, &err) < 0)
		return command_fail("policies", EXIT_USAGE, &err);
	return try_laws(a->name, a->json) ? EXIT_OK : EXIT_FAILED;
}

static int show_policy(const struct args *a)
{
	struct error err;
	const struct policy_ops *p = policy_find(a->name, &err);

	if (!p)
		return command_fail("policies", EXIT_USAGE, &err);
	if (a->json)
		print_policy_json(p);
	else
		explain_policy(p);
	return EXIT_OK;
}

int cmd_policies(int argc, char **argv)
{
	static const struct argp argp = {
		options, parse_policies, "[NAME|FILE.so]",
		"List the scheduling policies, or explain or test one."
	};
	struct args a = { 0 };
	struct error err;

	command_parse(&argp, argc, argv, 0, &a);
	if (a.test && !a.name) {
		error_set(&err, -EINVAL, "--test: which policy?");
		return command_fail("policies", EXIT_USAGE, &err);
	}
	if (!a.name) {
		list(a.json);
		return EXIT_OK;
	}
	if (own_policy_load(a.name, &err) < 0)
		return command_fail("policies", EXIT_USAGE, &err);
	return a.test ? test_policy(&a) : show_policy(&a);
}
