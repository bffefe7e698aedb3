/*
 * unsupported.c - things that cannot be moved, and must not be harmed
 *
 *	unsupported --list	each thing, a tab, a word the refusal must have
 *	unsupported THING	set it up, use it until stopped, verify
 *	unsupported THING thread	it belongs to a thread that is not the leader
 *
 * A move must be refused with the reason before anything is touched; the
 * program goes on as if nothing had been asked.
 */
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/io_uring.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <sys/fanotify.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "check.h"
#include "unsupported.h"

#define SIZE (16 * CHECK_PAGE)

static int fd, child_in, child_out;
static pid_t child;
static unsigned char *map;
static char path[512];

/* A child that returns each byte that it gets, until the pipe is closed. */
static void make_child(void)
{
	int to[2], from[2];
	char c;

	CHECK(pipe(to) == 0 && pipe(from) == 0);
	child = fork();
	CHECK(child >= 0);
	if (child == 0) {
		close(to[1]);
		while (read(to[0], &c, 1) == 1)
			if (write(from[1], &c, 1) != 1)
				break;
		_exit(map ? map[0] : 0);
	}
	close(to[0]);
	close(from[1]);
	child_in = to[1];
	child_out = from[0];
}

static void use_child(void)
{
	char c = 'x';

	CHECK(write(child_in, &c, 1) == 1 && read(child_out, &c, 1) == 1);
	CHECK(c == 'x');
}

static void end_child(int want)
{
	int status;

	close(child_in);
	CHECK(waitpid(child, &status, 0) == child);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == want, "status %#x",
	      status);
}

static void finish_child(void)
{
	end_child(0);
}

static void make_io_uring(void)
{
	struct io_uring_params p = { 0 };

	fd = (int)syscall(SYS_io_uring_setup, 8, &p);
	if (fd < 0)
		check_skip("io_uring_setup");
	map = mmap(NULL, p.sq_off.array + p.sq_entries * 4,
		   PROT_READ | PROT_WRITE, MAP_SHARED, fd, IORING_OFF_SQ_RING);
	CHECK(map != MAP_FAILED);
}

static void use_io_uring(void)
{
	CHECK(syscall(SYS_io_uring_enter, fd, 0, 0, 0, NULL, 0) == 0);
}

static void make_inotify(void)
{
	fd = inotify_init1(IN_NONBLOCK);
	CHECK(fd >= 0);
	snprintf(path, sizeof(path), "%s", check_path("watched"));
	close(open(path, O_CREAT | O_WRONLY, 0600));
	CHECK(inotify_add_watch(fd, path, IN_ATTRIB) > 0);
}

static void use_inotify(void)
{
	struct inotify_event ev;

	CHECK(chmod(path, 0640) == 0);
	CHECK(read(fd, &ev, sizeof(ev)) == sizeof(ev) && (ev.mask & IN_ATTRIB));
}

static void make_fanotify(void)
{
	fd = fanotify_init(FAN_CLASS_NOTIF | FAN_REPORT_FID | FAN_NONBLOCK,
			   O_RDONLY);
	if (fd < 0)
		check_skip("fanotify_init");
	CHECK(fanotify_mark(fd, FAN_MARK_ADD, FAN_ATTRIB, AT_FDCWD,
			    check_path("")) == 0);
}

static void use_nothing(void)
{
}

static void make_shared(void)
{
	map = mmap(NULL, SIZE, PROT_READ | PROT_WRITE,
		   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(map != MAP_FAILED);
	make_child();
}

static void finish_shared(void)
{
	map[0] = 41; /* the child must see it */
	end_child(41);
}

static void finish_map(void)
{
	CHECK(check_same(map, SIZE, 1));
}

static void make_hugetlb(void)
{
	map = mmap(NULL, 2 << 20, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB | MAP_NORESERVE,
		   -1, 0);
	if (map == MAP_FAILED)
		check_skip("mmap of huge pages");
}

static void make_pty(void)
{
	int unlock = 0;

	fd = open("/dev/ptmx", O_RDWR | O_NOCTTY);
	if (fd < 0)
		check_skip("/dev/ptmx");
	CHECK(ioctl(fd, TIOCSPTLCK, &unlock) == 0);
}

static void use_pty(void)
{
	CHECK(write(fd, "x", 1) == 1);
}

static void make_namespace(void)
{
	if (unshare(CLONE_NEWUTS) < 0)
		check_skip("unshare");
	CHECK(sethostname("nested", 6) == 0);
}

static void use_namespace(void)
{
	char name[64];

	CHECK(gethostname(name, sizeof(name)) == 0 && !strcmp(name, "nested"));
}

/* The filter makes getpgid() fail, and allows all other calls. */
static void make_seccomp(void)
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
}

