/*
 * test_activity_import.c - what owners did, from traces of others: how hosts are at any time
 * is what the samples, or the lines, say
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/random.h"
#include "core/scratch.h"
#include "sim/workload/activity_import.h"

enum { HOSTS = 6, SAMPLES = 40, ROUNDS = 200 };

static char dir[SCRATCH_MAX];
static char path[HOSTS][SCRATCH_MAX + 32], *paths[HOSTS];

/* What of a host is at that time, after all changes up to it. */
static double value_at(const struct activity *a, uint32_t host,
		       enum activity_what what, usec_t at)
{
	double v = 0;

	for (size_t i = 0; i < a->nr && a->change[i].at <= at; i++)
		if (a->change[i].host == host && a->change[i].what == what)
			v = a->change[i].value;
	return v;
}

/* Nothing is told twice, and time does not go back. */
static void check_changes(const struct activity *a)
{
	double is[HOSTS][ACTIVITY_WHATS] = { { 0 } };

	for (size_t i = 0; i < a->nr; i++) {
		const struct activity_change *c = &a->change[i];

		assert_true(!i || c[-1].at <= c->at);
		assert_true(is[c->host][c->what] != c->value);
		is[c->host][c->what] = c->value;
	}
}

static void write_samples(struct random_stream *r, int host, unsigned nr,
			  const double *percent)
{
	char *text;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	for (unsigned i = 0; i < nr; i++)
		fprintf(f, "%.17g%s\n%s", percent[i],
			random_below(r, 3) ? "" : " \r",
			random_below(r, 9) ? "" : "\n");
	fclose(f);
	scratch_put(dir, path[host] + strlen(dir) + 1, text);
	free(text);
}

static void samples_are_loads(void **state)
{
	struct random_stream r;

	(void)state;
	random_init(&r, 1, "samples", 0);
	for (int round = 0; round < ROUNDS; round++) {
		uint32_t hosts = 1 + (uint32_t)random_below(&r, HOSTS);
		usec_t every = 1 + (usec_t)random_below(&r, 1000000000);
		double percent[HOSTS][SAMPLES];
		unsigned nr[HOSTS];
		struct activity a;
		struct error err;

		for (uint32_t h = 0; h < hosts; h++) {
			nr[h] = 1 + (unsigned)random_below(&r, SAMPLES);
			for (unsigned i = 0; i < nr[h]; i++)
				percent[h][i] =
					random_below(&r, 3) && i
						? percent[h][i - 1]
						: random_uniform(&r, 0, 100);
			write_samples(&r, (int)h, nr[h], percent[h]);
		}
		if (activity_import_samples(paths, hosts, every, &a, &err) < 0)
			fail_msg("%s", err.text);
		assert_int_equal(a.nr_hosts, hosts);
		check_changes(&a);
		for (uint32_t h = 0; h < hosts; h++)
			for (unsigned i = 0; i < SAMPLES; i++) {
				double is =
					percent[h][i < nr[h] ? i : nr[h] - 1];

				assert_true(value_at(&a, h, ACTIVITY_LOAD,
						     i * every) == is / 100);
			}
		activity_clear(&a);
	}
}

static void hosts_are_called_as_files(void **state)
{
	char first[64], second[64], third[64];
	char *three[] = { first, second, third };
	struct activity a = { .nr = 7 };
	struct error err;

	(void)state;
	snprintf(first, sizeof(first), "%s/a:b", dir);
	snprintf(second, sizeof(second), "%s/c.d-e", dir);
	snprintf(third, sizeof(third), "%s/a b", dir);
	scratch_put(dir, "a:b", "100\n");
	scratch_put(dir, "c.d-e", "0\n50\n");
	scratch_put(dir, "a b", "1\n");
	/* Both would be a_b. */
	assert_int_equal(activity_import_samples(three, 3, 1, &a, &err),
			 -EINVAL);
	assert_int_equal(a.nr, 7);
	if (activity_import_samples(three, 2, 1, &a, &err) < 0)
		fail_msg("%s", err.text);
	assert_string_equal(a.host[0].name, "a_b");
	assert_string_equal(a.host[1].name, "c.d-e");
	activity_clear(&a);
}

static void refused(const char *text, const char *why)
{
	struct activity a;
	struct error err;

	scratch_put(dir, "h0", text);
	assert_int_equal(activity_import_samples(paths, 1, 1, &a, &err),
			 -EINVAL);
	if (!strstr(err.text, why))
		fail_msg("'%s' does not say '%s'", err.text, why);
}

static void wrong_samples_are_told(void **state)
{
	(void)state;
	refused("", "no sample");
	refused("1\n\n100.5\n", ":3: '100.5' is no percentage");
	refused("-1\n", ":1: '-1'");
	refused("5\nx\n", ":2: 'x'");
}

/* ---- the Failure Trace Archive ---- */

/* Nodes are up and down in turn, and one line says both ends. */
static void owners_are_there_while_nodes_are_not(void **state)
{
	struct random_stream r;

	(void)state;
	random_init(&r, 1, "fta", 0);
	for (int round = 0; round < ROUNDS; round++) {
		uint32_t nodes = 1 + (uint32_t)random_below(&r, HOSTS);
		int from[HOSTS][SAMPLES + 1], nr[HOSTS], first = 2000;
		bool down[HOSTS];
		struct activity a;
		struct error err;
		char *text;
		size_t size;
		FILE *f = open_memstream(&text, &size);

		fputs("# node_id event_type event_start_time event_stop_time\n",
		      f);
		for (uint32_t h = 0; h < nodes; h++) {
			nr[h] = 1 + (int)random_below(&r, 8);
			down[h] = random_below(&r, 2);
			from[h][0] = 1000 + (int)random_below(&r, 50);
			first = from[h][0] < first ? from[h][0] : first;
			for (int i = 0; i < nr[h]; i++) {
				from[h][i + 1] = from[h][i] + 1 +
						 (int)random_below(&r, 50);
				fprintf(f, "%u\t%d %d %d\n", 40 - h,
					(i % 2 == 0) != down[h], from[h][i],
					from[h][i + 1]);
			}
		}
		fclose(f);
		scratch_put(dir, "h0", text);
		free(text);
		if (activity_import_fta(path[0], &a, &err) < 0)
			fail_msg("%s", err.text);
		assert_int_equal(a.nr_hosts, nodes);
		check_changes(&a);
		for (uint32_t h = 0; h < nodes; h++)
			for (int i = 0; i < nr[h]; i++) {
				usec_t at = (from[h][i] - first) * USEC_PER_SEC;
				bool is = (i % 2 == 0) == down[h];

				assert_true(value_at(&a, h, ACTIVITY_OWNER,
						     at) == is);
			}
		activity_clear(&a);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(samples_are_loads),
		cmocka_unit_test(hosts_are_called_as_files),
		cmocka_unit_test(wrong_samples_are_told),
		cmocka_unit_test(owners_are_there_while_nodes_are_not),
	};

	scratch_dir(dir, "/tmp");
	for (int h = 0; h < HOSTS; h++) {
		snprintf(path[h], sizeof(path[h]), "%s/h%d", dir, h);
		paths[h] = path[h];
	}
	return cmocka_run_group_tests_name("activity_import", tests, NULL,
					   NULL);
}
