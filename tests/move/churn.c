/*
 * churn.c - files that are made, mapped, replaced and deleted all the time
 *
 * As compilers, interpreters and databases do.  Names, addresses and (on most
 * file systems) inode numbers come again and again, with other content each
 * time: what was mapped a moment ago must not be taken for what is mapped now.
 * A file is deleted while it is mapped only for a moment at a time.
 */
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "check.h"

#define SLOTS 8
#define ROOM  (16 * CHECK_PAGE) /* addresses of one slot */

struct slot {
	unsigned char *at;
	char name[512];
	size_t size; /* of the file; 0: nothing is mapped */
	uint64_t seed;
	enum { READ, COPY, WRITE, KINDS } kind;
};

static struct slot slots[SLOTS];
static uint64_t state = 17, files;

/*
 * The second half of the first page of a writable mapping belongs to the
 * process.
 */
static void verify(const struct slot *s)
{
	size_t half = CHECK_PAGE / 2, end = s->size;

	if (s->kind == COPY) {
		CHECK(check_same(s->at + half, half, ~s->seed), "%s", s->name);
		end = half;
	}
	CHECK(check_same(s->at, end, s->seed), "%s", s->name);
}

static void create(const struct slot *s, const char *name)
{
	static unsigned char buf[ROOM];
	int fd = open(name, O_CREAT | O_EXCL | O_WRONLY, 0600);

	check_fill(buf, s->size, s->seed);
	CHECK(fd >= 0, "%s", name);
	check_write(fd, buf, s->size);
	CHECK(close(fd) == 0);
}

static void map(struct slot *s)
{
	int fd = open(s->name, s->kind == WRITE ? O_RDWR : O_RDONLY);
	int prot = PROT_READ | (s->kind == READ ? 0 : PROT_WRITE);
	int flags = s->kind == WRITE ? MAP_SHARED : MAP_PRIVATE;

	CHECK(fd >= 0, "%s", s->name);
	CHECK(mmap(s->at, s->size, prot, flags | MAP_FIXED, fd, 0) == s->at);
	CHECK(close(fd) == 0);
	if (s->kind == COPY)
		check_fill(s->at + CHECK_PAGE / 2, CHECK_PAGE / 2, ~s->seed);
	files++;
}

/* Make another file with the same name; the old name may be removed first. */
static void turn(struct slot *s)
{
	uint64_t r = check_rand(&state);
	char other[sizeof(s->name) + 8];
	bool replace = r & 1, early = (r & 30) == 0;

	if (early)
		CHECK(unlink(s->name) == 0);
	if (s->size) {
		verify(s);
		CHECK(munmap(s->at, ROOM) == 0);
	}
	if (!replace && !early && s->size)
		CHECK(unlink(s->name) == 0);
	s->size = CHECK_PAGE + (r >> 8) % (8 * CHECK_PAGE);
	s->seed = r;
	s->kind = (r >> 40) % KINDS;
	snprintf(other, sizeof(other), "%s.new", s->name);
	create(s, replace ? other : s->name);
	if (replace)
		CHECK(rename(other, s->name) == 0);
	map(s);
	verify(s);
}

int main(void)
{
	unsigned char *base = mmap(NULL, SLOTS * 2 * ROOM, PROT_NONE,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(base != MAP_FAILED && munmap(base, SLOTS * 2 * ROOM) == 0);
	for (unsigned i = 0; i < SLOTS; i++) {
		char name[16];

		snprintf(name, sizeof(name), "churn-%u", i);
		slots[i].at = base + i * 2 * ROOM;
		snprintf(slots[i].name, sizeof(slots[i].name), "%s",
			 check_path(name));
		turn(&slots[i]);
	}
	check_ready();
	if (check_sabotaged())
		slots[0].seed++;
	while (check_running())
		turn(&slots[check_rand(&state) % SLOTS]);
	for (unsigned i = 0; i < SLOTS; i++)
		verify(&slots[i]);
	CHECK(files > SLOTS);
	return check_pass();
}
