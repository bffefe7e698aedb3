/* print.c - rows of reproduced results, for people and programs */
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "core/json.h"
#include "sim/reproduce/reproduce.h"

struct listing {
	FILE *to;
	bool json;
};

static int list_one(void *arg, const struct reproduce_paper *p,
		    const struct reproduce_entry *e, struct error *err)
{
	struct listing *l = arg;

	(void)err;
	if (l->json)
		json_line(json_pack("{s:s, s:s, s:s}", "paper", p->name, "id",
				    e->id, "claim", e->claim),
			  l->to);
	else
		fprintf(l->to, "%s:%-8s %s\n", p->name, e->id, e->claim);
	return 0;
}

int reproduce_print_list(const char *which, bool json, FILE *to,
			 struct error *err)
{
	struct listing l = { to, json };

	return reproduce_each(which ? which : "all", list_one, &l, err);
}

static size_t count_met(const struct reproduce *r)
{
	size_t met = 0;

	for (size_t i = 0; i < r->nr; i++)
		met += r->row[i].met;
	return met;
}

static size_t count_lacking(const struct reproduce *r)
{
	size_t lacking = 0;

	for (size_t i = 0; i < r->nr; i++)
		lacking += r->row[i].lacking;
	return lacking;
}

/* Are all rows of an id met, as far as they are there? */
static bool all_met(const struct reproduce *r, const char *id)
{
	for (size_t i = 0; i < r->nr; i++)
		if (!strcmp(r->row[i].id, id) && !r->row[i].met &&
		    !r->row[i].lacking)
			return false;
	return true;
}

/* What is thought of an id's rows; NULL: nothing that matters. */
static const char *cause_of(const struct reproduce *r, const char *id)
{
	return reproduce_cause(id, all_met(r, id));
}

/* The remarks of a note, which "; " keeps apart: each behind its own lead. */
static void print_remarks(const char *note, const char *lead, FILE *to)
{
	for (const char *end; *note; note = end) {
		end = strstr(note, "; ");
		if (!end)
			end = note + strlen(note);
		fprintf(to, "%s%.*s\n", lead, (int)(end - note), note);
		end += *end ? 2 : 0;
	}
}

static bool last_of_id(const struct reproduce *r, size_t i)
{
	return i + 1 == r->nr || strcmp(r->row[i].id, r->row[i + 1].id) != 0;
}

static const char *verdict(const struct reproduce_row *row)
{
	return row->met ? "met" : row->lacking ? "-" : "DIFFERS";
}

static void print_count(const struct reproduce *r, FILE *to)
{
	size_t lacking = count_lacking(r);

	fprintf(to, "%zu of %zu met", count_met(r), r->nr - lacking);
	if (lacking)
		fprintf(to, ", %zu not measured", lacking);
	fprintf(to,
		"; intervals at %g %%; seed %" PRIu64 "; stint " STINT_VERSION
		"%s\n",
		r->level * 100, r->seed,
		r->quick ? "; shortened runs (--quick)" : "");
}

void reproduce_print(const struct reproduce *r, FILE *to)
{
	for (size_t i = 0; i < r->nr; i++) {
		const struct reproduce_row *row = &r->row[i];
		const char *cause = cause_of(r, row->id);

		fprintf(to, "%-6s %-7s %s: published %s, ours %s\n", row->id,
			verdict(row), row->what, row->published, row->ours);
		if (row->note)
			print_remarks(row->note, "               ", to);
		if (cause && last_of_id(r, i))
			fprintf(to, "%-6s %s  %s\n", row->id,
				all_met(r, row->id) ? "read:  " : "cause: ",
				cause);
	}
	print_count(r, to);
}

void reproduce_print_json(const struct reproduce *r, FILE *to)
{
	for (size_t i = 0; i < r->nr; i++) {
		const struct reproduce_row *row = &r->row[i];
		json_t *interval = json_null(), *ours;

		if (isnan(row->value.value)) {
			ours = json_string(row->ours);
		} else {
			ours = json_real(row->value.value);
			interval =
				json_pack("[o, o]", json_number(row->value.low),
					  json_number(row->value.high));
		}
		json_line(
			json_pack("{s:s, s:s, s:s, s:o, s:o, s:o, s:s?, s:s?, "
				  "s:I, s:b, s:s}",
				  "id", row->id, "what", row->what, "published",
				  row->published, "ours", ours, "interval",
				  interval, "met",
				  row->lacking ? json_null()
					       : json_boolean(row->met),
				  "note", row->note, "cause",
				  cause_of(r, row->id), "seed",
				  (json_int_t)r->seed, "quick", r->quick,
				  "stint", STINT_VERSION),
			to);
	}
}

