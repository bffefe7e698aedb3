/*
 * vectors.c - values that live in registers and nowhere else
 *
 * Each thread loads every vector, mask, x87 and general register with its
 * own pattern, spins for a while inside one piece of assembler, so that a
 * move nearly always hits it there, and stores them again.  Rounding modes
 * and the GS base belong to the thread as well, and where the processor has them
 * the tiles of AMX, which a process must ask for: two threads use them.
 *
 * Half of the time what was loaded lies in the frame of a signal handler that
 * spins, and the thread itself has none of it.
 */
#include <asm/prctl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include "check.h"
#include "tiles.h"

#define SPINS  3000000ul
#define NR_ZMM 32

struct regs {
	unsigned char vec[NR_ZMM * 64];
	uint64_t mask[8];
	uint64_t gp[6];
} __attribute__((aligned(64)));

#define LOAD(i, insn, reg) insn " " #i "*64(%[in]), %%" reg #i "\n\t"
#define SAVE(i, insn, reg) insn " %%" reg #i ", " #i "*64(%[out])\n\t"
#define EACH8(X, insn, reg) \
	X(0, insn, reg)     \
	X(1, insn, reg)     \
	X(2, insn, reg)     \
	X(3, insn, reg)     \
	X(4, insn, reg)     \
	X(5, insn, reg)     \
	X(6, insn, reg)     \
	X(7, insn, reg)
#define EACH16(X, insn, reg) \
	EACH8(X, insn, reg)  \
	X(8, insn, reg)      \
	X(9, insn, reg)      \
	X(10, insn, reg)     \
	X(11, insn, reg)     \
	X(12, insn, reg)     \
	X(13, insn, reg)     \
	X(14, insn, reg)     \
	X(15, insn, reg)
#define EACH32(X, insn, reg) \
	EACH16(X, insn, reg) \
	X(16, insn, reg)     \
	X(17, insn, reg)     \
	X(18, insn, reg)     \
	X(19, insn, reg)     \
	X(20, insn, reg)     \
	X(21, insn, reg)     \
	X(22, insn, reg)     \
	X(23, insn, reg)     \
	X(24, insn, reg)     \
	X(25, insn, reg)     \
	X(26, insn, reg)     \
	X(27, insn, reg)     \
	X(28, insn, reg)     \
	X(29, insn, reg)     \
	X(30, insn, reg)     \
	X(31, insn, reg)
#define KLOAD(i, insn, reg) insn " 2048+" #i "*8(%[in]), %%" reg #i "\n\t"
#define KSAVE(i, insn, reg) insn " %%" reg #i ", 2048+" #i "*8(%[out])\n\t"

/*
 * The general registers are tested along with these: r8-r13 hold values over
 * the spin.
 */
#define GP_LOAD                                                \
	"mov 2112(%[in]), %%r8\n\tmov 2120(%[in]), %%r9\n\t"   \
	"mov 2128(%[in]), %%r10\n\tmov 2136(%[in]), %%r11\n\t" \
	"mov 2144(%[in]), %%r12\n\tmov 2152(%[in]), %%r13\n\t"
#define GP_SAVE                                                  \
	"mov %%r8, 2112(%[out])\n\tmov %%r9, 2120(%[out])\n\t"   \
	"mov %%r10, 2128(%[out])\n\tmov %%r11, 2136(%[out])\n\t" \
	"mov %%r12, 2144(%[out])\n\tmov %%r13, 2152(%[out])\n\t"
/* and once more in on_trap() */
#define SPIN	  "1: dec %[n]\n\tjnz 1b\n\tud2\n\t"
#define TRAP_SIZE 2
#define SPOILT                                                               \
	"r8", "r9", "r10", "r11", "r12", "r13", "cc", "memory", "xmm0",      \
		"xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7",      \
		"xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", \
		"xmm15"

__attribute__((target("avx512f,avx512bw"))) static void spin_avx512(
	const struct regs *in, struct regs *out, unsigned long n)
{
	__asm__ volatile(
		EACH32(LOAD, "vmovdqu64", "zmm") EACH8(KLOAD, "kmovq", "k")
			GP_LOAD SPIN EACH32(SAVE, "vmovdqu64", "zmm")
				EACH8(KSAVE, "kmovq", "k") GP_SAVE "vzeroupper"
		: [n] "+r"(n)
		: [in] "r"(in), [out] "r"(out)
		: SPOILT, "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21",
		  "xmm22", "xmm23", "xmm24", "xmm25", "xmm26", "xmm27", "xmm28",
		  "xmm29", "xmm30", "xmm31", "k1", "k2", "k3", "k4", "k5", "k6",
		  "k7");
}

__attribute__((target("avx"))) static void spin_avx(const struct regs *in,
						    struct regs *out,
						    unsigned long n)
{
	__asm__ volatile(EACH16(LOAD, "vmovdqu", "ymm")
				 GP_LOAD SPIN EACH16(SAVE, "vmovdqu", "ymm")
					 GP_SAVE "vzeroupper"
			 : [n] "+r"(n)
			 : [in] "r"(in), [out] "r"(out)
			 : SPOILT);
}

static void spin_sse(const struct regs *in, struct regs *out, unsigned long n)
{
	__asm__ volatile(EACH16(LOAD, "movdqu", "xmm")
				 GP_LOAD SPIN EACH16(SAVE, "movdqu", "xmm")
					 GP_SAVE
			 : [n] "+r"(n)
			 : [in] "r"(in), [out] "r"(out)
			 : SPOILT);
}

struct kind {
	const char *name;
	void (*spin)(const struct regs *in, struct regs *out, unsigned long n);
	unsigned nr, width; /* vector registers and the bytes of each */
	bool masks;
};

