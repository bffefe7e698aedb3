/* simulator.c - the program that has the subcommands which need no cluster */
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#define IN_client ELSEWHERE
#define IN_daemon ELSEWHERE
#define IN_keeper ELSEWHERE
#define IN_move	  ELSEWHERE
#define IN_sim	  HERE
#include "cmd/kit/table.h"

#define LARGE_PAGE ((size_t)2 << 20)

/*
 * What one part of a simulation frees the next one uses, instead of having the
 * kernel clear new pages: these were a fifth of a short run.  Where the kernel has
 * large pages the first megabytes come in those, and not by a thousand faults.
 */
static void keep_memory(void)
{
	const size_t size = 4 * LARGE_PAGE;
	void *first;

	mallopt(M_MMAP_THRESHOLD, 32 << 20); /* the most it takes */
	mallopt(M_TRIM_THRESHOLD, INT32_MAX);
	mallopt(M_TOP_PAD, 1 << 20);
	first = aligned_alloc(LARGE_PAGE, size);
	(void)!madvise(first, size, MADV_HUGEPAGE);
	free(first);
}

int main(int argc, char **argv)
{
	keep_memory();
	return command_main(commands, argc, argv);
}
