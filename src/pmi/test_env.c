/* test_env.c - the environment by which a rank finds its PMI server */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/xalloc.h"
#include "pmi/pmi.h"

static const char *env_of(char **env, const char *name)
{
	const char *found = NULL;

	for (; *env; env++)
		if (!strncmp(*env, name, strlen(name)) &&
		    (*env)[strlen(name)] == '=') {
			assert_null(found);
			found = *env + strlen(name) + 1;
		}
	return found;
}

static void environment(void **state)
{
	char **env = xcalloc(6, sizeof(*env));

	env[4] = xstrdup("PMIX_MCA_gds=hash");
	env[0] = xstrdup("PMI_RANK=99");
	env[1] = xstrdup("PMI_PORT=host:1");
	env[2] = xstrdup("UCX_LOG_LEVEL=info");
	env[3] = xstrdup("LD_PRELOAD=mine.so");
	pmi_env_add(&env, 5, 2, 4, "eth0", "/lib/ours.so");
	assert_string_equal(env_of(env, "LD_PRELOAD"), "/lib/ours.so:mine.so");
	assert_string_equal(env_of(env, "PMI_RANK"), "2");
	assert_string_equal(env_of(env, "PMI_SIZE"), "4");
	assert_string_equal(env_of(env, "PMI_FD"), "5");
	assert_string_equal(env_of(env, "UCX_TLS"), "tcp,self");
	assert_string_equal(env_of(env, "UCX_LOG_LEVEL"), "info");
	assert_null(env_of(env, "PMI_PORT"));
	pmi_env_name(&env, "12", 2, 4);
	assert_string_equal(env_of(env, "STINT_JOB_ID"), "12");
	assert_string_equal(env_of(env, "STINT_RANK"), "2");
	assert_string_equal(env_of(env, "STINT_RANKS"), "4");
	assert_string_equal(env_of(env, "PMIX_MCA_gds"), "hash");
	for (char **e = env; *e; e++)
		free(*e);
	free(env);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(environment),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
