/* own_policy.c - see own_policy.h */
#include "cmd/sim/own_policy.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/kit/command.h"
#include "core/xalloc.h"
#include "policy/kit/own.h"
#include "policy/policies.h"

static int check_version(const char *path, const struct own_policy *own,
			 struct error *err)
{
	static const struct own_sizes sizes = OWN_SIZES;

	if (own->version != OWN_POLICY_VERSION)
		return error_set(err, -EINVAL,
				 "%s was built for version %u of the policy "
				 "interface, and this is %u: build it anew "
				 "with the headers of stint " STINT_VERSION,
				 path, own->version, OWN_POLICY_VERSION);
	if (memcmp(&own->sizes, &sizes, sizeof(sizes)) != 0)
		return error_set(err, -EINVAL,
				 "%s was built with other headers: build it "
				 "anew with those of stint " STINT_VERSION,
				 path);
	return 0;
}

/* What of its table lacks; NULL: nothing. */
static const char *find_lack(const struct policy_ops *ops)
{
	if (!ops)
		return "a table (OWN_POLICY)";
	if (!ops->name || !*ops->name || strpbrk(ops->name, ":,/ \t\n"))
		return "a name of one word";
	if (!ops->summary || !ops->source || !ops->details)
		return "a summary, source and details";
	if (!ops->create || !ops->decide)
		return "functions create and decide";
	if (!ops->save != !ops->load)
		return "both save and load, or neither";
	return NULL;
}

static int check_ops(const char *path, const struct policy_ops *ops,
		     struct error *err)
{
	const char *lack = find_lack(ops);

	if (lack)
		return error_set(err, -EINVAL, "%s lacks %s", path, lack);
	if (policy_find(ops->name, NULL))
		return error_set(err, -EINVAL,
				 "%s calls itself '%s', which is one of "
				 "Stint's: call it otherwise",
				 path, ops->name);
	return 0;
}

/* What the dynamic linker says names the file. */
static int open_file(const char *path, void **ret, struct error *err)
{
	char *text =
		strchr(path, '/') ? xstrdup(path) : xasprintf("./%s", path);

	*ret = dlopen(text, RTLD_NOW | RTLD_LOCAL);
	free(text);
	return *ret ? 0 : error_set(err, -EINVAL, "%s", dlerror());
}

static const char *loaded;
static pid_t loader;

/* A policy that calls exit() has decided nothing; of workers the one who made them tells. */
static void tell_end(void)
{
	const char *name = command_at_work();

	if (!name)
		return;
	if (getpid() == loader)
		fprintf(stderr, "%s: %s ended the program: it called exit()\n",
			name, loaded);
	_exit(EXIT_FAILED);
}

static void note_loaded(const char *path)
{
	if (!loaded)
		atexit(tell_end);
	loaded = path;
	loader = getpid();
}

static int load(const char *path, const struct policy_ops **ret,
		struct error *err)
{
	const struct own_policy *own;
	void *file;
	int r = open_file(path, &file, err);

	if (r < 0)
		return r;
	own = dlsym(file, "stint_own_policy");
	if (!own)
		r = error_set(
			err, -EINVAL,
			"%s is no policy: it does not end in OWN_POLICY() "
			"of policy/kit/own.h",
			path);
	if (!r)
		r = check_version(path, own, err);
	if (!r)
		r = check_ops(path, own->ops, err);
	if (r < 0) {
		dlclose(file);
		return r;
	}
	*ret = own->ops;
	return 0;
}

int own_policy_load(const char *spec, struct error *err)
{
	const struct policy_ops *ops;
	const char *params;
	char *path = param_split(spec, &params);
	int r = 0;

	if (policy_is_path(path) && !policy_find(path, NULL)) {
		r = load(path, &ops, err);
		if (!r) {
			policy_add(path, ops); /* which keeps path */
			note_loaded(path);
			return 0;
		}
	}
	free(path);
	return r;
}
