/*
 * storm.c - mappings that come, go, shrink, move and change protection
 *
 * Each thread owns one region of pages and a note of what every page must
 * hold: nothing, zeroes, or its stamp.  It draws one operation after the
 * other (mmap over it, munmap, mremap, mprotect, MADV_DONTNEED, writing) and
 * verifies pages as it goes, everything at the end.
 *
 * mremap moves one page at a time; with the argument "runs", many at once,
 * which fails where the kernel was made to cut one mapping in two.
 */
#include <fcntl.h>
#include <sys/mman.h>

#include "check.h"

#define PAGES 1024

enum state { ABSENT, ZERO, STAMPED, FILED };

struct region {
	unsigned char *base;
	unsigned char *away; /* an address where nothing else is mapped */
	enum state state[PAGES];
	bool readable[PAGES], writable[PAGES], of_file[PAGES];
	uint64_t stamp[PAGES];
	uint64_t seed, next, ops;
	int file; /* page i holds the stream of seed 1000 + i */
};

static unsigned char *page(struct region *r, size_t i)
{
	return r->base + i * CHECK_PAGE;
}

static void check_page_of(struct region *r, size_t i)
{
	const uint64_t *p = (void *)page(r, i);

	if (r->state[i] == ABSENT || !r->readable[i])
		return;
	if (r->state[i] == FILED) {
		CHECK(check_same(p, 64, 1000 + i), "page %zu of the file", i);
		return;
	}
	for (size_t k = 0; k < CHECK_PAGE / 8; k += 73)
		CHECK(p[k] == (r->state[i] == ZERO ? 0 : r->stamp[i] + k),
		      "page %zu word %zu holds %#llx, state %d stamp %#llx", i,
		      k, (unsigned long long)p[k], r->state[i],
		      (unsigned long long)r->stamp[i]);
}

static void stamp(struct region *r, size_t i)
{
	uint64_t *p = (void *)page(r, i);

	if (r->state[i] == ABSENT || !r->writable[i])
		return;
	check_page_of(r, i);
	r->stamp[i] = ++r->next << 20;
	for (size_t k = 0; k < CHECK_PAGE / 8; k++)
		p[k] = r->stamp[i] + k;
	r->state[i] = STAMPED;
}

static void set_state(struct region *r, size_t i, size_t n, enum state state)
{
	for (size_t k = i; k < i + n; k++) {
		r->state[k] = state;
		r->readable[k] = r->writable[k] = state != ABSENT;
		r->of_file[k] = state == FILED;
	}
}

static void map_fresh(struct region *r, size_t i, size_t n)
{
	CHECK(mmap(page(r, i), n * CHECK_PAGE, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
		   0) == page(r, i));
	set_state(r, i, n, ZERO);
}

static void map_file(struct region *r, size_t i, size_t n)
{
	CHECK(mmap(page(r, i), n * CHECK_PAGE, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_FIXED, r->file,
		   (off_t)(i * CHECK_PAGE)) == page(r, i));
	set_state(r, i, n, FILED);
}

static void unmap(struct region *r, size_t i, size_t n)
{
	CHECK(munmap(page(r, i), n * CHECK_PAGE) == 0);
	set_state(r, i, n, ABSENT);
}

/* Only if all n pages are mapped: advice about a hole is an error. */
static bool whole(struct region *r, size_t i, size_t n)
{
	for (size_t k = i; k < i + n; k++)
		if (r->state[k] == ABSENT)
			return false;
	return true;
}

/* After that anonymous pages read as zero, private file pages as the file. */
static void dontneed(struct region *r, size_t i, size_t n)
{
	for (size_t k = i; k < i + n; k++)
		if (r->state[k] == ABSENT)
			return;
	CHECK(madvise(page(r, i), n * CHECK_PAGE, MADV_DONTNEED) == 0);
	for (size_t k = i; k < i + n; k++)
		r->state[k] = r->of_file[k] ? FILED : ZERO;
}

