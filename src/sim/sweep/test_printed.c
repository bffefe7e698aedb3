/* test_printed.c - sweeps as tables: each field stands below its name */
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
#include "core/xalloc.h"
#include "sim/sweep/sweep.h"

enum { COLUMNS = 200, CELLS = 4, ROUNDS = 200 };

static char *printed(const struct sweep *sweep, const struct sweep_result *r,
		     enum sweep_format format)
{
	char *text;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	sweep_print(sweep, r, format, f);
	fclose(f);
	return text;
}

/* The fields of a line, which is cut into them; of CSV, quoted ones without their quotes. */
static size_t cut(char *at, char sep, char *ret[COLUMNS])
{
	size_t nr = 0;

	for (;;) {
		char *to = at, *begin = at;
		bool quoted = sep == ',' && *at == '"';

		for (at += quoted; *at && (quoted || *at != sep); at++) {
			if (quoted && *at == '"' && *++at != '"') {
				quoted = false;
				if (!*at || *at == sep)
					break;
			}
			*to++ = *at;
		}
		assert_true(nr < COLUMNS && !quoted);
		ret[nr++] = begin;
		if (!*at) {
			*to = '\0';
			return nr;
		}
		at++;
		*to = '\0';
	}
}

struct table {
	char *name[COLUMNS], *field[COLUMNS];
	size_t nr;
};

/* The one column of that name. */
static size_t find(const struct table *t, const char *name)
{
	size_t at = t->nr, times = 0;

	for (size_t i = 0; i < t->nr; i++)
		if (!strcmp(t->name[i], name)) {
			at = i;
			times++;
		}
	if (times != 1)
		fail_msg("there are %zu columns %s", times, name);
	return at;
}

static const char *field_of(const struct table *t, const char *name)
{
	return t->field[find(t, name)];
}

static void check_text(const struct table *t, const char *name,
		       const char *wanted)
{
	assert_string_equal(field_of(t, name), wanted ? wanted : "");
}

static void near(const char *name, const char *text, double wanted)
{
	char *end;
	double got = strtod(text, &end);

	assert_true(end != text && !*end);

	if (!(fabs(got - wanted) <= 1e-11 * fabs(wanted)) &&
	    !(isnan(got) && isnan(wanted)) && got != wanted)
		fail_msg("%s is %g, not %g", name, got, wanted);
}

static void check_number(const struct table *t, const char *name, double wanted)
{
	near(name, field_of(t, name), wanted);
}

static void check_metric(const struct table *t, const struct sweep_result *r,
			 int m, double level)
{
	struct estimate e = sweep_mean(r, m, level);
	const char *name = sweep_metrics[m].name;
	char low[100], high[100];

	snprintf(low, sizeof(low), "%s_low", name);
	snprintf(high, sizeof(high), "%s_high", name);
	check_number(t, name, e.value);
	check_number(t, low, e.low);
	check_number(t, high, e.high);
}

static void check_row(const struct table *t, const struct sweep *s,
		      const struct sweep_cell *c, const struct sweep_result *r)
{
	check_text(t, "policy", c->policy);
	check_text(t, "workload", c->workload);
	check_text(t, "speedup", c->speedup);
	check_text(t, "hosts", c->hosts);
	check_text(t, "paging", c->paging);
	check_number(t, "load", c->load);
	check_number(t, "resize_cost", usec_to_seconds(c->costs.resize));
	check_number(t, "migrate_cost", usec_to_seconds(c->costs.migrate));
	check_number(t, "rank_cost", usec_to_seconds(c->costs.migrate_rank));
	check_number(t, "seed", (double)s->seed);
	check_number(t, "replications", r->n);
	check_number(t, "met", r->met);
	for (int m = 0; m < NR_METRICS; m++)
		check_metric(t, r, m, s->level);
	/* What has no name here is the version. */
	assert_int_equal(t->nr, 13 + 3 * NR_METRICS);
	assert_true(*field_of(t, "version"));
}

static void check_table(const struct sweep *s, const struct sweep_result *r,
			enum sweep_format format)
{
	char *text = printed(s, r, format), *rest = text;
	char sep = format == SWEEP_CSV ? ',' : '\t';
	struct table t;

	t.nr = cut(strsep(&rest, "\n"), sep, t.name);
	for (size_t c = 0; c < s->nr; c++) {
		assert_int_equal(cut(strsep(&rest, "\n"), sep, t.field), t.nr);
		check_row(&t, s, &s->cell[c], &r[c]);
	}
	assert_string_equal(rest, "");
	free(text);
}

/* ---- random ones ---- */

static const char *draw_text(struct random_stream *r)
{
	static const char *const texts[] = {
		NULL, "", "ff", "a=1,b=2", "\"x\",", "3x1,\"4x2\""
	};

	return texts[random_below(r, sizeof(texts) / sizeof(*texts))];
}

static struct sweep_cell draw_cell(struct random_stream *r)
{
	return (struct sweep_cell){
		.policy = draw_text(r),
		.workload = draw_text(r),
		.load = random_unit(r),
		.speedup = draw_text(r),
		.hosts = draw_text(r),
		.paging = draw_text(r),
		.costs = { .resize = (usec_t)random_below(r, 9000000),
			   .migrate = (usec_t)random_below(r, 9000000),
			   .migrate_rank = (usec_t)random_below(r, 9000000) },
	};
}

static void draw_result(struct random_stream *r, struct sweep_result *ret)
{
	*ret = (struct sweep_result){ .n = 2 + (uint32_t)random_below(r, 4),
				      .met = random_below(r, 2) };
	ret->value = xcalloc(ret->n, sizeof(*ret->value));
	for (uint32_t i = 0; i < ret->n; i++)
		for (int m = 0; m < NR_METRICS; m++)
			ret->value[i][m] = random_uniform(r, 0, 1000);
}

static void each_field_stands_below_its_name(void **state)
{
	struct random_stream r;

	(void)state;
	random_init(&r, 1, "printed", 0);
	for (int round = 0; round < ROUNDS; round++) {
		struct sweep_cell cell[CELLS];
		struct sweep_result result[CELLS];
		const struct sweep s = { .cell = cell,
					 .nr = 1 + random_below(&r, CELLS),
					 .seed = random_below(&r, 1000),
					 .level = 0.95 };

		for (size_t i = 0; i < s.nr; i++) {
			cell[i] = draw_cell(&r);
			draw_result(&r, &result[i]);
		}
		check_table(&s, result, SWEEP_CSV);
		check_table(&s, result, SWEEP_TSV);
		for (size_t i = 0; i < s.nr; i++)
			free(result[i].value);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_field_stands_below_its_name),
	};

	return cmocka_run_group_tests_name("printed", tests, NULL, NULL);
}
