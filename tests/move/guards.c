/*
 * guards.c - what a mapping is besides its pages
 *
 * Guard pages (MADV_GUARD_INSTALL, as young C libraries end stacks with), in
 * anonymous memory and over a file, taken away and put back as it runs; a
 * sealed mapping (mseal); advice and locks as /proc/self/smaps tells them; a
 * terabyte that is reserved and not touched.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>

#include "check.h"

#define GUARD_INSTALL 102
#define GUARD_REMOVE  103
#define DROPPABLE     0x08 /* MAP_DROPPABLE, instead of MAP_PRIVATE */
#define MSEAL	      462
#define PAGES	      64
#define SIZE	      (PAGES * CHECK_PAGE)

static unsigned char *guarded, *filed, *sealed, *reserved;
static bool have_guards, have_seals;
static bool guard[PAGES];
static sigjmp_buf fault;

static const struct advised {
	int advice;
	char flag[4]; /* in VmFlags */
} advised[] = {
	{ MADV_DONTFORK, " dc" },
	{ MADV_WIPEONFORK, " wf" },
	{ MADV_DONTDUMP, " dd" },
	{ MADV_HUGEPAGE, " hg" },
	{ MADV_NOHUGEPAGE, " nh" },
	{ -1, " lo" },
	{ MADV_RANDOM, " rr" },
	{ MADV_SEQUENTIAL, " sr" },
	{ -2, " lf" },
	{ -3, " dp" }, /* if the kernel has it */
};
#define NR_ADVISED (sizeof(advised) / sizeof(*advised))
static unsigned char *area[NR_ADVISED];

static void on_segv(int sig)
{
	siglongjmp(fault, 1);
}

static bool faults(volatile unsigned char *p)
{
	if (sigsetjmp(fault, 1))
		return true;
	(void)*p;
	return false;
}

static unsigned char *map(size_t n, int flags, int fd)
{
	unsigned char *p = mmap(NULL, n, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | flags, fd, 0);

	CHECK(p != MAP_FAILED);
	return p;
}

static void make_guards(void)
{
	int fd = open(check_path("file"), O_CREAT | O_RDWR, 0600);

	CHECK(fd >= 0 && ftruncate(fd, SIZE) == 0);
	guarded = map(SIZE, MAP_ANONYMOUS, -1);
	for (size_t i = 0; i < PAGES; i++)
		memset(guarded + i * CHECK_PAGE, (int)i + 1, CHECK_PAGE);
	filed = map(SIZE, 0, fd);
	have_guards = madvise(guarded, CHECK_PAGE, GUARD_INSTALL) == 0;
	guard[0] = have_guards;
	if (have_guards)
		CHECK(madvise(filed + 3 * CHECK_PAGE, CHECK_PAGE,
			      GUARD_INSTALL) == 0);
}

static void make_advice(void)
{
	for (size_t i = 0; i < NR_ADVISED; i++) {
		/* apart, so that they do not merge */
		area[i] = map(3 * CHECK_PAGE, MAP_ANONYMOUS, -1);
		CHECK(munmap(area[i], CHECK_PAGE) == 0);
		area[i] += CHECK_PAGE;
		CHECK(munmap(area[i] + CHECK_PAGE, CHECK_PAGE) == 0);
		if (advised[i].advice == -3)
			(void)!mmap(area[i], CHECK_PAGE, PROT_READ | PROT_WRITE,
				    DROPPABLE | MAP_FIXED | MAP_ANONYMOUS, -1,
				    0);
		area[i][5] = (unsigned char)i;
		if (advised[i].advice == -3)
			continue;
		if (advised[i].advice < 0)
			CHECK(mlock2(area[i], CHECK_PAGE,
				     advised[i].advice == -2 ? MLOCK_ONFAULT
							     : 0) == 0);
		else
			madvise(area[i], CHECK_PAGE, advised[i].advice);
	}
}

static void make_seal(void)
{
	sealed = map(SIZE, MAP_ANONYMOUS, -1);
	check_fill(sealed, SIZE, 2);
	have_seals = syscall(MSEAL, sealed, SIZE, 0) == 0;
}

/* A page gets a guard, which drops its content, or loses it. */
static void toggle(uint64_t n)
{
	size_t i = n % (PAGES - 1) + 1;
	unsigned char *p = guarded + i * CHECK_PAGE;

	CHECK(faults(p) == guard[i], "page %zu", i);
	CHECK(guard[i] || p[3] == i + 1, "page %zu holds %u", i, p[3]);
	CHECK(madvise(p, CHECK_PAGE, guard[i] ? GUARD_REMOVE : GUARD_INSTALL) ==
	      0);
	guard[i] = !guard[i];
	if (!guard[i]) {
		CHECK(p[3] == 0);
		memset(p, (int)i + 1, CHECK_PAGE);
	}
}

static void check_guards(void)
{
	for (size_t i = 0; i < PAGES && have_guards; i++)
		CHECK(faults(guarded + i * CHECK_PAGE) == guard[i],
		      "page %zu, guard %d", i, guard[i]);
	if (have_guards)
		CHECK(faults(filed + 3 * CHECK_PAGE) && !faults(filed));
}

static bool has_flag(const char *smaps, const unsigned char *at,
		     const char *flag)
{
	char key[32];
	const char *p, *end;

	snprintf(key, sizeof(key), "\n%lx-", (unsigned long)at);
	p = strstr(smaps, key);
	p = p ? strstr(p, "\nVmFlags:") : NULL;
	end = p ? strchr(p + 1, '\n') : NULL;
	return end && memmem(p, (size_t)(end - p), flag, strlen(flag));
}

/* Which of the flags are set, as bits. */
static unsigned read_flags(void)
{
	static char text[1 << 20];
	int fd = open("/proc/self/smaps", O_RDONLY);
	size_t n = 0;
	ssize_t r;
	unsigned bits = 0;

	CHECK(fd >= 0);
	while ((r = read(fd, text + n, sizeof(text) - 1 - n)) > 0)
		n += (size_t)r;
	text[n] = '\0';
	close(fd);
	for (size_t i = 0; i < NR_ADVISED; i++)
		bits |= (unsigned)has_flag(text, area[i], advised[i].flag) << i;
	return bits;
}

int main(void)
{
	struct sigaction sa = { .sa_handler = on_segv };
	unsigned flags;

	sigaction(SIGSEGV, &sa, NULL);
	make_guards();
	make_seal();
	make_advice();
	reserved = map(1ul << 40, MAP_ANONYMOUS | MAP_NORESERVE, -1);
	reserved[1ul << 39] = 7;
	flags = read_flags();
	CHECK(flags >> (NR_ADVISED - 1), "mlock does not show");
	check_ready();
	for (uint64_t n = 0; check_running(); n++) {
		if (have_guards)
			toggle(n * 7);
		check_nap();
	}
	if (check_sabotaged()) {
		guard[5] = !guard[5];
		have_guards = true;
	}
	check_guards();
	CHECK(read_flags() == flags, "flags were %#x and are %#x", flags,
	      read_flags());
	CHECK(check_same(sealed, SIZE, 2) && reserved[1ul << 39] == 7);
	CHECK(!have_seals || (munmap(sealed, SIZE) == -1 && errno == EPERM));
	return check_pass();
}
