/*
 * rewrite.c - memory that is rewritten as fast as it can be
 *
 *	rewrite [MEGABYTES [THREADS]]
 *
 * Each thread goes over its part of the memory again and again and writes the
 * number of the round at both ends of every page, so that at any instant the
 * pages before its place are of this round and those behind it of the last.
 * Prints the longest time in which it did not run, as bigmem does.
 */
#include <sys/mman.h>

#include "longest.h"

#define THREADS_MOST 64

struct part {
	uint64_t *mem, round;
	size_t nr_pages, at;
};

static uint64_t *page(const struct part *p, size_t i)
{
	return p->mem + i * (CHECK_PAGE / 8);
}

static void *rewrite(void *arg)
{
	struct part *p = arg;

	while (check_running()) {
		size_t end = p->at + 256;

		for (; p->at < end && p->at < p->nr_pages; p->at++)
			page(p, p->at)[0] = page(p, p->at)[511] = p->round;
		if (p->at < p->nr_pages)
			continue;
		p->at = 0;
		p->round++;
	}
	return NULL;
}

static void verify(const struct part *p)
{
	for (size_t i = 0; i < p->nr_pages; i++) {
		uint64_t want = i < p->at ? p->round : p->round - 1;

		CHECK(page(p, i)[0] == want && page(p, i)[511] == want,
		      "page %zu is of round %llu, not %llu", i,
		      (unsigned long long)page(p, i)[0],
		      (unsigned long long)want);
	}
}

static void make_parts(struct part *part, int n, size_t pages)
{
	uint64_t *mem = mmap(NULL, pages * CHECK_PAGE, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(mem != MAP_FAILED);
	for (int i = 0; i < n; i++) {
		size_t each = pages / (size_t)n;

		part[i] = (struct part){
			.mem = mem + (size_t)i * each * (CHECK_PAGE / 8),
			.nr_pages = each,
			.round = 1,
		};
	}
}

int main(int argc, char **argv)
{
	size_t mb = argc > 1 ? strtoul(argv[1], NULL, 10) : 64;
	int n = argc > 2 ? atoi(argv[2]) : 2;
	struct part part[THREADS_MOST];
	pthread_t thread[THREADS_MOST], watcher;
	double pause;

	CHECK(mb && n > 0 && n <= THREADS_MOST,
	      "usage: rewrite [MEGABYTES [THREADS]]");
	make_parts(part, n, mb * 256);
	watcher = check_thread(longest_watch, NULL);
	for (int i = 0; i < n; i++)
		thread[i] = check_thread(rewrite, &part[i]);
	check_ready();
	for (int i = 0; i < n; i++)
		check_join(thread[i]);
	pause = longest_end(watcher);
	if (check_sabotaged())
		page(&part[0], 0)[511] ^= 1;
	for (int i = 0; i < n; i++)
		verify(&part[i]);
	printf("{\"what\":\"longest pause\",\"value\":%.3f,\"unit\":\"ms\"}\n",
	       pause);
	fflush(stdout);
	return check_pass();
}
