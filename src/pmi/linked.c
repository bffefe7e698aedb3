#include "pmi/linked.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct image {
	const char *at;
	size_t n;
};

/* Its program headers lie in the file, and none names a loader. */
static bool is_static(const struct image *im)
{
	const Elf64_Ehdr *head = (const void *)im->at;
	const Elf64_Phdr *part;

	if (im->n < sizeof(*head) || memcmp(head->e_ident, ELFMAG, SELFMAG) ||
	    head->e_ident[EI_CLASS] != ELFCLASS64 ||
	    head->e_phentsize != sizeof(*part) || head->e_phoff > im->n ||
	    head->e_phoff % _Alignof(Elf64_Phdr) ||
	    head->e_phnum > (im->n - head->e_phoff) / sizeof(*part))
		return false;
	part = (const void *)(im->at + head->e_phoff);
	for (unsigned i = 0; i < head->e_phnum; i++)
		if (part[i].p_type == PT_INTERP)
			return false;
	return head->e_phnum;
}

/* In all versions from 1 to 5 one of them is: the function that all forms of
 * MPI_Init come to, and the file with what it says when it fails. */
static bool has_openmpi(const struct image *im)
{
	static const char *const marks[] = { "ompi_mpi_init",
					     "help-mpi-runtime" };

	for (size_t i = 0; i < sizeof(marks) / sizeof(*marks); i++)
		if (memmem(im->at, im->n, marks[i], strlen(marks[i])))
			return true;
	return false;
}

static bool look_into(int fd)
{
	struct image im;
	struct stat st;
	void *at;
	bool yes;

	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || !st.st_size)
		return false;
	im.n = (size_t)st.st_size;
	at = mmap(NULL, im.n, PROT_READ, MAP_PRIVATE, fd, 0);
	if (at == MAP_FAILED)
		return false;
	im.at = at;
	yes = is_static(&im) && has_openmpi(&im);
	munmap(at, im.n);
	return yes;
}

bool pmi_linked_statically(const char *path)
{
	int saved = errno, fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	bool yes = fd >= 0 && look_into(fd);

	if (fd >= 0)
		close(fd);
	errno = saved;
	return yes;
}
