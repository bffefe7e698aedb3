/*
 * unseen.c - memory that changes otherwise than by a plain store
 *
 * By process_vm_writev(), through /proc/self/mem, by read(), recv() and
 * readv(), past the page tables, by vmsplice() from a pipe, by pages given back
 * and taken away (MADV_DONTNEED, MREMAP_DONTUNMAP), by a memfd that becomes
 * shorter and longer again.  As "unseen direct" by direct I/O, too: who uses that
 * moves without pre-copy.  Each page holds what its place in a shadow says.
 */
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/uio.h>

#include "check.h"

#define PAGES 1024
#define WORDS (CHECK_PAGE / 8)
#define BLOCK (64 * CHECK_PAGE) /* read at once by direct I/O */
#define FILES 16		/* of such blocks */
#define SLOTS 32

static uint64_t *memory, shadow[PAGES], seed = 1;
static int mem, pair[2], pipes[2], object, direct = -1;
static uint64_t *short_one, short_shadow[PAGES];

/* ---- the first thread: one page at a time ---- */

static void write_vm(void *to, void *from)
{
	struct iovec here = { from, CHECK_PAGE }, there = { to, CHECK_PAGE };

	CHECK(process_vm_writev(getpid(), &here, 1, &there, 1, 0) ==
	      (ssize_t)CHECK_PAGE);
}

static void write_mem(void *to, void *from)
{
	CHECK(pwrite(mem, from, CHECK_PAGE, (off_t)(uintptr_t)to) ==
	      (ssize_t)CHECK_PAGE);
}

static void write_socket(void *to, void *from)
{
	check_write(pair[0], from, CHECK_PAGE);
	CHECK(check_read(pair[1], to, CHECK_PAGE));
}

static void write_splice(void *to, void *from)
{
	struct iovec iov = { from, CHECK_PAGE };

	CHECK(vmsplice(pipes[1], &iov, 1, 0) == (ssize_t)CHECK_PAGE);
	iov.iov_base = to;
	for (size_t done = 0; done < CHECK_PAGE;) {
		ssize_t k = vmsplice(pipes[0], &iov, 1, 0);

		CHECK(k > 0, "vmsplice");
		done += (size_t)k;
		iov.iov_base = (char *)to + done;
		iov.iov_len = CHECK_PAGE - done;
	}
}

static void write_page(size_t i)
{
	static void (*const by[])(void *, void *) = { write_vm, write_mem,
						      write_socket,
						      write_splice };
	uint64_t *from = aligned_alloc(CHECK_PAGE, CHECK_PAGE);

	check_fill(from, CHECK_PAGE, shadow[i] = check_rand(&seed));
	by[check_rand(&seed) % 4](memory + i * WORDS, from);
	free(from);
}

static bool is_zero(const uint64_t *page)
{
	for (size_t i = 0; i < WORDS; i++)
		if (page[i])
			return false;
	return true;
}

static void look(size_t i)
{
	uint64_t *page = memory + i * WORDS;

	CHECK(shadow[i] ? check_same(page, CHECK_PAGE, shadow[i])
			: is_zero(page),
	      "page %zu", i);
}

/* The pages are moved elsewhere and thrown away; the mapping stays. */
static void take_away(size_t i)
{
	void *p = mremap(memory + i * WORDS, CHECK_PAGE, CHECK_PAGE,
			 MREMAP_MAYMOVE | MREMAP_DONTUNMAP);

	if (p == MAP_FAILED) /* Linux 5.7 */
		return;
	CHECK(munmap(p, CHECK_PAGE) == 0);
	shadow[i] = 0;
}

static void shorten(size_t from)
{
	size_t n = PAGES * CHECK_PAGE, at = from * CHECK_PAGE;
	uint64_t value = check_rand(&seed);

	CHECK(ftruncate(object, (off_t)at) == 0 &&
	      ftruncate(object, (off_t)n) == 0);
	memset(&short_shadow[from], 0, (PAGES - from) * sizeof(*shadow));
	short_one[(from - 1) * WORDS] = short_shadow[from - 1] = value;
	CHECK(pwrite(object, &value, 8, (off_t)(n - CHECK_PAGE)) == 8);
	short_shadow[PAGES - 1] = value;
}