static void protect(struct region *r, size_t i, size_t n, uint64_t how)
{
	static const int prot[] = { PROT_NONE, PROT_READ,
				    PROT_READ | PROT_WRITE };

	if (!whole(r, i, n))
		return;
	CHECK(mprotect(page(r, i), n * CHECK_PAGE, prot[how]) == 0);
	for (size_t k = i; k < i + n; k++) {
		r->readable[k] = how > 0;
		r->writable[k] = how > 1;
	}
}

static bool runs;

/* A stamped run within one mapping moves away and back, with its holes. */
static void move(struct region *r, size_t i, size_t n)
{
	size_t len = (runs ? n : 1) * CHECK_PAGE;
	unsigned char *to = r->away;

	map_fresh(r, i, n);
	for (size_t k = i; k < i + n; k += 2)
		stamp(r, k);
	CHECK(mremap(page(r, i), len, len, MREMAP_MAYMOVE | MREMAP_FIXED, to) ==
	      to);
	CHECK(mremap(to, len, len, MREMAP_MAYMOVE | MREMAP_FIXED, page(r, i)) ==
	      page(r, i));
	for (size_t k = i; k < i + n; k++)
		check_page_of(r, k);
}

static void operate(struct region *r)
{
	uint64_t x = check_rand(&r->seed);
	size_t i = (x >> 8) % PAGES, n = (x >> 32) % 32 + 1;

	if (i + n > PAGES)
		n = PAGES - i;
	switch (x % 16) {
	case 0:
		map_fresh(r, i, n);
		break;
	case 1:
		unmap(r, i, n);
		break;
	case 2:
	case 3:
		dontneed(r, i, n);
		break;
	case 4:
	case 5:
		protect(r, i, n, (x >> 48) % 3);
		break;
	case 6:
		move(r, i, n);
		break;
	case 7:
		map_file(r, i, n);
		break;
	default:
		for (size_t k = i; k < i + n; k++)
			stamp(r, k);
	}
	r->ops++;
}

static void verify(struct region *r)
{
	for (size_t i = 0; i < PAGES; i++) {
		if (r->state[i] != ABSENT)
			protect(r, i, 1, 2);
		check_page_of(r, i);
	}
}

static int make_file(void)
{
	static unsigned char buf[PAGES * CHECK_PAGE];
	int fd = open(check_path("mapped"), O_CREAT | O_RDWR, 0600);

	CHECK(fd >= 0);
	for (size_t i = 0; i < PAGES; i++)
		check_fill(buf + i * CHECK_PAGE, CHECK_PAGE, 1000 + i);
	CHECK(write(fd, buf, sizeof(buf)) == sizeof(buf));
	return fd;
}

static void *run(void *arg)
{
	struct region *r = arg;

	while (check_running()) {
		operate(r);
		if (r->ops % 8 == 0)
			check_page_of(r, check_rand(&r->seed) % PAGES);
		if (r->ops % 256 == 0)
			check_nap();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	static struct region r[3];
	pthread_t t[3];
	int file = make_file();

	runs = argc > 1 && !strcmp(argv[1], "runs");
	for (unsigned i = 0; i < 3; i++) {
		r[i].file = file;
		r[i].seed = i;
		r[i].next = (uint64_t)i << 32;
		r[i].base =
			mmap(NULL, PAGES * CHECK_PAGE, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		CHECK(r[i].base != MAP_FAILED);
		/* not mmap(), which would fill the holes of other regions */
		r[i].away = (unsigned char *)0x200000000000 + (i << 30);
		set_state(&r[i], 0, PAGES, ZERO);
	}
	for (unsigned i = 0; i < 3; i++)
		t[i] = check_thread(run, &r[i]);
	check_ready();
	for (unsigned i = 0; i < 3; i++)
		check_join(t[i]);
	if (check_sabotaged()) {
		map_fresh(&r[2], 5, 1);
		r[2].base[5 * CHECK_PAGE] ^= 1;
	}
	for (unsigned i = 0; i < 3; i++)
		verify(&r[i]);
	return check_pass();
}
