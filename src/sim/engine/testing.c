/* testing.c - what tests of whole runs share, see testing.h */
#include "sim/engine/testing.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sim/workload/attach.h"

struct workload *make_workload(const char *spec, uint32_t procs, double load,
			       uint64_t nr, const char *speedup)
{
	const struct workload_setup setup = {
		.procs = procs, .load = load, .nr_jobs = nr, .seed = 11
	};
	struct workload *w;
	struct error err;

	if (workload_create(spec, &setup, &w, &err) < 0 ||
	    (speedup && attach_speedup(&w, speedup, 11, 0, &err) < 0))
		fail_msg("%s", err.text);
	return w;
}

void simulate(const struct sim_config *config, struct sim_result *ret)
{
	struct error err;

	if (sim_run(config, ret, &err) < 0)
		fail_msg("%s: %s", config->policy, err.text);
}

void check_same_records(const struct sim_result *a, const struct sim_result *b,
			const char *policy)
{
	assert_int_equal(a->nr, b->nr);
	for (size_t j = 0; j < a->nr; j++) {
		const struct sim_record *x = &a->record[j], *y = &b->record[j];

		if (x->start != y->start || x->end != y->end ||
		    x->procs != y->procs || x->resizes != y->resizes ||
		    x->moves != y->moves)
			fail_msg("%s: job %ld started at %ld, and at %ld",
				 policy, (long)x->id, (long)x->start,
				 (long)y->start);
	}
}

struct paging make_paging(const char *text)
{
	struct paging p;
	struct error err;

	if (paging_parse(text, &p, &err) < 0)
		fail_msg("%s", err.text);
	return p;
}

usec_t sum_of(const struct sim_split *s)
{
	return s->queue + s->run + s->still + s->frozen + s->lost;
}

struct owner_terms test_terms;

void set_term(const char *name, const char *value)
{
	assert_int_equal(owner_terms_set(&test_terms, name, value, NULL), 0);
}

int begin_terms(void **state)
{
	(void)state;
	owner_terms_init(&test_terms);
	set_term("quiet", "60");
	set_term("load", "any");
	return 0;
}

int end_terms(void **state)
{
	(void)state;
	owner_terms_clear(&test_terms);
	return 0;
}