static const struct kind *best(void)
{
	static const struct kind kinds[] = {
		{ "avx512", spin_avx512, 32, 64, true },
		{ "avx", spin_avx, 16, 32, false },
		{ "sse", spin_sse, 16, 16, false },
	};

	if (__builtin_cpu_supports("avx512bw"))
		return &kinds[0];
	return &kinds[__builtin_cpu_supports("avx") ? 1 : 2];
}

static void compare(const struct kind *k, const struct regs *in,
		    const struct regs *out)
{
	for (unsigned i = 0; i < k->nr; i++)
		CHECK(!memcmp(in->vec + i * 64, out->vec + i * 64, k->width),
		      "%s register %u", k->name, i);
	for (unsigned i = 0; k->masks && i < 8; i++)
		CHECK(in->mask[i] == out->mask[i], "k%u", i);
	CHECK(!memcmp(in->gp, out->gp, sizeof(in->gp)));
}

/* Rounding mode of SSE and x87, and two values on the x87 stack. */
static void x87_spin(uint16_t cw, uint32_t mxcsr, unsigned long n)
{
	double in[2] = { 1.0 / cw, 3.25 * cw }, out[2];
	uint16_t cw_after;
	uint32_t mxcsr_after;

	__asm__ volatile(
		"fldcw %[cw]\n\tldmxcsr %[mx]\n\t"
		"fldl (%[in])\n\tfldl 8(%[in])\n\t" SPIN
		"fstpl 8(%[out])\n\tfstpl (%[out])\n\t"
		"fnstcw %[cwa]\n\tstmxcsr %[mxa]"
		: [n] "+r"(n), [cwa] "=m"(cw_after), [mxa] "=m"(mxcsr_after)
		: [cw] "m"(cw), [mx] "m"(mxcsr), [in] "r"(in), [out] "r"(out)
		: "cc", "memory", "st", "st(1)");
	CHECK(cw_after == cw && (mxcsr_after & 0xffc0) == mxcsr);
	CHECK(!memcmp(in, out, sizeof(in)));
}

/* Where a frame says how long it is: struct fpx_sw_bytes.xstate_size. */
#define FRAME_SIZE 480

static __thread uint32_t frame;

/* This changes at the first use of a tile, and never again. */
static void check_frame(const ucontext_t *uc)
{
	uint32_t now;

	memcpy(&now, (const char *)uc->uc_mcontext.fpregs + FRAME_SIZE,
	       sizeof(now));
	if (!frame)
		frame = now;
	CHECK(frame == now, "frames of %u bytes have %u", frame, now);
}

static void on_trap(int sig, siginfo_t *si, void *context)
{
	ucontext_t *uc = context;
	unsigned long n = SPINS;

	check_frame(uc);
	__asm__ volatile("1: dec %[n]\n\tjnz 1b" : [n] "+r"(n) : : "cc");
	uc->uc_mcontext.gregs[REG_RIP] += TRAP_SIZE;
}

/* ---- tiles ---- */

/* The thread holds tiles over the spin and gives them up every other round. */
static void tile_spin(uint64_t seed, bool release)
{
	static __thread unsigned char in[TILES_BYTES], out[TILES_BYTES];
	struct tiles_config c = tiles_config();
	const unsigned char *at = in;
	unsigned long n = SPINS;

	if (seed < 16) /* the first time */
		frame = 0;
	check_fill(in, sizeof(in), seed);
	__asm__ volatile(TILES_LOAD SPIN
			 : [n] "+r"(n), [at] "+r"(at)
			 : [c] "m"(c), [row] "r"(64L)
			 : "cc", "memory");
	tiles_save(out);
	CHECK(!memcmp(in, out, sizeof(in)), "tiles");
	if (release)
		__asm__ volatile("tilerelease");
}

static void *run(void *arg)
{
	static const uint16_t cws[] = { 0x37f, 0x77f, 0xb7f, 0xf7f };
	static const uint32_t mxs[] = { 0x1f80, 0x3f80, 0x5f80, 0x7f80 };
	uintptr_t id = (uintptr_t)arg;
	const struct kind *k = best();
	bool tiles = id % 2 && tiles_ask();
	uint64_t gs = 0x100000 + id * 4096, got;
	struct regs in, out;

	CHECK(syscall(SYS_arch_prctl, ARCH_SET_GS, gs) == 0);
	for (uint64_t round = 1; check_running(); round++) {
		check_fill(&in, sizeof(in), round * 8 + id);
		k->spin(&in, &out, SPINS);
		if (check_sabotaged())
			out.vec[5 * 64 + 3] ^= 1;
		compare(k, &in, &out);
		if (tiles)
			tile_spin(round * 8 + id, round % 2);
		x87_spin(cws[id % 4], mxs[id % 4], SPINS / 4);
		x87_spin(cws[0], mxs[0], 1);
		CHECK(syscall(SYS_arch_prctl, ARCH_GET_GS, &got) == 0);
		CHECK(got == gs, "GS base %#llx", (unsigned long long)got);
	}
	return NULL;
}

int main(void)
{
	struct sigaction sa = { .sa_sigaction = on_trap,
				.sa_flags = SA_SIGINFO };
	pthread_t t[3];

	CHECK(sigaction(SIGILL, &sa, NULL) == 0);
	for (uintptr_t i = 0; i < 3; i++)
		t[i] = check_thread(run, (void *)(i + 1));
	check_ready();
	run((void *)4);
	for (int i = 0; i < 3; i++)
		check_join(t[i]);
	return check_pass();
}
