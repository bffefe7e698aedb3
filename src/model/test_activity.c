/* test_activity.c - activity scripts: what is written reads back, the rest is an
 * error with its line */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/random.h"
#include "model/activity.h"

#define HEAD "time,host,what,value\n"

static int parse(const char *script, struct activity *ret, struct error *err)
{
	char *text = strdup(script);
	int r = activity_parse(text, strlen(text), "day.csv", ret, err);

	free(text);
	return r;
}

static char *write_text(const struct activity *a, bool anonymous)
{
	size_t size;
	char *text;
	FILE *f = open_memstream(&text, &size);

	activity_write(a, anonymous, f);
	fclose(f);
	return text;
}

static void reads(void **state)
{
	struct activity a = ACTIVITY_INIT;
	const struct activity_host *h;

	(void)state;
	assert_int_equal(parse("# a day\r\n" HEAD "0,lab-7,load,0.05\n"
			       "9h,lab-7,owner,here\n"
			       "32400,h2,keyboard,busy\n"
			       "\n"
			       "32460.5,h2,keyboard,idle\n"
			       "32460.5,h2,memory,1.5G\n"
			       "32470,h2,users,3",
			       &a, NULL),
			 0);
	assert_int_equal(a.nr_hosts, 2);
	assert_int_equal(activity_find(&a, "h2"), 1);
	assert_int_equal(activity_find(&a, "h3"), UINT32_MAX);
	assert_int_equal(a.nr, 6);
	assert_int_equal(a.change[1].at, 9 * 3600 * USEC_PER_SEC);
	assert_int_equal(a.change[1].what, ACTIVITY_OWNER);
	assert_true(a.change[1].value == 1);
	h = &a.host[1];
	assert_true(h->value[ACTIVITY_MEMORY] == 1536. * 1024 * 1024);
	assert_true(h->value[ACTIVITY_USERS] == 3);
	assert_int_equal(h->keyboard, 32460500000);
	activity_clear(&a);
}

/* Samples that say the same again leave no line. */
static void only_changes(void **state)
{
	struct activity a = ACTIVITY_INIT;

	(void)state;
	assert_int_equal(parse(HEAD "0,h1,load,0\n1,h1,load,1\n2,h1,load,1\n"
				    "3,h1,owner,away\n4,h1,load,0\n",
			       &a, NULL),
			 0);
	assert_int_equal(a.nr, 2);
	assert_false(activity_add(&a, 5 * USEC_PER_SEC, 0, ACTIVITY_LOAD, 0));
	assert_true(activity_add(&a, 5 * USEC_PER_SEC, 0, ACTIVITY_USERS, 1));
	assert_int_equal(a.nr, 3);
	activity_clear(&a);
}

static void wrong(void **state)
{
	static const struct {
		const char *text, *why;
	} bad[] = {
		{ "", "day.csv:1: there is no line" },
		{ "0,h1,load,1\n", "day.csv:1: the first line must be" },
		{ HEAD "0,h1,load\n", "day.csv:2: 3 columns" },
		{ HEAD "0,h1,load,1,2\n", "day.csv:2: 5 columns" },
		{ HEAD "-1,h1,load,1\n", "day.csv:2: '-1' is not a time" },
		{ HEAD "2,h1,load,1\n1,h1,load,2\n", "day.csv:3: time goes" },
		/* also where the line before changes nothing */
		{ HEAD "2,h1,load,0\n1,h1,load,2\n", "day.csv:3: time goes" },
		{ HEAD "0,,load,1\n", "day.csv:2: '' is no name" },
		{ HEAD "0,a b,load,1\n", "day.csv:2: 'a b' is no name" },
		{ HEAD "0,h1,mood,1\n", "day.csv:2: 'mood' is none of" },
		{ HEAD "0,h1,load,-1\n", "day.csv:2: '-1' is not a number" },
		{ HEAD "0,h1,load,nan\n", "day.csv:2: 'nan' is not a num" },
		{ HEAD "0,h1,owner,1\n", "day.csv:2: '1' is neither here nor" },
		{ HEAD "0,h1,keyboard,here\n", "neither busy nor idle" },
		{ HEAD "0,h1,users,1.5\n", "users: '1.5' is not a whole" },
		{ HEAD "0,h1,memory,much\n", "'much' is not a size" },
	};
	struct activity a;
	struct error err;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		assert_true(parse(bad[i].text, &a, &err) < 0);
		if (!strstr(err.text, bad[i].why))
			fail_msg("'%s' is not in '%s'", bad[i].why, err.text);
	}
}

