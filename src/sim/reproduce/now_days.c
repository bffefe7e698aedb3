/* now_days.c - days on hosts that belong to people, many of them; see now.h */
#include <math.h>
#include <stdlib.h>

#include "core/xalloc.h"
#include "sim/reproduce/now.h"
#include "sim/sweep/crew.h"

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
	*policy = xasprintf("borrow:slice=2%s%s", c->choose ? ",choose=" : "",
			    c->choose ? c->choose : "");
	d->policy = *policy;
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

static double *values_of(const struct now_days *d, size_t cell,
			 enum now_value v)
{
	return d->value + (cell * NOW_VALUES + v) * d->runs;
}

static void take_values(const struct crew_result *one, void *arg)
{
	const struct now_days *d = arg;

	for (int v = 0; v < NOW_VALUES; v++)
		values_of(d, one->cell, (enum now_value)v)[one->replication] =
			one->value[v];
}

int now_days_run(const struct reproduce *r, const struct now_cell *cells,
		 size_t nr, uint32_t runs, struct now_days *ret,
		 struct error *err)
{
	struct work w = { .cell = cells, .seed = r->seed };
	struct now_days d = { .cell = cells, .nr = nr, .runs = runs };
	struct crew *crew;
	int rc = crew_create(r->workers, run_one, &w, &crew, err);

	if (rc < 0)
		return rc;
	d.value = xcalloc(nr * runs * NOW_VALUES, sizeof(*d.value));
	rc = crew_run_all(crew, 0, (uint32_t)nr, runs, take_values, &d, err);
	crew_destroy(crew);
	if (rc < 0)
		now_days_clear(&d);
	*ret = d;
	return rc;
}

void now_days_clear(struct now_days *d)
{
	free(d->value);
	d->value = NULL;
}

struct estimate now_mean_of(const struct reproduce *r, const double *x,
			    uint32_t n)
{
	struct stats s = { 0 };

	for (uint32_t i = 0; i < n; i++)
		stats_add(&s, x[i]);
	return stats_estimate(&s, r->level);
}

struct estimate now_mean(const struct reproduce *r, const struct now_days *d,
			 size_t cell, enum now_value v)
{
	return now_mean_of(r, values_of(d, cell, v), d->runs);
}

struct estimate now_ratio(const struct reproduce *r, const struct now_days *d,
			  size_t a, size_t b, enum now_value v)
{
	return stats_ratio(values_of(d, a, v), values_of(d, b, v), d->runs,
			   r->level);
}
