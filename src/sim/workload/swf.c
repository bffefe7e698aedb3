/*
 * swf.c - reading the Standard Workload Format
 *
 * The text is parsed where it was read to.  Fields are nearly always short
 * whole numbers, and a trace has millions of them, so their loop is tight.
 */
#include "sim/workload/swf.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/digits.h"
#include "core/xalloc.h"

/* Beyond this many seconds (30 000 years) a time is no time. */
#define MAX_SECONDS 1000000000000

struct parser {
	const char *name;
	const struct swf_options *options;
	const char *at, *end;
	size_t line;
	struct swf_trace trace;
	size_t cap, cap_link;
	int64_t max_procs, max_nodes;
	const char *no_number; /* the first of these whose value is none */
	size_t no_number_line;
	uint64_t nr_fit; /* jobs so far that the machine has room for */
	usec_t last_fit; /* the latest submit of them */
	struct error *err;
};

/* A field in millionths, so that fractions of seconds are kept. */
struct field {
	int64_t whole;
	int32_t micro;
};

static const char *const field_names[] = {
	"job number",	 "submit time",	  "wait time", "run time",
	"processors",	 "CPU time",	  "memory",    "processors wanted",
	"time wanted",	 "memory wanted", "status",    "user",
	"group",	 "executable",	  "queue",     "partition",
	"preceding job", "think time",
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* The NUL at the text's end may be looked at: it is no digit and no blank. */
static bool is_digit(char c)
{
	return (unsigned char)(c - '0') < 10;
}

static bool at_line_end(const struct parser *p)
{
	return *p->at == '\n' || p->at == p->end ||
	       (*p->at == '\r' && (p->at + 1 == p->end || p->at[1] == '\n'));
}

static int bad_field(struct parser *p, unsigned n, const char *at)
{
	int digits = (int)strspn(at, "-0123456789"), length = 0;

	while (at + length < p->end && length < 30 &&
	       isgraph((unsigned char)at[length]))
		length++;
	if (!length)
		return error_set(p->err, -EINVAL,
				 "%s:%zu: field %u (%s) begins with byte "
				 "0x%02x: this is not a text file",
				 p->name, p->line, n + 1, field_names[n],
				 (unsigned char)*at);
	return error_set(p->err, -EINVAL, "%s:%zu: field %u (%s) is %s: '%.*s'",
			 p->name, p->line, n + 1, field_names[n],
			 digits > 18 ? "too large" : "no number", length, at);
}

/* Digits after the point; more than six are cut. */
static int32_t parse_fraction(struct parser *p)
{
	int32_t micro = 0, scale = 100000;

	for (; is_digit(*p->at); p->at++) {
		micro += (*p->at - '0') * scale;
		scale /= 10;
	}
	return micro;
}

/* A field that is not just some digits and a blank after them. */
static int parse_odd_field(struct parser *p, unsigned n, struct field *ret)
{
	const char *start = p->at, *digits;
	bool minus = *start == '-';
	uint64_t v = 0;

	p->at += minus;
	for (digits = p->at; is_digit(*p->at); p->at++)
		v = v * 10 + (unsigned char)(*p->at - '0');
	if (p->at == digits || p->at - digits > 18)
		return bad_field(p, n, start);
	ret->whole = minus ? -(int64_t)v : (int64_t)v;
	ret->micro = 0;
	if (*p->at == '.') {
		p->at++;
		ret->micro = parse_fraction(p);
		if (minus)
			ret->micro = -ret->micro;
	}
	if (!is_blank(*p->at) && !at_line_end(p))
		return bad_field(p, n, start);
	return 0;
}

static void skip_blanks(struct parser *p)
{
	while (is_blank(*p->at))
		p->at++;
}

static void skip_line(struct parser *p)
{
	const char *nl = memchr(p->at, '\n', (size_t)(p->end - p->at));

	p->at = nl ? nl + 1 : p->end;
}

static int too_few_fields(struct parser *p, unsigned n)
{
	return error_set(p->err, -EINVAL,
			 "%s:%zu: %u fields instead of 18; is the file cut "
			 "off, or in another format?",
			 p->name, p->line, n);
}

static bool ends_field(char c)
{
	return is_blank(c) || c == '\n';
}

/*
 * Up to eight digits or "-1", which nearly every field is; NULL if it is not.
 * Eight characters are there, and one after them that may be the NUL.
 */
static inline const char *parse_plain_field(const char *at, struct field *ret)
{
	uint64_t chars = digits_load(at);
	unsigned n;

	if ((chars & 0xffff) == ('-' | '1' << 8) && ends_field(at[2])) {
		*ret = (struct field){ .whole = -1 };
		return at + 2;
	}
	if ((chars >> 8 & 0xff) == ' ' && is_digit((char)chars)) {
		*ret = (struct field){ .whole = (char)chars - '0' };
		return at + 1;
	}
	n = digits_count(chars);
	if (n == 0 || !ends_field(at[n]))
		return NULL;
	*ret = (struct field){ .whole = digits_value(chars, n) };
	return at + n;
}

/* The first nr fields of a line. */
static int parse_some_fields(struct parser *p, struct field *f, unsigned nr)
{
	/* In registers for as long as it goes well. */
	const char *at = p->at, *end = p->end;

	for (unsigned n = 0; n < nr; n++) {
		const char *after = NULL;
		int r;

		while (*at <= ' ' && is_blank(*at))
			at++;
		if (end - at >= 8)
			after = parse_plain_field(at, &f[n]);
		if (after) {
			at = after;
			continue;
		}
		p->at = at;
		if (at_line_end(p))
			return too_few_fields(p, n);
		r = parse_odd_field(p, n, &f[n]);
		if (r < 0)
			return r;
		at = p->at;
	}
	p->at = at;
	return 0;
}

/* All fields of a line; what comes after them is refused or ignored. */
static int parse_fields(struct parser *p, struct field *f)
{
	int r = parse_some_fields(p, f, SWF_FIELDS);

	if (r < 0)
		return r;
	skip_blanks(p);
	if (!at_line_end(p) && p->options->extra == SWF_EXTRA_REFUSE)
		return error_set(p->err, -EINVAL,
				 "%s:%zu: more than 18 fields: an extended "
				 "format; --extra-columns=ignore of stint sim "
				 "and stint trace reads the first 18",
				 p->name, p->line);
	return 0;
}

static usec_t to_usec(const struct field *f)
{
	return f->whole * USEC_PER_SEC + f->micro;
}

static int32_t to_int32(const struct field *f)
{
	return f->whole < -1 || f->whole > INT32_MAX ? -1 : (int32_t)f->whole;
}

/* Size, run time and the like, or why the job is left out. */
static int64_t wanted_size(const struct field *f)
{
	return f[7].whole > 0 ? f[7].whole : f[4].whole;
}

static bool is_time(const struct field *f)
{
	return f->whole <= MAX_SECONDS && f->whole >= -MAX_SECONDS;
}

static int check_times(struct parser *p, const struct field *f)
{
	static const unsigned times[] = { 1, 2, 3, 8, 17 };

	for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++)
		if (!is_time(&f[times[i]]))
			return error_set(
				p->err, -ERANGE,
				"%s:%zu: field %u (%s) is out of range: %" PRId64,
				p->name, p->line, times[i] + 1,
				field_names[times[i]], f[times[i]].whole);
	if (f[1].whole < 0)
		return error_set(
			p->err, -EINVAL,
			"%s:%zu: the submit time is not known (%" PRId64
			"); a job without one cannot be simulated",
			p->name, p->line, f[1].whole);
	return 0;
}