static void turn(void)
{
	size_t i = check_rand(&seed) % PAGES;

	look(i);
	switch (check_rand(&seed) % 8) {
	case 0:
		CHECK(madvise(memory + i * WORDS, CHECK_PAGE, MADV_DONTNEED) ==
		      0);
		shadow[i] = 0;
		break;
	case 1:
		if (i % 16 == 0)
			take_away(i);
		break;
	case 2:
		if (i % 16 == 0)
			shorten(PAGES - 1 - check_rand(&seed) % 64);
		break;
	default:
		write_page(i);
	}
}

/* ---- the other thread: direct I/O ---- */

/* All bytes of block k of the file have that value. */
static uint64_t block_value(size_t k)
{
	return 0x0101010101010101 * (k + 1);
}

static void make_direct(void)
{
	uint64_t *block = aligned_alloc(CHECK_PAGE, BLOCK);
	int fd = open(check_path("direct"), O_CREAT | O_RDWR | O_DIRECT, 0600);

	if (fd < 0) /* not every file system has it */
		return;
	for (size_t k = 0; k < FILES; k++) {
		for (size_t i = 0; i < BLOCK / 8; i++)
			block[i] = block_value(k);
		CHECK(pwrite(fd, block, BLOCK, (off_t)(k * BLOCK)) ==
		      (ssize_t)BLOCK);
	}
	close(fd);
	free(block);
	direct = open(check_path("direct"), O_RDONLY | O_DIRECT);
	CHECK(direct >= 0);
}

static uint64_t *slot[SLOTS], slot_value[SLOTS];

static void look_at_slot(size_t k)
{
	for (size_t i = 0; i < BLOCK / 8; i++)
		CHECK(slot[k][i] == slot_value[k],
		      "word %zu of what was read into slot %zu holds %llx, not %llx",
		      i, k, (unsigned long long)slot[k][i],
		      (unsigned long long)slot_value[k]);
}

static void *read_directly(void *arg)
{
	for (size_t n = 0; check_running(); n++) {
		size_t k = n % SLOTS, block = n * 7 % FILES;

		look_at_slot(k);
		CHECK(pread(direct, slot[k], BLOCK, (off_t)(block * BLOCK)) ==
		      (ssize_t)BLOCK);
		slot_value[k] = block_value(block);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t t = 0;

	memory = mmap(NULL, PAGES * CHECK_PAGE, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(memory != MAP_FAILED && pipe(pipes) == 0 &&
	      socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
	mem = open("/proc/self/mem", O_RDWR);
	object = memfd_create("short", MFD_CLOEXEC);
	CHECK(object >= 0 && ftruncate(object, PAGES * CHECK_PAGE) == 0);
	short_one = mmap(NULL, PAGES * CHECK_PAGE, PROT_READ | PROT_WRITE,
			 MAP_SHARED, object, 0);
	CHECK(short_one != MAP_FAILED);
	for (size_t k = 0; k < SLOTS; k++) {
		slot[k] = aligned_alloc(CHECK_PAGE, BLOCK);
		memset(slot[k], 0, BLOCK);
	}
	if (argc > 1)
		make_direct();
	check_ready();
	if (direct >= 0)
		t = check_thread(read_directly, NULL);
	for (uint64_t n = 0; check_running(); n++) {
		turn();
		if (n % 4 == 0)
			check_nap();
	}
	if (direct >= 0)
		check_join(t);
	if (check_sabotaged())
		memory[77] ^= 1;
	for (size_t i = 0; i < PAGES; i++)
		look(i);
	for (size_t k = 0; k < SLOTS; k++)
		look_at_slot(k);
	for (size_t i = 0; i < PAGES; i++)
		CHECK(short_one[i * WORDS] == short_shadow[i],
		      "page %zu of what was shortened", i);
	return check_pass();
}
