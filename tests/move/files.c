/*
 * files.c - open files: offsets, growth, locks, what belongs to a directory
 *
 *	files [locks]
 *
 * A log that only grows, one appended to, one read slowly, one shared by two
 * descriptors, one deleted, some of /proc about the process itself; flags,
 * locks of two kinds (with "locks": three), current directory and umask.
 */
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "check.h"

#define SIZE (1 << 20)

static struct {
	int grow, append, read, dup, shared2, dir, path, null, zero, random;
	int locked, other, sparse, deleted, direct;
	int status, thread, info, list, net; /* of /proc/self */
	_Atomic int tid;
	_Atomic bool over;
	bool posix;
	ino_t dir_ino;
	uint64_t grown, appended;
	off_t at;
} f;

static int create(const char *name, int flags)
{
	int fd = open(check_path(name), O_CREAT | flags, 0640);

	CHECK(fd >= 0, "%s", name);
	return fd;
}

static void make_files(void)
{
	static unsigned char buf[SIZE];
	struct stat st;
	int w = create("read", O_RDWR);

	check_fill(buf, sizeof(buf), 3);
	CHECK(write(w, buf, sizeof(buf)) == sizeof(buf));
	close(w);
	f.grow = create("grow", O_RDWR | O_CLOEXEC);
	f.append = create("append", O_WRONLY | O_APPEND);
	f.read = create("read", O_RDONLY);
	f.dup = dup(f.read);
	f.shared2 = create("read", O_RDONLY); /* an offset of its own */
	CHECK(lseek(f.shared2, 12345, SEEK_SET) == 12345);
	f.sparse = create("sparse", O_RDWR);
	CHECK(ftruncate(f.sparse, 1ll << 33) == 0);
	CHECK(lseek(f.sparse, (1ll << 33) - 5, SEEK_SET) > 0);
	f.deleted = create("deleted", O_RDWR | O_DSYNC);
	CHECK(unlink(check_path("deleted")) == 0);
	f.direct = open(check_path("read"), O_RDONLY | O_DIRECT);
	CHECK(f.direct >= 0);
	f.null = open("/dev/null", O_RDWR);
	f.zero = open("/dev/zero", O_RDONLY);
	f.random = open("/dev/urandom", O_RDONLY);
	f.dir = open(check_scratch, O_RDONLY | O_DIRECTORY);
	f.path = open(check_path("read"), O_PATH);
	CHECK(f.null >= 0 && f.zero >= 0 && f.dir >= 0 && f.path >= 0);
	CHECK(fstat(f.dir, &st) == 0);
	f.dir_ino = st.st_ino;
	CHECK(chdir(check_scratch) == 0);
	umask(0137);
}

static void *wait_for_end(void *arg)
{
	f.tid = gettid();
	while (!f.over)
		check_nap();
	return NULL;
}

static int open_own(const char *fmt, int nr)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), fmt, nr);
	fd = open(path, O_RDONLY);
	CHECK(fd >= 0, "%s", path);
	return fd;
}

static pthread_t make_own(void)
{
	pthread_t t = check_thread(wait_for_end, NULL);

	CHECK_WAIT(f.tid);
	f.status = open_own("/proc/self/status", 0);
	f.thread = open_own("/proc/self/task/%d/stat", f.tid);
	f.info = open_own("/proc/self/fdinfo/%d", f.grow);
	f.list = open_own("/proc/self/fd", 0);
	f.net = open_own("/proc/self/net/dev", 0);
	CHECK(lseek(f.thread, 5, SEEK_SET) == 5);
	return t;
}

static struct flock range(short type, off_t start, off_t len)
{
	return (struct flock){ .l_type = type,
			       .l_whence = SEEK_SET,
			       .l_start = start,
			       .l_len = len };
}

