/*
 * policies.c - the table of policies, and making one from its name
 */
#include "policy/policies.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/xalloc.h"

#define POLICY(name) extern const struct policy_ops policy_##name;
#include "policy/policies.def"
#undef POLICY

static const struct policy_ops *const policies[] = {
#define POLICY(name) &policy_##name,
#include "policy/policies.def"
#undef POLICY
	NULL
};

/* Policies of users' own. */
static struct own {
	const char *path;
	const struct policy_ops *ops;
} * own;
static size_t nr_own, cap_own;

void policy_add(const char *path, const struct policy_ops *ops)
{
	array_room(own, nr_own, &cap_own);
	own[nr_own++] = (struct own){ path, ops };
}

bool policy_is_path(const char *name)
{
	size_t n = strlen(name);

	return strchr(name, '/') || (n > 3 && !strcmp(name + n - 3, ".so"));
}

static const struct policy_ops *find_own(const char *path, struct error *err)
{
	for (size_t i = 0; i < nr_own; i++)
		if (!strcmp(own[i].path, path))
			return own[i].ops;
	error_set(err, -ENOTSUP,
		  "'%.60s': policies of one's own are for sim, sweep and "
		  "policies; here only Stint's are taken",
		  path);
	return NULL;
}

const struct policy_ops *policy_nth(size_t n)
{
	return n < sizeof(policies) / sizeof(*policies) ? policies[n] : NULL;
}

/* Names that have a part in common with the name that was asked for; "": none has. */
static char *near_names(const char *name)
{
	char *text = NULL;
	size_t size;
	FILE *f = xmemstream(&text, &size);

	for (const struct policy_ops *const *p = policies; *p; p++)
		if (*name && (strcasestr((*p)->name, name) ||
			      !strncasecmp((*p)->name, name, 2)))
			fprintf(f, "%s%s", ftell(f) ? ", " : "", (*p)->name);
	fclose(f);
	return text;
}

const struct policy_ops *policy_find(const char *name, struct error *err)
{
	char *near;

	if (policy_is_path(name))
		return find_own(name, err);
	for (const struct policy_ops *const *p = policies; *p; p++)
		if (!strcmp((*p)->name, name))
			return *p;
	near = near_names(name);
	error_set(err, -ENOENT,
		  "no policy '%.60s'%s%s; `stint policies` lists them", name,
		  *near ? "; near it: " : "", near);
	free(near);
	return NULL;
}

const struct policy_ops *policy_of(const char *spec, const char **ret_params,
				   struct error *err)
{
	char *name = param_split(spec, ret_params);
	const struct policy_ops *ops = policy_find(name, err);

	free(name);
	return ops;
}

static int parse_params(const struct policy_ops *ops, const char *text,
			struct params *ret, struct error *err)
{
	char *what = xasprintf("policy '%s'", ops->name);
	int r = params_parse(ops->params, text, what, ret, err);

	free(what);
	return r;
}

static int check_params(const struct policy_ops *ops, const char *text,
			struct error *err)
{
	struct params params;
	int r = parse_params(ops, text, &params, err);

	if (!r)
		params_clear(&params);
	return r;
}

int policy_check(const char *spec, struct error *err)
{
	const char *text;
	const struct policy_ops *ops = policy_of(spec, &text, err);

	return ops ? check_params(ops, text, err) : -EINVAL;
}

int policy_check_live(const char *spec, struct error *err)
{
	const char *params;
	const struct policy_ops *ops = policy_of(spec, &params, err);
	int r;

	if (!ops)
		return -EINVAL;
	r = check_params(ops, params, err);
	if (r < 0)
		return r;
	if (ops->flags & POLICY_RESIZES)
		return error_set(err, -ENOTSUP,
				 "policy '%s' changes the number of processes "
				 "of running programs, which live ones cannot; "
				 "take one that only starts and moves them, "
				 "such as spread, easy or fcfsuf",
				 ops->name);
	if (ops->flags & POLICY_SLICES)
		return error_set(
			err, -ENOTSUP,
			"policy '%s' suspends programs in time slices, "
			"which the live cluster does not do; take one "
			"that only starts and moves them, such as "
			"spread, easy or ls",
			ops->name);
	return 0;
}