static void use_seccomp(void)
{
	CHECK(syscall(SYS_getpgid, 0) < 0 && errno == EDOM);
}

/*
 * It is no child of ours, because its parent has ended. It answers as long as
 * it lives.
 */
static void make_sharer(void)
{
	int status;

	map = mmap(NULL, SIZE, PROT_READ | PROT_WRITE,
		   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(map != MAP_FAILED);
	child = fork();
	CHECK(child >= 0);
	if (child == 0) {
		if (fork() == 0)
			for (int i = 0; map[0] != 41 && i < 120000; i++) {
				map[1] = map[2];
				check_nap();
			}
		_exit(0);
	}
	CHECK(waitpid(child, &status, 0) == child && !status);
}

static void use_sharer(void)
{
	volatile unsigned char *m = map;

	m[2]++;
	CHECK_WAIT(m[1] == m[2]);
}

static void finish_sharer(void)
{
	map[0] = 41;
}

static void make_deleted(void)
{
	unsigned char buf[SIZE];
	int f = open(check_path("gone"), O_CREAT | O_RDWR, 0600);

	check_fill(buf, sizeof(buf), 1);
	CHECK(f >= 0 && write(f, buf, sizeof(buf)) == sizeof(buf));
	map = mmap(NULL, SIZE, PROT_READ, MAP_SHARED, f, 0);
	CHECK(map != MAP_FAILED);
	close(f);
	CHECK(unlink(check_path("gone")) == 0);
}

/* The process that will write to it is elsewhere. */
static void make_fifo(void)
{
	CHECK(mkfifo(check_path("fifo"), 0600) == 0);
	fd = open(check_path("fifo"), O_RDONLY | O_NONBLOCK);
	CHECK(fd >= 0);
}

static void use_fifo(void)
{
	int w = open(check_path("fifo"), O_WRONLY | O_NONBLOCK);
	char c = 0;

	CHECK(w >= 0 && write(w, "x", 1) == 1);
	close(w);
	CHECK(read(fd, &c, 1) == 1 && c == 'x');
}

/* "abc", an urgent byte, "def"; the rest is read at the end. */
static void make_urgent(void)
{
	struct sockaddr_in a;
	int l = check_listen(&a);

	child_in = socket(AF_INET, SOCK_STREAM, 0);
	CHECK(connect(child_in, (void *)&a, sizeof(a)) == 0);
	fd = accept(l, NULL, NULL);
	CHECK(fd >= 0 && close(l) == 0);
	CHECK(send(child_in, "abc", 3, 0) == 3);
	CHECK(send(child_in, "X", 1, MSG_OOB) == 1);
	CHECK(send(child_in, "def", 3, 0) == 3);
}

static void make_behind(void)
{
	char c = 0;

	make_urgent();
	CHECK(recv(fd, &c, 1, MSG_OOB) == 1 && c == 'X');
}

static void finish_behind(void)
{
	char got[8];

	CHECK(read(fd, got, 8) == 3 && !memcmp(got, "abc", 3));
	CHECK(read(fd, got, 8) == 3 && !memcmp(got, "def", 3));
}

static void finish_urgent(void)
{
	char c = 0;

	CHECK(recv(fd, &c, 1, MSG_OOB) == 1 && c == 'X');
	finish_behind();
}

/* The selector still lets all calls through. */
static void make_dispatch(void)
{
	static volatile char selector;

	if (prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON, 0, 0,
		  &selector) < 0)
		check_skip("PR_SET_SYSCALL_USER_DISPATCH");
}

static void make_bound(void)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };

	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	snprintf(a.sun_path, sizeof(a.sun_path), "%.100s",
		 check_path("socket"));
	CHECK(bind(fd, (void *)&a, sizeof(a)) == 0);
}

static void make_other(void)
{
	snprintf(path, sizeof(path), "/proc/%d/stat", getppid());
	fd = open(path, O_RDONLY);
	CHECK(fd >= 0);
}

