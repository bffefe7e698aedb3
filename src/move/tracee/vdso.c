/* vdso.c - the entries of a vdso, and what they become; see vdso.h */
#include "move/tracee/vdso.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <xxhash.h>

#include "core/xalloc.h"
#include "move/proc/proc.h"
#include "move/tracee/cpuclock.h"
#include "move/tracee/tracee.h"

#define STUB_BYTES 8

static const struct {
	const char *name;
	uint32_t nr;
} calls[] = {
	{ "clock_gettime", SYS_clock_gettime },
	{ "clock_getres", SYS_clock_getres },
	{ "gettimeofday", SYS_gettimeofday },
	{ "getcpu", SYS_getcpu },
	{ "getrandom", SYS_getrandom },
	{ "time", SYS_time },
};

int vdso_read(pid_t pid, uint8_t **ret, size_t *ret_n, uint64_t *ret_at)
{
	struct vma_list maps = { 0 };
	struct cpuclock added[CPUCLOCK_MOST];
	const struct vma *v;
	uint8_t *p = NULL;
	size_t n = 0;
	int r = proc_read_maps(pid, &maps, NULL);

	v = r ? NULL : vma_named(&maps, "[vdso]");
	*ret_at = v ? v->start : 0;
	if (v && v->end - v->start <= VDSO_MAX) {
		n = v->end - v->start;
		p = xmalloc(n);
		r = tracee_read(pid, v->start, p, n);
		if (!r)
			cpuclock_unpatch(p, n, added);
	}
	vma_list_clear(&maps);
	if (r < 0) {
		free(p);
		return r;
	}
	*ret = p;
	*ret_n = n;
	return 0;
}

uint64_t vdso_hash(const void *image, size_t n)
{
	return n ? XXH3_64bits(image, n) : 0;
}

/* The part of the image that a section header names, or NULL. */
static const void *part(const uint8_t *image, size_t n, const Elf64_Shdr *s)
{
	return s->sh_offset <= n && s->sh_size <= n - s->sh_offset
		       ? image + s->sh_offset
		       : NULL;
}

static bool read_section(const uint8_t *image, size_t n, unsigned i,
			 Elf64_Shdr *ret)
{
	Elf64_Ehdr e;
	uint64_t at;

	memcpy(&e, image, sizeof(e));
	at = e.e_shoff + (uint64_t)i * sizeof(*ret);
	if (i >= e.e_shnum || e.e_shentsize != sizeof(*ret) || at < e.e_shoff ||
	    at > n || sizeof(*ret) > n - at)
		return false;
	memcpy(ret, image + at, sizeof(*ret));
	return true;
}

static uint32_t call_of(const char *name)
{
	if (!strncmp(name, "__vdso_", 7))
		name += 7;
	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		if (!strcmp(name, calls[i].name))
			return calls[i].nr;
	return UINT32_MAX;
}

/* mov $nr, %eax; syscall; ret, or mov $-ENOSYS, %rax; ret. */
static void write_stub(uint8_t *to, uint32_t nr)
{
	static const uint8_t call[] = { 0xb8, 0, 0, 0, 0, 0x0f, 0x05, 0xc3 };
	static const uint8_t none[] = { 0x48, 0xc7, 0xc0, 0xda,
					0xff, 0xff, 0xff, 0xc3 };

	memcpy(to, nr == UINT32_MAX ? none : call, STUB_BYTES);
	if (nr != UINT32_MAX)
		memcpy(to + 1, &nr, sizeof(nr));
}

/* 1: it was a function. */
static int redirect(uint8_t *image, size_t n, const Elf64_Sym *sym,
		    const char *names, size_t nr_names, struct error *err)
{
	if (ELF64_ST_TYPE(sym->st_info) != STT_FUNC || !sym->st_shndx)
		return 0;
	if (sym->st_name >= nr_names ||
	    !memchr(names + sym->st_name, 0, nr_names - sym->st_name) ||
	    sym->st_size < STUB_BYTES || sym->st_value > n ||
	    sym->st_size > n - sym->st_value)
		return error_set(err, -EPROTO, "vdso: odd symbol");
	write_stub(image + sym->st_value, call_of(names + sym->st_name));
	return 1;
}

static int redirect_all(uint8_t *image, size_t n, const Elf64_Shdr *syms,
			const Elf64_Shdr *strings, struct error *err)
{
	const char *at = part(image, n, strings);
	const uint8_t *p = part(image, n, syms);
	char *names;
	int r = 0, found = 0;

	if (!at || !p)
		return error_set(err, -EPROTO, "vdso: sections out of range");
	names = xmalloc(strings->sh_size + 1); /* not to be written over */
	memcpy(names, at, strings->sh_size);
	for (size_t i = 0;
	     r >= 0 && (i + 1) * sizeof(Elf64_Sym) <= syms->sh_size; i++) {
		Elf64_Sym sym;

		memcpy(&sym, p + i * sizeof(sym), sizeof(sym));
		r = redirect(image, n, &sym, names, strings->sh_size, err);
		found += r > 0;
	}
	free(names);
	if (r >= 0 && !found)
		r = error_set(err, -EPROTO, "vdso: no functions");
	return r < 0 ? r : 0;
}

int vdso_redirect(uint8_t *image, size_t n, struct error *err)
{
	Elf64_Shdr s, strings;

	if (n < sizeof(Elf64_Ehdr) || memcmp(image, ELFMAG, SELFMAG) ||
	    image[EI_CLASS] != ELFCLASS64)
		return error_set(err, -EPROTO, "vdso: not an ELF image");
	for (unsigned i = 0; read_section(image, n, i, &s); i++)
		if (s.sh_type == SHT_DYNSYM &&
		    read_section(image, n, s.sh_link, &strings))
			return redirect_all(image, n, &s, &strings, err);
	return error_set(err, -EPROTO, "vdso: no symbols");
}
