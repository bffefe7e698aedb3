/*
 * script.c - reading event files, ours and the Failure Trace Archive's
 */
#include "sim/workload/script.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/io.h"
#include "core/names.h"
#include "core/xalloc.h"
#include "sim/workload/inflate.h"

#define MAX_FIELDS 32

struct reader {
	const char *name;
	size_t line, cap;
	struct sim_script script;
	int64_t nr_booked;
	bool only_fta; /* no event file of ours will do */
	/* FTA: columns by name, -1 without; nodes in the order of appearance */
	int col_node, col_type, col_start, col_stop;
	struct names nodes;
	struct error *err;
};

static struct script_event *append(struct reader *r, usec_t at,
				   enum script_type type)
{
	struct sim_script *s = &r->script;

	array_room(s->event, s->nr, &r->cap);
	s->event[s->nr] = (struct script_event){ .at = at, .type = type };
	return &s->event[s->nr++];
}

static int bad_line(struct reader *r, const char *why)
{
	return error_set(
		r->err, -EINVAL,
		"%s:%zu: %s; write TIME down|up|undrain HOST, TIME "
		"drain HOST [BY], TIME cancel JOB, or TIME reserve N FROM TO",
		r->name, r->line, why);
}

static int in_line(struct reader *r, int code)
{
	return error_prefix(r->err, code, "%s:%zu", r->name, r->line);
}

static int parse_reserve(struct reader *r, usec_t at, char **f, unsigned n)
{
	usec_t from, to;
	int64_t procs;
	struct script_event *e;

	if (n != 5)
		return bad_line(r, "reserve needs N, FROM and TO");
	if (parse_int(f[2], 1, INT32_MAX, "N", &procs, r->err) < 0 ||
	    parse_usec(f[3], &from, r->err) < 0 ||
	    parse_usec(f[4], &to, r->err) < 0)
		return in_line(r, -EINVAL);
	if (from < at || to <= from)
		return bad_line(r, "TIME <= FROM < TO must hold");
	for (int k = 0; k < 3; k++) {
		e = append(r,
			   k == 0   ? at
			   : k == 1 ? from
				    : to,
			   k == 0   ? SCRIPT_RESERVE
			   : k == 1 ? SCRIPT_BOOK
				    : SCRIPT_UNBOOK);
		e->target = r->nr_booked;
		e->procs = (uint32_t)procs;
		e->from = from;
		e->to = to;
	}
	r->nr_booked++;
	return 0;
}

static int parse_own(struct reader *r, char **f, unsigned n)
{
	static const struct {
		const char *name;
		enum script_type type;
	} verbs[] = { { "down", SCRIPT_DOWN },
		      { "up", SCRIPT_UP },
		      { "drain", SCRIPT_DRAIN },
		      { "undrain", SCRIPT_UNDRAIN },
		      { "cancel", SCRIPT_CANCEL } };
	struct script_event *e;
	int64_t target;
	usec_t at, by = 0;

	if (n < 3)
		return bad_line(r, "too few words");
	if (parse_usec(f[0], &at, r->err) < 0)
		return in_line(r, -EINVAL);
	if (!strcmp(f[1], "reserve"))
		return parse_reserve(r, at, f, n);
	for (size_t i = 0; i < sizeof(verbs) / sizeof(*verbs); i++) {
		bool cancel = verbs[i].type == SCRIPT_CANCEL;

		if (strcmp(f[1], verbs[i].name))
			continue;
		if (n != 3 && !(n == 4 && verbs[i].type == SCRIPT_DRAIN))
			return bad_line(r, "too many words");
		if (parse_int(f[2], 0, cancel ? INT64_MAX : 10000000,
			      cancel ? "JOB" : "HOST", &target, r->err) < 0)
			return in_line(r, -EINVAL);
		if (n == 4 && parse_usec(f[3], &by, r->err) < 0)
			return in_line(r, -EINVAL);
		if (n == 4 && by <= at)
			return bad_line(r, "TIME < BY must hold");
		e = append(r, at, verbs[i].type);
		e->target = target;
		e->to = by;
		if (!cancel && target >= r->script.nr_hosts)
			r->script.nr_hosts = (uint32_t)target + 1;
		return 0;
	}
	return bad_line(r, "unknown event");
}

/* Is this comment the header of an event_trace table?  Note its columns. */
static void parse_header(struct reader *r, char **f, unsigned n)
{
	int node = -1, type = -1, start = -1, stop = -1;

	for (unsigned i = 0; i < n; i++) {
		if (!strcmp(f[i], "node_id"))
			node = (int)i;
		else if (!strcmp(f[i], "event_type"))
			type = (int)i;
		else if (!strcmp(f[i], "event_start_time"))
			start = (int)i;
		else if (!strcmp(f[i], "event_stop_time") ||
			 !strcmp(f[i], "event_end_time"))
			stop = (int)i;
	}
	if (node < 0 || type < 0 || start < 0 || stop < 0)
		return;
	r->col_node = node;
	r->col_type = type;
	r->col_start = start;
	r->col_stop = stop;
	r->script.relative = true;
}

