/*
 * brief.c - what cannot move is there, but only for a moment at a time
 *
 *	brief journal	a file that is deleted while it is open
 *	brief children	children that soon end, forked and spawned
 *	brief vfork	a child that keeps its parent waiting for a while
 *	brief mapping	a deleted file is mapped, and a device
 *
 * In between there are moments without, so every move must succeed in the
 * end.  A second thread counts meanwhile, undisturbed.
 */
#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "check.h"

extern char **environ;

static uint64_t turns;
static _Atomic bool done;

static int make_deleted(uint64_t seed)
{
	char path[512];
	unsigned char buf[256];
	int fd;

	snprintf(path, sizeof(path), "%s", check_path("journal"));
	fd = open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
	CHECK(fd >= 0 && unlink(path) == 0);
	check_fill(buf, sizeof(buf), seed);
	check_write(fd, buf, sizeof(buf));
	return fd;
}

static void journal(void)
{
	unsigned char buf[256];
	int fd = make_deleted(turns);

	check_nap();
	check_nap();
	CHECK(lseek(fd, 0, SEEK_SET) == 0 && check_read(fd, buf, sizeof(buf)));
	CHECK(check_same(buf, sizeof(buf), turns));
	CHECK(close(fd) == 0);
}

static void reap(pid_t child, int want)
{
	int status;

	CHECK(waitpid(child, &status, 0) == child);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == want, "status %#x",
	      status);
}

static void children(void)
{
	static char sh[] = "/bin/sh", c[] = "-c", command[] = "exit 3";
	char *argv[] = { sh, c, command, NULL };
	pid_t child = fork();

	CHECK(child >= 0);
	if (child == 0) {
		check_nap();
		_exit((int)(turns & 0x7f));
	}
	reap(child, (int)(turns & 0x7f));
	CHECK(posix_spawn(&child, argv[0], NULL, NULL, argv, environ) == 0);
	reap(child, 3);
}

/* While it waits in vfork(), only the end of its child can stop it. */
static void slow_vfork(void)
{
	static const struct timespec long_ago = { .tv_nsec = 180000000 };
	pid_t child;

	if (turns % 16)
		return;
	child = vfork();
	CHECK(child >= 0);
	if (child == 0) {
		nanosleep(&long_ago, NULL);
		_exit(5);
	}
	reap(child, 5);
}

static void mapping(void)
{
	int fd = make_deleted(turns), zero = open("/dev/zero", O_RDWR);
	unsigned char *p = mmap(NULL, CHECK_PAGE, PROT_READ, MAP_SHARED, fd, 0);
	unsigned char *z = mmap(NULL, CHECK_PAGE, PROT_READ | PROT_WRITE,
				MAP_PRIVATE, zero, 0);

	CHECK(p != MAP_FAILED && z != MAP_FAILED);
	CHECK(close(fd) == 0 && close(zero) == 0);
	check_nap();
	CHECK(check_same(p, 256, turns) && z[7] == 0);
	CHECK(munmap(p, CHECK_PAGE) == 0 && munmap(z, CHECK_PAGE) == 0);
}

static void *count(void *arg)
{
	uint64_t *n = arg;

	while (!done) {
		++*n;
		check_now();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*turn)(void);
	} modes[] = {
		{ "journal", journal },
		{ "children", children },
		{ "vfork", slow_vfork },
		{ "mapping", mapping },
	};
	unsigned char *memory = malloc(CHECK_PAGE * 512);
	void (*turn)(void) = NULL;
	uint64_t counted = 0;
	pthread_t t;

	for (size_t i = 0; i < sizeof(modes) / sizeof(*modes); i++)
		if (argc > 1 && !strcmp(argv[1], modes[i].name))
			turn = modes[i].turn;
	CHECK(turn, "what?");
	check_fill(memory, CHECK_PAGE * 512, 11);
	t = check_thread(count, &counted);
	check_ready();
	if (check_sabotaged())
		memory[99] ^= 1;
	for (; check_running(); turns++) {
		turn();
		for (int i = 0; i < 4; i++)
			check_nap();
	}
	done = true;
	check_join(t);
	CHECK(counted && check_same(memory, CHECK_PAGE * 512, 11));
	return check_pass();
}
