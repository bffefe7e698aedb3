/*
 * env.c - what an MPICH rank finds in its environment
 *
 * UCX is held to TCP over the capsule's one interface: shared memory between
 * ranks could not move with either of them.  Keepalives are off because a rank
 * that stands still for its move is silent, not dead.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/xalloc.h"
#include "pmi/pmi.h"

/* The entry "name=..." of env, or the NULL at its end; *ret_n its index. */
static char *env_find(char **env, const char *name, size_t *ret_n)
{
	size_t i, len = strlen(name);

	for (i = 0; env[i]; i++)
		if (!strncmp(env[i], name, len) && env[i][len] == '=')
			break;
	*ret_n = i;
	return env[i];
}

static void env_set(char ***env, const char *name, const char *value,
		    bool replace)
{
	size_t i;

	if (env_find(*env, name, &i)) {
		if (!replace)
			return;
		free((*env)[i]);
	} else {
		*env = xreallocarray(*env, i + 2, sizeof(**env));
		(*env)[i + 1] = NULL;
	}
	(*env)[i] = xasprintf("%s=%s", name, value);
}

static void env_set_uint(char ***env, const char *name, uint32_t value)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", value);
	env_set(env, name, text, true);
}

/* Ours goes first; the user's own follow. */
static void env_preload(char ***env, const char *path)
{
	size_t i;
	char *old = env_find(*env, "LD_PRELOAD", &i);
	char *both;

	if (!old || !*(old += strlen("LD_PRELOAD="))) {
		env_set(env, "LD_PRELOAD", path, true);
		return;
	}
	both = xasprintf("%s:%s", path, old);
	env_set(env, "LD_PRELOAD", both, true);
	free(both);
}

static void env_unset(char **env, const char *name)
{
	size_t i;

	if (!env_find(env, name, &i))
		return;
	free(env[i]);
	do {
		env[i] = env[i + 1];
	} while (env[i++]);
}

void pmi_env_name(char ***env, const char *job, uint32_t rank, uint32_t size)
{
	env_set(env, "STINT_JOB_ID", job, true);
	env_set_uint(env, "STINT_RANK", rank);
	env_set_uint(env, "STINT_RANKS", size);
}

void pmi_env_add(char ***env, int fd, uint32_t rank, uint32_t size,
		 const char *device, const char *preload)
{
	/* Left over from an outer launcher these would lead it astray. */
	static const char *const foreign[] = {
		"PMI_PORT",	   "PMI_ID",	      "PMI_SPAWNED",
		"PMIX_RANK",	   "PMIX_NAMESPACE",  "HYDI_CONTROL_FD",
		"MPI_LOCALNRANKS", "MPI_LOCALRANKID",
	};

	for (size_t i = 0; i < sizeof(foreign) / sizeof(*foreign); i++)
		env_unset(*env, foreign[i]);
	env_set_uint(env, "PMI_FD", (uint32_t)fd);
	env_set_uint(env, "PMI_RANK", rank);
	env_set_uint(env, "PMI_SIZE", size);
	env_set(env, "UCX_TLS", "tcp,self", true);
	env_set(env, "UCX_NET_DEVICES", device, true);
	env_set(env, "UCX_TCP_KEEPIDLE", "inf", true);
	env_set(env, "UCX_KEEPALIVE_INTERVAL", "inf", true);
	env_set(env, "UCX_WARN_UNUSED_ENV_VARS", "n", false);
	env_set(env, "UCX_LOG_LEVEL", "error", false);
	if (preload)
		env_preload(env, preload);
}
