/*
 * workload.c - the table of workloads, and making one from its name
 */
#include "sim/workload/workload.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/xalloc.h"

#define WORKLOAD(name) extern const struct workload_ops workload_##name;
#include "sim/workload/workloads.def"
#undef WORKLOAD

static const struct workload_ops *const workloads[] = {
#define WORKLOAD(name) &workload_##name,
#include "sim/workload/workloads.def"
#undef WORKLOAD
	NULL
};

const struct workload_ops *workload_nth(size_t n)
{
	return n < sizeof(workloads) / sizeof(*workloads) ? workloads[n] : NULL;
}

static const struct workload_ops *find_workload(const char *name,
						struct error *err)
{
	for (const struct workload_ops *const *w = workloads; *w; w++)
		if (!strcmp((*w)->name, name))
			return *w;
	error_set(err, -ENOENT,
		  "no workload '%.60s'; `stint sim --list` shows them", name);
	return NULL;
}

/* On success *ret_params is the caller's to clear. */
static int parse_spec(const char *spec, const struct workload_ops **ret_ops,
		      struct params *ret_params, struct error *err)
{
	const char *text;
	char *name = param_split(spec, &text), *what;
	const struct workload_ops *ops = find_workload(name, err);
	int r;

	free(name);
	if (!ops)
		return -ENOENT;
	what = xasprintf("workload '%s'", ops->name);
	r = params_parse(ops->params, text, what, ret_params, err);
	free(what);
	*ret_ops = ops;
	return r;
}

int workload_check(const char *spec, struct error *err)
{
	const struct workload_ops *ops;
	struct params params;
	int r = parse_spec(spec, &ops, &params, err);

	if (!r)
		params_clear(&params);
	return r;
}

int workload_create(const char *spec, const struct workload_setup *setup,
		    struct workload **ret, struct error *err)
{
	struct workload_setup full = *setup;
	const struct workload_ops *ops;
	struct params params;
	int r = parse_spec(spec, &ops, &params, err);

	if (r < 0)
		return r;
	full.params = &params;
	r = ops->create(&full, ret, err);
	params_clear(&params);
	if (r < 0)
		return r;
	(*ret)->ops = ops;
	return 0;
}

void workload_destroy(struct workload *workload)
{
	if (workload && workload->ops->destroy)
		workload->ops->destroy(workload);
	else
		free(workload);
}
