/* size.c - how many hosts a workload needs, see size.h */
#include "sim/size/size.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/xalloc.h"
#include "sim/sweep/crew.h"

enum { SLOWDOWN, DELAYS, DELAYS_MOST, MOVES, VALUES };

static int run_one(void *arg, uint32_t cell, uint32_t replication,
		   double *value, struct error *err)
{
	struct days_result d;
	int r = days_run(arg, cell, replication, &d, err);

	if (r < 0)
		return r;
	value[SLOWDOWN] = d.response;
	value[DELAYS] = d.delays;
	value[DELAYS_MOST] = d.delays_most;
	value[MOVES] = d.moves;
	return 0;
}

struct search {
	const struct size_question *q;
	struct size_answer *answer;
	struct crew *crew;
	double (*value)[VALUES]; /* by replication */
};

/* ---- one number of hosts ---- */

static void take_values(const struct crew_result *one, void *arg)
{
	struct search *s = arg;

	memcpy(s->value[one->replication], one->value, sizeof(*s->value));
}

static struct size_point sum_up(const struct search *s, uint32_t hosts)
{
	struct stats sum[VALUES] = { 0 };

	for (uint32_t i = 0; i < s->q->runs; i++)
		for (int k = 0; k < VALUES; k++)
			stats_add(&sum[k], s->value[i][k]);
	return (struct size_point){
		.hosts = hosts,
		.slowdown =
			stats_estimate_positive(&sum[SLOWDOWN], s->q->level),
		.delays = sum[DELAYS].mean,
		.delays_most = sum[DELAYS_MOST].mean,
		.moves = sum[MOVES].mean,
	};
}

/* Its place among those that were tried, which it joins. */
static int try_size(struct search *s, uint32_t hosts, struct size_point *ret,
		    struct error *err)
{
	struct size_answer *a = s->answer;
	size_t i = 0;
	int r;

	while (i < a->nr && a->point[i].hosts < hosts)
		i++;
	if (i == a->nr || a->point[i].hosts != hosts) {
		r = crew_run_all(s->crew, hosts, 1, s->q->runs, take_values, s,
				 err);
		if (r < 0)
			return r;
		array_room(a->point, a->nr, &a->cap);
		memmove(a->point + i + 1, a->point + i,
			(a->nr++ - i) * sizeof(*a->point));
		a->point[i] = sum_up(s, hosts);
	}
	*ret = a->point[i];
	return 0;
}

/* ---- the search ---- */

typedef double (*part)(const struct estimate *e);

static double mean_of(const struct estimate *e)
{
	return e->value;
}

static double low_of(const struct estimate *e)
{
	return e->low;
}

static double high_of(const struct estimate *e)
{
	return e->high;
}

/* The most there may be are not surely enough: too few, or runs that do not tell. */
static int not_enough(const struct size_question *q, const struct size_point *p,
		      struct error *err)
{
	const struct estimate *e = &p->slowdown;

	if (e->low > q->slowdown)
		return error_set(err, -ERANGE,
				 "%u hosts are too few: jobs are slowed down "
				 "%.3g times (%.3g to %.3g); ask for less, or "
				 "let more be tried (--max)",
				 p->hosts, e->value, e->low, e->high);
	return error_set(
		err, -ERANGE,
		"%u runs do not tell whether %u hosts are enough: jobs "
		"are slowed down %.3g times (%.3g to %.3g); make "
		"more runs (--runs), or let more hosts be tried "
		"(--max)",
		q->runs, p->hosts, e->value, e->low, e->high);
}

/* A number that is surely enough: twice as many more each time. */
static int find_enough(struct search *s, uint32_t *ret, struct error *err)
{
	const struct size_question *q = s->q;
	uint32_t hosts = s->answer->dedicated, more = 1 + hosts / 8;
	struct size_point p;
	int r;

	while (!(r = try_size(s, hosts, &p, err)) &&
	       !(p.slowdown.high <= q->slowdown)) {
		if (hosts == q->most)
			return not_enough(q, &p, err);
		hosts = q->most - hosts > more ? hosts + more : q->most;
		more *= 2;
	}
	*ret = hosts;
	return r;
}

/* The least number, up to one that is enough, whose slowdown's part is as asked for. */
static int find_least(struct search *s, uint32_t enough, part part_of,
		      uint32_t *ret, struct error *err)
{
	uint32_t low = s->answer->dedicated, high = enough;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		struct size_point p;
		int r = try_size(s, middle, &p, err);

		if (r < 0)
			return r;
		if (part_of(&p.slowdown) <= s->q->slowdown)
			high = middle;
		else
			low = middle + 1;
	}
	*ret = low;
	return 0;
}

static int search(struct search *s, struct error *err)
{
	struct size_answer *a = s->answer;
	uint32_t enough = 0;
	int r = find_enough(s, &enough, err);

	if (!r)
		r = find_least(s, enough, high_of, &a->high, err);
	if (!r)
		r = find_least(s, a->high, mean_of, &a->hosts, err);
	if (!r)
		r = find_least(s, a->hosts, low_of, &a->low, err);
	return r;
}

int size_find(const struct size_question *q, struct size_answer *ret,
	      struct error *err)
{
	struct size_answer answer = { 0 };
	struct search s = { .q = q, .answer = &answer };
	int r = days_dedicated(&q->days, &answer.dedicated, err);

	if (r < 0)
		return r;
	if (answer.dedicated > q->most)
		return error_set(
			err, -ERANGE,
			"the workload's own machine has %u processors, "
			"and %u hosts are to be tried at most",
			answer.dedicated, q->most);
	r = crew_create(q->workers, run_one, (void *)&q->days, &s.crew, err);
	if (r < 0)
		return r;
	s.value = xcalloc(q->runs, sizeof(*s.value));
	r = search(&s, err);
	free(s.value);
	crew_destroy(s.crew);
	if (r < 0)
		size_clear(&answer);
	else
		*ret = answer;
	return r;
}

void size_clear(struct size_answer *a)
{
	free(a->point);
	*a = (struct size_answer){ 0 };
}
