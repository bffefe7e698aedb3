/* limit.c - what a rank may take of its host, see limit.h */
#include "cluster/host/limit.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "core/units.h"
#include "core/xalloc.h"

#define PIDS_MOST 4194304 /* as many as a kernel has */

char *limit_terms_text(const struct limit_terms *terms)
{
	return xasprintf("%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64
			 ",%" PRIu64 ",%" PRIu64,
			 terms->given.memory, terms->given.pids,
			 terms->most.memory, terms->most.pids,
			 terms->given.cpus, terms->most.cpus);
}

int limit_terms_parse(const char *text, struct limit_terms *ret,
		      struct error *err)
{
	struct limit_terms t = { .given = { 0 } };
	int end = -1, n;

	n = sscanf(text,
		   "%" SCNu64 ",%" SCNu64 ",%" SCNu64 ",%" SCNu64 "%n,%" SCNu64
		   ",%" SCNu64 "%n",
		   &t.given.memory, &t.given.pids, &t.most.memory, &t.most.pids,
		   &end, &t.given.cpus, &t.most.cpus, &end);
	if ((n != 4 && n != 6) || end < 0 || text[end] ||
	    strspn(text, "0123456789,") != (size_t)end)
		return error_set(err, -EINVAL, "'%s' are not six limits", text);
	*ret = t;
	return 0;
}

int limits_memory_parse(const char *name, const char *value, uint64_t *ret,
			struct error *err)
{
	uint64_t n;
	int r = parse_size(value, &n, err);

	if (!r && n < LIMITS_MEMORY_LEAST)
		r = error_set(
			err, -ERANGE,
			"%s is too little for any program: give 1M or more",
			value);
	if (r < 0)
		return error_prefix(err, r, "%s", name);
	*ret = n;
	return 0;
}

int limits_cpus_parse(const char *name, const char *value, uint64_t *ret,
		      struct error *err)
{
	double n;
	int r = parse_real(value, 0, (double)LIMITS_CPUS_MOST / 1000, &n, err);

	if (r < 0)
		return error_prefix(err, r, "%s", name);
	if (n * 1000 < LIMITS_CPUS_LEAST)
		return error_set(err, -ERANGE,
				 "%s: %s is too little for any program: give "
				 "0.01 or more",
				 name, value);
	*ret = (uint64_t)(n * 1000 + 0.5);
	return 0;
}

const char *limits_cpus_text(uint64_t cpus, char ret[LIMITS_CPUS_TEXT])
{
	snprintf(ret, LIMITS_CPUS_TEXT, "%.12g", (double)cpus / 1000);
	return ret;
}

static int parse_limit(const char *name, const char *value, uint64_t *ret,
		       struct error *err)
{
	int64_t n;
	int r;

	if (!strcmp(value, "none")) {
		*ret = 0;
		return 0;
	}
	if (*name == 'm')
		return limits_memory_parse(name, value, ret, err);
	if (*name == 'c')
		return limits_cpus_parse(name, value, ret, err);
	r = parse_int(value, 1, PIDS_MOST, name, &n, err);
	if (!r)
		*ret = n;
	return r;
}

int limit_terms_set(struct limit_terms *terms, const char *name,
		    const char *value, struct error *err)
{
	struct {
		const char *name;
		uint64_t *to;
	} settings[] = {
		{ "memory-default", &terms->given.memory },
		{ "memory-max", &terms->most.memory },
		{ "pids-default", &terms->given.pids },
		{ "pids-max", &terms->most.pids },
		{ "cpus-default", &terms->given.cpus },
		{ "cpus-max", &terms->most.cpus },
	};

	for (size_t i = 0; i < sizeof(settings) / sizeof(*settings); i++)
		if (!strcmp(name, settings[i].name))
			return parse_limit(name, value, settings[i].to, err);
	return -ENOENT;
}

int limit_terms_check(struct limit_terms *terms, struct error *err)
{
	struct limits *given = &terms->given, *most = &terms->most;

	if (most->pids && given->pids == LIMITS_PIDS_DEFAULT &&
	    most->pids < given->pids)
		given->pids = most->pids;
	if (most->memory && given->memory > most->memory)
		return error_set(err, -EINVAL,
				 "memory-default is more than memory-max");
	if (most->pids && given->pids > most->pids)
		return error_set(err, -EINVAL,
				 "pids-default is more than pids-max");
	if (most->cpus && given->cpus > most->cpus)
		return error_set(err, -EINVAL,
				 "cpus-default is more than cpus-max");
	return 0;
}

static int too_much_memory(uint64_t memory, uint64_t most, struct error *err)
{
	char a[SIZE_TEXT], b[SIZE_TEXT];

	if (!memory)
		return error_set(err, -E2BIG,
				 "a rank has %s of memory at most here "
				 "(memory-max of its agent), and this one has "
				 "no limit (--memory)",
				 size_text(most, a));
	return error_set(err, -E2BIG,
			 "a rank has %s of memory at most here (memory-max of "
			 "its agent), and this one %s (--memory)",
			 size_text(most, a), size_text(memory, b));
}

static int too_many_pids(uint64_t pids, uint64_t most, struct error *err)
{
	if (!pids)
		return error_set(err, -E2BIG,
				 "a rank has %" PRIu64 " processes and threads "
				 "at most here (pids-max of its agent), and "
				 "this one has no limit (--pids-limit)",
				 most);
	return error_set(err, -E2BIG,
			 "a rank has %" PRIu64 " processes and threads at most "
			 "here (pids-max of its agent), and this one %" PRIu64
			 " (--pids-limit)",
			 most, pids);
}

static int too_many_cpus(uint64_t cpus, uint64_t most, struct error *err)
{
	char a[LIMITS_CPUS_TEXT], b[LIMITS_CPUS_TEXT];

	if (!cpus)
		return error_set(err, -E2BIG,
				 "a rank has %s processors at most here "
				 "(cpus-max of its agent), and this one has no "
				 "limit (--cpus)",
				 limits_cpus_text(most, a));
	return error_set(err, -E2BIG,
			 "a rank has %s processors at most here (cpus-max of "
			 "its agent), and this one %s (--cpus)",
			 limits_cpus_text(most, a), limits_cpus_text(cpus, b));
}

static bool within(uint64_t has, uint64_t most)
{
	return !most || (has && has <= most);
}

int limits_fit(const struct limits *has, const struct limit_terms *terms,
	       struct error *err)
{
	const struct limits *most = &terms->most;

	if (!within(has->memory, most->memory))
		return too_much_memory(has->memory, most->memory, err);
	if (!within(has->pids, most->pids))
		return too_many_pids(has->pids, most->pids, err);
	if (!within(has->cpus, most->cpus))
		return too_many_cpus(has->cpus, most->cpus, err);
	return 0;
}

/* The most is also the default where none is set. */
static uint64_t settle_limit(uint64_t asked, uint64_t given, uint64_t most)
{
	return asked ? asked : given ? given : most;
}

int limits_settle(const struct limits *asked, const struct limit_terms *terms,
		  struct limits *ret, struct error *err)
{
	struct limits has = {
		.memory = settle_limit(asked->memory, terms->given.memory,
				       terms->most.memory),
		.pids = settle_limit(asked->pids, terms->given.pids,
				     terms->most.pids),
		.cpus = settle_limit(asked->cpus, terms->given.cpus,
				     terms->most.cpus),
	};
	int r = limits_fit(&has, terms, err);

	if (!r)
		*ret = has;
	return r;
}
