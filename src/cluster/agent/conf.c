/* conf.c - the settings of an agent, see agent.h */
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cluster/agent/agent.h"
#include "cluster/conn/address.h"
#include "core/conf.h"
#include "core/xalloc.h"

/* Whoever moves a rank here waits for both it and the keeper. */
#define PROLOG_LIMIT_MOST (60 * USEC_PER_SEC)

void agent_conf_init(struct agent_conf *conf)
{
	*conf = (struct agent_conf){ .report_every = USEC_PER_SEC,
				     .load_average = 10 * USEC_PER_SEC,
				     .prolog_limit = PROLOG_LIMIT_MOST,
				     .min_uid = -1,
				     .min_gid = -1 };
	owner_conf_init(&conf->owner);
	owner_terms_init(&conf->owner_terms);
	conf->terms.given.pids = LIMITS_PIDS_DEFAULT;
}

void agent_conf_clear(struct agent_conf *conf)
{
	free(conf->controller);
	free(conf->key);
	free(conf->run_dir);
	free(conf->cgroup);
	free(conf->address);
	free(conf->uplink);
	free(conf->net);
	free(conf->state_dir);
	free(conf->prolog);
	free(conf->epilog);
	owner_conf_clear(&conf->owner);
	owner_terms_clear(&conf->owner_terms);
}

static int set_net(struct agent_conf *conf, const char *value,
		   struct error *err)
{
	if (strcmp(value, "routed") && strcmp(value, "bridge") &&
	    strcmp(value, "none"))
		return error_set(err, -EINVAL,
				 "net: '%s' is none of routed, bridge, none",
				 value);
	free(conf->net);
	conf->net = xstrdup(value);
	return 0;
}

static int set_controller(struct agent_conf *conf, const char *value,
			  struct error *err)
{
	struct address a;
	int r = address_parse(value, &a, err);

	if (r < 0)
		return r;
	free(conf->controller);
	conf->controller = xstrdup(value);
	return 0;
}

static int set_address(struct agent_conf *conf, const char *value,
		       struct error *err)
{
	struct in_addr a;

	if (inet_pton(AF_INET, value, &a) != 1 || !a.s_addr)
		return error_set(
			err, -EINVAL,
			"address: '%s' is not the address of a host: write "
			"A.B.C.D",
			value);
	free(conf->address);
	conf->address = xstrdup(value);
	return 0;
}

static int set_fast_path(struct agent_conf *conf, const char *value,
			 struct error *err)
{
	if (strcmp(value, "auto") && strcmp(value, "no"))
		return error_set(err, -EINVAL,
				 "fast-path: '%s' is neither auto nor no",
				 value);
	conf->no_fast_path = !strcmp(value, "no");
	return 0;
}

/* Reports at shorter intervals would themselves load the host. */
static int set_report_every(struct agent_conf *conf, const char *value,
			    struct error *err)
{
	usec_t t;
	int r = parse_usec(value, &t, err);

	if (r < 0)
		return error_prefix(err, r, "report-every");
	if (t < 10 * USEC_PER_MSEC)
		return error_set(err, -EINVAL,
				 "report-every: %s is too often: 10ms or more",
				 value);
	conf->report_every = t;
	return 0;
}

static int set_load_average(struct agent_conf *conf, const char *value,
			    struct error *err)
{
	int r = parse_usec(value, &conf->load_average, err);

	return r < 0 ? error_prefix(err, r, "load-average") : 0;
}

/* One program, without arguments: what it shall know are variables. */
static int set_program(char **to, const char *name, const char *value,
		       struct error *err)
{
	if (*value != '/')
		return error_set(err, -EINVAL,
				 "%s: '%s' is not the full path of a program",
				 name, value);
	free(*to);
	*to = xstrdup(value);
	return 0;
}

static int set_prolog_limit(struct agent_conf *conf, const char *value,
			    struct error *err)
{
	usec_t t;
	int r = parse_usec(value, &t, err);

	if (r < 0)
		return error_prefix(err, r, "prolog-limit");
	if (!t || t > PROLOG_LIMIT_MOST)
		return error_set(err, -EINVAL,
				 "prolog-limit: %s is not more than nothing "
				 "and 60s at most",
				 value);
	conf->prolog_limit = t;
	return 0;
}