static void set_estimate(struct parser *p, struct swf_job *job, usec_t wanted)
{
	bool low = wanted > 0 && wanted < job->run && !p->options->keep_low;

	job->estimate = wanted;
	p->trace.no_estimate += wanted <= 0;
	p->trace.raised += low;
	if (wanted <= 0 && p->options->keep_unknown)
		job->estimate = 0;
	else if (wanted <= 0 || low || p->options->exact)
		job->estimate = job->run;
}

/* What the machine has, as far as it is said; 0: it is not. */
static int64_t known_procs(const struct parser *p)
{
	if (p->options->procs)
		return p->options->procs;
	return p->max_procs ? p->max_procs : p->max_nodes;
}

/* Of the job just added. */
static void add_link(struct parser *p, const struct field *f)
{
	struct swf_trace *t = &p->trace;

	array_room(t->link, t->nr - 1, &p->cap_link);
	t->link[t->nr - 1] = (struct swf_link){
		.after = f[16].whole > 0 ? f[16].whole : 0,
		.think = f[17].whole < 0 ? -1 : to_usec(&f[17]),
	};
}

static void add_job(struct parser *p, const struct field *f)
{
	struct swf_trace *t = &p->trace;
	struct swf_job *job;

	array_room(t->job, t->nr, &p->cap);
	job = &t->job[t->nr++];
	*job = (struct swf_job){
		.id = f[0].whole,
		.submit = to_usec(&f[1]),
		.run = to_usec(&f[3]),
		.memory = f[9].whole,
		.size = (uint32_t)wanted_size(f),
		.user = to_int32(&f[11]),
		.group = to_int32(&f[12]),
		.app = to_int32(&f[13]),
		.queue = to_int32(&f[14]),
		.partition = to_int32(&f[15]),
	};
	set_estimate(p, job, to_usec(&f[8]));
	t->follow += f[16].whole > 0;
	if (p->options->follow)
		add_link(p, f);
	if (t->nr > 1 && job->submit < job[-1].submit)
		t->unsorted = true;
	if (job->size <= known_procs(p)) {
		p->nr_fit++;
		if (job->submit > p->last_fit)
			p->last_fit = job->submit;
	}
}

/* Half a processor would be none, or a whole one. */
static int check_size(struct parser *p, const struct field *f)
{
	unsigned n = f[7].whole > 0 ? 7 : 4;

	if (!f[n].micro)
		return 0;
	return error_set(p->err, -EINVAL,
			 "%s:%zu: field %u (%s) is not a whole number", p->name,
			 p->line, n + 1, field_names[n]);
}

