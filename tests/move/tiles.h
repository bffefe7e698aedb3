/*
 * tiles.h - the registers of AMX, for programs that are moved with data in them
 *
 * A process has to ask for them, and the kernel makes room in a thread when that
 * first uses one.
 */
#ifndef TILES_H
#define TILES_H

#include <asm/prctl.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#define TILES_BYTES (8 * 16 * 64ul)

struct tiles_config {
	uint8_t palette, start_row, unused[14];
	uint16_t colsb[16];
	uint8_t rows[16];
};

/* May this process use them?  It may from then on. */
static inline bool tiles_ask(void)
{
	return !syscall(SYS_arch_prctl, ARCH_REQ_XCOMP_PERM, 18);
}

/* Eight tiles of 16 rows of 64 bytes. */
static inline struct tiles_config tiles_config(void)
{
	struct tiles_config c = { .palette = 1 };

	for (int i = 0; i < 8; i++) {
		c.colsb[i] = 64;
		c.rows[i] = 16;
	}
	return c;
}

/* Pieces of assembler; %[at] moves on by TILES_BYTES, %[row] is 64. */
#define TILES_EACH(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7)
#define TILES_LOAD_ONE(i) \
	"tileloadd (%[at],%[row],1), %%tmm" #i "\n\tadd $1024, %[at]\n\t"
#define TILES_SAVE_ONE(i) \
	"tilestored %%tmm" #i ", (%[at],%[row],1)\n\tadd $1024, %[at]\n\t"
#define TILES_LOAD "ldtilecfg %[c]\n\t" TILES_EACH(TILES_LOAD_ONE)
#define TILES_SAVE TILES_EACH(TILES_SAVE_ONE)

static inline void tiles_load(const unsigned char *at)
{
	struct tiles_config c = tiles_config();

	__asm__ volatile(TILES_LOAD
			 : [at] "+r"(at)
			 : [c] "m"(c), [row] "r"(64L)
			 : "cc", "memory");
}

static inline void tiles_save(unsigned char *at)
{
	__asm__ volatile(TILES_SAVE
			 : [at] "+r"(at)
			 : [row] "r"(64L)
			 : "cc", "memory");
}

#endif
