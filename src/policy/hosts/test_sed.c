/* test_sed.c - availability, mapping and state diagrams of Schnor 1997 ch. 4 */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "policy/hosts/mapstates.h"
#include "policy/hosts/sed_state.h"

/* Table 4.2's systems: how many hosts of alpha 1, 4 and 10. */
static const int system1[] = { 5, 25, 0 }, system2[] = { 20, 10, 0 };

static int make_alpha(const int *counts, double *alpha)
{
	static const double values[] = { 1, 4, 10 };
	int n = 0;

	for (int i = 0; i < 3; i++)
		for (int j = 0; j < counts[i]; j++)
			alpha[n++] = values[i];
	return n;
}

static void check_idle(const int *counts, enum sed_kind kind, const int *want)
{
	double alpha[100];
	int n = make_alpha(counts, alpha), avail[11];
	struct sed sed;

	sed_init(&sed, kind, alpha, n);
	assert_int_equal(sed.nr_classes, 4);
	sed_availability(&sed, avail);
	for (int k = 1; k <= 4; k++)
		assert_int_equal(avail[k], want[k - 1]);
	sed_clear(&sed);
}

/* S-4a */
static void idle_availability(void **state)
{
	(void)state;
	check_idle(system1, SED1, (const int[]){ 5, 5, 5, 30 });
	check_idle(system1, SED2, (const int[]){ 5, 10, 15, 45 });
	check_idle(system2, SED1, (const int[]){ 20, 20, 20, 30 });
	check_idle(system2, SED2, (const int[]){ 20, 40, 60, 90 });
}

/* Figure 4.1: 2 hosts of alpha 1, 3 of alpha 2, two jobs of 1..5. */
static void sed1_spreads_and_sed2_packs(void **state)
{
	const double alpha[] = { 1, 1, 2, 2, 2 };
	struct sed sed;
	int size;

	(void)state;
	sed_init(&sed, SED1, alpha, 5);
	assert_int_equal(sed_map(&sed, 1, 5, &size), 2);
	assert_int_equal(size, 5);
	sed_start(&sed, 1, 2, 5);
	assert_int_equal(sed_map(&sed, 1, 5, &size), 2);
	assert_int_equal(size, 2);
	sed_clear(&sed);

	sed_init(&sed, SED2, alpha, 5);
	assert_int_equal(sed_map(&sed, 1, 5, &size), 2);
	assert_int_equal(size, 5);
	sed_start(&sed, 1, 2, 5);
	assert_int_equal(sed.hosts[0].load, 2);
	assert_int_equal(sed.hosts[1].load, 2);
	assert_int_equal(sed.hosts[2].load, 1);
	assert_int_equal(sed.hosts[3].load, 0);
	sed_clear(&sed);
}

static void delay_classes(void **state)
{
	(void)state;
	assert_int_equal(sed_class(1), 1);
	assert_int_equal(sed_class(1.49), 1);
	assert_int_equal(sed_class(1.5), 2);
	assert_int_equal(sed_class(4.49), 4);
	assert_int_equal(sed_class(0.2), 1);
	assert_int_equal(sed_class(4e9), INT_MAX);
}

/* However slow a host is that takes nothing new, it is no node of any class. */
static void drained_hosts_are_no_nodes(void **state)
{
	static const double alpha[] = { 1, 4 };
	struct sed sed;
	int size;

	(void)state;
	sed_init(&sed, SED1, alpha, 2);
	sed_adopt(&sed, 1, (int[]){ 1 }, 1);
	sed.hosts[1].external = 1e9;
	assert_int_equal(sed_upgrade_class(&sed, 0), 0);
	sed_end(&sed, 1);
	assert_int_equal(sed_map(&sed, 2, 2, &size), 0);
	assert_int_equal(sed_map(&sed, 1, 2, &size), 1);
	assert_int_equal(size, 1);
	sed_clear(&sed);
}

