/* days.c - a workload on hosts that belong to people, see days.h */
#include "sim/size/days.h"

#include <errno.h>
#include <stdlib.h>

#include "core/random.h"
#include "core/xalloc.h"
#include "model/terms.h"
#include "sim/engine/sim.h"

/* After the last submission, for jobs that are late; then everybody leaves. */
enum { DAYS_MORE = 2 };

void days_init(struct days *d)
{
	*d = (struct days){
		.workload = "lanl",
		.policy = "borrow:slice=2",
		.sign = OWNERS_CPU_KEYBOARD,
		.quiet = 180 * USEC_PER_SEC,
		.delays = UINT32_MAX,
		.move = 2 * USEC_PER_SEC,
		.seed = 1,
	};
	if (owners_law_parse(NULL, &d->law, NULL) < 0)
		abort(); /* the defaults are good */
}

static int make_jobs(const struct days *d, uint64_t replication,
		     struct workload **ret, struct error *err)
{
	const struct workload_setup setup = { .load = d->load,
					      .seed = d->seed,
					      .replication = replication };

	return workload_create(d->workload, &setup, ret, err);
}

int days_dedicated(const struct days *d, uint32_t *ret, struct error *err)
{
	struct workload *w;
	int r = make_jobs(d, 0, &w, err);

	if (r < 0)
		return r;
	*ret = w->procs;
	workload_destroy(w);
	return 0;
}

static int simulate(const struct days *d, uint64_t replication,
		    const struct activity *activity, struct sim_result *ret,
		    struct error *err)
{
	struct owner_terms terms;
	struct sim_config c = { .policy = d->policy,
				.seed = d->seed,
				.costs = { .migrate = d->move,
					   .aside = !d->in_turn },
				.activity = activity,
				.terms = &terms,
				.requeue = d->requeue };
	int r = make_jobs(d, replication, &c.workload, err);

	if (r < 0)
		return r;
	owner_terms_init(&terms);
	terms.quiet = d->quiet;
	terms.load = LOAD_ANY; /* the script's owners are who computes */
	terms.disturb = d->delays;
	terms.give_back = USEC_PER_DAY;
	r = sim_run(&c, ret, err);
	owner_terms_clear(&terms);
	workload_destroy(c.workload);
	return r;
}

/* ---- owners ---- */

static void all_leave(struct activity *a, usec_t at)
{
	for (uint32_t i = 0; i < a->nr_hosts; i++)
		activity_add(a, at, i, ACTIVITY_OWNER, 0);
}

static void draw_owners(const struct days *d, uint32_t hosts, uint32_t days,
			uint64_t replication, struct activity *ret)
{
	struct activity raw;

	if (d->recorded)
		owners_resample(d->recorded, hosts, days, d->seed, replication,
				&raw);
	else
		owners_law_draw(&d->law, hosts, days, d->seed, replication,
				&raw);
	owners_as_seen(&raw, d->sign, ret);
	activity_clear(&raw);
	all_leave(ret, days * USEC_PER_DAY);
}

/* ---- figures ---- */

static double response(const struct sim_record *r)
{
	return usec_to_seconds(r->end - r->submit);
}

static void compare_runs(const struct sim_result *here,
			 const struct sim_result *there,
			 struct days_result *ret)
{
	double sum_here = 0, sum_there = 0;

	for (size_t i = 0; i < here->nr; i++) {
		const struct sim_record *a = &here->record[i];
		const struct sim_record *b = &there->record[i];

		sum_here += response(a);
		sum_there += response(b);
		ret->slowdown += response(a) / response(b) / (double)here->nr;
		ret->dedicated += response(b) / usec_to_seconds(b->run) /
				  (double)here->nr;
	}
	ret->response = sum_here / sum_there;
}

static int check_all_ran(const struct sim_result *r, uint32_t hosts,
			 struct error *err)
{
	if (r->nr && !r->nr_rejected)
		return 0;
	return error_set(err, -ERANGE, "%u hosts: %s", hosts,
			 r->nr ? r->why_rejected : "there are no jobs");
}

/* Days up to that time, the last one counted whole. */
static uint32_t days_until(usec_t at)
{
	return (uint32_t)(at / USEC_PER_DAY) + 1;
}

static usec_t last_submit(const struct sim_result *r)
{
	return r->nr ? r->record[r->nr - 1].submit : 0;
}

int days_run(const struct days *d, uint32_t hosts, uint64_t replication,
	     struct days_result *ret, struct error *err)
{
	struct sim_result there, here;
	struct days_result result = { 0 };
	struct activity owners;
	uint32_t days;
	int r = simulate(d, replication, NULL, &there, err);

	if (r < 0)
		return r;
	days = days_until(last_submit(&there));
	draw_owners(d, hosts, days + DAYS_MORE, replication, &owners);
	r = simulate(d, replication, &owners, &here, err);
	activity_clear(&owners);
	if (!r) {
		r = check_all_ran(&here, hosts, err);
		if (!r)
			compare_runs(&here, &there, &result);
		result.moves = (double)here.migrations;
		result.delays = (double)here.owners.disturbed / hosts /
				days_until(here.end);
		result.delays_most = here.owners.disturbed_most;
		result.delays_third = here.owners.disturbed_third;
		sim_result_clear(&here);
	}
	sim_result_clear(&there);
	if (!r)
		*ret = result;
	return r;
}
