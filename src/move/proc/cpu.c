/* cpu.c - compare processors; see cpu.h */
#include "move/proc/cpu.h"

#include <cpuid.h>
#include <errno.h>
#include <xxhash.h>

#include "core/xalloc.h"

enum cpu_reg { EAX, EBX, ECX, EDX };

/* The words of cpuid that list features, with names for messages. */
static const struct {
	unsigned leaf, sub;
	enum cpu_reg reg;
	const char *name;
} words[] = {
	{ 1, 0, ECX, "1.ecx" },
	{ 1, 0, EDX, "1.edx" },
	{ 7, 0, EBX, "7.ebx" },
	{ 7, 0, ECX, "7.ecx" },
	{ 7, 0, EDX, "7.edx" },
	{ 7, 1, EAX, "7.1.eax" },
	{ 0xd, 1, EAX, "d.1.eax" },
	{ 0x80000001, 0, ECX, "80000001.ecx" },
	{ 0x80000001, 0, EDX, "80000001.edx" },
};
#define NR_WORDS (sizeof(words) / sizeof(*words))

/* Features whose absence is noticed most, for a message people understand. */
static const struct {
	unsigned word, bit;
	const char *name;
} known[] = {
	{ 0, 9, "ssse3" },     { 0, 12, "fma" },	 { 0, 19, "sse4_1" },
	{ 0, 20, "sse4_2" },   { 0, 25, "aes" },	 { 0, 28, "avx" },
	{ 0, 30, "rdrand" },   { 2, 3, "bmi1" },	 { 2, 5, "avx2" },
	{ 2, 8, "bmi2" },      { 2, 16, "avx512f" },	 { 2, 30, "avx512bw" },
	{ 2, 31, "avx512vl" }, { 3, 11, "avx512_vnni" }, { 4, 24, "amx_tile" },
};

static uint32_t cpu_word(unsigned leaf, unsigned sub, enum cpu_reg reg)
{
	unsigned r[4] = { 0 };

	if (!__get_cpuid_count(leaf, sub, &r[EAX], &r[EBX], &r[ECX], &r[EDX]))
		return 0;
	return r[reg];
}

static uint64_t read_xcr0(void)
{
	uint32_t lo, hi;

	__asm__("xgetbv" : "=a"(lo), "=d"(hi) : "c"(0));
	return (uint64_t)hi << 32 | lo;
}

static size_t find_plain_image(void)
{
	uint64_t plain = read_xcr0() & ~XSTATE_TILES;
	size_t end = 576; /* x87, SSE and the header */

	for (unsigned i = 2; i < 63; i++) {
		size_t to = plain >> i & 1 ? cpu_word(0xd, i, EBX) +
						     cpu_word(0xd, i, EAX)
					   : 0;

		end = to > end ? to : end;
	}
	return end;
}

/* In a virtual machine each cpuid is trapped: 140 us for all of it. */
size_t cpu_plain_image(void)
{
	static _Atomic size_t found;

	if (!found)
		found = find_plain_image();
	return found;
}

void cpu_describe(Move__Hello *h)
{
	uint32_t where[64][2] = { 0 };

	h->n_cpu = NR_WORDS;
	h->cpu = xcalloc(NR_WORDS, sizeof(*h->cpu));
	for (size_t i = 0; i < NR_WORDS; i++)
		h->cpu[i] = cpu_word(words[i].leaf, words[i].sub, words[i].reg);
	if (!(h->cpu[0] & bit_OSXSAVE))
		return;
	h->xcr0 = read_xcr0();
	h->xsave_size = cpu_word(0xd, 0, EBX);
	for (unsigned i = 2; i < 63; i++) {
		if (!(h->xcr0 >> i & 1))
			continue;
		where[i][0] = cpu_word(0xd, i, EAX);
		where[i][1] = cpu_word(0xd, i, EBX);
	}
	h->xsave_layout = XXH3_64bits(where, sizeof(where));
	(void)cpu_plain_image(); /* so that no freeze has to find it */
}

static const char *feature_name(unsigned word, uint32_t missing)
{
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (known[i].word == word && missing >> known[i].bit & 1)
			return known[i].name;
	return NULL;
}

int cpu_check(const Move__Hello *there, const Move__Hello *here,
	      struct error *err)
{
	if (there->n_cpu != here->n_cpu)
		return error_set(err, -EPROTO,
				 "%zu processor words instead of %zu",
				 there->n_cpu, here->n_cpu);
	for (unsigned i = 0; i < there->n_cpu; i++) {
		uint32_t missing = there->cpu[i] & ~here->cpu[i];
		const char *name = feature_name(i, missing);

		if (missing && name)
			return error_set(err, -ENOTSUP,
					 "the destination's processor lacks %s",
					 name);
		if (missing)
			return error_set(
				err, -ENOTSUP,
				"the destination's processor lacks features %#x of cpuid %s",
				missing, words[i].name);
	}
	if (there->xcr0 != here->xcr0 ||
	    there->xsave_size != here->xsave_size ||
	    there->xsave_layout != here->xsave_layout)
		return error_set(
			err, -ENOTSUP,
			"the destination keeps vector registers differently (XCR0 %#llx, here %#llx)",
			(unsigned long long)here->xcr0,
			(unsigned long long)there->xcr0);
	return 0;
}
