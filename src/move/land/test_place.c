/* test_place.c - pages that arrive, whatever is mapped there already */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "move/land/place.h"
#include "move/proc/proc.h"

#define NR   8
#define PAGE FRAME_PAGE

/* This very process is the one that lands; a page that is watched and empty
 * must not be touched here before place_end(). */
struct place {
	struct landing l;
	unsigned char *at; /* NR pages */
	char lost[NR + 1]; /* "-x": there was no place for the second page */
};

static void open_uffd(struct landing *l)
{
	struct uffdio_api api = { .api = UFFD_API };

	l->uffd =
		(int)syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY);
	/* where userfaultfd is forbidden, both ways are the same */
	if (l->uffd >= 0)
		assert_int_equal(ioctl(l->uffd, UFFDIO_API, &api), 0);
}

static void begin(struct place *p, bool watched)
{
	*p = (struct place){ .l = { .pid = getpid(), .uffd = -1 } };
	if (watched)
		open_uffd(&p->l);
	p->at = mmap(NULL, NR * PAGE, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(p->at != MAP_FAILED);
	memset(p->lost, '-', NR);
}

static void expect(const struct place *p, int page, int nr, uint32_t kind,
		   uint32_t advice)
{
	Move__Vma v = MOVE__VMA__INIT;

	v.start = (uintptr_t)p->at + (uint64_t)page * PAGE;
	v.end = v.start + (uint64_t)nr * PAGE;
	v.kind = kind;
	v.advice = advice;
	place_expect(&p->l, &v);
}

static void note_lost(void *arg, uint64_t start, uint64_t end)
{
	struct place *p = arg;

	assert_int_equal(end - start, PAGE);
	p->lost[(start - (uintptr_t)p->at) / PAGE] = 'x';
}

/*
 * Pages arrive in runs as in "0-3 5-6"; each page is full of its number and
 * that byte.
 */
static void arrive(struct place *p, const char *runs, unsigned char base)
{
	struct frame f = { .data = calloc(NR + 1, PAGE) };
	struct frame_pages *head = (void *)f.data;
	struct frame_run *run = (void *)(head + 1);
	unsigned char *data;
	struct error err;
	const char *s;

	for (s = runs; *s; s += 3 + (s[3] == ' '))
		run[head->nr_runs++] = (struct frame_run){
			(uintptr_t)p->at + (uint64_t)(s[0] - '0') * PAGE,
			(uint64_t)(s[2] - s[0]),
		};
	data = (void *)(run + head->nr_runs);
	for (s = runs; *s; s += 3 + (s[3] == ' '))
		for (char k = s[0]; k < s[2]; k++, data += PAGE)
			memset(data, base + k - '0', PAGE);
	assert_int_equal(place_pages(&p->l, &f, note_lost, p, &err), 0);
	free(f.data);
}

/*
 * "01--": the first two pages have their first content, the others are empty.
 */
static void finish(struct place *p, const char *want, const char *lost)
{
	place_end(&p->l);
	assert_int_equal(p->l.uffd, -1);
	for (int i = 0; i < NR; i++) {
		unsigned char *page = p->at + i * PAGE;
		unsigned char c = want[i] == '-'   ? 0
				  : want[i] == '+' ? (unsigned char)(100 + i)
						   : (unsigned char)(10 + i);

		if (want[i] == ' ') /* nothing is mapped there */
			continue;
		assert_int_equal(page[0], c);
		assert_memory_equal(page, page + 1, PAGE - 1);
	}
	assert_string_equal(p->lost, lost);
	munmap(p->at, NR * PAGE);
}

/* The two ways must end alike. */
static void both(void (*fn)(bool watched))
{
	fn(false);
	fn(true);
}

static void fill_empty(bool watched)
{
	struct place p;

	begin(&p, watched);
	expect(&p, 0, NR, VMA_ANON, 0);
	arrive(&p, "0-2 5-8", 10);
	finish(&p, "01---567", "--------");
}

static void empty_memory(void **state)
{
	both(fill_empty);
}

static void fill_twice(bool watched)
{
	struct place p;

	begin(&p, watched);
	expect(&p, 0, NR, VMA_ANON, 0);
	arrive(&p, "1-3", 10);
	arrive(&p, "0-5", 100);
	finish(&p, "+++++---", "--------");
}

static void what_is_there_is_written_over(void **state)
{
	both(fill_twice);
}

static void fill_mixed(bool watched)
{
	struct place p;

	begin(&p, watched);
	expect(&p, 0, 2, VMA_ANON, 0);
	expect(&p, 2, 2, VMA_ANON, VMA_HUGEPAGE);
	expect(&p, 4, 2, VMA_FILE, 0);
	arrive(&p, "0-8", 10);
	finish(&p, "01234567", "--------");
}

static void a_run_lies_in_several_mappings(void **state)
{
	both(fill_mixed);
}

static void fill_hole(bool watched)
{
	struct place p;

	begin(&p, watched);
	expect(&p, 0, NR, VMA_ANON, 0);
	munmap(p.at + 2 * PAGE, PAGE);
	munmap(p.at + 5 * PAGE, 2 * PAGE);
	arrive(&p, "1-4 4-6 6-8", 10);
	finish(&p, "-1 34  7", "--x--xx-");
}

static void pages_without_a_place_are_told(void **state)
{
	both(fill_hole);
}

static void fill_short_file(bool watched)
{
	int fd = memfd_create("short", MFD_CLOEXEC);
	struct place p;

	begin(&p, watched);
	assert_int_equal(ftruncate(fd, 2 * PAGE), 0);
	assert_true(mmap(p.at + 3 * PAGE, 4 * PAGE, PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_FIXED, fd, 0) != MAP_FAILED);
	expect(&p, 0, 3, VMA_ANON, 0);
	expect(&p, 3, 4, VMA_SHARED_FILE, 0);
	arrive(&p, "2-8", 10);
	finish(&p, "--234  7", "-----xx-");
	close(fd);
}

static void so_are_those_behind_the_end_of_a_file(void **state)
{
	both(fill_short_file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(empty_memory),
		cmocka_unit_test(what_is_there_is_written_over),
		cmocka_unit_test(a_run_lies_in_several_mappings),
		cmocka_unit_test(pages_without_a_place_are_told),
		cmocka_unit_test(so_are_those_behind_the_end_of_a_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
