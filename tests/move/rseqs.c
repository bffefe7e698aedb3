/*
 * rseqs.c - restartable sequences, as glibc registers them
 *
 * Threads count in per-CPU counters inside critical sections, with long
 * pauses in the middle, so that moves hit the section.  A thread that is
 * moved inside must be aborted, or an increment is lost.
 */
#include <linux/rseq.h>
#include <stddef.h>
#include <sys/rseq.h>
#include <sys/syscall.h>

#include "check.h"

#define NR_CPUS 1024
#define NR	4

static struct {
	_Alignas(64) uint64_t n;
} counter[NR_CPUS];
static _Atomic uint64_t total, aborts;

static struct rseq *own_area(void)
{
	return (void *)((char *)__builtin_thread_pointer() + __rseq_offset);
}

/*
 * counter[cpu]++ if this thread is not interrupted between the start and the
 * store, which a loop in between makes likely. Returns false if it was aborted.
 */
static bool add_one(uint32_t cpu, unsigned long spins)
{
	struct rseq *area = own_area();
	uint64_t *slot = &counter[cpu].n;

	__asm__ goto(".pushsection __rseq_cs, \"aw\"\n\t"
		     ".balign 32\n\t"
		     "3:\n\t"
		     ".long 0, 0\n\t"
		     ".quad 1f, (2f - 1f), 4f\n\t"
		     ".popsection\n\t"
		     "leaq 3b(%%rip), %%rax\n\t"
		     "movq %%rax, %c[cs_off](%[area])\n\t"
		     "1:\n\t"
		     "cmpl %[cpu], %c[cpu_off](%[area])\n\t"
		     "jnz 4f\n\t"
		     "movq (%[slot]), %%rdx\n\t"
		     "movq %[spins], %%rcx\n\t"
		     "5: decq %%rcx\n\t"
		     "jnz 5b\n\t"
		     "incq %%rdx\n\t"
		     "movq %%rdx, (%[slot])\n\t"
		     "2:\n\t"
		     "jmp 6f\n\t"
		     /*
		      * An aborted section goes on at the code that follows the
		      * signature.
		      */
		     ".byte 0x0f, 0xb9, 0x3d\n\t"
		     ".long 0x53053053\n\t"
		     "4:\n\t"
		     "jmp %l[aborted]\n\t"
		     "6:\n\t"
		     :
		     : [area] "r"(area), [cpu] "r"(cpu), [slot] "r"(slot),
		       [spins] "r"(spins),
		       [cs_off] "i"(offsetof(struct rseq, rseq_cs)),
		       [cpu_off] "i"(offsetof(struct rseq, cpu_id))
		     : "rax", "rcx", "rdx", "cc", "memory"
		     : aborted);
	return true;
aborted:
	return false;
}

static void check_registered(void)
{
	struct rseq *area = own_area();
	uint32_t cpu = area->cpu_id;

	CHECK(cpu < NR_CPUS, "cpu_id is %d", (int)cpu);
	/* Registered already (EBUSY), and with these values. */
	CHECK(syscall(SYS_rseq, area, sizeof(*area), 0, RSEQ_SIG) < 0 &&
		      errno == EBUSY,
	      "rseq is registered no more");
}

static void *run(void *arg)
{
	uint64_t mine = 0;

	while (check_running()) {
		uint32_t cpu =
			((volatile struct rseq *)own_area())->cpu_id_start;

		CHECK(cpu < NR_CPUS);
		if (add_one(cpu, mine % 64 ? 20 : 200000))
			mine++;
		else
			aborts++;
		if (mine % 4096 == 0)
			check_registered();
	}
	total += mine;
	return NULL;
}

int main(void)
{
	pthread_t t[NR];
	uint64_t sum = 0;

	errno = 0;
	if (!__rseq_size)
		check_skip("glibc did not register rseq");
	for (int i = 0; i < NR; i++)
		t[i] = check_thread(run, NULL);
	check_ready();
	for (int i = 0; i < NR; i++)
		check_join(t[i]);
	for (int i = 0; i < NR_CPUS; i++)
		sum += counter[i].n;
	if (check_sabotaged())
		sum--;
	CHECK(sum == total, "%llu counted, %llu done, %llu aborted",
	      (unsigned long long)sum, (unsigned long long)total,
	      (unsigned long long)aborts);
	CHECK(aborts > 0, "nothing was ever aborted");
	return check_pass();
}
