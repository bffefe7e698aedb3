/* hello.c - introduction and refusal; see hello.h */
#include "move/check/hello.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "core/io.h"
#include "core/xalloc.h"
#include "move/fd/fds.h"
#include "move/proc/clocks.h"
#include "move/proc/cpu.h"
#include "move/proc/files.h"
#include "move/tracee/mempolicy.h"
#include "move/tracee/vdso.h"
#include "move/wire/append.h"

static uint64_t memory_available(void)
{
	unsigned long kib = 0;
	char *text, *p;

	if (io_read_file(AT_FDCWD, "/proc/meminfo", 65536, &text) < 0)
		return UINT64_MAX;
	p = strstr(text, "MemAvailable:");
	if (p)
		kib = strtoul(p + 13, NULL, 10);
	free(text);
	return (uint64_t)kib << 10;
}

/* STINT_OTHER_VDSO: that of another kernel, for tests. */
static uint64_t hash_of_host(void)
{
	uint8_t *image;
	uint64_t at, hash = 0;
	size_t n;

	if (vdso_read(getpid(), &image, &n, &at) == 0) {
		hash = vdso_hash(image, n);
		free(image);
	}
	return getenv("STINT_OTHER_VDSO") ? ~hash : hash;
}

Move__Hello *hello_of_host(void)
{
	Move__Hello *h = append_new(&move__hello__descriptor);
	struct utsname u;
	cpu_set_t cpus;

	uname(&u);
	h->page_size = (uint32_t)sysconf(_SC_PAGESIZE);
	h->release = xstrdup(u.release);
	h->host = xstrdup(u.nodename);
	h->boot_id = io_read_line("/proc/sys/kernel/random/boot_id");
	h->vdso_hash = hash_of_host();
	h->memory = memory_available();
	cpu_describe(h);
	CPU_ZERO(&cpus);
	sched_getaffinity(0, sizeof(cpus), &cpus);
	h->cpus = append_bytes(&cpus, sizeof(cpus));
	h->nodes = mempolicy_allowed();
	return h;
}

bool hello_other_vdso(const Move__Hello *source, const Move__Hello *dest)
{
	return source->vdso_hash && source->vdso_hash != dest->vdso_hash;
}

int hello_check(Move__Hello *there, const Move__Hello *here, struct error *err)
{
	int r;

	if (there->page_size != here->page_size)
		return error_set(
			err, -ENOTSUP,
			"pages have %u bytes here and %u at the source",
			here->page_size, there->page_size);
	r = cpu_check(there, here, err);
	if (r < 0)
		return r;
	if (hello_other_vdso(there, here)) {
		r = vdso_redirect(there->vdso.data, there->vdso.len, err);
		if (r < 0)
			return error_prefix(
				err, -ENOTSUP,
				"the kernels differ (%s here, %s at the source), and the vdso cannot be replaced",
				here->release, there->release);
	}
	if (there->memory > here->memory)
		return error_set(
			err, -ENOMEM,
			"the process has %llu MiB, and only %llu MiB are free at the destination",
			(unsigned long long)(there->memory >> 20),
			(unsigned long long)(here->memory >> 20));
	return 0;
}

void hello_check_files(const Move__Hello *there, int root, Move__Hello *here)
{
	const Move__File *f = NULL;
	struct error why;
	int r = fds_check_dest(root, there->paths.data, there->paths.len,
			       &here->lack_file, &why);

	if (!r)
		r = files_check(root, there, &f, &why);
	if (!r)
		return;
	here->lack = xstrdup(why.text);
	if (f)
		here->lack_file = xstrdup(f->path);
}

void hello_answer_clocks(Move__Hello *h)
{
	struct clocks c, mine;

	clocks_now(0, &c);
	clocks_offsets(0, &mine);
	h->monotonic = c.monotonic - mine.monotonic;
	h->boottime = c.boottime - mine.boottime;
}