/* One of the settings that are kept as they are written; -ENOENT: another one. */
static int set_text(struct agent_conf *conf, const char *name,
		    const char *value, struct error *err)
{
	const struct {
		const char *name;
		char **to;
		bool may_be_empty;
	} texts[] = {
		{ "key", &conf->key },
		{ "run-dir", &conf->run_dir },
		{ "cgroup", &conf->cgroup },
		{ "state-dir", &conf->state_dir },
		{ "uplink", &conf->uplink, true }, /* there need be none */
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		if (strcmp(name, texts[i].name))
			continue;
		if (!*value && !texts[i].may_be_empty)
			return error_set(err, -EINVAL, "%s: no name is there",
					 name);
		free(*texts[i].to);
		*texts[i].to = xstrdup(value);
		return 0;
	}
	return -ENOENT;
}

/* Score and cores. */
static int set_capacity(struct agent_conf *conf, const char *name,
			const char *value, struct error *err)
{
	int64_t n;
	int r = parse_int(value, 1, 1000000, name, &n, err);

	if (r < 0)
		return r;
	if (!strcmp(name, "score"))
		conf->score = (double)n;
	else
		conf->cores = (uint32_t)n;
	return 0;
}

int agent_conf_set(struct agent_conf *conf, const char *name, const char *value,
		   struct error *err)
{
	int r = set_text(conf, name, value, err);

	if (r == -ENOENT)
		r = limit_terms_set(&conf->terms, name, value, err);
	if (r != -ENOENT)
		return r;
	if (!strcmp(name, "controller"))
		return set_controller(conf, value, err);
	if (!strcmp(name, "address"))
		return set_address(conf, value, err);
	if (!strcmp(name, "net"))
		return set_net(conf, value, err);
	if (!strcmp(name, "fast-path"))
		return set_fast_path(conf, value, err);
	if (!strcmp(name, "report-every"))
		return set_report_every(conf, value, err);
	if (!strcmp(name, "load-average"))
		return set_load_average(conf, value, err);
	if (!strcmp(name, "score") || !strcmp(name, "cores"))
		return set_capacity(conf, name, value, err);
	if (!strcmp(name, "prolog"))
		return set_program(&conf->prolog, name, value, err);
	if (!strcmp(name, "epilog"))
		return set_program(&conf->epilog, name, value, err);
	if (!strcmp(name, "prolog-limit"))
		return set_prolog_limit(conf, value, err);
	if (!strcmp(name, "min-uid"))
		return parse_int(value, 0, UINT32_MAX, name, &conf->min_uid,
				 err);
	if (!strcmp(name, "min-gid"))
		return parse_int(value, 0, UINT32_MAX, name, &conf->min_gid,
				 err);
	return error_set(
		err, -EINVAL,
		"unknown setting '%s'; there are controller, key, "
		"run-dir, state-dir, address, uplink, net, fast-path, cores, "
		"score, report-every, load-average, min-uid, min-gid, "
		"memory-default, memory-max, pids-default, pids-max, "
		"cpus-default, cpus-max, prolog, epilog, prolog-limit",
		name);
}

int agent_owner_set(struct agent_conf *conf, const char *name,
		    const char *value, struct error *err)
{
	int r = owner_terms_set(&conf->owner_terms, name, value, err);

	if (r == -ENOENT)
		r = owner_conf_set(&conf->owner, name, value, err);
	return r != -ENOENT
		       ? r
		       : error_set(err, -EINVAL,
				   "unknown setting '%s' of an owner; "
				   "there are %s, %s",
				   name, owner_conf_names, owner_terms_names);
}

static int on_setting(void *ctx, const char *section, const char *name,
		      const char *value, struct error *err)
{
	return strcmp(section, "owner")
		       ? 0
		       : agent_owner_set(ctx, name, value, err);
}

int agent_owner_read(const char *path, struct agent_conf *ret,
		     struct error *err)
{
	agent_conf_init(ret);
	return conf_read(path, on_setting, ret, err);
}
