/*
 * merges.c - memory that leaves its mapping and comes back into it
 *
 * A run of pages is moved out of the middle of one big mapping with mremap(),
 * stays away for a moment, and is moved back, upon which the kernel makes one
 * mapping of it and its neighbours again.  Pages all over the mapping are
 * written to right after that, when whoever follows writes may have lost
 * sight of them, and every page is compared with what it must hold.
 */
#include <sys/mman.h>

#include "check.h"

#define PAGES  2048
#define RUN    64
#define WRITES 32

static unsigned char *base, *away;
static uint64_t stamp[PAGES], next;

static uint64_t *page(size_t i)
{
	return (uint64_t *)(base + i * CHECK_PAGE);
}

static void write_page(size_t i)
{
	stamp[i] = ++next << 16;
	for (size_t k = 0; k < CHECK_PAGE / 8; k++)
		page(i)[k] = stamp[i] + k;
}

static void verify(void)
{
	for (size_t i = 0; i < PAGES; i++)
		for (size_t k = 0; k < CHECK_PAGE / 8; k += 73)
			CHECK(page(i)[k] == stamp[i] + k,
			      "page %zu word %zu holds %#llx, not %#llx", i, k,
			      (unsigned long long)page(i)[k],
			      (unsigned long long)(stamp[i] + k));
}

static void away_and_back(uint64_t *seed)
{
	/* always the same runs: while one is away it is in no other mapping */
	size_t i = check_rand(seed) % (PAGES / RUN) * RUN;
	struct timespec ts = { .tv_nsec = (long)(check_rand(seed) % 4000000) };
	void *from = page(i);

	CHECK(mremap(from, RUN * CHECK_PAGE, RUN * CHECK_PAGE,
		     MREMAP_MAYMOVE | MREMAP_FIXED, away) == away);
	nanosleep(&ts, NULL);
	CHECK(mremap(away, RUN * CHECK_PAGE, RUN * CHECK_PAGE,
		     MREMAP_MAYMOVE | MREMAP_FIXED, from) == from);
	for (int k = 0; k < WRITES; k++)
		write_page(check_rand(seed) % PAGES);
}

int main(void)
{
	uint64_t seed = 7;

	base = mmap(NULL, PAGES * CHECK_PAGE, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(base != MAP_FAILED);
	away = (unsigned char *)0x200000000000;
	for (size_t i = 0; i < PAGES; i++)
		write_page(i);
	check_ready();
	while (check_running()) {
		away_and_back(&seed);
		verify();
	}
	if (check_sabotaged())
		page(5)[0] ^= 1;
	verify();
	return check_pass();
}
