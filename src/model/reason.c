/* reason.c - sentences with numbers in them, see reason.h */
#include "model/reason.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdlib.h>

#include "core/json.h"
#include "core/xalloc.h"

/* {NAME:KIND} in a sentence. */
struct slot {
	const char *name, *kind; /* within it; kind: "" if there is none */
	int name_length, kind_length;
};

/*
 * Read the slot whose opening brace is at `at`; returns what follows the
 * closing one, or NULL if there is none.
 */
static const char *read_slot(const char *at, struct slot *ret)
{
	size_t n = strcspn(++at, "{}"), name = strcspn(at, ":{}");

	if (at[n] != '}')
		return NULL;
	*ret = (struct slot){ .name = at,
			      .kind = name < n ? at + name + 1 : "",
			      .name_length = (int)name,
			      .kind_length =
				      name < n ? (int)(n - name - 1) : 0 };
	return at + n + 1;
}

/* The next of its names in a reason's list of them; length 0: no more. */
static const char *next_name(const char *names, int *ret_length)
{
	names += strspn(names, ", ");
	*ret_length = (int)strcspn(names, ", ");
	return names;
}

static bool equal(const char *a, int a_length, const char *b, int b_length)
{
	return a_length == b_length && !strncmp(a, b, (size_t)a_length);
}

/* Which of the numbers a slot means; -1: none. */
static int number_of(const struct reason *reason, const struct slot *s)
{
	const char *name;
	int i = 0, n;

	for (name = next_name(reason->names, &n); n;
	     name = next_name(name + n, &n), i++)
		if (equal(name, n, s->name, s->name_length))
			return i;
	return -1;
}

static bool is_kind(const struct slot *s, const char *kind)
{
	return equal(s->kind, s->kind_length, kind, (int)strlen(kind));
}

static const char *word_bar(const struct slot *s)
{
	return s->kind_length ? memchr(s->kind, '|', (size_t)s->kind_length)
			      : NULL;
}

void reason_write_usec(FILE *to, usec_t t)
{
	usec_t rest = t < 0 ? -(t % USEC_PER_SEC) : t % USEC_PER_SEC;
	int digits = 6;

	if (t == USEC_MAX) {
		fputs("an unknown time", to);
		return;
	}
	fprintf(to, "%s%" PRId64, t < 0 && t > -USEC_PER_SEC ? "-" : "",
		t / USEC_PER_SEC);
	for (; rest && rest % 10 == 0; rest /= 10)
		digits--;
	if (rest)
		fprintf(to, ".%0*" PRId64, digits, rest);
	fputs(" s", to);
}

static const char *host_name(const struct view *view, int64_t ix)
{
	const char *name = view && ix >= 0 && ix < view->nr_hosts
				   ? view->hosts[ix].name
				   : NULL;

	return name && *name ? name : NULL;
}

void reason_write_host(FILE *to, const struct view *view, int64_t ix)
{
	const char *name = host_name(view, ix);

	if (name)
		fputs(name, to);
	else
		fprintf(to, "%" PRId64, ix);
}

static void write_slot(FILE *to, const struct view *view, const struct slot *s,
		       int64_t number)
{
	const char *bar = word_bar(s);
	int one = bar ? (int)(bar - s->kind) : 0;

	if (bar && number == 1)
		fprintf(to, "%.*s", one, s->kind);
	else if (bar)
		fprintf(to, "%.*s", s->kind_length - one - 1, bar + 1);
	else if (is_kind(s, "time"))
		reason_write_usec(to, number);
	else if (is_kind(s, "host"))
		reason_write_host(to, view, number);
	else if (is_kind(s, "thousandths"))
		fprintf(to, "%.3g", (double)number / 1000);
	else
		fprintf(to, "%" PRId64, number);
}

void because_write(const struct view *view, const struct because *why, FILE *to)
{
	const char *at = why->reason->text, *rest;
	struct slot s;

	for (; *at; at = rest) {
		int i = -1;

		rest = at + 1;
		if (*at == '{' && (rest = read_slot(at, &s)))
			i = number_of(why->reason, &s);
		else
			rest = at + 1;
		if (i < 0)
			fwrite(at, 1, (size_t)(rest - at), to);
		else
			write_slot(to, view, &s, why->number[i]);
	}
}

void because_print(const struct view *view, const struct because *why,
		   char *buf, size_t size)
{
	char *text;
	size_t length;
	FILE *f = xmemstream(&text, &length);

	because_write(view, why, f);
	fclose(f);
	snprintf(buf, size, "%s", text);
	free(text);
}

static void set_number(json_t *object, const struct view *view,
		       const struct slot *s, int64_t number)
{
	char name[64];

	snprintf(name, sizeof(name), "%.*s%s", s->name_length, s->name,
		 is_kind(s, "time") ? "_us" : "");
	if (is_kind(s, "host") && host_name(view, number))
		json_object_set_new(object, name,
				    json_text(host_name(view, number)));
	else if (is_kind(s, "thousandths"))
		json_object_set_new(object, name,
				    json_number((double)number / 1000));
	else
		json_object_set_new(object, name,
				    json_integer((json_int_t)number));
}

void because_write_numbers(const struct view *view, const struct because *why,
			   FILE *to)
{
	json_t *object = json_object();
	const char *at = why->reason->text;
	struct slot s;

	while ((at = strchr(at, '{')) && (at = read_slot(at, &s))) {
		int i = number_of(why->reason, &s);

		if (i >= 0)
			set_number(object, view, &s, why->number[i]);
	}
	json_dumpf(object, to, JSON_COMPACT | JSON_REAL_PRECISION(12));
	json_decref(object);
}

static bool known_kind(const struct slot *s)
{
	return !s->kind_length || word_bar(s) || is_kind(s, "time") ||
	       is_kind(s, "host") || is_kind(s, "thousandths");
}

/* Does the sentence have a slot of that name? */
static bool is_named(const char *text, const char *name, int length)
{
	struct slot s;

	while ((text = strchr(text, '{')) && (text = read_slot(text, &s)))
		if (equal(s.name, s.name_length, name, length))
			return true;
	return false;
}

static int check_slots(const struct reason *reason, struct error *err)
{
	const char *at = reason->text;
	struct slot s;

	while ((at = strpbrk(at, "{}"))) {
		if (*at == '}' || !(at = read_slot(at, &s)))
			return error_set(err, -EINVAL,
					 "'%s': a brace without its other",
					 reason->text);
		if (number_of(reason, &s) < 0)
			return error_set(err, -EINVAL,
					 "'%s': it is not given '%.*s'",
					 reason->text, s.name_length, s.name);
		if (!known_kind(&s))
			return error_set(err, -EINVAL,
					 "'%s': unknown kind of number '%.*s'",
					 reason->text, s.kind_length, s.kind);
	}
	return 0;
}

int reason_check(const struct reason *reason, struct error *err)
{
	const char *name;
	int n, r = check_slots(reason, err);

	if (r < 0)
		return r;
	for (name = next_name(reason->names, &n); n;
	     name = next_name(name + n, &n))
		if (!is_named(reason->text, name, n))
			return error_set(err, -EINVAL,
					 "'%s': it does not name '%.*s'",
					 reason->text, n, name);
	return 0;
}
