/*
 * test_vdso.c - this kernel's vdso, after its functions were made system calls
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "move/tracee/cpuclock.h"
#include "move/tracee/vdso.h"

/* Make a copy that may be executed; each of its functions is found by name. */
static uint8_t *load(const uint8_t *image, size_t n)
{
	uint8_t *p = mmap(NULL, n, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_true(p != MAP_FAILED);
	memcpy(p, image, n);
	assert_int_equal(mprotect(p, n, PROT_READ | PROT_EXEC), 0);
	return p;
}

static void *find(uint8_t *p, const char *name)
{
	const Elf64_Ehdr *e = (const void *)p;
	const Elf64_Shdr *s = (const void *)(p + e->e_shoff);

	for (unsigned i = 0; i < e->e_shnum; i++) {
		const Elf64_Sym *sym = (const void *)(p + s[i].sh_offset);

		if (s[i].sh_type != SHT_DYNSYM)
			continue;
		for (size_t k = 0; k < s[i].sh_size / sizeof(*sym); k++)
			if (!strcmp((char *)p + s[s[i].sh_link].sh_offset +
					    sym[k].st_name,
				    name))
				return p + sym[k].st_value;
	}
	return NULL;
}

/* cmocka's skip() is a failure in TAP. */
static bool has_vdso(uint64_t at)
{
	if (!at)
		print_message("# not tested: this kernel has no vdso\n");
	return at;
}

static void test_calls(void **state)
{
	int (*gettime)(clockid_t clock, struct timespec * ts);
	long (*seconds)(time_t * t);
	struct error err = ERROR_INIT;
	struct timespec ts, now;
	uint8_t *image, *p;
	uint64_t at, hash;
	size_t n;

	assert_int_equal(vdso_read(getpid(), &image, &n, &at), 0);
	if (!has_vdso(at))
		return;
	hash = vdso_hash(image, n);
	assert_true(hash != 0);
	assert_int_equal(vdso_redirect(image, n, &err), 0);
	assert_true(vdso_hash(image, n) != hash);
	p = load(image, n);
	*(void **)&gettime = find(p, "__vdso_clock_gettime");
	*(void **)&seconds = find(p, "__vdso_time");
	assert_non_null(gettime);
	assert_non_null(seconds);
	assert_int_equal(gettime(CLOCK_MONOTONIC, &ts), 0);
	clock_gettime(CLOCK_MONOTONIC, &now);
	assert_true(now.tv_sec - ts.tv_sec <= 1);
	assert_int_equal(gettime(12345, &ts), -EINVAL);
	assert_true(labs(time(NULL) - seconds(NULL)) <= 1);
	munmap(p, n);
	free(image);
}

/*
 * The vdso came over the wire: whatever is in it, nothing outside of it is
 * touched.
 */
static void test_hostile(void **state)
{
	unsigned seed = 1;
	uint8_t *image, *copy;
	struct error err;
	uint64_t at;
	size_t n;

	assert_int_equal(vdso_read(getpid(), &image, &n, &at), 0);
	if (!has_vdso(at))
		return;
	for (int i = 0; i < 20000; i++) {
		size_t len = i % 7 ? n : (size_t)rand_r(&seed) % n;

		copy = malloc(len + 1);
		memcpy(copy, image, len);
		for (int k = 0; k < 4 && len; k++)
			copy[(size_t)rand_r(&seed) %
			     (k % 2 || len < 64 ? len : 64)] =
				(uint8_t)rand_r(&seed);
		(void)!vdso_redirect(copy, len, &err);
		free(copy);
	}
	assert_int_equal(vdso_redirect((uint8_t *)"", 0, &err), -EPROTO);
	free(image);
}

static const struct timespec none;

static int64_t nsec(const struct timespec *t)
{
	return t->tv_sec * INT64_C(1000000000) + t->tv_nsec;
}

/* All its functions are system calls, so a copy runs anywhere. */
static void test_cpu_clocks(void **state)
{
	int (*gettime)(clockid_t clock, struct timespec * ts);
	const int64_t more = INT64_C(5000000000) + 999999999;
	struct cpuclock add[] = { { CPUCLOCK_PROCESS | (uint32_t)getpid(),
				    more },
				  { (uint32_t)gettid(), 2 * more } };
	struct cpuclock got[CPUCLOCK_MOST];
	struct timespec now, then = none;
	uint8_t *image, *was, *p;
	uint64_t at;
	size_t n;

	assert_int_equal(vdso_read(getpid(), &image, &n, &at), 0);
	was = malloc(n);
	assert_int_equal(vdso_redirect(image, n, NULL), 0);
	memcpy(was, image, n);
	assert_int_equal(cpuclock_patch(image, n, add, 2), 2);
	p = load(image, n);
	*(void **)&gettime = find(p, "__vdso_clock_gettime");
	assert_int_equal(gettime(CLOCK_MONOTONIC, &now), 0);
	clock_gettime(CLOCK_MONOTONIC, &then);
	assert_true(nsec(&then) - nsec(&now) < INT64_C(4000000000));
	for (clockid_t c = 2; c <= 3; c++) {
		clock_gettime(c, &then);
		assert_int_equal(gettime(c, &now), 0);
		assert_true(nsec(&now) >= nsec(&then) + (c - 1) * more);
		assert_true(now.tv_nsec < 1000000000);
		clock_gettime(c, &then);
		assert_true(nsec(&now) <= nsec(&then) + (c - 1) * more);
	}
	assert_int_equal(gettime(-10, &now), -EINVAL); /* of thread 1 */
	assert_int_equal(cpuclock_unpatch(image, n, got), 2);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(got[i].id, add[i].id);
		assert_int_equal(got[i].nsec, add[i].nsec);
	}
	assert_memory_equal(image, was, n);
	assert_int_equal(cpuclock_unpatch(image, n, got), 0);
	munmap(p, n);
	free(was);
	free(image);
}

/* Whatever the process has written into its vdso. */
static void test_odd_clocks(void **state)
{
	struct cpuclock got[CPUCLOCK_MOST], add[CPUCLOCK_MOST] = { { 1, 1 } };
	uint8_t *image, *copy;
	unsigned seed = 1;
	uint64_t at;
	size_t n;

	assert_int_equal(vdso_read(getpid(), &image, &n, &at), 0);
	assert_true(cpuclock_patch(image, n, add, 1) == 1);
	for (int i = 0; i < 20000; i++) {
		size_t len = 1 + (size_t)rand_r(&seed) % n;

		copy = malloc(len);
		memcpy(copy, image, len);
		for (int k = 0; k < 8; k++)
			copy[(size_t)rand_r(&seed) % len] =
				(uint8_t)rand_r(&seed);
		/* the numbers of sites are near the end of what is used */
		for (size_t k = 0; k + 16 <= len; k += 16)
			if (!memcmp(copy + k, "STNTCPU1", 8))
				copy[k + 8 + (size_t)rand_r(&seed) % 8] =
					(uint8_t)rand_r(&seed);
		(void)!cpuclock_unpatch(copy, len, got);
		(void)!cpuclock_patch(copy, len, add, CPUCLOCK_MOST);
		free(copy);
	}
	free(image);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_calls),
		cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_cpu_clocks),
		cmocka_unit_test(test_odd_clocks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
