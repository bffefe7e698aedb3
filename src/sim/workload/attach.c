/*
 * attach.c - a workload around a workload, which adds speedup models
 */
#include "sim/workload/attach.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/random.h"
#include "core/xalloc.h"
#include "model/job.h"

struct attached {
	struct workload base;
	struct workload *inner;
	struct random_stream efficiencies;
	enum speedup_kind model;
	double low, high;
	struct speedup_table *table;
	uint8_t kind;
	uint32_t min;
};

static const char *const models[] = { "linear", "misp", "table", NULL };
static const char *const kinds[] = { "malleable", "moldable", NULL };

static const struct param params[] = {
	{ "kind", PARAM_CHOICE, 0, 0, 0, kinds,
	  "whether the number may change while the job runs" },
	{ "min", PARAM_INT, 1, 1, 1e9, NULL, "fewest processors of a job" },
	{ "low", PARAM_REAL, 0.4, 0.01, 1, NULL,
	  "misp: least efficiency on the size asked for (Ismail 1995: 0.4)" },
	{ "high", PARAM_REAL, 0.9, 0.01, 1, NULL, "misp: largest (0.9)" },
	{ "points", PARAM_TEXT, 0, 0, 0, NULL,
	  "table: processors@efficiency/..., processors increasing" },
	{ .name = NULL },
};

static int bad_points(const char *text, struct error *err)
{
	return error_set(err, -EINVAL,
			 "speedup 'table': points='%.60s' should be such as "
			 "1@1/8@0.9/64@0.5: increasing processors, "
			 "efficiencies above 0 up to 1",
			 text ? text : "");
}

static int parse_points(const char *text, struct speedup_table **ret,
			struct error *err)
{
	struct speedup_table *t = NULL;
	const char *at = text;
	uint32_t n = 0, last = 0;
	char *end;

	while (at && *at) {
		unsigned long m = strtoul(at, &end, 10);
		double e = *end == '@' ? strtod(end + 1, &end) : 0;

		if (m <= last || m > UINT32_MAX || !(e > 0 && e <= 1) ||
		    (*end && *end != '/'))
			break;
		t = xrealloc(t, sizeof(*t) + (n + 1) * sizeof(t->point[0]));
		t->point[n++] = (struct speedup_point){ (uint32_t)m, e };
		t->nr_points = n;
		last = (uint32_t)m;
		at = *end ? end + 1 : end;
	}
	if (!n || *at) {
		free(t);
		return bad_points(text, err);
	}
	*ret = t;
	return 0;
}

/* Ismail 1995 section 1.5: serial fractions above a half are drawn again. */
static float draw_serial(struct attached *a, uint32_t n)
{
	double f;

	do
		f = speedup_serial(
			random_uniform(&a->efficiencies, a->low, a->high), n);
	while (f > 0.5);
	return (float)f;
}

static int attached_next(struct workload *workload, struct workload_job *ret,
			 struct error *err)
{
	struct attached *a = (struct attached *)workload;
	int r = workload_next(a->inner, ret, err);

	if (r <= 0)
		return r;
	ret->kind = a->kind;
	ret->min_size = a->min < ret->size ? a->min : ret->size;
	ret->speedup = (struct speedup){ .kind = a->model, .table = a->table };
	if (a->model == SPEEDUP_MISP)
		ret->speedup.serial = draw_serial(a, ret->size);
	return 1;
}

static void attached_destroy(struct workload *workload)
{
	struct attached *a = (struct attached *)workload;

	workload_destroy(a->inner);
	free(a->table);
	free(a);
}

static const struct workload_ops attached_ops = {
	.name = "attached",
	.summary = "another workload, with speedup models",
	.next = attached_next,
	.destroy = attached_destroy,
};

static int find_model(const char *name, struct error *err)
{
	for (int i = 0; models[i]; i++)
		if (!strcmp(models[i], name))
			return i;
	return error_set(err, -EINVAL,
			 "speedup '%.60s' is none of linear, misp, table",
			 name);
}

static int configure(struct attached *a, const struct params *p,
		     struct error *err)
{
	a->kind = params_choice(p, "kind") ? JOB_MOLDABLE : JOB_MALLEABLE;
	a->min = (uint32_t)params_int(p, "min");
	a->low = params_real(p, "low");
	a->high = params_real(p, "high");
	/* On two processors f <= 0.5 needs an efficiency of 2/3 or more. */
	if (a->model == SPEEDUP_MISP && (a->low > a->high || a->high < 0.67))
		return error_set(err, -EINVAL,
				 "speedup 'misp': low=%g and high=%g should be "
				 "an interval that reaches beyond 2/3, or no "
				 "serial fraction is at most 1/2",
				 a->low, a->high);
	if (a->model == SPEEDUP_TABLE)
		return parse_points(params_text(p, "points"), &a->table, err);
	return 0;
}

/* As spec says, around nothing yet. */
static int parse_spec(const char *spec, struct attached **ret,
		      struct error *err)
{
	const char *rest;
	char *name = param_split(spec, &rest);
	int model = find_model(name, err);
	struct attached *a;
	struct params p;
	int r;

	free(name);
	if (model < 0)
		return model;
	r = params_parse(params, rest, "the speedup", &p, err);
	if (r < 0)
		return r;
	a = xcalloc(1, sizeof(*a));
	a->model = (enum speedup_kind)model;
	r = configure(a, &p, err);
	params_clear(&p);
	if (r < 0)
		free(a);
	else
		*ret = a;
	return r;
}

int attach_check(const char *spec, struct error *err)
{
	struct attached *a;
	int r = parse_spec(spec, &a, err);

	if (r < 0)
		return r;
	free(a->table);
	free(a);
	return 0;
}

int attach_speedup(struct workload **workload, const char *spec, uint64_t seed,
		   uint64_t replication, struct error *err)
{
	struct attached *a;
	int r = parse_spec(spec, &a, err);

	if (r < 0)
		return r;
	random_init(&a->efficiencies, seed, "efficiencies", replication);
	a->base = **workload;
	a->base.ops = &attached_ops;
	a->inner = *workload;
	*workload = &a->base;
	return 0;
}
