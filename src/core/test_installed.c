/* test_installed.c - which files are taken for parts of Stint */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/installed.h"
#include "core/scratch.h"
#include "core/xalloc.h"

static char dir[SCRATCH_MAX];

static char *in_dir(const char *name)
{
	return xasprintf("%s/%s", dir, name);
}

static void copy_us(const char *to)
{
	FILE *in = fopen("/proc/self/exe", "re"), *out = fopen(to, "we");
	char buf[65536];
	size_t n;

	assert_true(in && out);
	while ((n = fread(buf, 1, sizeof(buf), in)))
		assert_int_equal(fwrite(buf, 1, n, out), n);
	fclose(in);
	assert_int_equal(fclose(out), 0);
	assert_int_equal(chmod(to, 0755), 0);
}

/* That copy of this program finds its part. */
static bool finds_by(const char *program)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		execl(program, program, "find", NULL);
		_exit(2);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_in_range(WEXITSTATUS(status), 0, 1);
	return !WEXITSTATUS(status);
}

/* That at bin/program finds core/part. */
static bool finds(void)
{
	char *program = in_dir("bin/program");
	bool ret = finds_by(program);

	free(program);
	return ret;
}

static void own(const char *name, uid_t uid)
{
	char *path = in_dir(name);

	assert_int_equal(chown(path, uid, (gid_t)-1), 0);
	free(path);
}

static void allow(const char *name, mode_t mode)
{
	char *path = in_dir(name);

	assert_int_equal(chmod(path, mode), 0);
	free(path);
}

/* A group whose number is that of the owner's uid is the owner's own. */
static void of_group(const char *name, gid_t gid)
{
	char *path = in_dir(name);

	assert_int_equal(chown(path, (uid_t)-1, gid), 0);
	free(path);
}

static void what_others_may_write_to(void)
{
	allow("core/part", 0646);
	assert_false(finds());
	allow("core/part", 0644);
	allow("core", 0757);
	assert_false(finds());
	allow("core", 0755);
	assert_true(finds());
	if (geteuid())
		return;
	of_group("core", 4321);
	allow("core", 0775);
	assert_false(finds());
	of_group("core", 0);
	assert_true(finds());
	of_group("core/part", 4321);
	assert_true(finds());
	allow("core/part", 0664);
	assert_false(finds());
	of_group("core/part", 0);
	allow("core/part", 0644);
	allow("core", 0755);
}

static void others_files_are_not_ours(void **state)
{
	char *bin = in_dir("bin"), *core = in_dir("core"),
	     *program = in_dir("bin/program"), *part = in_dir("core/part");
	FILE *f;

	assert_int_equal(mkdir(bin, 0755), 0);
	assert_int_equal(mkdir(core, 0755), 0);
	copy_us(program);
	assert_false(finds());
	f = fopen(part, "we");
	assert_non_null(f);
	fclose(f);
	assert_true(finds());
	what_others_may_write_to();
	if (!geteuid()) {
		own("core/part", 4321);
		assert_false(finds());
		own("core/part", 0);
		own("core", 4321);
		assert_false(finds());
		own("core/part", 4321);
		own("bin/program", 4321); /* all of it belongs to that user */
		assert_true(finds());
		of_group("core", 4321); /* that user's own group */
		allow("core", 0775);
		assert_true(finds());
		of_group("core", 4322);
		assert_false(finds());
	}
	free(bin);
	free(core);
	free(program);
	free(part);
}

/* And the folders above it, below dir. */
static void make_folder(const char *name)
{
	char *path = in_dir(name);

	for (char *p = path + strlen(dir) + 1; (p = strchr(p, '/'));
	     *p++ = '/') {
		*p = '\0';
		(void)!mkdir(path, 0755);
	}
	(void)!mkdir(path, 0755);
	assert_int_equal(access(path, W_OK), 0);
	free(path);
}

/* An install tree that lies elsewhere than it was configured for. */
static void a_tree_may_be_moved(void **state)
{
	static const char *const folders[] = { "moved/" STINT_BIN_DIR,
					       "moved/" STINT_LIBEXEC_DIR,
					       "moved/sbin" };
	char *part = in_dir("moved/lib/deep/part"), *program;

	make_folder("moved/lib/deep");
	copy_us(part);
	for (size_t i = 0; i < 3; i++) {
		make_folder(folders[i]);
		program = xasprintf("%s/%s/program", dir, folders[i]);
		copy_us(program);
		assert_int_equal(finds_by(program), i < 2);
		free(program);
	}
	free(part);
}

static int find(void)
{
	char *path =
		installed_find("../core/part", STINT_PREFIX "/lib/deep/part");
	int code = path ? 0 : 1;

	free(path);
	return code;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(others_files_are_not_ours),
		cmocka_unit_test(a_tree_may_be_moved),
	};

	if (argc > 1)
		return find();
	umask(022);
	scratch_dir(dir, "/tmp");
	return cmocka_run_group_tests_name("installed", tests, NULL, NULL);
}