static void upgrade_when_alone(void **state)
{
	double alpha[30];
	struct sed sed;
	int size, n = make_alpha(system1, alpha);

	(void)state;
	sed_init(&sed, SED1, alpha, n);
	assert_int_equal(sed_map(&sed, 1, 30, &size), 4);
	sed_start(&sed, 1, 4, size);
	assert_int_equal(sed_map(&sed, 1, 30, &size), 2);
	assert_int_equal(size, 5);
	sed_start(&sed, 2, 2, size);
	assert_int_equal(sed_map(&sed, 1, 30, &size), 0);
	assert_float_equal(sed_rate(&sed, 0), 0.25, 1e-12);
	assert_float_equal(sed_rate(&sed, 1), 0.5, 1e-12);
	assert_int_equal(sed_upgrade_class(&sed, 1), 0);
	sed_end(&sed, 1);
	assert_int_equal(sed_upgrade_class(&sed, 0), 1);
	sed_upgrade(&sed, 0, 1);
	assert_int_equal(sed_map(&sed, 1, 30, &size), 4);
	assert_int_equal(size, 25);
	sed_clear(&sed);
}

/* Ties go to the faster class; 1/10 = 2/20 = 3/30 here, and 4/30 is more. */
static void ties_go_to_the_faster_class(void **state)
{
	double alpha[30];
	struct sed sed;
	int size, n = make_alpha(system2, alpha);

	(void)state;
	sed_init(&sed, SED2, alpha, n);
	sed_start(&sed, 1, 1, 10);
	assert_int_equal(sed_map(&sed, 1, 30, &size), 1);
	assert_int_equal(size, 10);
	/* a_m >= minsize: only class 2 and beyond have 20, 3 and beyond 21. */
	assert_int_equal(sed_map(&sed, 20, 30, &size), 2);
	assert_int_equal(size, 20);
	assert_int_equal(sed_map(&sed, 21, 30, &size), 3);
	/*
	 * The 10 fast hosts count 4 times, the 10 slow ones once; the ten busy
	 * ones take nothing.
	 */
	assert_int_equal(sed_map(&sed, 50, 50, &size), 4);
	assert_int_equal(sed_map(&sed, 51, 90, &size), 0);
	sed_clear(&sed);
}

/* External processes count in a host's delay. */
static void load_of_others_counts(void **state)
{
	const double alpha[] = { 1, 1, 4 };
	int avail[5];
	struct sed sed;

	(void)state;
	sed_init(&sed, SED1, alpha, 3);
	sed.hosts[0].external = 1; /* delay 2 */
	sed_availability(&sed, avail);
	assert_int_equal(avail[1], 1);
	assert_int_equal(avail[2], 2);
	assert_int_equal(avail[4], 3);
	sed.hosts[0].external = 0.4; /* 1.4 is in class 1 */
	sed_availability(&sed, avail);
	assert_int_equal(avail[1], 2);
	sed_clear(&sed);
}

/* Of two hosts with a process each the one keeps a promise of class 2, the other of 3. */
static void each_host_keeps_its_own_promise(void **state)
{
	const double alpha[] = { 1, 1, 4 };
	int avail[5];
	struct sed sed;

	(void)state;
	sed_init(&sed, SED2, alpha, 3);
	for (int i = 0; i < 2; i++) {
		sed.hosts[i].load = 1;
		sed.hosts[i].threshold = 2 + i;
	}
	sed_availability(&sed, avail);
	assert_int_equal(avail[2], 2);
	assert_int_equal(avail[3], 3);
	assert_int_equal(avail[4], 4);
	sed_clear(&sed);
}

/* A class ends half a step above its number: 1.2 is in the first, 2.4 in the
 * second. */
static void classes_reach_half_a_step_further(void **state)
{
	const double alpha[] = { 1.2, 1, 4 };
	int avail[5];
	struct sed sed;

	(void)state;
	for (int kind = SED1; kind <= SED2; kind++) {
		sed_init(&sed, (enum sed_kind)kind, alpha, 3);
		sed_availability(&sed, avail);
		assert_int_equal(avail[1], 2);
		assert_int_equal(avail[2], kind == SED1 ? 2 : 4);
		sed_clear(&sed);
	}
}

/* Factors as they are written on a command line: one at the class's end, one
 * whose triple is the slowest's. */