/* A descriptor that was sent, and that nobody receives. */
static void make_passing(void)
{
	char room[CMSG_SPACE(sizeof(int))] = { 0 }, c = 'x';
	struct iovec iov = { &c, 1 };
	struct msghdr m = { .msg_iov = &iov,
			    .msg_iovlen = 1,
			    .msg_control = room,
			    .msg_controllen = sizeof(room) };
	struct cmsghdr *cm = CMSG_FIRSTHDR(&m);
	int pair[2];

	CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
	cm->cmsg_level = SOL_SOCKET;
	cm->cmsg_type = SCM_RIGHTS;
	cm->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(cm), &pair[0], sizeof(int));
	CHECK(sendmsg(pair[0], &m, 0) == 1);
}

/* In a thread, where only `check` and the freeze find it. */
static void *make_and_wait(void *arg)
{
	const struct thing *t = arg;

	t->make();
	check_ready();
	while (check_running())
		check_nap();
	return NULL;
}

static int run_in_thread(const struct thing *t)
{
	check_join(check_thread(make_and_wait, (void *)(uintptr_t)t));
	return check_pass();
}

static const struct thing things[] = {
	{ "io_uring", "io_uring", make_io_uring, use_io_uring, use_nothing },
	{ "inotify", "inotify", make_inotify, use_inotify, use_nothing },
	{ "fanotify", "fanotify", make_fanotify, use_nothing, use_nothing },
	{ "shared-memory", "child", make_shared, use_child, finish_shared },
	{ "shared-with", "shares memory", make_sharer, use_sharer,
	  finish_sharer },
	{ "hugetlb", "huge", make_hugetlb, use_nothing, use_nothing },
	{ "pty", "ptmx|pty|terminal", make_pty, use_pty, use_nothing },
	{ "namespace", "namespace", make_namespace, use_namespace,
	  use_nothing },
	{ "seccomp", "seccomp", make_seccomp, use_seccomp, use_nothing },
	{ "deleted-map", "deleted", make_deleted, use_nothing, finish_map },
	{ "fifo", "named pipe .* other end", make_fifo, use_fifo, use_nothing },
	{ "dispatch", "syscall user dispatch", make_dispatch, use_nothing,
	  use_nothing },
	{ "bound-socket", "unix socket bound to", make_bound, use_nothing,
	  use_nothing },
	{ "proc-of-other", "tells of another process", make_other, use_nothing,
	  use_nothing },
	{ "urgent", "urgent byte", make_urgent, use_nothing, finish_urgent },
	{ "behind-urgent", "behind an urgent", make_behind, use_nothing,
	  finish_behind },
	{ "passing", "descriptors are being passed", make_passing, use_nothing,
	  use_nothing },
	{ "child", "child", make_child, use_child, finish_child },
};

#define NR (sizeof(things) / sizeof(*things))

static int run(const struct thing *t)
{
	t->make();
	check_ready();
	if (check_sabotaged())
		t = &things[1]; /* its use fails with another's state */
	while (check_running()) {
		t->use();
		check_nap();
	}
	t->finish();
	return check_pass();
}

static const struct thing *at(size_t i)
{
	const struct {
		const struct thing *first;
		size_t nr;
	} list[] = { { things, NR },
		     { sysv_things, nr_sysv },
		     { hidden_things, nr_hidden },
		     { near_things, nr_near } };

	for (size_t l = 0; l < sizeof(list) / sizeof(*list); l++) {
		if (i < list[l].nr)
			return &list[l].first[i];
		i -= list[l].nr;
	}
	return NULL;
}

int main(int argc, char **argv)
{
	const struct thing *t;

	for (size_t i = 0; argc == 2 && (t = at(i)); i++) {
		if (!strcmp(argv[1], "--list"))
			printf("%s\t%s\n", t->name, t->word);
		else if (!strcmp(argv[1], t->name))
			return run(t);
	}
	if (argc == 2 && !strcmp(argv[1], "--list"))
		return 0;
	for (size_t i = 0; argc == 3 && (t = at(i)); i++)
		if (!strcmp(argv[1], t->name) && !strcmp(argv[2], "thread"))
			return run_in_thread(t);
	fprintf(stderr, "usage: unsupported --list | THING [thread]\n");
	return 2;
}
