/* table.c - see table.h */
#include "sim/workload/table.h"

#include <errno.h>
#include <string.h>

/* The next line that is not empty; NULL at the end. */
static char *next_line(struct table *t)
{
	char *line;

	while ((line = strsep(&t->text, "\n"))) {
		size_t n = strlen(line);

		t->line++;
		if (n && line[n - 1] == '\r')
			line[n - 1] = '\0';
		if (*line)
			break;
	}
	return line;
}

/* How many fields, or more than there is room for. */
static int split_line(struct table *t, char *line)
{
	int n = 0;

	do {
		if (n == TABLE_FIELDS)
			return n + 1;
		t->field[n++] = strsep(&line, t->format->separator);
	} while (line);
	return n;
}

static int find_field(const struct table *t, const char *name)
{
	for (int i = 0; name && i < t->nr_fields; i++)
		if (!strcasecmp(t->field[i], name))
			return i;
	return -1;
}

static int find_column(const struct table *t, const struct table_column *c)
{
	int i = find_field(t, c->name);

	return i < 0 ? find_field(t, c->other) : i;
}

int table_head(struct table *t)
{
	char nothing[] = "", *line = next_line(t);
	const struct table_column *column = t->format->column;

	t->nr_fields = split_line(t, line ? line : nothing);
	if (t->nr_fields > TABLE_FIELDS)
		return error_set(t->err, -EINVAL,
				 "%s:%zu: more than %d columns", t->name,
				 t->line, TABLE_FIELDS);
	for (int c = 0; c < TABLE_COLUMNS && column[c].name; c++) {
		t->at[c] = find_column(t, &column[c]);
		if (t->at[c] < 0 && column[c].needed)
			return error_set(t->err, -EINVAL,
					 "%s:%zu: no column '%s'; %s", t->name,
					 t->line, column[c].name,
					 t->format->if_lacking);
	}
	return 0;
}

bool table_next(struct table *t)
{
	char *line = next_line(t);
	int n;

	if (!line)
		return false;
	n = split_line(t, line);
	if (n == t->nr_fields)
		return true;
	t->result = error_set(t->err, -EINVAL,
			      "%s:%zu: %d fields, and the first line names %d; "
			      "%s",
			      t->name, t->line, n, t->nr_fields,
			      t->format->if_uneven);
	return false;
}

const char *table_text(const struct table *t, int column)
{
	return t->at[column] < 0 ? "" : t->field[t->at[column]];
}

int table_bad_value(const struct table *t, int column)
{
	return error_set(t->err, -EINVAL, "%s:%zu: %s is '%.40s'", t->name,
			 t->line, t->format->column[column].name,
			 table_text(t, column));
}
