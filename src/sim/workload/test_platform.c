/*
 * test_platform.c - machines described by files: random ones, written and read again
 *
 * Columns stand in any order, with blanks, comments and empty lines between.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
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
#include "sim/workload/machine.h"
#include "sim/workload/platform.h"

enum { KINDS = 8, ROUNDS = 300, COLUMNS = 5 };

static char dir[SCRATCH_MAX], path[SCRATCH_MAX + 16];

struct kind {
	unsigned count, cores;
	double speed;
	uint64_t memory; /* 0: the field is empty */
};

static void put(const char *text)
{
	scratch_put(dir, "machine", text);
}

static const char *const columns[COLUMNS] = { "name", "speed", "count", "cores",
					      "memory" };

static void write_field(FILE *f, int column, int kind, const struct kind *k)
{
	switch (column) {
	case 0:
		fprintf(f, "k%d-", kind);
		break;
	case 1:
		fprintf(f, " %.17g\t", k->speed);
		break;
	case 2:
		fprintf(f, "%u ", k->count);
		break;
	case 3:
		fprintf(f, "%u", k->cores);
		break;
	case 4:
		if (k->memory)
			fprintf(f, "%" PRIu64, k->memory);
	}
}

/* The columns' order; name and speed are always there. */
static int draw_order(struct random_stream *r, int order[COLUMNS])
{
	int nr = 0;

	for (int c = 0; c < COLUMNS; c++) {
		int at = (int)random_below(r, (uint64_t)nr + 1);

		if (c > 1 && !random_below(r, 4))
			continue;
		memmove(order + at + 1, order + at,
			(size_t)(nr++ - at) * sizeof(*order));
		order[at] = c;
	}
	return nr;
}

static void write_line(FILE *f, struct random_stream *r, const int *order,
		       int nr, int kind, const struct kind *k)
{
	if (!random_below(r, 4))
		fputs("  # nothing, or\n\n", f);
	for (int i = 0; i < nr; i++) {
		fputs(i ? "," : "", f);
		if (k)
			write_field(f, order[i], kind, k);
		else
			fputs(columns[order[i]], f);
	}
	fputs(random_below(r, 2) ? "\n" : "\r\n", f);
}

static bool has(const int *order, int nr, int column)
{
	for (int i = 0; i < nr; i++)
		if (order[i] == column)
			return true;
	return false;
}

/* Draw a machine, and write it down. */
static int draw_machine(struct random_stream *r, struct kind *k)
{
	int order[COLUMNS], nr = draw_order(r, order);
	int kinds = 1 + (int)random_below(r, KINDS);
	char *text;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	write_line(f, r, order, nr, 0, NULL);
	for (int i = 0; i < kinds; i++) {
		k[i] = (struct kind){
			.count = 1 + (unsigned)random_below(r, 4),
			.cores = 1 + (unsigned)random_below(r, 9),
			.speed = random_uniform(r, 0.01, 9),
			.memory = random_below(r, 3) * 4096,
		};
		write_line(f, r, order, nr, i, &k[i]);
		k[i].count = has(order, nr, 2) ? k[i].count : 1;
		k[i].cores = has(order, nr, 3) ? k[i].cores : 1;
		k[i].memory = has(order, nr, 4) ? k[i].memory : 0;
	}
	fclose(f);
	put(text);
	free(text);
	return kinds;
}

static void check_host(const struct host *h, const struct kind *k, int kind,
		       unsigned number, double fastest)
{
	char name[32];

	snprintf(name, sizeof(name), "k%d-", kind);
	if (k->count > 1)
		snprintf(name, sizeof(name), "k%d-%u", kind, number);
	assert_string_equal(h->name, name);
	assert_int_equal(h->cores, k->cores);
	assert_true(h->speed == fastest / k->speed && h->speed >= 1);
	assert_int_equal(h->memory, k->memory);
	assert_int_equal(h->memory_free, k->memory);
	assert_true(h->up && h->slots > 1000);
}

static void a_file_is_its_machine(void **state)
{
	struct random_stream r;

	(void)state;
	random_init(&r, 1, "platform", 0);
	for (int round = 0; round < ROUNDS; round++) {
		struct kind k[KINDS];
		int kinds = draw_machine(&r, k);
		double fastest = 0;
		struct host *host;
		struct error err;
		uint32_t nr, at = 0;

		for (int i = 0; i < kinds; i++)
			fastest = fmax(fastest, k[i].speed);
		if (platform_read(path, &host, &nr, &err) < 0)
			fail_msg("%s", err.text);
		for (int i = 0; i < kinds; i++)
			for (unsigned j = 1; j <= k[i].count; j++)
				check_host(&host[at++], &k[i], i, j, fastest);
		assert_int_equal(at, nr);
		free(host);
	}
}

/* ---- in a few characters ---- */