static int take_job(struct parser *p, const struct field *f)
{
	int64_t size = wanted_size(f);
	int r = check_times(p, f);

	if (!r)
		r = check_size(p, f);
	if (r < 0)
		return r;
	if (to_usec(&f[3]) <= 0)
		p->trace.no_run++;
	else if (size <= 0)
		p->trace.no_size++;
	else if (size > UINT32_MAX / 2)
		p->trace.too_large++;
	else if (p->options->drop_cancelled && f[10].whole == 5)
		p->trace.cancelled++;
	else
		add_job(p, f);
	return 0;
}

/* "; Name: number", up to 32 bits; -1 and 0 say that it is not known */
static int header_number(struct parser *p, const char *name, int64_t *ret)
{
	size_t n = strlen(name), room = (size_t)(p->end - p->at);
	const char *c = p->at + n;
	int64_t v;

	if (room <= n || strncasecmp(p->at, name, n) || *c++ != ':')
		return 0;
	while (c < p->end && is_blank(*c))
		c++;
	if (c < p->end && !isdigit((unsigned char)*c) && *c != '-')
		return -EINVAL;
	v = strtoll(c, NULL, 10);
	if (v > 0 && v <= UINT32_MAX)
		*ret = v;
	return v > UINT32_MAX ? -EINVAL : 0;
}

static void parse_comment(struct parser *p)
{
	while (p->at < p->end && (*p->at == ';' || is_blank(*p->at)))
		p->at++;
	if ((header_number(p, "MaxProcs", &p->max_procs) < 0 ||
	     header_number(p, "MaxNodes", &p->max_nodes) < 0) &&
	    !p->no_number) {
		p->no_number = p->at;
		p->no_number_line = p->line;
	}
	(void)!header_number(p, "UnixStartTime", &p->trace.unix_start);
	skip_line(p);
}

/* Are all jobs there that are wanted, if no earlier ones come? */
static bool has_enough(const struct parser *p)
{
	return p->options->nr_jobs && p->nr_fit >= p->options->nr_jobs;
}

/* Is the job of this line behind all that are wanted?  1, 0 or an error. */
static int is_behind(struct parser *p)
{
	const char *start = p->at;
	struct field f[2];
	int r = parse_some_fields(p, f, 2);

	p->at = start;
	return r < 0 ? r : is_time(&f[1]) && to_usec(&f[1]) >= p->last_fit;
}

static int parse_line(struct parser *p)
{
	struct field f[SWF_FIELDS];
	int r = 0;

	skip_blanks(p);
	if (p->at < p->end && *p->at == ';') {
		parse_comment(p);
		return 0;
	}
	if (has_enough(p) && !at_line_end(p))
		r = is_behind(p);
	if (r < 0)
		return r;
	if (!r && !at_line_end(p)) {
		r = parse_fields(p, f);
		if (!r)
			r = take_job(p, f);
		if (r < 0)
			return r;
	}
	if (*p->at == '\n' && p->at < p->end)
		p->at++;
	else
		skip_line(p);
	return 0;
}

/* How large the machine is, is said in a way that we do not understand. */
static int bad_header(const struct parser *p)
{
	const char *c = p->no_number;
	int length = 0;

	while (c + length < p->end && length < 60 &&
	       isprint((unsigned char)c[length]))
		length++;
	return error_set(p->err, -EINVAL,
			 "%s:%zu: no number in '%.*s'; --procs says how many "
			 "processors there are",
			 p->name, p->no_number_line, length, c);
}

static int choose_procs(struct parser *p)
{
	uint32_t largest = 0;
	int64_t procs = known_procs(p);

	if (!procs && p->no_number)
		return bad_header(p);
	for (size_t i = 0; i < p->trace.nr; i++)
		if (p->trace.job[i].size > largest)
			largest = p->trace.job[i].size;
	if (procs <= 0 || procs > UINT32_MAX / 2)
		procs = largest;
	p->trace.procs = (uint32_t)procs;
	return 0;
}

int swf_parse(const char *text, size_t size, const char *name,
	      const struct swf_options *options, struct swf_trace *ret,
	      struct error *err)
{
	struct parser p = { .name = name,
			    .options = options,
			    .at = text,
			    .end = text + size,
			    .err = err };
	int r = 0;

	while (!r && p.at < p.end) {
		p.line++;
		r = parse_line(&p);
	}
	if (!r)
		r = choose_procs(&p);
	if (!r)
		r = swf_drop_too_large(&p.trace, name, err);
	if (!r && p.trace.unsorted)
		swf_sort(&p.trace);
	if (!r && options->nr_jobs && p.trace.nr > options->nr_jobs)
		p.trace.nr = options->nr_jobs;
	if (!r && p.trace.link)
		r = swf_check_links(&p.trace, name, err);
	if (r < 0) {
		swf_clear(&p.trace);
		return r;
	}
	*ret = p.trace;
	return 0;
}