static void print_cell(const char *text, FILE *to)
{
	for (; *text; text++)
		if (*text == '|')
			fputs("\\|", to);
		else
			fputc(*text, to);
}

static void print_row_note(const struct reproduce_row *row, FILE *to)
{
	fprintf(to, "- %s:", row->what);
	if (!strstr(row->note, "; ")) {
		print_remarks(row->note, " ", to);
		return;
	}
	fputc('\n', to);
	print_remarks(row->note, "  - ", to);
}

static void print_table(const struct reproduce *r, const char *id, FILE *to)
{
	fputs("\n| | published | ours | |\n|---|---|---|---|\n", to);
	for (size_t i = 0; i < r->nr; i++) {
		const struct reproduce_row *row = &r->row[i];

		if (strcmp(row->id, id) != 0)
			continue;
		fputs("| ", to);
		print_cell(row->what, to);
		fputs(" | ", to);
		print_cell(row->published, to);
		fputs(" | ", to);
		print_cell(row->ours, to);
		fprintf(to, " | %s |\n",
			row->met       ? "met"
			: row->lacking ? "not measured"
				       : "**differs**");
	}
	fputc('\n', to);
	for (size_t i = 0; i < r->nr; i++)
		if (!strcmp(r->row[i].id, id) && r->row[i].note)
			print_row_note(&r->row[i], to);
}

static void print_figures(const struct reproduce *r, const char *id, FILE *to)
{
	bool any = false;

	for (size_t i = 0; i < r->nr_figures; i++) {
		const struct reproduce_drawn *f = &r->figure[i];
		int n = (int)(strlen(f->file) - strlen(".svg"));

		if (strcmp(f->id, id) != 0)
			continue;
		fprintf(to, "%s[%.*s](%s/%s)", any ? ", " : "\nFigures: ", n,
			f->file, r->link ? r->link : r->figures, f->file);
		any = true;
	}
	if (any)
		fputs("\n", to);
}

static bool has_rows(const struct reproduce *r, const char *id)
{
	for (size_t i = 0; i < r->nr; i++)
		if (!strcmp(r->row[i].id, id))
			return true;
	return false;
}

static bool is_left_out(const struct reproduce *r,
			const struct reproduce_paper *p)
{
	return r->left_out && !strcmp(r->left_out, p->name);
}

void reproduce_print_markdown(const struct reproduce *r, FILE *to)
{
	fprintf(to,
		"# Published results, computed again\n\n"
		"Written by `stint reproduce %s%s --markdown`%s, seed %" PRIu64
		", stint " STINT_VERSION
		"; do not edit.\nA figure is *met* when its %g %% interval, in "
		"parentheses, overlaps the published value give or take\nits "
		"stated or visible precision.  %zu of %zu are met.\n",
		r->which, r->quick ? " --quick" : "",
		r->figures ? " with `--figures`" : "", r->seed, r->level * 100,
		count_met(r), r->nr);
	for (size_t i = 0; reproduce_nth(i); i++) {
		const struct reproduce_paper *p = reproduce_nth(i);
		bool titled = false;

		for (const struct reproduce_entry *e = p->entry; e->id; e++) {
			if (!has_rows(r, e->id) && !is_left_out(r, p))
				continue;
			if (!titled)
				fprintf(to, "\n## %s\n\n%s\n", p->title,
					p->method);
			titled = true;
			fprintf(to, "\n### %s: %s\n", e->id, e->claim);
			if (is_left_out(r, p)) {
				fprintf(to,
					"\nNot measured here: `make "
					"bench-%s` measures it live, on "
					"this machine, into a file that "
					"`stint reproduce %s "
					"--measured=FILE` compares.\n",
					p->name, p->name);
				continue;
			}
			print_table(r, e->id, to);
			if (cause_of(r, e->id))
				fprintf(to, "\n**%s** %s\n",
					all_met(r, e->id) ? "How it is read."
							  : "Why it differs.",
					cause_of(r, e->id));
			print_figures(r, e->id, to);
		}
	}
}
