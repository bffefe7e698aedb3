/* test_scan.c - pages as pagemap's entries tell them */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/io.h"
#include "move/memory/scan.h"

#define PRESENT (UINT64_C(1) << 63)
#define SWAPPED (UINT64_C(1) << 62)
#define OF_FILE (UINT64_C(1) << 61)
#define WRITTEN (UINT64_C(1) << 55)
#define PAGE	4096

/*
 * A pagemap with these entries, of a process whose memory begins at address 0.
 */
static struct scan *fake(const uint64_t *entry, size_t n)
{
	int fd = memfd_create("pagemap", 0);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, entry, n * 8), n * 8);
	return scan_of_file(fd);
}

/* Appends "2-4w " for pages 2 and 3, written to. */
static int note(void *text, uint64_t start, uint64_t end, bool written,
		struct error *err)
{
	size_t n = strlen(text);

	snprintf((char *)text + n, 200 - n, "%d-%d%s ", (int)(start / PAGE),
		 (int)(end / PAGE), written ? "w" : "");
	return 0;
}

static int note_plain(void *text, uint64_t start, uint64_t end,
		      struct error *err)
{
	return note(text, start, end, false, err);
}

static const uint64_t entries[] = {
	0,	 PRESENT | WRITTEN,	      PRESENT | WRITTEN, PRESENT,
	0x1234,	 SWAPPED | WRITTEN,	      PRESENT | OF_FILE, PRESENT,
	PRESENT, PRESENT | OF_FILE | WRITTEN, WRITTEN,		 SWAPPED,
};

static void soft_dirty_runs(void **state)
{
	struct scan *s = fake(entries, 12);
	char text[200] = "";

	assert_int_equal(scan_soft(s, 0, 12 * PAGE, false, note, text, NULL),
			 0);
	assert_string_equal(text, "1-3w 3-4 5-6w 7-9 11-12 ");
	text[0] = '\0';
	assert_int_equal(
		scan_soft(s, 2 * PAGE, 10 * PAGE, true, note, text, NULL), 0);
	assert_string_equal(text, "2-3w 3-4 5-6w 6-9 9-10w ");
	scan_close(s);
}

static void reading_instead_of_scanning(void **state)
{
	struct scan *s = fake(entries, 12);
	char text[200] = "";

	assert_int_equal(
		scan_private(s, 0, 12 * PAGE, 0, note_plain, text, NULL), 0);
	assert_string_equal(text, "1-4 5-6 7-9 11-12 ");
	text[0] = '\0';
	assert_int_equal(
		scan_present(s, 5 * PAGE, 12 * PAGE, 0, note_plain, text, NULL),
		0);
	assert_string_equal(text, "5-10 11-12 ");
	scan_close(s);
}

/* Runs go on from one read to the next. */
static void longer_than_a_read(void **state)
{
	static uint64_t entry[20000];
	char text[200] = "";
	struct scan *s;

	for (size_t i = 3; i < 20000; i++)
		entry[i] = PRESENT;
	entry[17000] = 0;
	s = fake(entry, 20000);
	assert_int_equal(
		scan_private(s, 0, 20000 * PAGE, 0, note_plain, text, NULL), 0);
	assert_string_equal(text, "3-17000 17001-20000 ");
	scan_close(s);
}

static void the_end_of_the_file(void **state)
{
	struct scan *s = fake(entries, 12);
	char text[200] = "";
	struct error err;

	assert_true(scan_private(s, 0, 20 * PAGE, 0, note_plain, text, &err) <
		    0);
	scan_close(s);
}

static int stop(void *arg, uint64_t start, uint64_t end, struct error *err)
{
	++*(int *)arg;
	return -5;
}

static void an_error_ends_it(void **state)
{
	struct scan *s = fake(entries, 12);
	int calls = 0;

	assert_int_equal(scan_private(s, 0, 12 * PAGE, 0, stop, &calls, NULL),
			 -5);
	assert_int_equal(calls, 1);
	scan_close(s);
}

/* A mark (3 is a guard's with one of the protection), one page in swap, two moving. */
static void pages_on_their_way(void **state)
{
	static const uint64_t e[] = { PRESENT | 0x100,
				      SWAPPED | 3 << 5 | 31,
				      SWAPPED | 0x1234 << 5 | 2,
				      SWAPPED | 0x5678 << 5 | 28,
				      SWAPPED | OF_FILE | 0x5678 << 5 | 28,
				      0x1234 };
	struct scan *s = fake(e, 6);
	char text[200] = "";

	assert_int_equal(scan_moving(s, 0, 6 * PAGE, note_plain, text, NULL),
			 0);
	assert_string_equal(text, "2-3 3-4 ");
	scan_close(s);
}