static int create(const struct policy_ops *ops, const char *text, uint64_t seed,
		  const struct view *view, struct policy **ret,
		  struct error *err)
{
	char *what = xasprintf("policy '%s'", ops->name);
	struct random_stream random;
	struct params params;
	struct policy_setup setup = { ops, &params, &random, view };
	int r = parse_params(ops, text, &params, err);

	random_init(&random, seed, what, 0);
	free(what);
	if (r < 0)
		return r;
	if ((ops->flags & POLICY_HOSTS) && !view->nr_hosts)
		r = error_set(err, -EINVAL,
			      "policy '%s' places ranks on hosts; describe "
			      "them with --hosts, such as 5x1,25x4",
			      ops->name);
	else
		r = ops->create(&setup, ret, err);
	params_clear(&params);
	if (r < 0)
		return r;
	(*ret)->ops = ops;
	return 0;
}

int policy_create(const char *spec, uint64_t seed, const struct view *view,
		  struct policy **ret, struct error *err)
{
	const char *params;
	const struct policy_ops *ops = policy_of(spec, &params, err);

	if (!ops)
		return -ENOENT;
	return create(ops, params, seed, view, ret, err);
}

void policy_destroy(struct policy *policy)
{
	if (policy && policy->ops->destroy)
		policy->ops->destroy(policy);
	else
		free(policy);
}

bool policy_remembers(const char *spec)
{
	const char *params;
	const struct policy_ops *ops = policy_of(spec, &params, NULL);

	return ops && ops->save;
}

char *policy_save(const struct policy *policy, const struct view *view)
{
	char *text = NULL;
	size_t size;
	FILE *f;

	if (!policy->ops->save)
		return NULL;
	f = xmemstream(&text, &size);
	policy->ops->save(policy, view, f);
	fclose(f);
	return text;
}

int policy_load(struct policy *policy, const struct view *view,
		const char *text, struct error *err)
{
	if (!policy->ops->load)
		return error_set(err, -EINVAL,
				 "policy '%s' has no state to load",
				 policy->ops->name);
	return policy->ops->load(policy, view, text, err);
}

void policy_explain(const struct policy *policy, const struct view *view,
		    const struct job *job, struct plan *plan)
{
	REASON(waits,
	       "it asks for {size} {size:processor|processors}, and {free} of "
	       "{procs} {free:is|are} free",
	       size, free, procs);

	if (!(policy->ops->flags & (POLICY_SHARES | POLICY_SLICES)) &&
	    job->size <= plan_free(plan) &&
	    !plan_allows(plan, job, job->size,
			 policy->ops->flags & POLICY_FOLDS ? job->min_size
							   : job->size))
		return;
	if (policy->ops->explain)
		policy->ops->explain(policy, view, job, plan);
	else
		plan_defer(plan, job,
			   BECAUSE(waits, .size = job->size,
				   .free = view->nr_free,
				   .procs = view->nr_procs));
}

int64_t policy_most(const struct policy *policy, const struct view *view)
{
	return policy->ops->most ? policy->ops->most(policy, view)
				 : view_cores(view);
}

int policy_check_size(const struct policy *policy, const struct view *view,
		      uint32_t size, uint32_t min_size, struct error *err)
{
	const struct policy_ops *ops = policy->ops;
	uint32_t least = ops->flags & POLICY_FOLDS ? min_size : size;
	int64_t most = policy_most(policy, view);

	if (least <= most)
		return 0;
	return error_set(err, -E2BIG,
			 "%u processors are asked for, and under policy '%s' a "
			 "job can have %lld here at most",
			 least, ops->name, (long long)most);
}

void policy_adopt(struct policy *policy, const struct view *view)
{
	struct event e = { .at = view->now };
	struct job *j;

	if (!policy->ops->event)
		return;
	for_each_running(j, view)
	{
		e.job = j;
		e.type = EVENT_ARRIVE;
		policy->ops->event(policy, view, &e);
		e.type = EVENT_START;
		e.n = j->n;
		e.hosts = j->hosts;
		policy->ops->event(policy, view, &e);
	}
	e = (struct event){ .type = EVENT_ARRIVE, .at = view->now };
	for_each_waiting(j, view)
	{
		e.job = j;
		policy->ops->event(policy, view, &e);
	}
}
