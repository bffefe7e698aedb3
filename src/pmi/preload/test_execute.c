/*
 * test_execute.c - in a rank of several (PMI_SIZE, from meson.build) no Open MPI
 * that is linked in statically is executed
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/scratch.h"
#include "core/xalloc.h"

static char *program, *path; /* in the second folder of PATH */

/* No kernel executes it, because it names no machine. */
static void write_program(void)
{
	struct {
		Elf64_Ehdr head;
		Elf64_Phdr part;
		char text[16];
	} s = {
		.head = { .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3,
				       ELFCLASS64 },
			  .e_phoff = sizeof(s.head),
			  .e_phentsize = sizeof(s.part),
			  .e_phnum = 1 },
		.part = { .p_type = PT_LOAD },
		.text = "ompi_mpi_init",
	};
	int fd = open(program, O_WRONLY | O_CREAT | O_CLOEXEC, 0700);

	assert_int_equal(write(fd, &s, sizeof(s)), sizeof(s));
	close(fd);
}

enum way { EXECVE, EXECV, EXECVPE, EXECVP };

static void execute(enum way way, const char *file)
{
	char *const argv[] = { (char *)file, NULL };

	switch (way) {
	case EXECVE:
		execve(file, argv, environ);
		break;
	case EXECV:
		execv(file, argv);
		break;
	case EXECVPE:
		execvpe(file, argv, environ);
		break;
	case EXECVP:
		execvp(file, argv);
	}
	_exit(errno == ENOENT ? 3 : 4);
}

/* The exit status, and whether the refusal was printed. */
static int run(enum way way, const char *file, bool *refused)
{
	char text[1024] = "";
	int ends[2], status;
	pid_t pid;

	assert_int_equal(pipe(ends), 0);
	pid = fork();
	if (!pid) {
		dup2(ends[1], STDERR_FILENO);
		execute(way, file);
	}
	close(ends[1]);
	*refused = read(ends[0], text, sizeof(text) - 1) > 0 &&
		   strstr(text, "Open MPI is linked into it statically");
	close(ends[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void refused(void **state)
{
	bool said;

	for (enum way way = EXECVE; way <= EXECVP; way++) {
		assert_int_equal(run(way, program, &said), 126);
		assert_true(said);
		if (way < EXECVPE)
			continue;
		assert_int_equal(run(way, "program", &said), 126);
		assert_true(said);
	}
}

static void others(void **state)
{
	bool said;

	for (enum way way = EXECVE; way <= EXECVP; way++) {
		assert_int_equal(run(way, "/bin/true", &said), 0);
		assert_false(said);
		assert_int_equal(run(way, "/no/such", &said), 3);
		assert_false(said);
	}
	assert_int_equal(run(EXECVP, "true", &said), 0);
	assert_int_equal(run(EXECVP, "nosuch", &said), 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(refused),
		cmocka_unit_test(others),
	};
	char dir[SCRATCH_MAX];
	char *first, *second;
	int r;

	scratch_dir(dir, "/tmp");
	first = xasprintf("%s/first", dir);
	second = xasprintf("%s/first/program", dir);
	/* A folder with the program's name, which execvp() passes over. */
	if (mkdir(first, 0700) < 0 || mkdir(second, 0700) < 0)
		return 1;
	program = xasprintf("%s/program", dir);
	path = xasprintf("%s:%s:/bin:/usr/bin", first, dir);
	setenv("PATH", path, 1);
	write_program();
	r = cmocka_run_group_tests(tests, NULL, NULL);
	free(program);
	free(path);
	free(first);
	free(second);
	return r;
}