/* Some hosts in a row, of which each may differ from the one before in any one thing. */
static char *draw_text(struct random_stream *r, uint32_t *ret_kinds)
{
	static const char *const memory[] = { "", "x1024", "x2K", "x4G" };
	int alpha = 1, cores = 1, much = 0;
	char *text;
	size_t size;
	FILE *f = open_memstream(&text, &size);
	int nr = 1 + (int)random_below(r, KINDS);

	*ret_kinds = 1;
	for (int i = 0; i < nr; i++) {
		int was[] = { alpha, cores, much };

		switch (i ? random_below(r, 4) : 3) {
		case 0:
			alpha = 1 + (int)random_below(r, 3);
			break;
		case 1:
			cores = 1 + (int)random_below(r, 3);
			break;
		case 2:
			much = (int)random_below(r, 4);
		}
		*ret_kinds +=
			was[0] != alpha || was[1] != cores || was[2] != much;
		fprintf(f, "%s%d", i ? "," : "", 1 + (int)random_below(r, 3));
		if (alpha > 1 || cores > 1 || much || random_below(r, 2))
			fprintf(f, "x%d.%s", alpha,
				random_below(r, 2) ? "0" : "");
		else
			continue;
		if (cores > 1 || much || random_below(r, 2))
			fprintf(f, "x%d%s", cores, memory[much]);
	}
	fclose(f);
	return text;
}

static struct host *parse(const char *text, uint32_t *ret_nr)
{
	struct host *host;
	struct error err;

	if (machine_parse(text, &host, ret_nr, &err) < 0)
		fail_msg("%s", err.text);
	return host;
}

static void check_same_hosts(const char *a, const char *b)
{
	uint32_t nr_a, nr_b;
	struct host *x = parse(a, &nr_a), *y = parse(b, &nr_b);

	assert_int_equal(nr_a, nr_b);
	for (uint32_t i = 0; i < nr_a; i++)
		if (x[i].speed != y[i].speed || x[i].cores != y[i].cores ||
		    x[i].slots != y[i].slots || x[i].memory != y[i].memory ||
		    x[i].memory_free != y[i].memory_free)
			fail_msg("host %u of %s is another one in %s", i, a, b);
	free(x);
	free(y);
}

static uint32_t kinds_in(const char *text)
{
	uint32_t n = 1;

	for (; *text; text++)
		n += *text == ',';
	return n;
}

/* What is written reads as the same hosts, and has no more kinds than there are. */
static void written_and_read_it_is_the_same(void **state)
{
	struct random_stream r;

	(void)state;
	random_init(&r, 2, "platform", 0);
	for (int round = 0; round < 20 * ROUNDS; round++) {
		uint32_t kinds;
		char *text = draw_text(&r, &kinds), *written, *again;
		struct error err;

		if (machine_text(text, &written, &err) < 0)
			fail_msg("%s", err.text);
		check_same_hosts(text, written);
		assert_int_equal(kinds_in(written), kinds);
		assert_int_equal(machine_check(written, &err), 0);
		assert_int_equal(machine_text(written, &again, &err), 0);
		assert_string_equal(again, written);
		free(text);
		free(written);
		free(again);
	}
}

/* So does what a file says, but for names. */
static void a_file_is_written_in_a_few_characters(void **state)
{
	struct random_stream r;

	(void)state;
	random_init(&r, 3, "platform", 0);
	for (int round = 0; round < ROUNDS; round++) {
		struct kind k[KINDS];
		struct error err;
		char *written;

		(void)draw_machine(&r, k);
		if (machine_text(path, &written, &err) < 0)
			fail_msg("%s", err.text);
		check_same_hosts(path, written);
		free(written);
	}
}

static void refused(const char *text, const char *why)
{
	struct host *host = NULL;
	struct error err;
	uint32_t nr = 7;

	put(text);
	assert_int_equal(platform_read(path, &host, &nr, &err), -EINVAL);
	if (!strstr(err.text, why))
		fail_msg("'%s' does not say '%s'", err.text, why);
	assert_null(host);
	assert_int_equal(nr, 7);
}

static void what_is_wrong_is_told(void **state)
{
	(void)state;
	refused("name,speed\na,1\nb,2\na,1\n", "two hosts are called 'a'");
	refused("name,speed,count\na2,1,1\na,2,3\n",
		"two hosts are called 'a2'");
	refused("name,speed\na,1\nb,1001\n", "thousand times slower");
	refused("name\na\n", "name and speed");
	refused("name,speed,name\na,1,a\n", "'name' is there twice");
	refused("name,speed,disk\n", "'disk' is none");
	refused("name,speed\n#\na\n", ":3: fewer fields");
	refused("name,speed\na,1,2\n", ":2: more fields");
	refused("name,speed,cores\na,1,0\n", "cores is '0'");
	refused("name,speed,count\na,1,1000001\n", "count is");
	refused("name,speed,count\na,1,1000000\nb,1,1\n", "more than 1000000");
	refused("name,speed\na b,1\n", "name is 'a b'");
	refused("name,speed\na,0\n", "speed is '0'");
	refused("name,speed\na,nan\n", "speed is 'nan'");
	refused("name,speed,memory\na,1,0\n", "memory is '0'");
	refused("name,speed\n", "no host");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_is_its_machine),
		cmocka_unit_test(written_and_read_it_is_the_same),
		cmocka_unit_test(a_file_is_written_in_a_few_characters),
		cmocka_unit_test(what_is_wrong_is_told),
	};

	scratch_dir(dir, "/tmp");
	snprintf(path, sizeof(path), "%s/machine", dir);
	return cmocka_run_group_tests_name("platform", tests, NULL, NULL);
}