static void fractions_at_the_edge(void **state)
{
	static const double half[] = { 1, 1.5, 1.5 }, third[] = { 1.1, 3.3 };
	int avail[5];
	struct sed sed;

	(void)state;
	sed_init(&sed, SED1, half, 3);
	assert_int_equal(sed.nr_classes, 2);
	sed_availability(&sed, avail);
	assert_int_equal(avail[1], 1);
	assert_int_equal(avail[2], 3);
	/*
	 * Class 2 reaches no further than 1.5: the fast host takes no second
	 * process.
	 */
	sed_start(&sed, 1, 2, 3);
	sed_availability(&sed, avail);
	assert_int_equal(avail[2], 0);
	sed_clear(&sed);
	sed_init(&sed, SED2, third, 2);
	assert_int_equal(sed.nr_classes, 3);
	sed_availability(&sed, avail);
	assert_int_equal(avail[3], 3 + 1);
	sed_clear(&sed);
}

/*
 * System 2: one job runs on the 20 fast hosts, one on the 10 slow ones; the
 * fast one ends.
 */
static void whole_jobs_migrate_to_a_faster_class(void **state)
{
	double alpha[30];
	struct sed sed;
	int size, n = make_alpha(system2, alpha);

	(void)state;
	sed_init(&sed, SED2, alpha, n);
	assert_int_equal(sed_map(&sed, 1, 30, &size), 1);
	sed_start(&sed, 1, 1, size);
	assert_int_equal(size, 20);
	assert_int_equal(sed_map(&sed, 1, 30, &size), 4);
	sed_start(&sed, 2, 4, size);
	assert_int_equal(size, 10);
	assert_int_equal(sed_better_class(&sed, 1), 0);
	sed_end(&sed, 1);
	assert_int_equal(sed_better_class(&sed, 0), 1);
	assert_int_equal(sed_migrate(&sed, 0, 1), 10);
	assert_int_equal(sed.jobs[0].class, 1);
	assert_float_equal(sed_rate(&sed, 0), 1, 1e-12);
	for (int i = 0; i < 10; i++)
		assert_int_equal(sed.jobs[0].hosts[i], i);
	/* A job never moves in part: 19 of 20 hosts are not enough. */
	sed_clear(&sed);
	sed_init(&sed, SED1, alpha, n);
	sed_start(&sed, 1, 4, 30);
	assert_int_equal(sed_better_class(&sed, 0), 0);
	sed_clear(&sed);
}

/* A job that moves keeps hosts that are as good as others: here one of two. */
static void hosts_that_are_as_good_are_kept(void **state)
{
	const double alpha[] = { 1, 1, 1, 2 };
	struct sed sed;
	int size;

	(void)state;
	sed_init(&sed, SED1, alpha, 4);
	assert_int_equal(sed_map(&sed, 2, 2, &size), 1);
	sed_start(&sed, 1, 1, 2);
	assert_int_equal(sed_map(&sed, 2, 2, &size), 2);
	sed_start(&sed, 2, 2, 2);
	assert_int_equal(sed.jobs[1].hosts[0], 2);
	assert_int_equal(sed.jobs[1].hosts[1], 3);
	sed_end(&sed, 1);
	assert_int_equal(sed_better_class(&sed, 0), 1);
	assert_int_equal(sed_migrate(&sed, 0, 1), 1);
	assert_int_equal(sed.jobs[0].hosts[0], 2);
	assert_int_equal(sed.jobs[0].hosts[1], 0);
	sed_clear(&sed);
}

enum variant { PLAIN, NOT_BETTER, EAGER }; /* NOT_BETTER: -NU and -NM */

static void enumerate_as(const int *counts, enum sed_kind kind,
			 enum variant variant, struct mapstates *ms)
{
	double alpha[100];
	struct mapstates_conf conf = {
		.kind = kind,
		.alpha = alpha,
		.nr_hosts = make_alpha(counts, alpha),
		.minsize = 1,
		.maxsize = 30,
		.rules = { .upgrade = variant != NOT_BETTER,
			   .migrate = variant != NOT_BETTER,
			   .eager = variant == EAGER },
	};

	assert_int_equal(mapstates_enumerate(&conf, 10000, ms, NULL), 0);
}

