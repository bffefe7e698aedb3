/*
 * reproduce.c - stint reproduce: published results, computed again
 */
#include <argp.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/kit/command.h"
#include "core/units.h"
#include "sim/report/output.h"
#include "sim/reproduce/reproduce.h"

enum {
	KEY_QUICK = 256,
	KEY_JSON,
	KEY_MARKDOWN,
	KEY_FIGURES,
	KEY_LIST,
	KEY_MEASURED
};

static const struct argp_option options[] = {
	{ "quick", KEY_QUICK, 0, 0,
	  "shorter runs, wider intervals, no other readings", 0 },
	{ "seed", 's', "N", 0, "of all random numbers (1)", 0 },
	{ "workers", 'j', "N", 0, "processes that compute (all cores)", 0 },
	{ "results", 'r', "FILE", 0,
	  "keep every run of a sweep there, and go on from what it holds", 0 },
	{ "measured", KEY_MEASURED, "FILE", 0,
	  "what was measured live, for papers that are not of simulations", 0 },
	{ "list", KEY_LIST, 0, 0, "show the ids (of PAPER) and what they claim",
	  0 },
	{ "json", KEY_JSON, 0, 0, "as JSON", 1 },
	{ "markdown", KEY_MARKDOWN, 0, 0, "as doc/reproduction.md is", 1 },
	{ "out", 'o', "FILE", 0, "write it there (standard output)", 1 },
	{ "figures", KEY_FIGURES, "DIR", 0, "draw the figures there, as SVG",
	  1 },
	{ 0 }
};

enum form { TEXT, JSON, MARKDOWN };

struct args {
	struct reproduce reproduce;
	const char *which, *out;
	enum form form;
	bool list;
};

static int take_form(struct args *a, enum form form, struct error *err)
{
	if (a->form != TEXT && a->form != form)
		return error_set(err, -EINVAL,
				 "--json or --markdown, not both");
	a->form = form;
	return 0;
}

static error_t parse_reproduce(int key, char *arg, struct argp_state *state)
{
	struct args *a = state->input;
	struct error err;
	int64_t n = 0;
	int rc = 0;

	switch (key) {
	case KEY_QUICK:
		a->reproduce.quick = true;
		break;
	case 's':
		rc = parse_int(arg, 0, INT64_MAX, "--seed", &n, &err);
		a->reproduce.seed = (uint64_t)n;
		break;
	case 'j':
		rc = parse_int(arg, 1, 1024, "--workers", &n, &err);
		a->reproduce.workers = (unsigned)n;
		break;
	case KEY_LIST:
		a->list = true;
		break;
	case KEY_MEASURED:
		a->reproduce.measured = arg;
		break;
	case KEY_JSON:
	case KEY_MARKDOWN:
		rc = take_form(a, key == KEY_JSON ? JSON : MARKDOWN, &err);
		break;
	case KEY_FIGURES:
		a->reproduce.figures = arg;
		break;
	case 'r':
		a->reproduce.results = arg;
		break;
	case 'o':
		a->out = arg;
		break;
	case ARGP_KEY_ARG:
		if (a->which)
			rc = error_set(&err, -EINVAL,
				       "one PAPER[:ID] at a time, not '%s' and "
				       "'%s'",
				       a->which, arg);
		a->which = arg;
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return command_parsed(state, rc, &err);
}

static void show_progress(void *arg, const char *id)
{
	fprintf(stderr, "\r\033[K%s ", id);
}

/* It is to be told before anything is computed that figures cannot go there. */
static int make_directory(const char *path, struct error *err)
{
	struct stat st;

	if (!path || !mkdir(path, 0777))
		return 0;
	if (errno != EEXIST)
		return error_sys(err, -errno, "cannot make '%s'", path);
	if (!stat(path, &st) && !S_ISDIR(st.st_mode))
		return error_sys(err, -ENOTDIR, "--figures: '%s'", path);
	return 0;
}

static int compute_rows(struct args *a, struct error *err)
{
	struct reproduce *r = &a->reproduce;
	int rc = make_directory(r->figures, err);

	if (rc < 0)
		return rc;
	if (isatty(STDERR_FILENO))
		r->progress = show_progress;
	rc = reproduce_run(r, a->which, err);
	if (r->progress)
		fputs("\r\033[K", stderr);
	if (!rc && r->left_out)
		fprintf(stderr,
			"stint reproduce: '%s' is left out: it needs "
			"--measured=FILE\n",
			r->left_out);
	return rc;
}

static int print_rows(const struct args *a, FILE *to, struct error *err)
{
	if (a->list)
		return reproduce_print_list(a->which, a->form == JSON, to, err);
	if (a->form == JSON)
		reproduce_print_json(&a->reproduce, to);
	else if (a->form == MARKDOWN)
		reproduce_print_markdown(&a->reproduce, to);
	else
		reproduce_print(&a->reproduce, to);
	return 0;
}

static int reproduce(struct args *a, struct error *err)
{
	struct output *out;
	int rc = output_open(a->out ? a->out : "-", &out, err);

	if (rc < 0)
		return rc;
	rc = a->list ? 0 : compute_rows(a, err);
	if (!rc)
		rc = print_rows(a, output_stream(out), err);
	return output_end(&out, rc, err);
}

static const char doc[] =
	"Compute again what PAPER published, and compare."
	"\vPAPER alone is all of its results, PAPER:ID one of them, `all' "
	"those of all papers.  A result that differs is reported, not an "
	"error.";

/* Links from a document find figures that lie beside it or below. */
static void set_link(struct args *a)
{
	const char *slash = a->out ? strrchr(a->out, '/') : NULL;
	size_t n = slash ? (size_t)(slash - a->out + 1) : 0;

	if (a->reproduce.figures && n &&
	    !strncmp(a->reproduce.figures, a->out, n))
		a->reproduce.link = a->reproduce.figures + n;
}

int cmd_reproduce(int argc, char **argv)
{
	static const struct argp argp = { options, parse_reproduce,
					  "PAPER[:ID]", doc };
	long cores = sysconf(_SC_NPROCESSORS_ONLN);
	struct args a = {
		.reproduce = { .seed = 1,
			       .level = 0.95,
			       .workers = cores > 0 ? (unsigned)cores : 1 },
	};
	struct error err;
	int rc;

	command_parse(&argp, argc, argv, 0, &a);
	if (!a.which && !a.list) {
		error_set(&err, -EINVAL,
			  "say which PAPER[:ID]; --list shows them");
		return command_fail("reproduce", EXIT_USAGE, &err);
	}
	set_link(&a);
	rc = reproduce(&a, &err);
	reproduce_clear(&a.reproduce);
	return rc < 0 ? command_fail("reproduce", command_code(rc), &err)
		      : EXIT_OK;
}
