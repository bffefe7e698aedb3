/*
 * memory.c - memory with something special about it
 *
 * PROT_NONE pages with content, guard pages, the heap that brk grows and
 * shrinks, transparent huge pages whole and torn, deep stacks, sparse
 * mappings of terabytes, shared memory that nobody else shares, locked and
 * never-dumped pages.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>

#include "check.h"

#define HUGE_PAGE (2ul << 20)

static struct {
	unsigned char *none, *guarded, *huge, *torn, *sparse, *shared, *file;
	unsigned char *heap, *locked;
	size_t heap_size;
	int fd;
} m;

static size_t sparse_size = 1ul << 30;
static sigjmp_buf fault;

static void on_segv(int sig)
{
	siglongjmp(fault, 1);
}

static bool faults(volatile unsigned char *p)
{
	if (sigsetjmp(fault, 1))
		return true;
	*p = *p;
	return false;
}

static unsigned char *map(size_t n, int flags)
{
	unsigned char *p = mmap(NULL, n, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);

	CHECK(p != MAP_FAILED);
	return p;
}

static unsigned char *map_huge(uint64_t seed)
{
	unsigned char *p = map(4 * HUGE_PAGE, 0);

	p += HUGE_PAGE - (uintptr_t)p % HUGE_PAGE;
	madvise(p, 3 * HUGE_PAGE, MADV_HUGEPAGE);
	check_fill(p, 3 * HUGE_PAGE, seed);
	return p;
}

/* Every other page of the middle mapping is given back. */
static void tear(void)
{
	for (size_t i = 0; i < HUGE_PAGE; i += 2 * CHECK_PAGE)
		CHECK(madvise(m.torn + HUGE_PAGE + i, CHECK_PAGE,
			      MADV_DONTNEED) == 0);
	CHECK(mprotect(m.torn, HUGE_PAGE / 2, PROT_READ) == 0);
}

static void check_torn(void)
{
	unsigned char *want = malloc(3 * HUGE_PAGE);

	check_fill(want, 3 * HUGE_PAGE, 4);
	for (size_t i = 0; i < HUGE_PAGE; i += 2 * CHECK_PAGE)
		memset(want + HUGE_PAGE + i, 0, CHECK_PAGE);
	CHECK(!memcmp(want, m.torn, 3 * HUGE_PAGE));
	free(want);
	CHECK(faults(m.torn + 5) && !faults(m.torn + HUGE_PAGE));
}

static void make_file(void)
{
	m.fd = open(check_path("shared"), O_CREAT | O_RDWR, 0600);
	CHECK(m.fd >= 0 && ftruncate(m.fd, 64 * CHECK_PAGE) == 0);
	m.file = mmap(NULL, 64 * CHECK_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED,
		      m.fd, 0);
	CHECK(m.file != MAP_FAILED);
	check_fill(m.file, 64 * CHECK_PAGE, 8);
}