/* One page written, a guard page, one untouched, one written. */
static void guards_and_pages_in_one(void **state)
{
	char *p = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t at = (uintptr_t)p;
	char pages[200] = "", guards[200] = "", want[2][200] = { "", "" };
	struct scan *s = scan_open(getpid(), false, NULL);

	assert_true(p != MAP_FAILED && s);
	if (!scan_has_ioctl() || !scan_has_guards() ||
	    madvise(p + PAGE, PAGE, MADV_GUARD_INSTALL) < 0) {
		print_message("this kernel tells of no guard pages\n");
		goto out;
	}
	p[0] = p[3 * PAGE] = 1;
	note_plain(want[0], at, at + PAGE, NULL);
	note_plain(want[0], at + 3 * PAGE, at + 4 * PAGE, NULL);
	note_plain(want[1], at + PAGE, at + 2 * PAGE, NULL);
	assert_int_equal(scan_private_and_guards(s, at, at + 4 * PAGE, 0,
						 note_plain, pages, note_plain,
						 guards, NULL),
			 0);
	assert_string_equal(pages, want[0]);
	assert_string_equal(guards, want[1]);
out:
	munmap(p, 4 * PAGE);
	scan_close(s);
}

/* Track writes to that memory; -1 if this kernel or user cannot. */
static int track(uint64_t at, uint64_t size)
{
	struct uffdio_api api = { .api = UFFD_API,
				  .features = UFFD_FEATURE_WP_ASYNC |
					      UFFD_FEATURE_WP_UNPOPULATED |
					      UFFD_FEATURE_WP_HUGETLBFS_SHMEM };
	struct uffdio_register reg = { .range = { at, size },
				       .mode = UFFDIO_REGISTER_MODE_WP };
	int fd = (int)syscall(SYS_userfaultfd,
			      O_CLOEXEC | O_NONBLOCK | UFFD_USER_MODE_ONLY);

	if (fd >= 0 && (ioctl(fd, UFFDIO_API, &api) < 0 ||
			ioctl(fd, UFFDIO_REGISTER, &reg) < 0))
		io_close(&fd);
	return fd;
}

static int pass_over(void *arg, uint64_t start, uint64_t end, struct error *err)
{
	return 0;
}

struct seen {
	uint64_t from;
	char text[200];
};

static int note_change(void *seen, uint64_t start, uint64_t end,
		       enum scan_change what, struct error *err)
{
	static const char *const names[] = { [SCAN_CHANGED] = "changed",
					     [SCAN_GONE] = "gone",
					     [SCAN_GUARD] = "guard",
					     [SCAN_MARK] = "mark" };
	struct seen *s = seen;
	size_t n = strlen(s->text);

	snprintf(s->text + n, sizeof(s->text) - n, "%d-%d %s, ",
		 (int)((start - s->from) / PAGE), (int)((end - s->from) / PAGE),
		 names[what]);
	return 0;
}

