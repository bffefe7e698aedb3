/*
 * unsupported_hidden.c - what cannot move and hardly shows
 *
 * Threads that have for themselves what belongs to a process, directories that
 * are gone or nobody else's root, and what only the process's own calls tell.
 */
#include <asm/ldt.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/keyctl.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <sys/fsuid.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "check.h"
#include "unsupported.h"

static int fd;
static unsigned char *map;
static atomic_bool set_up, over, spoilt;
static pthread_t thread;

static void nothing(void)
{
}

/* A thread that makes itself different from the others, and stays so. */
static void start(void *(*fn)(void *))
{
	thread = check_thread(fn, NULL);
	CHECK_WAIT(set_up);
}

static void stay(void)
{
	set_up = true;
	while (!over)
		check_nap();
}

static void finish_thread(void)
{
	over = true;
	check_join(thread);
	CHECK(!spoilt);
}

static void *own_files(void *arg)
{
	int mine;

	CHECK(unshare(CLONE_FILES) == 0);
	mine = open("/dev/null", O_RDONLY);
	stay();
	spoilt = mine < 0 || close(mine) < 0;
	return NULL;
}

static void make_own_files(void)
{
	start(own_files);
}

static void *own_cwd(void *arg)
{
	char now[64];

	CHECK(unshare(CLONE_FS) == 0 && chdir("/proc") == 0);
	stay();
	spoilt = !getcwd(now, sizeof(now)) || strcmp(now, "/proc");
	return NULL;
}

static void make_own_cwd(void)
{
	start(own_cwd);
}

static void *own_user(void *arg)
{
	setfsuid(77);
	stay();
	spoilt = setfsuid(77) != 77;
	return NULL;
}

static void make_own_user(void)
{
	start(own_user);
}

/* The filter makes getpgid() fail, and allows all other calls. */
static void *own_filter(void *arg)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getpgid, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EDOM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = { 4, code };

	CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
	CHECK(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog) == 0);
	stay();
	spoilt = syscall(SYS_getpgid, 0) >= 0;
	return NULL;
}

static void make_own_filter(void)
{
	start(own_filter);
}

static struct {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime, deadline, period;
} deadline = { 48, 6, 0, 0, 0, 100000, 10000000, 10000000 };

static void make_deadline(void)
{
	if (syscall(SYS_sched_setattr, 0, &deadline, 0) < 0)
		check_skip("SCHED_DEADLINE");
}

static void make_gone(void)
{
	char path[512];

	snprintf(path, sizeof(path), "%s", check_path("gone"));
	CHECK(mkdir(path, 0700) == 0 && chdir(path) == 0);
	CHECK(rmdir(path) == 0);
}

static void use_gone(void)
{
	char now[64];

	CHECK(!getcwd(now, sizeof(now)) && errno == ENOENT);
}

static void finish_gone(void)
{
	CHECK(chdir("/") == 0);
}

/*
 * Its working directory is still the former root: the way back, and to the file
 * that stops this program.
 */
static void make_chroot(void)
{
	const char *stop = getenv("CHECK_STOP");

	check_path("");
	CHECK(chdir("/") == 0);
	if (chroot("/proc") < 0)
		check_skip("chroot");
	if (stop)
		setenv("CHECK_STOP", stop + strspn(stop, "/"), 1);
}

static void use_chroot(void)
{
	CHECK(access("/self", F_OK) == 0 && access("proc/self", F_OK) == 0);
}

static void finish_chroot(void)
{
	CHECK(chroot(".") == 0);
}

static struct user_desc entry = {
	.base_addr = 0x1000, .limit = 0xfff, .seg_32bit = 1, .useable = 1
};

static void make_ldt(void)
{
	if (syscall(SYS_modify_ldt, 1, &entry, sizeof(entry)) < 0)
		check_skip("modify_ldt");
}

static void use_ldt(void)
{
	char table[64];

	CHECK(syscall(SYS_modify_ldt, 0, table, sizeof(table)) > 0);
}

static void make_keyring(void)
{
	if (syscall(SYS_keyctl, KEYCTL_GET_KEYRING_ID, KEY_SPEC_PROCESS_KEYRING,
		    1) < 0)
		check_skip("keyctl");
}

static void use_keyring(void)
{
	CHECK(syscall(SYS_keyctl, KEYCTL_GET_KEYRING_ID,
		      KEY_SPEC_PROCESS_KEYRING, 0) > 0);
}

static void make_secret(void)
{
	fd = (int)syscall(SYS_memfd_secret, 0);
	if (fd < 0)
		check_skip("memfd_secret");
	CHECK(ftruncate(fd, CHECK_PAGE) == 0);
	map = mmap(NULL, CHECK_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK(map != MAP_FAILED);
	check_fill(map, CHECK_PAGE, 1);
}

static void make_secret_closed(void)
{
	make_secret();
	close(fd);
}

static void finish_secret(void)
{
	CHECK(check_same(map, CHECK_PAGE, 1));
}

static void make_mqueue(void)
{
	char name[64];

	snprintf(name, sizeof(name), "check-unsupported-%d", getpid());
	fd = (int)syscall(SYS_mq_open, name, O_CREAT | O_RDWR, 0600, NULL);
	if (fd < 0)
		check_skip("mq_open");
	CHECK(syscall(SYS_mq_unlink, name) == 0);
	CHECK(syscall(SYS_mq_timedsend, fd, "abc", 4, 0, NULL) == 0);
}

static void finish_mqueue(void)
{
	char got[8192];

	CHECK(syscall(SYS_mq_timedreceive, fd, got, sizeof(got), NULL, NULL) ==
		      4 &&
	      !strcmp(got, "abc"));
}

static void make_notify(void)
{
	fd = open(check_path(""), O_RDONLY | O_DIRECTORY);
	signal(SIGIO, SIG_IGN);
	CHECK(fcntl(fd, F_NOTIFY, DN_CREATE | DN_MULTISHOT) == 0);
}

const struct thing hidden_things[] = {
	{ "thread-files", "descriptor table of its own", make_own_files,
	  nothing, finish_thread },
	{ "thread-cwd", "working directory of its own", make_own_cwd, nothing,
	  finish_thread },
	{ "thread-user", "users of its own", make_own_user, nothing,
	  finish_thread },
	{ "thread-filter", "seccomp filter of its own", make_own_filter,
	  nothing, finish_thread },
	{ "deadline", "deadlines", make_deadline, nothing, nothing },
	{ "gone-cwd", "working directory: deleted", make_gone, use_gone,
	  finish_gone },
	{ "chroot", "root directory of its own", make_chroot, use_chroot,
	  finish_chroot },
	{ "ldt", "local descriptor table", make_ldt, use_ldt, nothing },
	{ "keyring", "keyring of the process", make_keyring, use_keyring,
	  nothing },
	{ "secret", "secret memory", make_secret, nothing, finish_secret },
	{ "secret-closed", "secret memory", make_secret_closed, nothing,
	  finish_secret },
	{ "mqueue", "POSIX message queue", make_mqueue, nothing,
	  finish_mqueue },
	{ "dnotify", "watched directory", make_notify, nothing, nothing },
};
const size_t nr_hidden = sizeof(hidden_things) / sizeof(*hidden_things);
