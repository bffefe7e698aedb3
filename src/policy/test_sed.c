/* test_sed.c - availability, mapping and state diagrams of Schnor 1997 ch. 4 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "policy/mapstates.h"
#include "policy/sed_state.h"

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

static void enumerate(const int *counts, enum sed_kind kind,
		      struct mapstates *ms)
{
	double alpha[100];
	struct mapstates_conf conf = {
		.kind = kind,
		.alpha = alpha,
		.nr_hosts = make_alpha(counts, alpha),
		.minsize = 1,
		.maxsize = 30,
		.upgrade = true,
		.migrate = true,
	};

	assert_int_equal(mapstates_enumerate(&conf, 10000, ms, NULL), 0);
}

static unsigned kinds(const struct mapstates *ms)
{
	unsigned k = 0;

	for (size_t i = 0; i < ms->nr_edges; i++)
		k |= ms->edges[i].kind;
	return k;
}

/* The most jobs at once, counted from the labels. */
static int most_jobs(const struct mapstates *ms)
{
	int most = 0;

	for (size_t i = 0; i < ms->nr_nodes; i++) {
		int n = 0;

		for (const char *c = ms->nodes[i]; *c; c++)
			n += *c == '+' || (*c > '0' && *c <= '9' &&
					   (c[-1] == '(' || c[-1] == ','));
		most = n > most ? n : most;
	}
	return most;
}

/* S-4b */
static void diagrams_of_system1(void **state)
{
	struct mapstates ms;

	(void)state;
	enumerate(system1, SED1, &ms);
	assert_int_equal(most_jobs(&ms), 2);
	assert_true(mapstates_find(&ms, "(5,0,0,25)") > 0);
	assert_true(mapstates_find(&ms, "(0,5,0,30)") > 0);
	assert_true(kinds(&ms) & MAPSTATES_UPGRADE);
	assert_false(kinds(&ms) & MAPSTATES_MIGRATION);
	mapstates_clear(&ms);

	enumerate(system1, SED2, &ms);
	assert_true(mapstates_find(&ms, "(0,0,0,30+15)") > 0);
	assert_true(kinds(&ms) & MAPSTATES_MIGRATION);
	assert_false(kinds(&ms) & MAPSTATES_UPGRADE);
	mapstates_clear(&ms);
}

/* S-4c */
static void diagrams_of_system2(void **state)
{
	struct mapstates a, b;

	(void)state;
	enumerate(system2, SED1, &a);
	enumerate(system2, SED2, &b);
	assert_int_equal(most_jobs(&b), 3);
	assert_true(mapstates_find(&b, "(10+10,0,0,10)") > 0);
	assert_true(kinds(&b) & MAPSTATES_MIGRATION);
	assert_false(kinds(&b) & MAPSTATES_UPGRADE);
	assert_int_equal(a.nr_nodes, b.nr_nodes);
	assert_int_equal(a.nr_edges, b.nr_edges);
	for (size_t i = 0; i < a.nr_nodes; i++)
		assert_string_equal(a.nodes[i], b.nodes[i]);
	for (size_t i = 0; i < a.nr_edges; i++) {
		assert_int_equal(a.edges[i].from, b.edges[i].from);
		assert_int_equal(a.edges[i].to, b.edges[i].to);
		assert_int_equal(a.edges[i].kind, b.edges[i].kind);
	}
	mapstates_clear(&a);
	mapstates_clear(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(idle_availability),
		cmocka_unit_test(sed1_spreads_and_sed2_packs),
		cmocka_unit_test(delay_classes),
		cmocka_unit_test(upgrade_when_alone),
		cmocka_unit_test(diagrams_of_system1),
		cmocka_unit_test(diagrams_of_system2),
	};
	return cmocka_run_group_tests_name("sed", tests, NULL, NULL);
}
