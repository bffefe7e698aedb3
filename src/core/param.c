/*
 * param.c - parameters by table: parse, check, explain
 */
#include "core/param.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/units.h"
#include "core/xalloc.h"

static size_t table_size(const struct param *table)
{
	size_t n = 0;

	while (table && table[n].name)
		n++;
	return n;
}

static int read_real(const char *text, double *ret)
{
	char *end;
	double x;

	if (!*text || strspn(text, "+-.0123456789eEinfINF") != strlen(text))
		return -EINVAL;
	x = strtod(text, &end);
	if (*end || isnan(x))
		return -EINVAL;
	*ret = x;
	return 0;
}

static int parse_bool(const char *text, double *ret)
{
	static const char *const yes[] = { "", "yes", "true", "1", "on" };
	static const char *const no[] = { "no", "false", "0", "off" };

	for (size_t i = 0; i < sizeof(yes) / sizeof(*yes); i++)
		if (!strcmp(text, yes[i]))
			return *ret = 1, 0;
	for (size_t i = 0; i < sizeof(no) / sizeof(*no); i++)
		if (!strcmp(text, no[i]))
			return *ret = 0, 0;
	return -EINVAL;
}

static int parse_choice(const struct param *p, const char *text, double *ret)
{
	for (int i = 0; p->choices[i]; i++)
		if (!strcmp(p->choices[i], text))
			return *ret = i, 0;
	return -EINVAL;
}

static int parse_number(const struct param *p, const char *text, double *ret)
{
	usec_t t;
	int r = read_real(text, ret);

	if (p->type == PARAM_TIME && r < 0) {
		r = parse_usec(text, &t, NULL);
		*ret = r < 0 ? 0 : usec_to_seconds(t);
	}
	if (r < 0)
		return r;
	if (p->type == PARAM_INT && *ret != floor(*ret))
		return -EINVAL;
	return *ret < p->min || *ret > p->max ? -ERANGE : 0;
}

static void print_choices(const struct param *p, FILE *to, const char *sep)
{
	for (int i = 0; p->choices[i]; i++)
		fprintf(to, "%s%s", i ? sep : "", p->choices[i]);
}

/* What a value has to look like, for errors and for `stint policies`. */
static void print_kind(const struct param *p, FILE *to)
{
	switch (p->type) {
	case PARAM_INT:
		fprintf(to, "a whole number, %.15g to %.15g", p->min, p->max);
		break;
	case PARAM_REAL:
		fprintf(to, "a number, %.15g to %.15g", p->min, p->max);
		break;
	case PARAM_BOOL:
		fputs("yes or no", to);
		break;
	case PARAM_TIME:
		fprintf(to, "a time (90, 1.5s, 30min, 2h), %.15g to %.15g s",
			p->min, p->max);
		break;
	case PARAM_CHOICE:
		fputs("one of ", to);
		print_choices(p, to, ", ");
		break;
	case PARAM_TEXT:
		fputs("text", to);
		break;
	}
}

static int bad_value(const struct param *p, const char *text, const char *what,
		     struct error *err)
{
	char *kind = NULL;
	size_t size;
	FILE *f = open_memstream(&kind, &size);

	if (f) {
		print_kind(p, f);
		fclose(f);
	}
	error_set(err, -EINVAL, "%s: %s='%.60s' should be %s", what, p->name,
		  text, kind ? kind : "different");
	free(kind);
	return -EINVAL;
}

static int parse_value(const struct param *p, const char *text,
		       struct param_value *ret, const char *what,
		       struct error *err)
{
	double number = 0;
	int r = 0;

	switch (p->type) {
	case PARAM_BOOL:
		r = parse_bool(text, &number);
		break;
	case PARAM_CHOICE:
		r = parse_choice(p, text, &number);
		break;
	case PARAM_TEXT:
		free(ret->text);
		ret->text = xstrdup(text);
		break;
	default:
		r = parse_number(p, text, &number);
	}
	if (r < 0)
		return bad_value(p, text, what, err);
	ret->number = number;
	ret->given = true;
	return 0;
}

static int unknown(const struct param *table, const char *key, const char *what,
		   struct error *err)
{
	char *known = NULL;
	size_t size;
	FILE *f = open_memstream(&known, &size);

	for (size_t i = 0; f && i < table_size(table); i++)
		fprintf(f, "%s%s", i ? ", " : "; it has ", table[i].name);
	if (f)
		fclose(f);
	error_set(err, -EINVAL, "%s has no parameter '%.60s'%s", what, key,
		  known && *known ? known : "; it has none");
	free(known);
	return -EINVAL;
}

