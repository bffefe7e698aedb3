/*
 * sweep.c - stint sweep: policies x workloads x loads, until they are known
 */
#include <inttypes.h>
#include <unistd.h>

#include "cmd/kit/command.h"
#include "cmd/sim/sweep_args.h"
#include "sim/report/output.h"

/* For people: a line a cell. */
static void print_table(const struct sweep_args *a,
			const struct sweep_result *r, FILE *to)
{
	const struct sweep_metric_info *info = &sweep_metrics[a->metric];

	fprintf(to, "%-24s %-28s %6s %12s %10s %5s\n", "policy", "workload",
		"load", info->name, "+-", "runs");
	for (size_t c = 0; c < a->sweep.nr; c++) {
		struct estimate e =
			sweep_mean(&r[c], a->metric, a->sweep.level);

		fprintf(to, "%-24s %-28s %6.4g %12.6g %10.3g %5u%s\n",
			a->cell[c].policy, a->cell[c].workload, a->cell[c].load,
			e.value, e.high - e.value, r[c].n,
			r[c].met ? "" : "  precision not reached");
	}
	fprintf(to,
		"\nintervals at %g %%; seed %" PRIu64 "; stint " STINT_VERSION
		"\n",
		100 * a->sweep.level, a->sweep.seed);
}

static void show_progress(void *arg, uint64_t done, uint64_t guess)
{
	if (guess < done)
		guess = done;
	fprintf(stderr, "\r%llu of about %llu runs ", (unsigned long long)done,
		(unsigned long long)guess);
}

/* Where the results go: opened before the runs, so that a wrong path is known
 * at once. */
struct files {
	struct output *table, *svg;
};

static int open_files(const struct sweep_args *a, struct files *f,
		      struct error *err)
{
	int rc = output_open(a->out ? a->out : "-", &f->table, err);

	if (!rc && a->svg)
		rc = output_open(a->svg, &f->svg, err);
	return rc;
}

static void abort_files(struct files *f)
{
	output_abort(f->table);
	output_abort(f->svg);
	*f = (struct files){ NULL };
}

static int write_files(const struct sweep_args *a, const struct sweep_result *r,
		       struct files *f, struct error *err)
{
	int rc;

	if (a->table)
		print_table(a, r, output_stream(f->table));
	else
		sweep_print(&a->sweep, r, a->format, output_stream(f->table));
	if (f->svg)
		sweep_plot(&a->sweep, r, 0, a->metric, output_stream(f->svg));
	rc = output_end(&f->table, 0, err);
	return output_end(&f->svg, rc, err);
}

static int run_sweep(struct sweep_args *a, struct files *f, struct error *err)
{
	struct sweep_result *result;
	bool first = a->sweep.rank == 0; /* the others are silent */
	int rc = first ? open_files(a, f, err) : 0;

	if (rc < 0)
		return rc;
	if (first && !a->quiet && isatty(STDERR_FILENO))
		a->sweep.progress = show_progress;
	rc = sweep_run(&a->sweep, &result, err);
	if (a->sweep.progress)
		fputs("\r\033[K", stderr);
	if (rc < 0)
		return rc;
	rc = first ? write_files(a, result, f, err) : 0;
	sweep_free(result, a->sweep.nr);
	return rc;
}

static int sweep(struct sweep_args *a)
{
	struct error err = ERROR_INIT;
	struct files files = { NULL };
	int rc = sweep_args_open(a, &err);

	if (!rc)
		rc = sweep_check(&a->sweep, &err);
	if (!rc)
		rc = run_sweep(a, &files, &err);
	abort_files(&files);
	return rc < 0 ? command_fail("sweep", EXIT_FAILED, &err) : EXIT_OK;
}

int cmd_sweep(int argc, char **argv)
{
	struct error err = ERROR_INIT;
	struct sweep_args a;
	int rc;

	if (sweep_args_parse(argc, argv, &a, &err) < 0)
		return command_fail("sweep", EXIT_USAGE, &err);
	rc = sweep(&a);
	sweep_args_clear(&a);
	return rc;
}