/* Pages 0 to 3 anonymous, 4 to 7 of a file; all but 3 and 7 written to. */
static char *make_row(void)
{
	fd_auto fd = memfd_create("file", MFD_CLOEXEC);
	char *p = mmap(NULL, 8 * PAGE, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_true(p != MAP_FAILED && fd >= 0);
	assert_int_equal(ftruncate(fd, 4 * PAGE), 0);
	assert_ptr_equal(mmap(p + 4 * PAGE, 4 * PAGE, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_FIXED, fd, 0),
			 p + 4 * PAGE);
	for (int i = 0; i < 8; i++)
		if (i != 3 && i != 7)
			p[i * PAGE] = 1;
	assert_int_equal(*(volatile char *)(p + 7 * PAGE), 0);
	return p;
}

static void all_changes_of_a_row(void **state)
{
	char *p = make_row();
	struct seen seen = { .from = (uintptr_t)p };
	uint64_t at = seen.from;
	fd_auto uffd = track(at, 8 * PAGE);
	struct scan *s = scan_open(getpid(), false, NULL);
	bool guards = scan_has_guards();

	if (uffd < 0 || !scan_has_ioctl()) {
		print_message("this kernel cannot track writes\n");
		goto out;
	}
	assert_int_equal(scan_private(s, at, at + 8 * PAGE, SCAN_PROTECT,
				      pass_over, NULL, NULL),
			 0);
	p[PAGE] = 2;
	p[6 * PAGE] = 2;
	assert_int_equal(madvise(p + 2 * PAGE, PAGE, MADV_DONTNEED), 0);
	assert_int_equal(madvise(p + 4 * PAGE, 2 * PAGE, MADV_DONTNEED), 0);
	assert_int_equal(*(volatile char *)(p + 4 * PAGE), 0);
	if (guards)
		assert_int_equal(
			madvise(p + 3 * PAGE, PAGE, MADV_GUARD_INSTALL), 0);
	assert_int_equal(scan_changed(s, at, at + 8 * PAGE, guards, note_change,
				      &seen, NULL),
			 0);
	assert_string_equal(seen.text,
			    guards ? "1-2 changed, 2-3 gone, 3-4 guard, "
				     "4-5 mark, 5-6 mark, 6-7 changed, "
				     "7-8 mark, "
				   : "1-2 changed, 2-4 gone, 4-5 mark, "
				     "5-6 mark, 6-7 changed, 7-8 mark, ");
	assert_int_equal(scan_moving(s, at + 4 * PAGE, at + 8 * PAGE, stop,
				     &(int){ 0 }, NULL),
			 0);
out:
	munmap(p, 8 * PAGE);
	scan_close(s);
}

#define MUCH (256u << 20)

/* Have the kernel move pages, of which it has half as many holes to fill. */
static void *compact(void *end)
{
	fd_auto fd = open("/proc/sys/vm/compact_memory", O_WRONLY | O_CLOEXEC);

	while (!atomic_load((atomic_bool *)end) && write(fd, "1", 1) == 1)
		;
	return NULL;
}

static char *make_pages(void)
{
	char *p = mmap(NULL, MUCH, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_true(p != MAP_FAILED);
	assert_int_equal(madvise(p, MUCH, MADV_NOHUGEPAGE), 0);
	memset(p, 1, MUCH);
	return p;
}

static int count(void *pages, uint64_t start, uint64_t end, struct error *err)
{
	*(size_t *)pages += (end - start) / PAGE;
	return 0;
}

static int count_changed(void *pages, uint64_t start, uint64_t end,
			 enum scan_change what, struct error *err)
{
	return what == SCAN_CHANGED ? count(pages, start, end, err) : 0;
}

static void none_is_missed_while_the_kernel_moves_them(void **state)
{
	char *p = make_pages(), *holes = make_pages();
	uint64_t at = (uintptr_t)p;
	fd_auto uffd = track(at, MUCH);
	struct scan *s = scan_open(getpid(), false, NULL);
	atomic_bool end = false;
	size_t private, changed, at_hole = 0;
	pthread_t thread;

	if (uffd < 0 || !scan_has_ioctl() ||
	    access("/proc/sys/vm/compact_memory", W_OK) < 0) {
		print_message(
			"this kernel cannot track writes, or not be told to compact\n");
		goto out;
	}
	assert_int_equal(pthread_create(&thread, NULL, compact, &end), 0);
	for (int round = 0; round < 50; round++) {
		for (size_t i = 0; i < 1000; i++, at_hole += 7919)
			madvise(holes + at_hole % (MUCH / PAGE) * PAGE, PAGE,
				MADV_DONTNEED);
		private = changed = 0;
		assert_int_equal(scan_private(s, at, at + MUCH, SCAN_SWAPPED,
					      count, &private, NULL),
				 0);
		assert_int_equal(scan_changed(s, at, at + MUCH, false,
					      count_changed, &changed, NULL),
				 0);
		assert_int_equal(private, MUCH / PAGE);
		assert_int_equal(changed, MUCH / PAGE);
	}
	atomic_store(&end, true);
	pthread_join(thread, NULL);
out:
	munmap(p, MUCH);
	munmap(holes, MUCH);
	scan_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(soft_dirty_runs),
		cmocka_unit_test(reading_instead_of_scanning),
		cmocka_unit_test(longer_than_a_read),
		cmocka_unit_test(the_end_of_the_file),
		cmocka_unit_test(an_error_ends_it),
		cmocka_unit_test(guards_and_pages_in_one),
		cmocka_unit_test(all_changes_of_a_row),
		cmocka_unit_test(pages_on_their_way),
		cmocka_unit_test(none_is_missed_while_the_kernel_moves_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
