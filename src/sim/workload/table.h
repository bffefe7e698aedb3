/*
 * table.h - reading text whose first line names the columns
 *
 * CSV without quotes, what `sacct -P` prints and the like: fields between separators,
 * columns in any order, found by their names (capitals and small letters are alike), and
 * others between them.  Empty lines are passed over; a line may end in \r\n.
 *
 *	struct table t = { .format = &format, .name = path, .text = text, .err = err };
 *	int r = table_head(&t);
 *
 *	while (!r && table_next(&t))
 *		r = ... table_text(&t, COLUMN) ...
 *	if (!r)
 *		r = t.result;
 */
#ifndef SIM_WORKLOAD_TABLE_H
#define SIM_WORKLOAD_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/error.h"

enum { TABLE_COLUMNS = 16, TABLE_FIELDS = 256 };

struct table_column {
	const char *name;
	const char *other; /* also called so, or NULL */
	bool needed;
};

struct table_format {
	const char *separator; /* one character */
	const char *
		if_lacking; /* what may be wrong where a needed column is missing, ... */
	const char *
		if_uneven; /* ... where a line has too few or too many fields */
	struct table_column
		column[TABLE_COLUMNS]; /* up to the first without a name */
};

/* The caller sets the first four; errors are "NAME:LINE: ...". */
struct table {
	const struct table_format *format;
	const char *name; /* of the file, for errors */
	char *text;	  /* what is not yet read; it is changed */
	struct error *err;

	size_t line; /* the number of the one read last */
	int result;  /* of table_next(): 0, or why it ended early */
	int nr_fields;
	int at[TABLE_COLUMNS]; /* which field it is; -1: none */
	char *field[TABLE_FIELDS];
};

/* Read the line that names the columns: 0 or -EINVAL. */
int table_head(struct table *t) must_check;

/* Read a line; false at the end and at an error, which is then the table's result. */
bool table_next(struct table *t) must_check;

/* A field of the line read last; "" if there is no such column. */
const char *table_text(const struct table *t, int column);

/* -EINVAL, and that the field is not what it should be. */
int table_bad_value(const struct table *t, int column);

#endif
