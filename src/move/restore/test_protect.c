/* test_protect.c - mappings are protected before the end, and at the end right */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "move/proc/proc.h"
#include "move/restore/restore.h"

enum { PAGES = 8, R = PROT_READ, RW = PROT_READ | PROT_WRITE };

int __wrap_landing_call(struct landing *l, const char *what, long nr,
			uint64_t a, uint64_t b, uint64_t c, uint64_t d,
			uint64_t e, uint64_t f, struct error *err);
int __wrap_landing_flush(struct landing *l, struct error *err);

static char *area;
static int calls;
static struct restore_protected p;

/* This process is the one that lands, so its calls are made at once. */
int __wrap_landing_call(struct landing *l, const char *what, long nr,
			uint64_t a, uint64_t b, uint64_t c, uint64_t d,
			uint64_t e, uint64_t f, struct error *err)
{
	calls++;
	assert_int_equal(nr, SYS_mprotect);
	return syscall(nr, a, b, c, d, e, f) == -1
		       ? error_sys(err, -errno, "%s", what)
		       : 0;
}

int __wrap_landing_flush(struct landing *l, struct error *err)
{
	return 0;
}

static uint64_t page(int i)
{
	return (uintptr_t)area + (uint64_t)i * 4096;
}

static Move__Vma mapping(int from, int to, int prot)
{
	Move__Vma v = MOVE__VMA__INIT;

	v.start = page(from);
	v.end = page(to);
	v.prot = (uint32_t)prot;
	v.kind = VMA_ANON;
	return v;
}

static void is_mapped(int from, int to, int prot)
{
	const Move__Vma v = mapping(from, to, prot);

	restore_mapped(&p, &v);
}

static void is_protected(void)
{
	assert_int_equal(restore_protect(NULL, &p, NULL), 0);
}

static void has(int at, int prot)
{
	struct vma_list maps = { 0 };
	const struct vma *v;

	assert_int_equal(proc_read_maps(getpid(), &maps, NULL), 0);
	v = vma_find(&maps, page(at));
	assert_non_null(v);
	assert_int_equal(v->prot, prot);
	vma_list_clear(&maps);
}

/* What the source tells in the end, and how many calls that takes. */
static void ends_as(Move__Vma *v, size_t n, int takes)
{
	Move__Vma *map[PAGES];
	Move__State s = MOVE__STATE__INIT;

	for (size_t i = 0; i < n; i++)
		map[i] = &v[i];
	s.map = map;
	s.n_map = n;
	calls = 0;
	assert_int_equal(restore_protections(NULL, &s, &p, NULL), 0);
	assert_int_equal(calls, takes);
	for (size_t i = 0; i < n; i++)
		for (uint64_t at = v[i].start; at < v[i].end; at += 4096)
			has((int)((at - page(0)) / 4096), (int)v[i].prot);
}

static int set_up(void **state)
{
	area = mmap(NULL, PAGES * 4096, RW, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	calls = 0;
	return area == MAP_FAILED;
}

static int tear_down(void **state)
{
	munmap(area, PAGES * 4096);
	free(p.v);
	p = (struct restore_protected){ 0 };
	return 0;
}

static void nothing_is_left_for_the_end(void **state)
{
	Move__Vma end[] = { mapping(0, 2, R), mapping(2, 4, RW),
			    mapping(4, 6, PROT_NONE), mapping(6, 8, R) };

	is_mapped(6, 8, R);
	is_mapped(0, 2, R);
	is_mapped(2, 4, RW);
	is_mapped(4, 6, PROT_NONE);
	has(0, RW);
	is_protected();
	has(0, R);
	has(4, PROT_NONE);
	is_protected();
	assert_int_equal(calls, 3);
	ends_as(end, 4, 0);
}

static void what_differs_is_changed(void **state)
{
	Move__Vma end[] = { mapping(0, 2, RW), mapping(2, 3, R),
			    mapping(3, 4, PROT_NONE), mapping(4, 6, R) };

	is_mapped(0, 2, R);
	is_mapped(2, 4, R);
	is_mapped(4, 6, RW);
	is_protected();
	ends_as(end, 4, 3);
}

static void what_was_one_may_be_two(void **state)
{
	Move__Vma end[] = { mapping(0, 8, R) };

	is_mapped(0, 3, R);
	is_mapped(3, 8, R);
	is_protected();
	ends_as(end, 1, 0);
}

static void pages_still_come(void **state)
{
	Move__Vma end[] = { mapping(0, 4, R), mapping(4, 8, R) };

	is_mapped(0, 4, R);
	is_mapped(4, 8, R);
	is_protected();
	calls = 0;
	assert_int_equal(restore_open_range(NULL, &p, page(5), page(6), NULL),
			 0);
	assert_int_equal(restore_open_range(NULL, &p, page(4), page(8), NULL),
			 0);
	assert_int_equal(calls, 1);
	has(3, R);
	has(4, RW);
	ends_as(end, 2, 1);
}

static void something_else_is_mapped_there(void **state)
{
	Move__Vma end[] = { mapping(0, 2, R), mapping(2, 4, RW),
			    mapping(4, 5, R), mapping(5, 8, R) };

	is_mapped(0, 8, R);
	is_protected();
	/* as mmap() and munmap() leave it */
	assert_int_equal(mprotect(area + 2 * 4096, 3 * 4096, RW), 0);
	is_mapped(2, 4, RW);
	is_mapped(4, 5, R);
	ends_as(end, 4, 1);
	restore_unmapped(&p, page(0), page(8));
	assert_int_equal(p.nr, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(nothing_is_left_for_the_end,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_differs_is_changed, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(what_was_one_may_be_two, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(pages_still_come, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(something_else_is_mapped_there,
						set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