/* Every state and every edge, as "FROM>TO" and a letter for its kind. */
static void check_diagram(const int *counts, enum sed_kind kind,
			  enum variant variant, const char *const *want)
{
	struct mapstates ms;
	size_t n = 0;
	char got[200];

	enumerate_as(counts, kind, variant, &ms);
	for (; want[n] && n < ms.nr_edges; n++) {
		const struct mapstates_edge *e = &ms.edges[n];

		snprintf(got, sizeof(got), "%s>%s %c", ms.nodes[e->from],
			 ms.nodes[e->to],
			 e->kind & MAPSTATES_MIGRATION ? 'M'
			 : e->kind & MAPSTATES_UPGRADE ? 'U'
			 : e->kind & MAPSTATES_ARRIVAL ? 'a'
						       : 'd');
		assert_string_equal(got, want[n]);
	}
	assert_null(want[n]);
	assert_int_equal(n, ms.nr_edges);
	mapstates_clear(&ms);
}

/* S-4b: figures 4.2 and 4.3, as their text describes them. */
static void diagrams_of_system1(void **state)
{
	static const char *const sed1[] = {
		"(0,0,0,0)>(0,0,0,30) a",  "(0,0,0,30)>(0,0,0,0) d",
		"(0,0,0,30)>(0,5,0,30) a", "(0,5,0,30)>(0,0,0,30) d",
		"(0,5,0,30)>(0,5,0,30) d", "(0,5,0,30)>(5,0,0,0) U",
		"(5,0,0,0)>(0,0,0,0) d",   "(5,0,0,0)>(5,0,0,25) a",
		"(5,0,0,25)>(5,0,0,0) d",  "(5,0,0,25)>(5,0,0,25) d",
		"(5,0,0,25)>(0,0,0,25) d", "(0,0,0,25)>(0,0,0,0) d",
		"(0,0,0,25)>(5,0,0,25) a", NULL
	};
	static const char *const sed1_nu[] = { "(0,0,0,0)>(0,0,0,30) a",
					       "(0,0,0,30)>(0,0,0,0) d",
					       "(0,0,0,30)>(0,5,0,30) a",
					       "(0,5,0,30)>(0,0,0,30) d",
					       "(0,5,0,30)>(0,5,0,30) d",
					       "(0,5,0,30)>(0,5,0,0) d",
					       "(0,5,0,0)>(0,0,0,0) d",
					       "(0,5,0,0)>(0,5,0,30) a",
					       NULL };
	static const char *const sed2[] = {
		"(0,0,0,0)>(0,0,0,30) a",	 "(0,0,0,30)>(0,0,0,0) d",
		"(0,0,0,30)>(0,0,0,30+15) a",	 "(0,0,0,30+15)>(0,0,0,30) d",
		"(0,0,0,30+15)>(0,0,0,30+15) d", "(0,0,0,30+15)>(0,0,15,0) M",
		"(0,0,15,0)>(0,0,0,0) d",	 "(0,0,15,0)>(0,0,15,25) a",
		"(0,0,15,25)>(0,0,15,0) d",	 "(0,0,15,25)>(0,0,15,25) d",
		"(0,0,15,25)>(0,0,0,25) d",	 "(0,0,15,25)>(5,0,0,25) d",
		"(0,0,0,25)>(0,0,0,0) d",	 "(0,0,0,25)>(5,0,0,25) a",
		"(5,0,0,25)>(0,0,0,25) d",	 "(5,0,0,25)>(5,0,0,25) d",
		"(5,0,0,25)>(5,0,0,0) d",	 "(5,0,0,0)>(0,0,0,0) d",
		"(5,0,0,0)>(5,0,0,25) a",	 NULL
	};
	static const char *const sed2_nm[] = { "(0,0,0,0)>(0,0,0,30) a",
					       "(0,0,0,30)>(0,0,0,0) d",
					       "(0,0,0,30)>(0,0,0,30+15) a",
					       "(0,0,0,30+15)>(0,0,0,30) d",
					       "(0,0,0,30+15)>(0,0,0,30+15) d",
					       "(0,0,0,30+15)>(0,0,0,15) d",
					       "(0,0,0,15)>(0,0,0,0) d",
					       "(0,0,0,15)>(0,0,0,30+15) a",
					       NULL };

	/* Section 4.3.2: (5,0,0,25) while a queue never empties. */
	static const char *const eager[] = { "(0,0,0,0)>(0,0,0,30) a",
					     "(0,0,0,30)>(0,0,0,0) d",
					     "(0,0,0,30)>(0,5,0,30) a",
					     "(0,5,0,30)>(0,0,0,30) d",
					     "(0,5,0,30)>(0,5,0,30) d",
					     "(0,5,0,30)>(5,0,0,0) U",
					     "(0,5,0,30)>(5,0,0,25) U",
					     "(5,0,0,0)>(0,0,0,0) d",
					     "(5,0,0,0)>(5,0,0,25) a",
					     "(5,0,0,25)>(5,0,0,0) d",
					     "(5,0,0,25)>(5,0,0,25) d",
					     "(5,0,0,25)>(0,0,0,25) d",
					     "(0,0,0,25)>(0,0,0,0) d",
					     "(0,0,0,25)>(5,0,0,25) a",
					     NULL };

	(void)state;
	check_diagram(system1, SED1, EAGER, eager);
	check_diagram(system1, SED1, PLAIN, sed1);
	check_diagram(system1, SED1, NOT_BETTER, sed1_nu);
	check_diagram(system1, SED2, PLAIN, sed2);
	check_diagram(system1, SED2, NOT_BETTER, sed2_nm);
}