static int parse_one(struct params *params, char *item, const char *what,
		     struct error *err)
{
	char *eq = strchr(item, '=');
	const char *value = "";

	if (eq) {
		*eq = '\0';
		value = eq + 1;
	}
	for (size_t i = 0; i < params->nr; i++) {
		const struct param *p = &params->table[i];

		if (strcmp(p->name, item))
			continue;
		if (!eq && p->type != PARAM_BOOL)
			return error_set(err, -EINVAL,
					 "%s: %s needs a value: %s=...", what,
					 item, item);
		if (params->value[i].given)
			return error_set(err, -EINVAL, "%s: %s given twice",
					 what, item);
		return parse_value(p, value, &params->value[i], what, err);
	}
	return unknown(params->table, item, what, err);
}

static void set_defaults(struct params *params)
{
	for (size_t i = 0; i < params->nr; i++) {
		const struct param *p = &params->table[i];

		params->value[i].number = p->def;
		if (p->type == PARAM_TEXT && p->choices && p->choices[0])
			params->value[i].text = xstrdup(p->choices[0]);
	}
}

int params_parse(const struct param *table, const char *text, const char *what,
		 struct params *ret, struct error *err)
{
	struct params params = { .table = table, .nr = table_size(table) };
	char *copy = xstrdup(text ? text : ""), *rest = copy, *item;
	int r = 0;

	params.value = xcalloc(params.nr + 1, sizeof(*params.value));
	set_defaults(&params);
	while (*copy && !r && (item = strsep(&rest, ",")))
		r = parse_one(&params, item, what, err);
	free(copy);
	if (r < 0) {
		params_clear(&params);
		return r;
	}
	*ret = params;
	return 0;
}

void params_clear(struct params *params)
{
	for (size_t i = 0; params->value && i < params->nr; i++)
		free(params->value[i].text);
	free(params->value);
	*params = (struct params){ 0 };
}

static size_t index_of(const struct params *params, const char *name)
{
	size_t i = 0;

	while (i < params->nr && strcmp(params->table[i].name, name))
		i++;
	assert(i < params->nr);
	return i;
}

int64_t params_int(const struct params *params, const char *name)
{
	return (int64_t)params->value[index_of(params, name)].number;
}

double params_real(const struct params *params, const char *name)
{
	return params->value[index_of(params, name)].number;
}

bool params_bool(const struct params *params, const char *name)
{
	return params->value[index_of(params, name)].number != 0;
}

usec_t params_usec(const struct params *params, const char *name)
{
	double s = params->value[index_of(params, name)].number;

	return s >= (double)(USEC_MAX / USEC_PER_SEC)
		       ? USEC_MAX
		       : (usec_t)whole(s * (double)USEC_PER_SEC);
}

unsigned params_choice(const struct params *params, const char *name)
{
	return (unsigned)params->value[index_of(params, name)].number;
}

const char *params_text(const struct params *params, const char *name)
{
	return params->value[index_of(params, name)].text;
}

bool list_has(const char *list, const char *word)
{
	static const char between[] = ", \t";
	size_t n;

	for (list += strspn(list, between); *list;
	     list += strspn(list, between)) {
		n = strcspn(list, between);
		if (n == strlen(word) && !strncmp(list, word, n))
			return true;
		list += n;
	}
	return false;
}

char *param_split(const char *text, const char **ret_rest)
{
	size_t n = strcspn(text, ":");

	*ret_rest = text[n] ? text + n + 1 : text + n;
	return xasprintf("%.*s", (int)n, text);
}

static void print_value(const struct param *p, double number, const char *text,
			FILE *to)
{
	if (p->type == PARAM_TEXT)
		fputs(text ? text : "", to);
	else if (p->type == PARAM_BOOL)
		fputs(number != 0 ? "yes" : "no", to);
	else if (p->type == PARAM_CHOICE)
		fputs(p->choices[(int)number], to);
	else
		fprintf(to, "%.15g", number);
}

void params_explain(const struct param *table, FILE *to)
{
	for (size_t i = 0; i < table_size(table); i++) {
		const struct param *p = &table[i];

		fprintf(to, "  %s=", p->name);
		print_value(p, p->def, p->choices ? p->choices[0] : NULL, to);
		fputs("\n      ", to);
		fprintf(to, "%s (", p->summary);
		print_kind(p, to);
		fputs(")\n", to);
	}
}
