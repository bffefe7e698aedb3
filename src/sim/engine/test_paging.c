/* test_paging.c - shares of processors and disk, by hand and on random hosts */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/random.h"
#include "sim/engine/paging.h"
#include "sim/engine/testing.h"

#define MB 1000000

static struct host host_of(uint64_t memory)
{
	return (struct host){ .speed = 1,
			      .cores = 1,
			      .slots = 99,
			      .memory = memory,
			      .up = true };
}

static void near(double a, double b)
{
	if (fabs(a - b) > 1e-9)
		fail_msg("%.12f is not %.12f", a, b);
}

static void enough_memory_is_a_fair_share(void **state)
{
	struct paging p = make_paging("system=0");
	struct host h = host_of(100 * MB);
	struct paging_share s[3] = { { .demand = 40 * MB },
				     { .demand = 60 * MB },
				     { .demand = 0 } };

	(void)state;
	paging_shares(&p, &h, s, 1);
	near(s[0].cpu, 1); /* alone it is not switched */
	paging_shares(&p, &h, s, 3);
	for (int i = 0; i < 3; i++) {
		near(s[i].cpu, 10 / 10.1 / 3);
		near(s[i].page, 0);
	}
	h.cores = 4;
	paging_shares(&p, &h, s, 3);
	near(s[2].cpu, 1);
	/* Each of the owner's programs has as much as the process. */
	h.cores = 1;
	h.load = 3;
	paging_shares(&p, &h, s, 2);
	near(s[0].cpu, 10 / 10.1 / 5);
}

/*
 * 160 pages are needed and 100 are there: 3/8 is missing. 8 and 2 pages a
 * processor second times 3/8 times 0.1 s give p = 0.3 and 0.075.
 */
static void too_little_memory_by_hand(void **state)
{
	struct paging p =
		make_paging("system=0,page=1000000,sweep=16,fault=0.1,"
			    "switch=0");
	struct host h = host_of(100 * MB);
	struct paging_share s[2] = { { .demand = 128 * MB },
				     { .demand = 32 * MB } };

	(void)state;
	paging_shares(&p, &h, s, 2);
	near(s[0].cpu, 0.5);
	near(s[0].page, 0.15);
	near(s[1].page, 0.0375);
	/*
	 * The disk is ten times slower: p = 3 and 0.75. The first process has
	 * 1/4 of a processor, no more; the second one has the rest of the
	 * disk's time, 0.25, which gives it 1/3 of a processor.
	 */
	p.fault = 1;
	paging_shares(&p, &h, s, 2);
	near(s[0].cpu, 0.25);
	near(s[0].page, 0.75);
	near(s[1].cpu, 1.0 / 3);
	near(s[1].page, 0.25);
	/*
	 * One after the other: 1 + 3 + 1 + 0.75 seconds for one second of each.
	 */
	p.overlap = false;
	paging_shares(&p, &h, s, 2);
	near(s[0].cpu, 1 / 5.75);
	near(s[1].cpu, 1 / 5.75);
	/* A process on its way needs memory, but no time. */
	p.overlap = true;
	s[0].still = true;
	paging_shares(&p, &h, s, 2);
	near(s[0].cpu, 0);
	near(s[1].cpu, 1 / 1.75);
}

/* What there is of processors, less what is lost to switching between so many. */
static double processors(const struct paging *p, const struct host *h,
			 double users)
{
	double useful = p->quantum / (p->quantum + p->swap);

	return h->cores * (users > h->cores ? useful : 1);
}

/*
 * Nothing lies idle that somebody could use who neither has all his time nor lacks the
 * disk.  The owner's programs have what such a one has.
 */
static void check_used_up(const struct paging *p, const struct host *h,
			  const struct paging_share *s, uint32_t n)
{
	double cpu = 0, disk = 0, users = h->load;
	const struct paging_share *open = NULL;

	for (uint32_t i = 0; i < n; i++) {
		cpu += s[i].cpu;
		disk += s[i].page;
		users += !s[i].still;
	}
	for (uint32_t i = 0; i < n; i++)
		if (!s[i].still && s[i].cpu + s[i].page < 1 - 1e-6 &&
		    !(s[i].page > 0 && disk > 1 - 1e-6))
			open = &s[i];
	if (open && cpu + h->load * open->cpu < processors(p, h, users) - 1e-6)
		fail_msg("%f of %f are in use", cpu + h->load * open->cpu,
			 processors(p, h, users));
}

