/* test_identity.c - tests of identity.h: to whom uids and groups belong */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cluster/host/identity.h"

static void uids(void **state)
{
	struct error err;

	(void)state;
	assert_int_equal(identity_check_uid(1000, 1000, "[agent]", NULL), 0);
	assert_int_equal(identity_check_uid(0, 0, "[agent]", NULL), 0);
	assert_int_equal(identity_check_uid(999, 1000, "[agent]", &err),
			 -EPERM);
	assert_non_null(strstr(err.text, "the system's"));
	assert_non_null(strstr(err.text, "min-uid in [agent]"));
	assert_int_equal(identity_check_uid(0, 1, "[agent]", &err), -EPERM);
	assert_non_null(strstr(err.text, "uid 0 is root"));
	/* 65534 is nobody's uid, whatever the first allowed uid is. */
	assert_int_equal(identity_check_uid(65534, 0, "[agent]", NULL), -EPERM);
	assert_int_equal(identity_check_uid(UINT32_MAX, 0, "[agent]", NULL),
			 -EPERM);
}

/*
 * The groups of a uid that is not in the user database: none is its own there.
 */
static void groups(void **state)
{
	const uid_t uid = 3999999999;
	const gid_t persons[] = { 1000, 4400 }, mixed[] = { 4400, 999 };
	struct error err;

	(void)state;
	assert_int_equal(
		identity_check_groups(uid, 1000, persons, 2, 1000, NULL), 0);
	assert_int_equal(identity_check_groups(uid, 1000, NULL, 0, 1000, NULL),
			 0);
	assert_int_equal(identity_check_groups(uid, 1000, mixed, 2, 1000, &err),
			 -EPERM);
	assert_non_null(strstr(err.text, "group 999"));
	/* A first group that is nobody's counts as well. */
	assert_int_equal(identity_check_groups(uid, 42, persons, 2, 1000, &err),
			 -EPERM);
	assert_non_null(strstr(err.text, "group 42"));
	assert_int_equal(identity_check_groups(uid, 42, NULL, 0, 43, NULL),
			 -EPERM);
	assert_int_equal(identity_check_groups(uid, 42, NULL, 0, 42, NULL), 0);
}

/* By the user database of this machine: root is in root's group everywhere. */
static void of_the_database(void **state)
{
	(void)state;
	assert_int_equal(identity_check_groups(0, 0, NULL, 0, 1000, NULL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(uids),
		cmocka_unit_test(groups),
		cmocka_unit_test(of_the_database),
	};

	return cmocka_run_group_tests_name("identity", tests, NULL, NULL);
}
