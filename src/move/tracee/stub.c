/*
 * stub.c - sizes of the landing area, and signal frames made by hand
 *
 * A frame made here is indistinguishable from one the kernel pushed, so
 * rt_sigreturn puts back a whole thread at once: registers, vector state,
 * signal mask and alternate stack.
 */
#include "move/tracee/stub.h"

#include <assert.h>
#include <string.h>
#include <sys/user.h>
#include <ucontext.h>

#include "move/proc/cpu.h"

_Static_assert(sizeof(struct stub_call) == 80, "stub.S knows the size");
_Static_assert(offsetof(struct stub_call, arg) == 8, "stub.S: C_ARG0");
_Static_assert(offsetof(struct stub_call, ret) == 56, "stub.S: C_RET");
_Static_assert(offsetof(struct stub_call, copy) == 64, "stub.S: C_COPY");
_Static_assert(sizeof(struct stub_box) == STUB_BOX_SIZE, "box fills its room");
_Static_assert(sizeof(struct stub_thread) == 4096, "frame is aligned");

#define FRAME_UC 64 /* offset of the ucontext in a frame */

/* asm/sigcontext.h and asm/ucontext.h clash with glibc's own. */
#define FP_MAGIC1	 0x46505853U
#define FP_MAGIC2	 0x46505845U
#define FP_SW_OFFSET	 464
#define UC_FP_XSTATE	 1
#define UC_SIGCONTEXT_SS 2
#define UC_STRICT_SS	 4

struct fp_sw {
	uint32_t magic1;
	uint32_t extended_size;
	uint64_t xfeatures;
	uint32_t xstate_size;
};

_Static_assert(STUB_PAGE % STUB_SNIPPET == 0, "whole snippets");

void stub_fill_code(void *page, uint64_t area_size)
{
	size_t n = (size_t)(stub_end - stub_begin);

	assert(n <= STUB_SNIPPETS);
	memset(page, 0xcc, STUB_PAGE);
	memcpy(page, stub_begin, n);
	memcpy((char *)page + STUB_MAGIC_SIZE, &area_size, sizeof(area_size));
}

/* syscall; movabs $value, %argument; movabs $back, %rcx; jmp *%rcx */
static void build_snippet(unsigned char *p, int i, uint64_t value,
			  uint64_t back)
{
	static const unsigned char mov[6][2] = {
		{ 0x48, 0xbf }, { 0x48, 0xbe }, { 0x48, 0xba },
		{ 0x49, 0xba }, { 0x49, 0xb8 }, { 0x49, 0xb9 }
	};

	memset(p, 0xcc, STUB_SNIPPET);
	memcpy(p, "\x0f\x05", 2);
	memcpy(p + 2, mov[i], 2);
	memcpy(p + 4, &value, 8);
	/* %rcx holds after any system call where it came from */
	memcpy(p + 12, "\x48\xb9", 2);
	memcpy(p + 14, &back, 8);
	memcpy(p + 22, "\xff\xe1", 2);
}

size_t stub_snippet(void *page, int i, uint64_t value, uint64_t back)
{
	unsigned char want[STUB_SNIPPET], *p = page;

	build_snippet(want, i, value, back);
	for (size_t at = STUB_SNIPPETS; at < STUB_PAGE; at += STUB_SNIPPET) {
		if (p[at] == 0xcc)
			memcpy(p + at, want, sizeof(want));
		if (!memcmp(p + at, want, sizeof(want)))
			return at;
	}
	return 0;
}

bool stub_has_snippets(const void *page)
{
	return ((const unsigned char *)page)[STUB_SNIPPETS] != 0xcc;
}

bool stub_is_snippet(uint64_t area, uint64_t rip)
{
	return area && rip >= area + STUB_SNIPPETS && rip < area + STUB_PAGE &&
	       (rip - area) % STUB_SNIPPET == 0;
}

static size_t fp_offset(void)
{
	return (FRAME_UC + sizeof(ucontext_t) + 63) & ~(size_t)63;
}

size_t stub_slot_size(size_t xsave_size)
{
	size_t n = sizeof(struct stub_thread) + fp_offset() + xsave_size + 8;

	return (n + STUB_PAGE - 1) & ~(size_t)(STUB_PAGE - 1);
}

size_t stub_area_size(size_t nr_threads, size_t xsave_size)
{
	return STUB_THREADS + nr_threads * stub_slot_size(xsave_size);
}

size_t stub_area_room(size_t area_size, size_t xsave_size)
{
	if (area_size < STUB_THREADS)
		return 0;
	return (area_size - STUB_THREADS) / stub_slot_size(xsave_size);
}

