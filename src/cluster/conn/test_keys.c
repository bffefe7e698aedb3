/* test_keys.c - the file of keys on a disk that is full */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "cluster/conn/keys.h"

/*
 * However many bytes of a new line still fit on the disk, the lines before it
 * can be read.
 */
static void no_room(void **state)
{
	char path[] = "/tmp/stint-test-keys-XXXXXX", id[16];
	struct rlimit was, lim;
	struct tls_key first, key;
	struct stat st;
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(keys_enrol(path, "host/first", &first, NULL), 0);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &was), 0);
	signal(SIGXFSZ, SIG_IGN);
	for (int room = 0; room < 70; room += 23) {
		assert_int_equal(fstat(fd, &st), 0);
		lim = was;
		lim.rlim_cur = st.st_size + room;
		assert_int_equal(setrlimit(RLIMIT_FSIZE, &lim), 0);
		snprintf(id, sizeof(id), "host/h%d", room);
		assert_int_equal(keys_enrol(path, id, &key, NULL), -EFBIG);
		assert_int_equal(setrlimit(RLIMIT_FSIZE, &was), 0);
		assert_int_equal(keys_find(path, id, &key, NULL), -ENOENT);
		assert_int_equal(keys_find(path, "host/first", &key, NULL), 0);
		assert_memory_equal(key.secret, first.secret,
				    sizeof(key.secret));
		assert_int_equal(keys_enrol(path, id, &key, NULL), 0);
	}
	close(fd);
	unlink(path);
}

static void names(void **state)
{
	static const char *const bad[] = { "host/",	"host/-x",  "host/a/b",
					   "host/../x", "host/a b", "host/a,b",
					   "nobody/a",	"host" };
	char path[] = "/tmp/stint-test-keys-XXXXXX";
	struct tls_key key;
	struct error err;
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_int_equal(keys_enrol(path, bad[i], &key, &err), -EINVAL);
	assert_int_equal(keys_enrol(path, "host/h1.lab-2.org", &key, NULL), 0);
	unlink(path);
}

static void revoking(void **state)
{
	char path[] = "/tmp/stint-test-keys-XXXXXX";
	struct tls_key first, again, other;
	struct stat st;
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(keys_enrol(path, "user/ada", &first, NULL), 0);
	assert_int_equal(keys_enrol(path, "user/ad", &other, NULL), 0);
	assert_int_equal(keys_revoke(path, "user/ada", NULL), 0);
	assert_int_equal(keys_revoke(path, "user/ada", NULL), -ENOENT);
	assert_int_equal(keys_find(path, "user/ada", &again, NULL), -ENOENT);
	assert_int_equal(keys_find(path, "user/ad", &again, NULL), 0);
	assert_memory_equal(again.secret, other.secret, sizeof(other.secret));
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_int_equal(keys_enrol(path, "user/ada", &again, NULL), 0);
	assert_memory_not_equal(again.secret, first.secret,
				sizeof(first.secret));
	unlink(path);
}

/*
 * A key that is enrolled while another one is revoked is written into the file
 * that stays.
 */
static void at_once(void **state)
{
	char path[] = "/tmp/stint-test-keys-XXXXXX", id[24];
	struct tls_key key;
	int fd = mkstemp(path), status;
	pid_t pid;

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	pid = fork();
	assert_true(pid >= 0);
	for (int i = 0; i < 200; i++) {
		snprintf(id, sizeof(id), "host/%c%d", pid ? 'a' : 'b', i);
		if (keys_enrol(path, id, &key, NULL) < 0 ||
		    (!pid && keys_revoke(path, id, NULL) < 0))
			_exit(1);
	}
	if (!pid)
		_exit(0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	for (int i = 0; i < 200; i++) {
		snprintf(id, sizeof(id), "host/a%d", i);
		assert_int_equal(keys_find(path, id, &key, NULL), 0);
	}
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_room),
		cmocka_unit_test(names),
		cmocka_unit_test(revoking),
		cmocka_unit_test(at_once),
	};

	return cmocka_run_group_tests_name("keys", tests, NULL, NULL);
}
