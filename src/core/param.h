/*
 * param.h - "NAME:key=value,key=value": a name and its parameters
 *
 * Policies, workloads and the like are written this way on the command line and
 * in configuration files.  Each has a constant table of struct param, by which
 * its parameters are parsed, checked and explained.
 */
#ifndef CORE_PARAM_H
#define CORE_PARAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "core/error.h"
#include "core/units.h"

enum param_type {
	PARAM_INT,    /* whole; min..max */
	PARAM_REAL,   /* min..max */
	PARAM_BOOL,   /* yes, no, true, false, 1, 0; a bare key is yes */
	PARAM_TIME,   /* as parse_usec reads; the table is in seconds */
	PARAM_CHOICE, /* one of choices; its value is the index */
	PARAM_TEXT,   /* as it is; choices[0], if any, is the default */
};

struct param {
	const char *name; /* NULL ends a table */
	enum param_type type;
	double def, min, max;
	const char *const *choices; /* NULL-terminated; CHOICE, TEXT */
	const char *summary;	    /* what it means, and its source */
};

/* The values of one thing's parameters, in the order of its table. */
struct params {
	const struct param *table;
	size_t nr;
	struct param_value {
		double number;
		char *text; /* TEXT alone; NULL: none */
		bool given;
	} * value;
};

/*
 * Parse "key=value,..." (NULL or "" for all defaults) by table.  what names
 * the thing in errors ("policy 'easy'").  On success params_clear() frees it;
 * a failed call leaves *ret untouched.
 */
int params_parse(const struct param *table, const char *text, const char *what,
		 struct params *ret, struct error *err) must_check;
void params_clear(struct params *params);

/*
 * Values by name.  The name must be in the table and of the type (asserted):
 * a misspelt one is a bug, not an input.
 */
int64_t params_int(const struct params *params, const char *name);
double params_real(const struct params *params, const char *name);
bool params_bool(const struct params *params, const char *name);
usec_t params_usec(const struct params *params, const char *name);
unsigned params_choice(const struct params *params, const char *name);
const char *params_text(const struct params *params, const char *name);

/*
 * Split "NAME:rest" into a copy of NAME for the caller to free, and the
 * address of rest ("" where there is no colon).
 */
char *param_split(const char *text, const char **ret_rest);

/* Is the word in a list such as "ada, bob"? */
bool list_has(const char *list, const char *word);

/* A table for people: a line a parameter, with type, default and range. */
void params_explain(const struct param *table, FILE *to);

#endif