/* S-4c: figure 4.4; SED1 and SED2 have the same diagram. */
static void diagrams_of_system2(void **state)
{
	static const char *const sed[] = { "(0,0,0,0)>(20,0,0,0) a",
					   "(20,0,0,0)>(0,0,0,0) d",
					   "(20,0,0,0)>(20,0,0,10) a",
					   "(20,0,0,10)>(20,0,0,0) d",
					   "(20,0,0,10)>(20,0,0,10) d",
					   "(20,0,0,10)>(10,0,0,0) M",
					   "(10,0,0,0)>(0,0,0,0) d",
					   "(10,0,0,0)>(10+10,0,0,0) a",
					   "(10+10,0,0,0)>(10,0,0,0) d",
					   "(10+10,0,0,0)>(10+10,0,0,10) a",
					   "(10+10,0,0,10)>(10+10,0,0,0) d",
					   "(10+10,0,0,10)>(10+10,0,0,0) M",
					   "(10+10,0,0,10)>(10+10,0,0,10) d",
					   NULL };
	static const char *const nm[] = { "(0,0,0,0)>(20,0,0,0) a",
					  "(20,0,0,0)>(0,0,0,0) d",
					  "(20,0,0,0)>(20,0,0,10) a",
					  "(20,0,0,10)>(20,0,0,0) d",
					  "(20,0,0,10)>(20,0,0,10) d",
					  "(20,0,0,10)>(0,0,0,10) d",
					  "(0,0,0,10)>(0,0,0,0) d",
					  "(0,0,0,10)>(20,0,0,10) a",
					  NULL };

	(void)state;
	check_diagram(system2, SED1, PLAIN, sed);
	check_diagram(system2, SED2, PLAIN, sed);
	check_diagram(system2, SED1, NOT_BETTER, nm);
	check_diagram(system2, SED2, NOT_BETTER, nm);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(idle_availability),
		cmocka_unit_test(sed1_spreads_and_sed2_packs),
		cmocka_unit_test(delay_classes),
		cmocka_unit_test(drained_hosts_are_no_nodes),
		cmocka_unit_test(upgrade_when_alone),
		cmocka_unit_test(ties_go_to_the_faster_class),
		cmocka_unit_test(load_of_others_counts),
		cmocka_unit_test(each_host_keeps_its_own_promise),
		cmocka_unit_test(classes_reach_half_a_step_further),
		cmocka_unit_test(fractions_at_the_edge),
		cmocka_unit_test(whole_jobs_migrate_to_a_faster_class),
		cmocka_unit_test(hosts_that_are_as_good_are_kept),
		cmocka_unit_test(diagrams_of_system1),
		cmocka_unit_test(diagrams_of_system2),
	};
	return cmocka_run_group_tests_name("sed", tests, NULL, NULL);
}
