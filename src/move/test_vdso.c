/* test_vdso.c - this kernel's vdso, with its entries made system calls */
#include <setjmp.h>
#include <stdarg.h>
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

#include "move/vdso.h"

/* A copy that may be run; each of its functions is found by name. */
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
	if (!at)
		skip();
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

/* It came over the wire: whatever it is, nothing beside it is touched. */
static void test_hostile(void **state)
{
	unsigned seed = 1;
	uint8_t *image, *copy;
	struct error err;
	uint64_t at;
	size_t n;

	assert_int_equal(vdso_read(getpid(), &image, &n, &at), 0);
	if (!at)
		skip();
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_calls),
		cmocka_unit_test(test_hostile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