/*
 * Nothing is given out twice, no process has more than a second per second, and
 * one that has less than another is at its own limit or lacks the disk.
 */
static void check_shares(const struct paging *p, const struct host *h,
			 const struct paging_share *s, uint32_t n)
{
	double cpu = 0, disk = 0, most = 0;

	for (uint32_t i = 0; i < n; i++) {
		assert_true(s[i].cpu >= 0 && s[i].page >= 0);
		assert_true(s[i].cpu + s[i].page < 1 + 1e-9);
		cpu += s[i].cpu;
		disk += s[i].page;
		most = fmax(most, s[i].cpu);
	}
	assert_true(cpu < h->cores + 1e-9 && disk < 1 + 1e-9);
	for (uint32_t i = 0; p->overlap && i < n; i++)
		if (!s[i].still && s[i].cpu < most - 1e-6 &&
		    s[i].cpu + s[i].page < 1 - 1e-6 &&
		    !(s[i].page > 0 && disk > 1 - 1e-6))
			fail_msg("%f of %f, for no reason", s[i].cpu, most);
}

static void random_hosts_share_what_there_is(void **state)
{
	struct random_stream r;
	uint64_t paging = 0;

	(void)state;
	random_init(&r, 1, "hosts", 0);
	for (int k = 0; k < 20000; k++) {
		struct paging p = make_paging("");
		struct host h = host_of((uint64_t)random_uniform(&r, 0, 4e8));
		uint32_t n = (uint32_t)random_below(&r, 9);
		struct paging_share s[8];

		p.sweep = random_exponential(&r, 50);
		p.overlap = random_below(&r, 4);
		h.cores = 1 + (uint32_t)random_below(&r, 4);
		h.load = (double)random_below(&r, 3);
		for (uint32_t i = 0; i < n; i++)
			s[i] = (struct paging_share){
				.demand = random_below(&r, 200 * MB),
				.still = !random_below(&r, 8)
			};
		paging_shares(&p, &h, s, n);
		check_shares(&p, &h, s, n);
		if (p.overlap)
			check_used_up(&p, &h, s, n);
		paging += n && s[0].page > 0;
	}
	assert_in_range(paging, 2000, 18000);
}

static void wrong_parameters_are_refused(void **state)
{
	static const char *const wrong[] = { "faults=1", "sweep=0", "page=0",
					     "link=-1", "overlap=maybe" };
	struct paging p = { .sweep = 77 };
	struct error err;

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		assert_int_equal(paging_parse(wrong[i], &p, &err), -EINVAL);
	near(p.sweep, 77);
}

/* So many bits a second: eight for each byte, on top of what a start elsewhere takes. */
static void a_link_carries_bits(void **state)
{
	struct paging p = make_paging("");

	(void)state;
	/* 10 Mbit/s and 0.1 s, as Chen 2002 has it */
	assert_int_equal(paging_transfer(&p, 1250000), 1100000);
	for (int mbit = 1; mbit <= 1000; mbit *= 10)
		for (uint64_t mb = 0; mb <= 200; mb += 40) {
			p.link = mbit * 1e6;
			p.remote = mbit;
			assert_int_equal(paging_transfer(&p, mb * MB),
					 mbit + (usec_t)(mb * 8) *
							 USEC_PER_SEC / mbit);
		}
	p.link = 0;
	assert_int_equal(paging_transfer(&p, 40 * MB), p.remote);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(enough_memory_is_a_fair_share),
		cmocka_unit_test(too_little_memory_by_hand),
		cmocka_unit_test(random_hosts_share_what_there_is),
		cmocka_unit_test(wrong_parameters_are_refused),
		cmocka_unit_test(a_link_carries_bits),
	};

	return cmocka_run_group_tests_name("paging", tests, NULL, NULL);
}