static void frame_gregs(greg_t *g, const struct user_regs_struct *r)
{
	g[REG_R8] = (greg_t)r->r8;
	g[REG_R9] = (greg_t)r->r9;
	g[REG_R10] = (greg_t)r->r10;
	g[REG_R11] = (greg_t)r->r11;
	g[REG_R12] = (greg_t)r->r12;
	g[REG_R13] = (greg_t)r->r13;
	g[REG_R14] = (greg_t)r->r14;
	g[REG_R15] = (greg_t)r->r15;
	g[REG_RDI] = (greg_t)r->rdi;
	g[REG_RSI] = (greg_t)r->rsi;
	g[REG_RBP] = (greg_t)r->rbp;
	g[REG_RBX] = (greg_t)r->rbx;
	g[REG_RDX] = (greg_t)r->rdx;
	g[REG_RAX] = (greg_t)r->rax;
	g[REG_RCX] = (greg_t)r->rcx;
	g[REG_RSP] = (greg_t)r->rsp;
	g[REG_RIP] = (greg_t)r->rip;
	g[REG_EFL] = (greg_t)r->eflags;
	/* cs, gs, fs, ss: sixteen bits each; the bases are set apart */
	g[REG_CSGSFS] = (greg_t)((r->cs & 0xffff) | (r->ss & 0xffff) << 48);
}

uint64_t stub_used(const void *xstate)
{
	uint64_t used;

	memcpy(&used, (const char *)xstate + STUB_XSTATE_USED, sizeof(used));
	return used;
}

/*
 * What is to be put back of the image.  For a thread that has never used tiles
 * the kernel takes none with room for them: of a longer one it would put back no
 * more than the registers of SSE, and say nothing.
 */
static size_t image_size(const struct stub_frame *f)
{
	size_t plain = cpu_plain_image();
	bool tiles = stub_used(f->xstate) & XSTATE_TILES;

	return tiles || plain > f->xstate_size ? f->xstate_size : plain;
}

/*
 * The image, made valid for a signal frame: two magic words around it.  The second
 * is looked for where the image ends that the thread has room for; of one that
 * has used tiles and given them up this is not what is put back.
 */
static void frame_fpstate(char *fp, const struct stub_frame *f)
{
	size_t size = image_size(f);
	struct fp_sw sw = {
		.magic1 = FP_MAGIC1,
		.extended_size = (uint32_t)size + 4,
		.xstate_size = (uint32_t)size,
	};
	uint32_t magic2 = FP_MAGIC2;

	memcpy(fp, f->xstate, f->xstate_size);
	/* the register set says which features it holds where magic1 goes */
	memcpy(&sw.xfeatures, fp + FP_SW_OFFSET, sizeof(sw.xfeatures));
	memcpy(fp + FP_SW_OFFSET, &sw, sizeof(sw));
	memcpy(fp + size, &magic2, sizeof(magic2));
	memcpy(fp + f->xstate_size, &magic2, sizeof(magic2));
}

size_t stub_build_frame(void *buf, uint64_t at, const struct stub_frame *f,
			uint64_t *ret_uc)
{
	size_t off = fp_offset();
	ucontext_t uc = { .uc_flags = UC_FP_XSTATE | UC_SIGCONTEXT_SS |
				      UC_STRICT_SS };

	assert(at % 64 == 0);
	uc.uc_stack.ss_sp = (void *)(uintptr_t)f->altstack_sp;
	uc.uc_stack.ss_size = f->altstack_size;
	uc.uc_stack.ss_flags = (int)f->altstack_flags;
	frame_gregs(uc.uc_mcontext.gregs, f->regs);
	uc.uc_mcontext.fpregs = (void *)(uintptr_t)(at + off);
	memcpy(&uc.uc_sigmask, &f->mask, sizeof(f->mask));
	memcpy((char *)buf + FRAME_UC, &uc, sizeof(uc));
	frame_fpstate((char *)buf + off, f);
	*ret_uc = at + FRAME_UC;
	return off + f->xstate_size + sizeof(uint32_t);
}

void *stub_frame_arg(void *buf, int i)
{
	static const int reg[6] = { REG_RDI, REG_RSI, REG_RDX,
				    REG_R10, REG_R8,  REG_R9 };

	return (char *)buf + FRAME_UC +
	       offsetof(ucontext_t, uc_mcontext.gregs[0]) +
	       (size_t)reg[i] * sizeof(greg_t);
}
