/*
 * holes.c - shared memory in which holes are punched
 *
 * Of shared anonymous memory, mapped twice, pages are given back
 * (MADV_REMOVE) through either mapping, and then left alone, read, so that
 * they are there again without having been written to, written to, or written
 * to and given back once more.  The kernel keeps the marks of a protection over
 * holes, so nothing but the first word of each page, which a shadow repeats,
 * tells what should be there.  A memfd whose descriptor is closed, in a second
 * half, goes the same way.
 */
#include <sys/mman.h>

#include "check.h"

#define PAGES 4096
#define WORDS (CHECK_PAGE / 8)

static uint64_t *view[2][2]; /* of each object */
static uint64_t shadow[2][PAGES];
static uint64_t seed = 1;

static void make(int object, int fd)
{
	size_t n = PAGES * CHECK_PAGE;

	view[object][0] =
		mmap(NULL, n, PROT_READ | PROT_WRITE,
		     MAP_SHARED | (fd < 0 ? MAP_ANONYMOUS : 0), fd, 0);
	CHECK(view[object][0] != MAP_FAILED);
	view[object][1] = mremap(view[object][0], 0, n, MREMAP_MAYMOVE);
	CHECK(view[object][1] != MAP_FAILED);
	for (size_t i = 0; i < PAGES; i++)
		view[object][0][i * WORDS] = shadow[object][i] = i + 1;
}

static void look(int object, size_t i)
{
	for (int k = 0; k < 2; k++)
		CHECK(view[object][k][i * WORDS] == shadow[object][i],
		      "page %zu of object %d holds %llx, not %llx", i, object,
		      (unsigned long long)view[object][k][i * WORDS],
		      (unsigned long long)shadow[object][i]);
}

static void punch(int object, size_t i, size_t n)
{
	uint64_t *through = view[object][check_rand(&seed) % 2];

	CHECK(madvise(through + i * WORDS, n * CHECK_PAGE, MADV_REMOVE) == 0);
	memset(&shadow[object][i], 0, n * sizeof(**shadow));
}

static void put(int object, size_t i)
{
	uint64_t value = check_rand(&seed);

	view[object][check_rand(&seed) % 2][i * WORDS] = value;
	shadow[object][i] = value;
}

static void turn(void)
{
	int object = (int)(check_rand(&seed) % 2);
	size_t i = check_rand(&seed) % (PAGES - 8), n = 1;

	switch (check_rand(&seed) % 8) {
	case 0: /* several pages at once, left as holes */
		n = 1 + check_rand(&seed) % 8;
		punch(object, i, n);
		break;
	case 1: /* the page is there again, not written to */
		punch(object, i, 1);
		look(object, i);
		break;
	case 2:
		punch(object, i, 1);
		put(object, i);
		break;
	case 3:
		put(object, i);
		punch(object, i, 1);
		put(object, i);
		punch(object, i, 1);
		look(object, i);
		break;
	case 4: /* as many blocks as before */
		punch(object, i, 1);
		put(object, (i + PAGES / 2) % PAGES);
		break;
	case 5: /* leaves the page table, not the object */
		CHECK(madvise(view[object][0] + i * WORDS, CHECK_PAGE,
			      MADV_DONTNEED) == 0);
		break;
	default:
		put(object, i);
	}
}

/* Pages that were not punched for long must be there as well. */
static void look_at_all(void)
{
	for (int object = 0; object < 2; object++)
		for (size_t i = 0; i < PAGES; i++)
			look(object, i);
}

int main(void)
{
	int fd = memfd_create("closed", MFD_CLOEXEC);

	CHECK(fd >= 0 && ftruncate(fd, PAGES * CHECK_PAGE) == 0);
	make(0, -1);
	make(1, fd);
	close(fd);
	check_ready();
	for (uint64_t n = 0; check_running(); n++) {
		turn();
		if (n % 4 == 0)
			check_nap();
	}
	if (check_sabotaged())
		view[1][0][77 * WORDS] ^= 1;
	look_at_all();
	return check_pass();
}
