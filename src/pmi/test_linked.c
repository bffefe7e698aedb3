/*
 * test_linked.c - which files are programs that Open MPI is linked into
 * statically
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/scratch.h"
#include "core/xalloc.h"
#include "pmi/linked.h"

/* The smallest program: a header, one segment, and its content. */
struct small {
	Elf64_Ehdr head;
	Elf64_Phdr part;
	char text[40];
};

static struct small small(uint32_t part, const char *text)
{
	struct small s = {
		.head = { .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3,
				       ELFCLASS64 },
			  .e_phoff = offsetof(struct small, part),
			  .e_phentsize = sizeof(Elf64_Phdr),
			  .e_phnum = 1 },
		.part = { .p_type = part },
	};

	memcpy(s.text, text, strlen(text));
	return s;
}

static char *program; /* written anew for each */

/* What is said of a file with these bytes. */
static bool linked(const void *p, size_t n)
{
	int fd = open(program, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0700);
	bool yes;

	assert_int_equal(write(fd, p, n), n);
	close(fd);
	errno = EXDEV;
	yes = pmi_linked_statically(program);
	assert_int_equal(errno, EXDEV);
	return yes;
}

static void marks(void **state)
{
	struct small s = small(PT_LOAD, "...ompi_mpi_init...");

	assert_true(linked(&s, sizeof(s)));
	s = small(PT_LOAD, "help-mpi-runtime.txt");
	assert_true(linked(&s, sizeof(s)));
	s = small(PT_LOAD, "MPI_Init");
	assert_false(linked(&s, sizeof(s)));
	/* A program with a loader loads our library, too. */
	s = small(PT_INTERP, "ompi_mpi_init");
	assert_false(linked(&s, sizeof(s)));
}

static void no_programs(void **state)
{
	struct small s = small(PT_LOAD, "ompi_mpi_init");

	assert_false(linked(&s, 0));
	assert_false(linked(&s, sizeof(s.head) - 1));
	assert_false(linked(&s, offsetof(struct small, text) - 1));
	assert_false(linked("#!/bin/sh\n# ompi_mpi_init\n", 27));
	s.head.e_phoff = UINT64_MAX - 7;
	assert_false(linked(&s, sizeof(s)));
	s.head.e_phoff = sizeof(s) & ~7UL;
	assert_false(linked(&s, sizeof(s)));
	s.head.e_phoff = offsetof(struct small, part) + 1;
	assert_false(linked(&s, sizeof(s)));
	s = small(PT_LOAD, "ompi_mpi_init");
	s.head.e_phnum = 0;
	assert_false(linked(&s, sizeof(s)));
	s.head.e_phnum = UINT16_MAX;
	assert_false(linked(&s, sizeof(s)));
	s.head.e_phnum = 1;
	s.head.e_ident[EI_CLASS] = ELFCLASS32;
	assert_false(linked(&s, sizeof(s)));
	assert_false(pmi_linked_statically("/"));
	assert_false(pmi_linked_statically("/dev/zero"));
	assert_false(pmi_linked_statically("/no/such/program"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(marks),
		cmocka_unit_test(no_programs),
	};
	char dir[SCRATCH_MAX];
	int r;

	scratch_dir(dir, "/tmp");
	program = xasprintf("%s/program", dir);
	r = cmocka_run_group_tests(tests, NULL, NULL);
	free(program);
	return r;
}
