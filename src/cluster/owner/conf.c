/* conf.c - who counts as owner, and where it is seen: settings of [owner] */
#include <errno.h>
#include <paths.h>
#include <stdlib.h>
#include <string.h>

#include "cluster/owner/owner.h"
#include "core/xalloc.h"

#define INPUT "/dev/input"
#define POWER "/sys/class/power_supply"

const char owner_conf_names[] =
	"who, users, linger, sources, utmp, input, power, notice, notice-every";

static const char *const source_names[] = {
#define SOURCE(name) #name,
#include "cluster/owner/sources.def"
#undef SOURCE
};

enum { NR_SOURCES = sizeof(source_names) / sizeof(*source_names) };

/* The bit of that one; 0: there is none. */
static unsigned source_bit(const char *name)
{
	for (unsigned i = 0; i < NR_SOURCES; i++)
		if (!strcmp(name, source_names[i]))
			return 1u << i;
	return 0;
}

void owner_conf_init(struct owner_conf *conf)
{
	const char *bed = getenv("STINT_TESTBED"),
		   *dir = getenv("STINT_RUN_DIR");

	*conf = (struct owner_conf){ .console = true,
				     .linger = 60 * USEC_PER_SEC,
				     .patience = 10 * USEC_PER_SEC,
				     .sources = (1u << NR_SOURCES) - 1,
				     .utmp = xstrdup(_PATH_UTMP),
				     .input = xstrdup(INPUT),
				     .power = xstrdup(POWER),
				     .notice_every = 5 * USEC_PER_SEC };
	/* Who is at this machine is at none of its test hosts. */
	if (bed && dir && *dir) {
		free(conf->utmp);
		conf->utmp = xasprintf("%s/utmp", dir);
		conf->sources = source_bit("utmp") | source_bit("notice");
	}
}

void owner_conf_clear(struct owner_conf *conf)
{
	free(conf->users);
	free(conf->utmp);
	free(conf->input);
	free(conf->power);
	free(conf->notice);
	*conf = (struct owner_conf){ .users = NULL };
}

void owner_conf_copy(struct owner_conf *to, const struct owner_conf *from)
{
	*to = *from;
	to->users = from->users ? xstrdup(from->users) : NULL;
	to->utmp = xstrdup(from->utmp);
	to->input = xstrdup(from->input);
	to->power = xstrdup(from->power);
	to->notice = from->notice ? xstrdup(from->notice) : NULL;
}

/* "console", "ssh", both, or "nobody". */
static int set_who(struct owner_conf *conf, const char *value,
		   struct error *err)
{
	char *words = xstrdup(value), *at = words, *w;
	bool console = false, ssh = false, nobody = false, wrong = false;

	while ((w = strsep(&at, ", \t"))) {
		console |= !strcmp(w, "console");
		ssh |= !strcmp(w, "ssh");
		nobody |= !strcmp(w, "nobody");
		wrong |= *w && strcmp(w, "console") && strcmp(w, "ssh") &&
			 strcmp(w, "nobody");
	}
	free(words);
	if (wrong || nobody == (console || ssh))
		return error_set(err, -EINVAL,
				 "who: '%s' is none of console, ssh, "
				 "console,ssh and nobody",
				 value);
	conf->console = console;
	conf->ssh = ssh;
	return 0;
}

static int set_users(struct owner_conf *conf, const char *value,
		     struct error *err)
{
	bool any = !strcmp(value, "anybody");

	if (!any && !value[strspn(value, ", \t")])
		return error_set(err, -EINVAL,
				 "users: nobody is named: write anybody, or "
				 "users with commas between them");
	free(conf->users);
	conf->users = any ? NULL : xstrdup(value);
	return 0;
}

static int set_sources(struct owner_conf *conf, const char *value,
		       struct error *err)
{
	char *words = xstrdup(value), *at = words, *w;
	unsigned bits = 0, bad = 0;

	while ((w = strsep(&at, ", \t"))) {
		bits |= source_bit(w);
		bad += *w && strcmp(w, "none") && !source_bit(w);
	}
	free(words);
	if (bad || (!bits && strcmp(value, "none")))
		return error_set(err, -EINVAL,
				 "sources: '%s' is not a list of logind, utmp, "
				 "input, power and notice, nor none",
				 value);
	conf->sources = bits;
	return 0;
}

static int set_path(char **path, const char *name, const char *value,
		    struct error *err)
{
	if (*value != '/')
		return error_set(err, -EINVAL, "%s: '%s' is no path from / on",
				 name, value);
	free(*path);
	*path = xstrdup(value);
	return 0;
}

static int set_notice(struct owner_conf *conf, const char *value)
{
	free(conf->notice);
	conf->notice = *value ? xstrdup(value) : NULL;
	return 0;
}

static int set_notice_every(struct owner_conf *conf, const char *value,
			    struct error *err)
{
	usec_t every;
	int r = parse_usec(value, &every, err);

	if (r < 0)
		return error_prefix(err, r, "notice-every");
	if (every < USEC_PER_SEC)
		return error_set(err, -EINVAL,
				 "notice-every: %s is too often: 1s or more",
				 value);
	conf->notice_every = every;
	return 0;
}

int owner_conf_set(struct owner_conf *conf, const char *name, const char *value,
		   struct error *err)
{
	int r;

	if (!strcmp(name, "who"))
		return set_who(conf, value, err);
	if (!strcmp(name, "users"))
		return set_users(conf, value, err);
	if (!strcmp(name, "sources"))
		return set_sources(conf, value, err);
	if (!strcmp(name, "utmp"))
		return set_path(&conf->utmp, name, value, err);
	if (!strcmp(name, "input"))
		return set_path(&conf->input, name, value, err);
	if (!strcmp(name, "power"))
		return set_path(&conf->power, name, value, err);
	if (!strcmp(name, "notice"))
		return set_notice(conf, value);
	if (!strcmp(name, "notice-every"))
		return set_notice_every(conf, value, err);
	if (!strcmp(name, "linger")) {
		r = parse_usec(value, &conf->linger, err);
		return r < 0 ? error_prefix(err, r, "linger") : 0;
	}
	return -ENOENT;
}