static void draw(struct random_stream *r, struct activity *a)
{
	static const double most[ACTIVITY_WHATS] = { 1, 1, 3, 0, 5, 9 };
	usec_t at = 0;

	for (int i = 0; i < 5; i++)
		activity_add_host(a, (const char *[]){ "anna", "b-2", "c.d",
						       "E_e", "5" }[i]);
	for (int i = 0; i < 500; i++) {
		enum activity_what w = random_bits(r) % ACTIVITY_WHATS;
		double v = random_uniform(r, 0, most[w] + 1);

		at += (usec_t)(random_bits(r) % 3000000);
		if (w != ACTIVITY_LOAD)
			v = w == ACTIVITY_MEMORY ? (double)(random_bits(r) >> 4)
						 : (double)(int)v;
		activity_add(a, at, random_bits(r) % 5, w, v);
	}
}

static void written_reads_back(void **state)
{
	struct activity a = ACTIVITY_INIT, b = ACTIVITY_INIT;
	struct random_stream r;
	char *text, *again, name[ACTIVITY_NAME_MAX + 3];

	(void)state;
	random_init(&r, 7, "activity", 0);
	draw(&r, &a);
	text = write_text(&a, false);
	assert_int_equal(parse(text, &b, NULL), 0);
	again = write_text(&b, false);
	assert_string_equal(text, again);
	assert_int_equal(a.nr, b.nr);
	for (size_t i = 0; i < a.nr; i++) {
		assert_int_equal(a.change[i].at, b.change[i].at);
		assert_true(a.change[i].value == b.change[i].value);
	}
	free(text);
	/* Neither who the hosts are nor whose. */
	assert_non_null(strstr(again, ",own,nobody"));
	assert_non_null(strstr(again, ",own,7"));
	free(again);
	text = write_text(&a, true);
	assert_null(strstr(text, ",own,"));
	for (uint32_t i = 0; i < a.nr_hosts; i++) {
		snprintf(name, sizeof(name), ",%s,", a.host[i].name);
		assert_null(strstr(text, name));
	}
	assert_non_null(strstr(text, ",h1,"));
	assert_non_null(strstr(text, ",h5,"));
	assert_null(strstr(text, ",h0,"));
	free(text);
	activity_clear(&a);
	activity_clear(&b);
}

/* Hosts that never change are there, whether others do or not. */
static void still_hosts_are_written(void **state)
{
	static const char *const number[] = { "h1", "h2", "h3" };

	(void)state;
	for (int changes = 0; changes < 4; changes++)
		for (int anonymous = 0; anonymous < 2; anonymous++) {
			struct activity a = ACTIVITY_INIT, b = ACTIVITY_INIT;
			char *text;

			activity_add_host(&a, "one");
			activity_add_host(&a, "two");
			activity_add_host(&a, "three");
			if (changes & 1)
				activity_add(&a, 5, 1, ACTIVITY_LOAD, 1);
			if (changes & 2)
				activity_add(&a, 6, 2, ACTIVITY_OWN, 1);
			text = write_text(&a, anonymous);
			assert_int_equal(parse(text, &b, NULL), 0);
			assert_int_equal(b.nr_hosts, 3);
			for (uint32_t i = 0; i < 3; i++)
				assert_true(
					activity_find(
						&b, anonymous
							    ? number[i]
							    : a.host[i].name) <
					3);
			assert_int_equal(b.nr,
					 a.nr - (anonymous && changes & 2));
			free(text);
			activity_clear(&a);
			activity_clear(&b);
		}
}

static void longest_name(void **state)
{
	char name[ACTIVITY_NAME_MAX + 2];

	(void)state;
	memset(name, 'n', sizeof(name));
	name[ACTIVITY_NAME_MAX + 1] = '\0';
	assert_false(activity_name_good(name));
	name[ACTIVITY_NAME_MAX] = '\0';
	assert_true(activity_name_good(name));
}

static void as_many_hosts_as_there_may_be(void **state)
{
	struct activity a;
	struct error err;
	size_t size;
	char *text;
	FILE *f = open_memstream(&text, &size);

	(void)state;
	fputs(HEAD, f);
	for (int i = 0; i < ACTIVITY_HOSTS_MAX; i++)
		fprintf(f, "0,%x,users,1\n", i);
	fputs("0,0,users,2\n0,one-more,users,1\n", f); /* 0 is known */
	fclose(f);
	assert_int_equal(parse(text, &a, &err), -E2BIG);
	assert_string_equal(err.text, "day.csv:16387: more than 16384 hosts");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads),
		cmocka_unit_test(only_changes),
		cmocka_unit_test(wrong),
		cmocka_unit_test(written_reads_back),
		cmocka_unit_test(still_hosts_are_written),
		cmocka_unit_test(longest_name),
		cmocka_unit_test(as_many_hosts_as_there_may_be),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