static void make_memory(bool shared)
{
	m.none = map(100 * CHECK_PAGE, 0);
	check_fill(m.none, 100 * CHECK_PAGE, 1);
	CHECK(mprotect(m.none, 100 * CHECK_PAGE, PROT_NONE) == 0);
	m.guarded = map(3 * CHECK_PAGE, 0);
	check_fill(m.guarded, 3 * CHECK_PAGE, 2);
	CHECK(mprotect(m.guarded, CHECK_PAGE, PROT_NONE) == 0);
	CHECK(mprotect(m.guarded + 2 * CHECK_PAGE, CHECK_PAGE, PROT_READ) == 0);
	m.huge = map_huge(3);
	m.torn = map_huge(4);
	tear();
	m.sparse = map(sparse_size, MAP_NORESERVE);
	for (size_t at = 12345; at < sparse_size; at = at * 3)
		m.sparse[at] = (unsigned char)(at >> 3) | 1;
	m.locked = map(4 * CHECK_PAGE, 0);
	mlock(m.locked, 4 * CHECK_PAGE);
	madvise(m.locked, 4 * CHECK_PAGE, MADV_DONTDUMP);
	check_fill(m.locked, 4 * CHECK_PAGE, 6);
	if (!shared)
		return;
	m.shared = mmap(NULL, 64 * CHECK_PAGE, PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(m.shared != MAP_FAILED);
	check_fill(m.shared, 64 * CHECK_PAGE, 7);
	make_file();
}

/* The heap grows a bit, is filled, and shrinks by less. */
static void breathe(uint64_t round)
{
	unsigned char *end = m.heap + m.heap_size;
	size_t more = (round % 7 + 1) * 4567, less = (round % 5) * 4001;

	CHECK(sbrk(0) == end, "brk moved");
	if (m.heap_size > 8 << 20)
		less = m.heap_size / 2;
	CHECK(sbrk((intptr_t)more) == end);
	for (size_t i = 0; i < more; i++)
		CHECK(end[i] == 0 || i < CHECK_PAGE, "new heap is not zero");
	m.heap_size += more;
	memset(end, (int)(round & 0xff), more);
	CHECK(sbrk(-(intptr_t)less) == m.heap + m.heap_size);
	m.heap_size -= less;
}

static uint64_t heap_sum(void)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < m.heap_size; i++)
		sum = sum * 31 + m.heap[i];
	return sum;
}

static void check_memory(void)
{
	CHECK(faults(m.none + 3 * CHECK_PAGE) && faults(m.guarded));
	CHECK(!faults(m.guarded + CHECK_PAGE));
	CHECK(faults(m.guarded + 2 * CHECK_PAGE));
	CHECK(check_same(m.locked, 4 * CHECK_PAGE, 6));
	for (size_t at = 12345; at < sparse_size; at = at * 3)
		CHECK(m.sparse[at] == ((unsigned char)(at >> 3) | 1) &&
		      !m.sparse[at + 5 * CHECK_PAGE]);
}

static void finish(void)
{
	CHECK(mprotect(m.none, 100 * CHECK_PAGE, PROT_READ) == 0);
	CHECK(check_same(m.none, 100 * CHECK_PAGE, 1));
	CHECK(mprotect(m.guarded, CHECK_PAGE, PROT_READ) == 0);
	CHECK(check_same(m.guarded, 3 * CHECK_PAGE, 2));
	CHECK(check_same(m.huge, 3 * HUGE_PAGE, 3));
	check_torn();
	if (m.shared) {
		CHECK(check_same(m.shared, 64 * CHECK_PAGE, 7));
		CHECK(check_same(m.file, 64 * CHECK_PAGE, 8));
	}
}

/* A stack that gets far deeper than exec made it. */
__attribute__((noinline)) static int descend(int depth)
{
	volatile unsigned char frame[16384];
	int r;

	for (size_t i = 0; i < sizeof(frame); i += 512)
		frame[i] = (unsigned char)depth;
	if (depth == 0) {
		for (uint64_t round = 0; check_running(); round++) {
			uint64_t sum;

			breathe(round);
			sum = heap_sum();
			check_memory();
			check_nap();
			CHECK(sum == heap_sum());
		}
		return 0;
	}
	r = descend(depth - 1);
	for (size_t i = 0; i < sizeof(frame); i += 512)
		CHECK(frame[i] == (unsigned char)depth, "depth %d", depth);
	return r + 1;
}

/*
 * Argument "shared": shared mappings as well. "sparse": the sparse mapping has
 * 4 TiB, so large that no part of a move may make page tables for all of it.
 */
int main(int argc, char **argv)
{
	struct sigaction sa = { .sa_handler = on_segv };

	sigaction(SIGSEGV, &sa, NULL);
	if (argc > 1 && !strcmp(argv[1], "sparse"))
		sparse_size = 1ul << 42;
	make_memory(argc > 1 && !strcmp(argv[1], "shared"));
	check_ready();
	/*
	 * From here on nothing may call malloc: the heap is used by this
	 * program.
	 */
	m.heap = sbrk(0);
	if (check_sabotaged())
		m.huge[HUGE_PAGE + 7] ^= 4;
	CHECK(descend(200) == 200);
	finish();
	return check_pass();
}
