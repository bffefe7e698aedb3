/* shared.c - what the laws share, see priv.h */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "policy/policies.h"
#include "sim/laws/priv.h"
#include "sim/workload/attach.h"

void finding_note(struct finding *f, const struct view *view, const char *fmt,
		  ...)
{
	va_list args;
	int n;

	if (f->text[0])
		return;
	n = snprintf(f->text, sizeof(f->text), "at %.6f s ",
		     usec_to_seconds(view->now));
	va_start(args, fmt);
	vsnprintf(f->text + n, sizeof(f->text) - (size_t)n, fmt, args);
	va_end(args);
}

int law_workload(const char *spec, double load, const char *speedup,
		 struct workload **ret, struct error *err)
{
	const struct workload_setup setup = { .procs = LAW_PROCS,
					      .load = load,
					      .nr_jobs = LAW_JOBS,
					      .seed = 11 };
	struct workload *w;
	int r = workload_create(spec, &setup, &w, err);

	if (!r && speedup) {
		r = attach_speedup(&w, speedup, 11, 0, err);
		if (r < 0)
			workload_destroy(w);
	}
	if (!r)
		*ret = w;
	return r;
}

unsigned law_flags(const char *policy)
{
	const char *params;

	return policy_of(policy, &params, NULL)->flags;
}

int law_compare(const struct sim_result *a, const struct sim_result *b,
		const char *which, struct error *err)
{
	if (a->nr != b->nr)
		return error_set(err, -EPROTO, "%s: %zu jobs, and %zu", which,
				 a->nr, b->nr);
	for (size_t i = 0; i < a->nr; i++) {
		const struct sim_record *x = &a->record[i], *y = &b->record[i];

		if (x->start != y->start || x->end != y->end ||
		    x->procs != y->procs || x->resizes != y->resizes ||
		    x->moves != y->moves)
			return error_set(
				err, -EPROTO,
				"%s: job %" PRId64
				" ran from %.6f to %.6f s on %u processors, "
				"and from %.6f to %.6f s on %u",
				which, x->id, usec_to_seconds(x->start),
				usec_to_seconds(x->end), x->procs,
				usec_to_seconds(y->start),
				usec_to_seconds(y->end), y->procs);
	}
	return 0;
}