static void make_locks(void)
{
	struct flock w = range(F_RDLCK, 100, 50), r = range(F_RDLCK, 300, 9);
	struct flock ofd = range(F_WRLCK, 1000, 10), x = range(F_WRLCK, 700, 9);

	f.locked = create("locked", O_RDWR);
	CHECK(ftruncate(f.locked, 2000) == 0);
	if (f.posix) {
		/* another description, and one that can only be read */
		f.other = open("locked", O_RDONLY);
		CHECK(f.other >= 0);
		CHECK(fcntl(f.other, F_SETLK, &w) == 0);
		CHECK(fcntl(f.locked, F_SETLK, &r) == 0);
		CHECK(fcntl(f.locked, F_SETLK, &x) == 0);
	}
	CHECK(fcntl(f.locked, F_OFD_SETLK, &ofd) == 0);
	CHECK(flock(f.append, LOCK_EX) == 0);
	CHECK(flock(f.read, LOCK_SH) == 0);
}

static void grow(uint64_t round)
{
	unsigned char buf[999];
	size_t n = round % sizeof(buf) + 1;

	check_fill(buf, n, round);
	CHECK(write(f.grow, buf, n) == (ssize_t)n);
	f.grown += n;
	CHECK(lseek(f.grow, 0, SEEK_CUR) == (off_t)f.grown);
	/* O_APPEND writes at the end, whatever the offset is. */
	CHECK(lseek(f.append, 0, SEEK_SET) == 0);
	CHECK(write(f.append, buf, n) == (ssize_t)n);
	f.appended += n;
	CHECK(write(f.deleted, buf, n) == (ssize_t)n);
}

static void expect_text(int fd, const char *fmt, long long nr)
{
	char text[4096] = "\n", want[32];

	CHECK(pread(fd, text + 1, sizeof(text) - 2, 0) > 0);
	snprintf(want, sizeof(want), fmt, nr);
	CHECK(strstr(text, want), "no %s in %s", want, text);
}

/*
 * The open files of /proc still tell of this process, its thread, its
 * descriptor.
 */
static void check_own(void)
{
	char head[5];

	expect_text(f.status, "\nPid:\t%lld\n", getpid());
	expect_text(f.thread, "\n%lld (", f.tid);
	expect_text(f.info, "\npos:\t%lld\n", (long long)f.grown);
	CHECK(lseek(f.thread, 0, SEEK_CUR) == 5);
	CHECK(faccessat(f.list, "0", F_OK, AT_SYMLINK_NOFOLLOW) == 0);
	CHECK(pread(f.net, head, 5, 0) == 5 && !memcmp(head, "Inter", 5));
}

/* The two descriptors of one description read in turn. */
static void read_on(uint64_t round)
{
	static unsigned char all[SIZE];
	unsigned char buf[500];
	int fd = round % 2 ? f.read : f.dup;
	ssize_t n;

	if (!all[0])
		check_fill(all, sizeof(all), 3);
	CHECK(lseek(f.read, 0, SEEK_CUR) == f.at &&
		      lseek(f.dup, 0, SEEK_CUR) == f.at,
	      "offset should be %lld", (long long)f.at);
	n = read(fd, buf, sizeof(buf));
	CHECK(n >= 0 && !memcmp(buf, all + f.at, (size_t)n));
	f.at += n;
	if (f.at == SIZE)
		f.at = lseek(fd, 0, SEEK_SET);
}

static void check_rest(void)
{
	char buf[64], cwd[256];
	struct stat st;
	mode_t mask;

	CHECK(lseek(f.shared2, 0, SEEK_CUR) == 12345);
	CHECK(lseek(f.sparse, 0, SEEK_CUR) == (1ll << 33) - 5);
	CHECK(fcntl(f.grow, F_GETFD) == FD_CLOEXEC);
	CHECK((fcntl(f.append, F_GETFL) & (O_ACCMODE | O_APPEND)) ==
	      (O_WRONLY | O_APPEND));
	CHECK(fcntl(f.path, F_GETFL) & O_PATH);
	CHECK(fcntl(f.direct, F_GETFL) & O_DIRECT);
	CHECK(fcntl(f.deleted, F_GETFL) & O_DSYNC);
	check_own();
	CHECK(read(f.path, buf, 1) < 0 && errno == EBADF);
	CHECK(write(f.null, "x", 1) == 1 && read(f.null, buf, 1) == 0);
	CHECK(read(f.zero, buf, sizeof(buf)) == sizeof(buf) && !buf[63]);
	CHECK(read(f.random, buf, sizeof(buf)) == sizeof(buf));
	CHECK(fstat(f.dir, &st) == 0 && st.st_ino == f.dir_ino);
	CHECK(stat(".", &st) == 0 && st.st_ino == f.dir_ino);
	CHECK(getcwd(cwd, sizeof(cwd)) && !strcmp(cwd, check_scratch));
	mask = umask(0);
	umask(mask);
	CHECK(mask == 0137, "umask %o", mask);
}

