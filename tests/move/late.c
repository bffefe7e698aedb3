/*
 * late.c - what stands in the way comes when the move has begun
 *
 *	late file	a file is mapped, which may be another one elsewhere
 *	late private	... privately, and its last page is written to
 *	late shared	memory that another process has, too
 *	late early	as "file", but before the move
 *	late open	the file is opened, and not mapped
 *
 * A move has begun when the landing area is there, below all else, and takes
 * its time over the ballast.  What is mapped then stays, and must hold what it
 * did.
 */
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "check.h"

#define SIZE	(8 * CHECK_PAGE)
#define BALLAST (64ul << 20)

static unsigned char *map, *ballast;
static pid_t sharer;
static int memfd;

static unsigned long lowest(void)
{
	FILE *f = fopen("/proc/self/maps", "re");
	unsigned long at;

	CHECK(f && fscanf(f, "%lx-", &at) == 1);
	fclose(f);
	return at;
}

static void make_file(void)
{
	unsigned char buf[SIZE];
	int fd = open(check_path("late"), O_CREAT | O_WRONLY, 0600);

	check_fill(buf, sizeof(buf), 5);
	CHECK(fd >= 0);
	check_write(fd, buf, sizeof(buf));
	CHECK(close(fd) == 0);
}

static void map_file(void)
{
	int fd = open(check_path("late"), O_RDONLY);

	map = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	CHECK(map != MAP_FAILED && close(fd) == 0);
}

static void map_private(void)
{
	map_file();
	map[SIZE - 1] ^= 0; /* from now on the page is the process's own */
}

static void make_early(void)
{
	make_file();
	map_file();
}

/*
 * It is no child of ours, because its parent has ended; it ends when the shared
 * memory says so.
 */
static void make_sharer(void)
{
	int to[2], status;

	memfd = memfd_create("late", 0);
	CHECK(memfd >= 0 && ftruncate(memfd, SIZE) == 0 && pipe(to) == 0);
	map = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, memfd, 0);
	check_fill(map, SIZE, 5);
	sharer = fork();
	if (sharer == 0) {
		sharer = fork();
		if (sharer == 0)
			for (int i = 0; map[0] != 41 && i < 120000; i++)
				check_nap();
		else
			CHECK(write(to[1], &sharer, sizeof(sharer)) > 0);
		_exit(0);
	}
	CHECK(waitpid(sharer, &status, 0) == sharer && status == 0);
	CHECK(read(to[0], &sharer, sizeof(sharer)) == sizeof(sharer));
	CHECK(close(to[0]) == 0 && close(to[1]) == 0);
	CHECK(munmap(map, SIZE) == 0 && close(memfd) == 0);
	map = NULL;
}

static void map_shared(void)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)sharer, memfd);
	fd = open(path, O_RDWR);
	CHECK(fd >= 0, "%s", path);
	map = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK(map != MAP_FAILED && close(fd) == 0);
}

static void open_file(void)
{
	CHECK(open(check_path("late"), O_RDONLY) >= 0);
}

static void nothing(void)
{
}

int main(int argc, char **argv)
{
	static const struct mode {
		const char *name;
		void (*make)(void), (*begin)(void);
	} modes[] = {
		{ "file", make_file, map_file },
		{ "private", make_file, map_private },
		{ "shared", make_sharer, map_shared },
		{ "early", make_early, nothing },
		{ "open", make_file, open_file },
	}, *m = NULL;
	unsigned long at;

	for (size_t i = 0; i < sizeof(modes) / sizeof(*modes); i++)
		if (argc > 1 && !strcmp(argv[1], modes[i].name))
			m = &modes[i];
	CHECK(m, "what?");
	ballast = malloc(BALLAST);
	check_fill(ballast, BALLAST, 1);
	check_path("late"); /* the directory exists in any case */
	m->make();
	at = lowest();
	check_ready();
	while (check_running() && lowest() == at)
		;
	m->begin();
	if (check_sabotaged())
		map[7] ^= 1;
	while (check_running())
		check_nap();
	CHECK(!map || check_same(map, SIZE, 5));
	if (sharer && map)
		map[0] = 41;
	return check_pass();
}
