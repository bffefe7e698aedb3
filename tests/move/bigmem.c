/*
 * bigmem.c - as much memory as asked for, written at a steady rate
 *
 *	bigmem [MEGABYTES [PAGES_PER_SECOND [SECONDS]]]
 *
 * Every page carries its number and how often it was written; a second,
 * small table says how often that should be.  When it is done it verifies
 * all pages and prints one line of JSON: the longest time in which it did
 * not run, by CLOCK_REALTIME, which no time namespace hides.
 */
#include <sys/mman.h>

#include "longest.h"

static uint64_t *mem;
static uint32_t *written;
static size_t nr_pages;

static uint64_t *page(size_t i)
{
	return mem + i * (CHECK_PAGE / 8);
}

static void write_page(size_t i)
{
	uint64_t *p = page(i);

	CHECK(p[0] == i * 4096 + written[i], "page %zu is from another time",
	      i);
	written[i]++;
	p[0] = p[511] = i * 4096 + written[i];
	p[256] = ~p[0];
}

static void verify(void)
{
	for (size_t i = 0; i < nr_pages; i++) {
		uint64_t *p = page(i), want = i * 4096 + written[i];

		CHECK(p[0] == want && p[511] == want && p[256] == ~want,
		      "page %zu: %llx, not %llx", i, (unsigned long long)p[0],
		      (unsigned long long)want);
	}
}

static bool go_on(int64_t end)
{
	return end ? check_now() < end : check_running();
}

/* Write at once all that is due by the clock, then sleep a little. */
static uint64_t dirty(double rate, double seconds)
{
	int64_t start = check_now(), last = start;
	int64_t end = seconds ? start + (int64_t)(seconds * 1e9) : 0;
	uint64_t seed = 1, sum = 0;
	double due = 0;

	while (go_on(end)) {
		int64_t now = check_now();

		due += rate * (double)(now - last) / 1e9;
		if (due > rate / 10)
			due = rate / 10; /* never make up for a long pause */
		last = now;
		for (; due >= 1; due--, sum++)
			write_page(check_rand(&seed) % nr_pages);
		check_nap();
	}
	return sum;
}

static double number(int argc, char **argv, int i, double other)
{
	return argc > i ? strtod(argv[i], NULL) : other;
}

int main(int argc, char **argv)
{
	double mb = number(argc, argv, 1, 64);
	double rate = number(argc, argv, 2, 10000);
	uint64_t sum;
	double pause;
	pthread_t t;

	nr_pages = (size_t)(mb * 256);
	CHECK(nr_pages > 0, "usage: bigmem [MB [PAGES/S [SECONDS]]]");
	mem = mmap(NULL, nr_pages * CHECK_PAGE, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	written = calloc(nr_pages, sizeof(*written));
	CHECK(mem != MAP_FAILED && written);
	for (size_t i = 0; i < nr_pages; i++) {
		written[i] = (uint32_t)-1;
		page(i)[0] = i * 4096 + written[i];
		write_page(i);
	}
	t = check_thread(longest_watch, NULL);
	check_ready();
	sum = dirty(rate, number(argc, argv, 3, 0));
	pause = longest_end(t);
	if (check_sabotaged())
		page(nr_pages / 2)[256] ^= 1;
	verify();
	printf("{\"what\":\"longest pause\",\"value\":%.3f,\"unit\":\"ms\","
	       "\"pages_written\":%llu}\n",
	       pause, (unsigned long long)sum);
	fflush(stdout);
	return check_pass();
}