static void check_content(int fd, const char *name, off_t size)
{
	unsigned char buf[999];
	struct stat st;
	off_t at = 0;

	CHECK(fd >= 0 && fstat(fd, &st) == 0);
	CHECK(st.st_size == size, "%s: %lld bytes, not %lld", name,
	      (long long)st.st_size, (long long)size);
	for (uint64_t round = 0; at < size; round++) {
		size_t n = round % sizeof(buf) + 1;

		CHECK(pread(fd, buf, n, at) == (ssize_t)n &&
			      check_same(buf, n, round),
		      "%s is wrong in record %llu", name,
		      (unsigned long long)round);
		at += (off_t)n;
	}
}

static void expect_lock(int fd, int cmd, off_t start, off_t len, short type)
{
	struct flock l = range(F_WRLCK, start, len);

	CHECK(fcntl(fd, cmd, &l) == 0);
	CHECK(l.l_type == type, "lock at %lld: %d", (long long)start, l.l_type);
}

/* A shared lock leaves room for another one, an exclusive lock does not. */
static void expect_beside(int fd, off_t start, short type)
{
	struct flock l = range(F_RDLCK, start, 1);

	CHECK(fcntl(fd, F_GETLK, &l) == 0);
	CHECK(l.l_type == type, "beside the lock at %lld: %d", (long long)start,
	      l.l_type);
}

static void expect_holder(int fd, off_t start)
{
	struct flock l = range(F_WRLCK, start, 1);

	CHECK(fcntl(fd, F_GETLK, &l) == 0 && l.l_pid == getppid(),
	      "the lock is said to be held by %d", l.l_pid);
}

/*
 * Locks are visible only to another process, so one is made for this purpose.
 */
static void check_locks(void)
{
	int status;
	pid_t pid = fork();

	CHECK(pid >= 0);
	if (pid == 0) {
		int fd = open("locked", O_RDWR), a = open("append", O_RDWR);
		int r = open("read", O_RDONLY);

		expect_lock(fd, F_GETLK, 150, 100, F_UNLCK);
		if (f.posix) {
			expect_lock(fd, F_GETLK, 100, 1, F_RDLCK);
			expect_lock(fd, F_GETLK, 149, 1, F_RDLCK);
			expect_lock(fd, F_GETLK, 305, 1, F_RDLCK);
			expect_holder(fd, 305);
			expect_beside(fd, 100, F_UNLCK);
			expect_beside(fd, 305, F_UNLCK);
			expect_beside(fd, 700, F_WRLCK);
			expect_beside(fd, 708, F_WRLCK);
			expect_beside(fd, 709, F_UNLCK);
		}
		expect_lock(fd, F_OFD_GETLK, 1005, 1, F_WRLCK);
		CHECK(flock(a, LOCK_SH | LOCK_NB) < 0);
		CHECK(flock(r, LOCK_SH | LOCK_NB) == 0);
		CHECK(flock(r, LOCK_EX | LOCK_NB) < 0);
		_exit(0);
	}
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
}

int main(int argc, char **argv)
{
	uint64_t round = 0;
	pthread_t thread;

	f.posix = argc > 1 && !strcmp(argv[1], "locks");
	check_path("");
	make_files();
	make_locks();
	thread = make_own();
	check_ready();
	while (check_running()) {
		grow(round);
		read_on(round);
		check_rest();
		round++;
		check_nap();
	}
	if (check_sabotaged())
		CHECK(write(f.append, "x", 1) == 1);
	check_content(open("grow", O_RDONLY), "grow", (off_t)f.grown);
	check_content(open("append", O_RDONLY), "append", (off_t)f.appended);
	check_content(f.deleted, "deleted", (off_t)f.grown);
	check_locks();
	f.over = true;
	check_join(thread);
	return check_pass();
}
