/*
 * shared.c - memory that one process has more than once
 *
 * Shared anonymous memory mapped twice, in part and read-only; a memfd whose
 * descriptor is closed, mapped for writing and for reading; one that is open
 * at two numbers, mapped shared and privately, with a hole and a name; one
 * that is sealed and mapped for reading.  What is written in one place must
 * be seen in all others, and stays when the process drops its view of it.
 */
#include <fcntl.h>
#include <sys/mman.h>

#include "check.h"

#define PAGES	16
#define SIZE	(PAGES * CHECK_PAGE)
#define DROPPED 512 /* pages */

static uint64_t *anon, *anon_again, *anon_part;
static uint64_t *closed, *closed_reading;
static int fd, fd_again, sealed_fd;
static uint64_t *open_shared, *open_private;
static unsigned char *sealed;
static uint64_t *dropped, shadow[DROPPED];

static void *map(int prot, int flags, int from, off_t offset, size_t n)
{
	void *p = mmap(NULL, n, prot, flags, from, offset);

	CHECK(p != MAP_FAILED);
	return p;
}

static void make_anon(void)
{
	anon = map(PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0,
		   SIZE);
	anon_again = mremap(anon, 0, SIZE, MREMAP_MAYMOVE);
	CHECK(anon_again != MAP_FAILED);
	anon_part = mremap((char *)anon + 4 * CHECK_PAGE, 0, 4 * CHECK_PAGE,
			   MREMAP_MAYMOVE);
	CHECK(anon_part != MAP_FAILED);
	CHECK(mprotect(anon_part, 4 * CHECK_PAGE, PROT_READ) == 0);
}

static int make_memfd(const char *name)
{
	int mem = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);

	CHECK(mem >= 0 && ftruncate(mem, SIZE) == 0);
	return mem;
}

static void make_memfds(void)
{
	int rw = PROT_READ | PROT_WRITE, mem = make_memfd("closed");

	closed = map(rw, MAP_SHARED, mem, 0, SIZE);
	closed_reading =
		map(PROT_READ, MAP_SHARED, mem, CHECK_PAGE, SIZE - CHECK_PAGE);
	close(mem);
	fd = make_memfd("a name, with blanks");
	fd_again = dup(fd);
	open_shared = map(rw, MAP_SHARED, fd, 0, SIZE);
	open_private = map(rw, MAP_PRIVATE, fd, 0, SIZE);
	open_private[2 * CHECK_PAGE / 8] = 77;
	sealed_fd = make_memfd("sealed");
	sealed = map(rw, MAP_SHARED, sealed_fd, 0, SIZE);
	check_fill(sealed, SIZE, 5);
	CHECK(munmap(sealed, SIZE) == 0);
	CHECK(fcntl(sealed_fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK) == 0);
	sealed = map(PROT_READ, MAP_SHARED, sealed_fd, 0, SIZE);
}

/* The page leaves the process's tables, and keeps what was written. */
static void use_dropped(uint64_t n)
{
	size_t i = n % DROPPED;
	uint64_t *page = dropped + i * (CHECK_PAGE / 8);

	shadow[i] = n % 3 ? n : 0;
	*page = shadow[i];
	CHECK(madvise(page, CHECK_PAGE, MADV_DONTNEED) == 0);
}

static void check_dropped(void)
{
	for (size_t i = 0; i < DROPPED; i++)
		CHECK(dropped[i * (CHECK_PAGE / 8)] == shadow[i],
		      "page %zu lost what was written before it was dropped",
		      i);
}

/* What is written in one place is seen in all others. */
static void use_anon(uint64_t n)
{
	size_t i = n % (SIZE / 8), part = 4 * CHECK_PAGE / 8;

	if (n & 1)
		anon[i] = n;
	else
		anon_again[i] = n;
	CHECK(anon[i] == n && anon_again[i] == n, "two pieces at %zu", i);
	if (i >= part && i < 2 * part)
		CHECK(anon_part[i - part] == n, "the part is another piece");
	closed[i] = ~n;
	if (i >= CHECK_PAGE / 8)
		CHECK(closed_reading[i - CHECK_PAGE / 8] == ~n,
		      "closed memfd: two pieces");
}

static void use_open(uint64_t n)
{
	off_t at = (off_t)(n % 64 * 8);
	uint64_t got;

	CHECK(pwrite(fd, &n, 8, at) == 8);
	CHECK(open_shared[at / 8] == n && open_private[at / 8] == n,
	      "mapping and descriptor are two");
	open_shared[CHECK_PAGE / 8] = n;
	CHECK(pread(fd_again, &got, 8, CHECK_PAGE) == 8 && got == n);
	CHECK(open_private[2 * CHECK_PAGE / 8] == 77);
	open_shared[2 * CHECK_PAGE / 8] = n;
	CHECK(open_private[2 * CHECK_PAGE / 8] == 77,
	      "its own page is not private");
	CHECK(lseek(fd, 5 * CHECK_PAGE, SEEK_DATA) == -1 && errno == ENXIO);
}

static void check_sealed(void)
{
	char link[128] = "", path[40];

	CHECK(check_same(sealed, SIZE, 5));
	CHECK(fcntl(sealed_fd, F_GET_SEALS) == (F_SEAL_WRITE | F_SEAL_SHRINK));
	CHECK(mprotect(sealed, SIZE, PROT_READ | PROT_WRITE) == -1);
	CHECK(pwrite(sealed_fd, "x", 1, 0) == -1 && errno == EPERM);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	CHECK(readlink(path, link, sizeof(link) - 1) > 0);
	CHECK(!strcmp(link, "/memfd:a name, with blanks (deleted)"), "%s",
	      link);
}

int main(void)
{
	uint64_t n = 1;

	make_anon();
	make_memfds();
	dropped = map(PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0,
		      DROPPED * CHECK_PAGE);
	for (; n < SIZE / 8; n++)
		use_anon(n);
	check_ready();
	for (; check_running(); n++) {
		use_anon(n);
		use_open(n);
		if (n % 64 == 0) {
			use_dropped(n / 64); /* seldom the same page again */
			check_nap();
		}
	}
	if (check_sabotaged()) {
		anon_again = map(PROT_READ | PROT_WRITE,
				 MAP_SHARED | MAP_ANONYMOUS, -1, 0, SIZE);
		use_anon(n | 1);
	}
	CHECK(!memcmp(anon, anon_again, SIZE));
	CHECK(!memcmp(anon_part, (char *)anon + 4 * CHECK_PAGE,
		      4 * CHECK_PAGE));
	for (size_t i = CHECK_PAGE / 8; i < SIZE / 8; i++)
		CHECK(closed[i] == ~anon[i]);
	check_sealed();
	check_dropped();
	CHECK(madvise(open_private, SIZE, MADV_DONTNEED) == 0);
	CHECK(!memcmp(open_private, open_shared, SIZE));
	return check_pass();
}
