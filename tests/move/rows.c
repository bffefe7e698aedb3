/*
 * rows.c - many small private mappings side by side, as of libraries
 *
 * Of a file and of anonymous memory by turns.  They may be written to for moments
 * only: a page is changed, or given back (MADV_DONTNEED), which makes it the file's, or
 * zeros, again; or all of a mapping cannot even be read for a while.  A shadow repeats
 * the first word of each page.
 */
#include <fcntl.h>
#include <sys/mman.h>

#include "check.h"

#define MAPPINGS 200
#define PAGES	 4
#define WORDS	 (CHECK_PAGE / 8)
#define SIZE	 (PAGES * CHECK_PAGE)

static uint64_t *memory;
static uint64_t shadow[MAPPINGS][PAGES];
static uint64_t seed = 1;

static bool is_file(size_t m)
{
	return m % 2 == 0;
}

static uint64_t *word(size_t m, size_t page)
{
	return memory + (m * PAGES + page) * WORDS;
}

static uint64_t first_word(size_t m, size_t page)
{
	return is_file(m) ? page + 1 : 0;
}

static int make_file(void)
{
	int fd = open(check_path("file"), O_RDWR | O_CREAT, 0600);

	for (size_t i = 0; i < PAGES; i++) {
		uint64_t w = first_word(0, i);

		CHECK(pwrite(fd, &w, sizeof(w), (off_t)(i * CHECK_PAGE)) ==
		      sizeof(w));
	}
	CHECK(ftruncate(fd, SIZE) == 0);
	return fd;
}

static void make_mapping(size_t m, int fd)
{
	CHECK(mmap(word(m, 0), SIZE, PROT_READ,
		   MAP_PRIVATE | MAP_FIXED | (is_file(m) ? 0 : MAP_ANONYMOUS),
		   is_file(m) ? fd : -1, 0) == word(m, 0));
	for (size_t i = 0; i < PAGES; i++)
		shadow[m][i] = first_word(m, i);
}

static void protect(size_t m, int prot)
{
	CHECK(mprotect(word(m, 0), SIZE, prot) == 0);
}

static void change(size_t m, size_t page)
{
	uint64_t value = check_rand(&seed);

	protect(m, PROT_READ | PROT_WRITE);
	*word(m, page) = value;
	shadow[m][page] = value;
	protect(m, PROT_READ);
}

static void give_back(size_t m, size_t page)
{
	CHECK(madvise(word(m, page), CHECK_PAGE, MADV_DONTNEED) == 0);
	shadow[m][page] = first_word(m, page);
}

static void look(size_t m)
{
	for (size_t i = 0; i < PAGES; i++)
		CHECK(*word(m, i) == shadow[m][i],
		      "page %zu of mapping %zu holds %llx, not %llx", i, m,
		      (unsigned long long)*word(m, i),
		      (unsigned long long)shadow[m][i]);
}

static void turn(void)
{
	size_t m = check_rand(&seed) % MAPPINGS;
	size_t page = check_rand(&seed) % PAGES;

	switch (check_rand(&seed) % 8) {
	case 0:
		protect(m, PROT_NONE);
		check_nap();
		protect(m, PROT_READ);
		break;
	case 1:
	case 2:
		give_back(m, page);
		break;
	case 3:
		change(m, page);
		give_back(m, page);
		break;
	case 4:
		look(m);
		break;
	default:
		change(m, page);
	}
}

int main(void)
{
	int fd = make_file();

	memory = mmap(NULL, MAPPINGS * SIZE, PROT_NONE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(memory != MAP_FAILED);
	for (size_t m = 0; m < MAPPINGS; m++)
		make_mapping(m, fd);
	close(fd);
	check_ready();
	for (uint64_t n = 0; check_running(); n++) {
		turn();
		if (n % 16 == 0)
			check_nap();
	}
	if (check_sabotaged())
		shadow[7][1] ^= 1;
	for (size_t m = 0; m < MAPPINGS; m++)
		look(m);
	return check_pass();
}
