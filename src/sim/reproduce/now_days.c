/* now_days.c - days on hosts that belong to people, many of them; see now.h */
#include <math.h>
#include <stdlib.h>

#include "core/xalloc.h"
#include "sim/reproduce/now.h"

struct work {
	const struct now_cell *cell;
	uint64_t seed;
};

static usec_t from_seconds(double s)
{
	return llround(s * USEC_PER_SEC);
}

static int describe(const struct work *w, const struct now_cell *c,
		    struct days *d, char **policy, struct error *err)
{
	days_init(d);
	*policy = c->policy ? xstrdup(c->policy)
			    : xasprintf("borrow:slice=2%s%s",
					c->choose ? ",choose=" : "",
					c->choose ? c->choose : "");
	d->policy = *policy;
	d->requeue = c->requeue;
	d->sign = c->cpu_alone ? OWNERS_CPU : OWNERS_CPU_KEYBOARD;
	d->seed = w->seed;
	if (c->quiet != 0)
		d->quiet = c->quiet < 0 ? 0 : from_seconds(c->quiet);
	if (c->move > 0)
		d->move = from_seconds(c->move);
	if (c->delays)
		d->delays = c->delays;
	return owners_law_parse(c->owners, &d->law, err);
}

static int run_one(void *arg, uint32_t cell, uint32_t replication,
		   double *value, struct error *err)
{
	const struct work *w = arg;
	struct days_result day;
	struct days d;
	char *policy;
	int rc = describe(w, &w->cell[cell], &d, &policy, err);

	if (!rc)
		rc = days_run(&d, w->cell[cell].hosts, replication, &day, err);
	free(policy);
	if (rc < 0)
		return rc;
	value[NOW_RESPONSE] = day.response;
	value[NOW_MOVES] = day.moves;
	value[NOW_DELAYS_MOST] = day.delays_most;
	value[NOW_DELAYS_THIRD] = day.delays_third;
	return 0;
}

int now_days_run(const struct reproduce *r, const struct now_cell *cells,
		 size_t nr, uint32_t n, struct now_days *ret, struct error *err)
{
	struct work w = { .cell = cells, .seed = r->seed };

	ret->runs = (struct runs){ .work = run_one,
				   .nr_values = NOW_VALUES,
				   .arg = &w,
				   .nr_cells = (uint32_t)nr,
				   .n = n };
	return runs_do(r, &ret->runs, err);
}

void now_days_clear(struct now_days *d)
{
	runs_clear(&d->runs);
}

struct estimate now_mean(const struct reproduce *r, const struct now_days *d,
			 size_t cell, enum now_value v)
{
	return runs_mean(r, &d->runs, cell, v);
}

struct estimate now_ratio(const struct reproduce *r, const struct now_days *d,
			  size_t a, size_t b, enum now_value v)
{
	return stats_ratio(runs_at(&d->runs, a, v), runs_at(&d->runs, b, v),
			   d->runs.n, r->level);
}