static int parse_epoch(struct reader *r, const char *text, usec_t *ret)
{
	char *end;
	double t = strtod(text, &end);

	if (end == text || *end || !(fabs(t) < 1e12))
		return error_set(r->err, -EINVAL,
				 "%s:%zu: '%.30s' is not a time", r->name,
				 r->line, text);
	*ret = llround(t * USEC_PER_SEC);
	return 0;
}

/* Type 0: not available from start to stop; 1: available. */
static int parse_fta(struct reader *r, char **f, unsigned n)
{
	bool up;
	usec_t start, stop;
	int64_t node;

	if ((int)n <= r->col_node || (int)n <= r->col_type ||
	    (int)n <= r->col_start || (int)n <= r->col_stop)
		return error_set(r->err, -EINVAL,
				 "%s:%zu: %u columns, fewer than the header "
				 "names",
				 r->name, r->line, n);
	up = strcmp(f[r->col_type], "0");
	if (up && strcmp(f[r->col_type], "1"))
		return error_set(
			r->err, -EINVAL,
			"%s:%zu: event_type '%.20s' is neither 0 nor 1",
			r->name, r->line, f[r->col_type]);
	if (parse_epoch(r, f[r->col_start], &start) < 0 ||
	    parse_epoch(r, f[r->col_stop], &stop) < 0)
		return -EINVAL;
	if (stop < start)
		return error_set(r->err, -EINVAL,
				 "%s:%zu: it stops before it starts", r->name,
				 r->line);
	node = names_add(&r->nodes, f[r->col_node]);
	r->script.nr_hosts = names_count(&r->nodes);
	append(r, start, up ? SCRIPT_UP : SCRIPT_DOWN)->target = node;
	append(r, stop, up ? SCRIPT_DOWN : SCRIPT_UP)->target = node;
	return 0;
}

static int parse_line(struct reader *r, char *line)
{
	char *f[MAX_FIELDS], *word;
	bool comment;
	unsigned n = 0;

	line += strspn(line, " \t\r");
	comment = *line == '#' || *line == '%';
	if (comment)
		line += strspn(line, "#% \t");
	while ((word = strsep(&line, " \t\r,"))) {
		if (!*word)
			continue;
		if (!comment && *word == '#')
			break;
		if (n == MAX_FIELDS)
			return bad_line(r, "too many words");
		f[n++] = word;
	}
	if (!n)
		return 0;
	if (comment)
		parse_header(r, f, n);
	else if (r->script.relative)
		return parse_fta(r, f, n);
	else if (r->only_fta)
		return error_set(r->err, -EINVAL,
				 "%s:%zu: no header of an event_trace table "
				 "(\"# event_id ...\") before this line",
				 r->name, r->line);
	else
		return parse_own(r, f, n);
	return 0;
}

static int compare_lines(const void *a, const void *b)
{
	const struct script_event *x = a, *y = b;

	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	if (x->type != y->type)
		return x->type < y->type ? -1 : 1;
	return x->target < y->target ? -1 : x->target > y->target;
}

/* Let the first event of a trace in epoch time be at 0. */
static void make_relative(struct sim_script *s)
{
	usec_t first = s->nr ? s->event[0].at : 0;

	for (size_t i = 0; i < s->nr; i++)
		s->event[i].at -= first;
}

static int parse_text(struct reader *r, char *text, size_t size,
		      struct sim_script *ret)
{
	int code = io_check_text(text, size, r->name, r->err);
	char *line;

	if (code < 0)
		return code;
	while (!code && (line = strsep(&text, "\n"))) {
		r->line++;
		code = parse_line(r, line);
	}
	names_clear(&r->nodes);
	if (!code && r->only_fta && !r->script.nr)
		code = error_set(r->err, -EINVAL,
				 "%s: no event in it, after a header of an "
				 "event_trace table (\"# event_id ...\")",
				 r->name);
	if (code < 0) {
		script_clear(&r->script);
		return code;
	}
	if (r->script.nr)
		qsort(r->script.event, r->script.nr, sizeof(*r->script.event),
		      compare_lines);
	if (r->script.relative)
		make_relative(&r->script);
	*ret = r->script;
	return 0;
}

int script_parse(char *text, size_t size, const char *name,
		 struct sim_script *ret, struct error *err)
{
	struct reader r = { .name = name, .err = err };

	return parse_text(&r, text, size, ret);
}

static int read_file(const char *path, bool only_fta, struct sim_script *ret,
		     struct error *err)
{
	struct reader r = { .name = path, .only_fta = only_fta, .err = err };
	char *text;
	size_t size;
	int rc = inflate_read(path, &text, &size, err);

	if (rc < 0)
		return rc;
	rc = parse_text(&r, text, size, ret);
	free(text);
	return rc;
}

int script_read(const char *path, struct sim_script *ret, struct error *err)
{
	return read_file(path, false, ret, err);
}

int script_read_fta(const char *path, struct sim_script *ret, struct error *err)
{
	return read_file(path, true, ret, err);
}

void script_clear(struct sim_script *script)
{
	free(script->event);
	*script = (struct sim_script){ 0 };
}
