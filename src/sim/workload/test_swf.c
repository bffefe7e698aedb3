/*
 * test_swf.c - traces: random ones, written in all the ways that are allowed, are read as
 * swf.h says; against a second implementation that keeps all jobs and looks at them again
 * and again
 */
#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/random.h"
#include "sim/workload/swf.h"

enum { JOBS = 40, ROUNDS = 3000 };
#define SEC USEC_PER_SEC

/* A line as it is written: whole numbers, and times in microseconds. */
struct line {
	int64_t id, submit, run, estimate, think;
	int64_t got, wanted, status, memory, after;
	int64_t words[5]; /* user to partition */
};

static struct line line[JOBS];
static int nr_lines;
static int64_t max_procs, max_nodes;

static int64_t draw_time(struct random_stream *r)
{
	switch (random_below(r, 5)) {
	case 0:
		return -SEC;
	case 1:
		return 0;
	case 2:
		return (int64_t)random_below(r, 1000000000000);
	default:
		return (int64_t)random_below(r, 30) * SEC;
	}
}

static void draw_line(struct random_stream *r, int i)
{
	struct line *l = &line[i];

	*l = (struct line){
		.id = i + 1,
		.submit = (int64_t)random_below(r, 20) * SEC / 2,
		.run = draw_time(r),
		.estimate = draw_time(r),
		.think = draw_time(r),
		.got = (int64_t)random_below(r, 20) - 1,
		.wanted = (int64_t)random_below(r, 20) - 1,
		.status = (int64_t)random_below(r, 7) - 1,
		.memory = (int64_t)random_below(r, 100000) - 1,
		.after = (int64_t)random_below(r, JOBS) - 1,
	};
	for (int k = 0; k < 5; k++)
		l->words[k] = (int64_t)random_below(r, 1000) - 1;
	if (random_below(r, 9) == 0)
		l->words[random_below(r, 5)] = INT64_C(1) << 40;
}

/* ---- as text ---- */

/* With more digits than count, or none. */
static void put_time(FILE *f, struct random_stream *r, int64_t t)
{
	fprintf(f, "%s%" PRId64, t < 0 ? "-" : "", (t < 0 ? -t : t) / SEC);
	if (t % SEC)
		fprintf(f, ".%06d%s", (int)(t % SEC),
			random_below(r, 2) ? "9" : "");
	else if (!random_below(r, 3))
		fputs(random_below(r, 2) ? ".0" : ".", f);
}

static void put_blanks(FILE *f, struct random_stream *r)
{
	static const char *const blanks[] = { " ", "  ", "\t", " \t  " };

	fputs(blanks[random_below(r, 4)], f);
}

static void put_line(FILE *f, struct random_stream *r, const struct line *l)
{
	const int64_t number[18] = { l->id,	  0,	       -1,
				     0,		  l->got,      -1,
				     -1,	  l->wanted,   0,
				     l->memory,	  l->status,   l->words[0],
				     l->words[1], l->words[2], l->words[3],
				     l->words[4], l->after,    0 };
	const int64_t *time[18] = { [1] = &l->submit,
				    [3] = &l->run,
				    [8] = &l->estimate,
				    [17] = &l->think };

	for (int k = 0; k < 18; k++) {
		if (k || random_below(r, 2))
			put_blanks(f, r);
		if (time[k])
			put_time(f, r, *time[k]);
		else
			fprintf(f, "%" PRId64, number[k]);
	}
}

static void put_head(FILE *f, struct random_stream *r)
{
	max_procs = random_below(r, 2) ? 1 + (int64_t)random_below(r, 20) : -1;
	max_nodes = random_below(r, 2) ? 1 + (int64_t)random_below(r, 20) : -1;
	fprintf(f, "; Note: MaxProcs: 3\n");
	fprintf(f, ";MaxNodes: %" PRId64 "\n", max_nodes);
	fprintf(f, "; maxprocs:%" PRId64 "\r\n", max_procs);
	fprintf(f, ";; UnixStartTime: 123\n\n");
}

/* The text of all lines, for the caller to free. */
static char *write_trace(struct random_stream *r, bool extra)
{
	char *text;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	put_head(f, r);
	for (int i = 0; i < nr_lines; i++) {
		if (!random_below(r, 6))
			fputs(random_below(r, 2) ? "; 1 2 3\n" : " \n", f);
		put_line(f, r, &line[i]);
		fputs(extra ? " 7 x" : "", f);
		if (!random_below(r, 3))
			put_blanks(f, r);
		if (i + 1 < nr_lines || random_below(r, 2))
			fputs(random_below(r, 2) ? "\n" : "\r\n", f);
	}
	fclose(f);
	return text;
}

/* ---- what should be read ---- */

static int64_t size_of(const struct line *l)
{
	return l->wanted > 0 ? l->wanted : l->got;
}

static bool is_job(const struct line *l, const struct swf_options *how)
{
	return l->run > 0 && size_of(l) > 0 &&
	       !(how->drop_cancelled && l->status == 5);
}

static int64_t procs_of(const struct swf_options *how)
{
	int64_t most = 0;

	if (how->procs)
		return how->procs;
	if (max_procs > 0 || max_nodes > 0)
		return max_procs > 0 ? max_procs : max_nodes;
	for (int i = 0; i < nr_lines; i++)
		if (is_job(&line[i], how) && size_of(&line[i]) > most)
			most = size_of(&line[i]);
	return most;
}

/* The lines of the jobs that are kept, by submit; how many. */
static int choose_lines(const struct swf_options *how, const struct line **ret)
{
	int nr = 0;

	for (int64_t at = 0; at <= 10 * SEC; at += SEC / 2)
		for (int i = 0; i < nr_lines; i++)
			if (line[i].submit == at && is_job(&line[i], how) &&
			    size_of(&line[i]) <= procs_of(how))
				ret[nr++] = &line[i];
	return how->nr_jobs && nr > (int)how->nr_jobs ? (int)how->nr_jobs : nr;
}

static int32_t word_of(int64_t v)
{
	return v > INT32_MAX ? -1 : (int32_t)v;
}

static int64_t estimate_of(const struct line *l, const struct swf_options *how)
{
	if (l->estimate <= 0)
		return how->keep_unknown ? 0 : l->run;
	if (how->exact || (l->estimate < l->run && !how->keep_low))
		return l->run;
	return l->estimate;
}

static void check_job(const struct swf_job *j, const struct line *l,
		      const struct swf_options *how)
{
	assert_int_equal(j->id, l->id);
	assert_int_equal(j->submit, l->submit);
	assert_int_equal(j->run, l->run);
	assert_int_equal(j->estimate, estimate_of(l, how));
	assert_int_equal(j->memory, l->memory);
	assert_int_equal(j->size, size_of(l));
	assert_int_equal(j->user, word_of(l->words[0]));
	assert_int_equal(j->group, word_of(l->words[1]));
	assert_int_equal(j->app, word_of(l->words[2]));
	assert_int_equal(j->queue, word_of(l->words[3]));
	assert_int_equal(j->partition, word_of(l->words[4]));
}

/* Whom a job comes after, and how many say so of one whom they cannot. */
struct lacks {
	size_t other, later, self, think;
};

static void check_link(const struct swf_link *link, const struct line **job,
		       int nr, int i, struct lacks *lacks)
{
	const struct line *l = job[i];
	int other = -1;

	for (int k = 0; k < nr; k++)
		if (job[k]->id == l->after)
			other = k;
	if (l->after <= 0) {
		assert_int_equal(link->after, 0);
	} else if (other < 0 || other >= i || l->think < 0) {
		assert_int_equal(link->after, 0);
		lacks->other += other < 0;
		lacks->self += other == i;
		lacks->later += other > i;
		lacks->think += other >= 0 && other < i;
	} else {
		assert_int_equal(link->after, l->after);
		assert_int_equal(link->think, l->think);
	}
}

static void check_links(const struct swf_trace *t, const struct line **job,
			int nr)
{
	struct lacks lacks = { 0 };

	assert_non_null(t->link);
	for (int i = 0; i < nr; i++)
		check_link(&t->link[i], job, nr, i, &lacks);
	assert_int_equal(t->no_other, lacks.other);
	assert_int_equal(t->other_later, lacks.later);
	assert_int_equal(t->other_self, lacks.self);
	assert_int_equal(t->no_think, lacks.think);
}

/* Why lines are no jobs. */
struct left_out {
	size_t no_run, no_size, large, cancelled;
};

static struct left_out count_left_out(const struct swf_options *how)
{
	struct left_out n = { 0 };

	for (int i = 0; i < nr_lines; i++) {
		const struct line *l = &line[i];

		n.no_run += l->run <= 0;
		n.no_size += l->run > 0 && size_of(l) <= 0;
		n.cancelled += l->run > 0 && size_of(l) > 0 && !is_job(l, how);
		n.large += is_job(l, how) && size_of(l) > procs_of(how);
	}
	return n;
}

/* A trace of which no line is a job says why; one without lines has none. */
static void check_nothing_left(const char *text, const struct swf_options *how)
{
	struct left_out n = count_left_out(how);
	char wanted[200];

	snprintf(wanted, sizeof(wanted),
		 "t: no job in it can be simulated: %zu without a run time, "
		 "%zu without a size, %zu larger than %d processors, %zu "
		 "cancelled",
		 n.no_run, n.no_size, n.large, (int)procs_of(how), n.cancelled);
	assert_string_equal(text, nr_lines ? wanted : "t: no job in it");
}

/* Each line is counted once; of a line that is behind those wanted nothing is. */
static void check_counts(const struct swf_trace *t,
			 const struct swf_options *how)
{
	struct left_out n = count_left_out(how);
	size_t low = 0, unknown = 0;

	for (int i = 0; i < nr_lines; i++) {
		const struct line *l = &line[i];

		unknown += is_job(l, how) && l->estimate <= 0;
		low += is_job(l, how) && l->estimate > 0 &&
		       l->estimate < l->run && !how->keep_low;
	}
	assert_int_equal(t->no_run, n.no_run);
	assert_int_equal(t->no_size, n.no_size);
	assert_int_equal(t->cancelled, n.cancelled);
	assert_int_equal(t->too_large, n.large);
	assert_int_equal(t->no_estimate, unknown);
	assert_int_equal(t->raised, low);
}

static struct swf_options draw_options(struct random_stream *r)
{
	struct swf_options how = {
		.procs = random_below(r, 2) ? 0
					    : 1 + (uint32_t)random_below(r, 20),
		.extra = random_below(r, 2) ? SWF_EXTRA_IGNORE
					    : SWF_EXTRA_REFUSE,
		.drop_cancelled = random_below(r, 2),
		.exact = random_below(r, 2),
		.keep_low = random_below(r, 2),
		.keep_unknown = random_below(r, 2),
		.follow = random_below(r, 2),
		.nr_jobs = random_below(r, 2) ? 0 : 1 + random_below(r, 9),
	};

	return how;
}

static void a_trace_is_read_as_it_is_said(void **state)
{
	struct random_stream r;
	unsigned read = 0;

	(void)state;
	random_init(&r, 1, "swf", 0);
	for (int round = 0; round < ROUNDS; round++) {
		struct swf_options how = draw_options(&r);
		const struct line *job[JOBS];
		struct swf_trace t;
		struct error err;
		char *text;
		int nr, rc;
		bool extra = !random_below(&r, 4);

		nr_lines = (int)random_below(&r, random_below(&r, 4) ? JOBS + 1
								     : 3);
		for (int i = 0; i < nr_lines; i++)
			draw_line(&r, i);
		text = write_trace(&r, extra);
		nr = choose_lines(&how, job);
		rc = swf_parse(text, strlen(text), "t", &how, &t, &err);
		free(text);
		if (nr_lines && extra && how.extra == SWF_EXTRA_REFUSE) {
			assert_int_equal(rc, -EINVAL);
			assert_non_null(strstr(err.text, "more than 18"));
			continue;
		}
		if (!nr) {
			assert_int_equal(rc, -EINVAL);
			check_nothing_left(err.text, &how);
			continue;
		}
		if (rc < 0)
			fail_msg("%s", err.text);
		assert_int_equal(t.nr, nr);
		assert_int_equal(t.procs, procs_of(&how));
		assert_int_equal(t.unix_start, 123);
		for (int i = 0; i < nr; i++)
			check_job(&t.job[i], job[i], &how);
		if (!how.nr_jobs)
			check_counts(&t, &how);
		if (how.follow)
			check_links(&t, job, nr);
		swf_clear(&t);
		read++;
	}
	assert_true(read > ROUNDS / 2);
}

static void refused(const char *text, const char *why)
{
	const struct swf_options how = { .extra = SWF_EXTRA_REFUSE };
	struct swf_trace t;
	struct error err;

	assert_true(swf_parse(text, strlen(text), "t", &how, &t, &err) < 0);
	if (!strstr(err.text, why))
		fail_msg("'%s' does not say '%s'", err.text, why);
}

#define REST " -1 10 1 -1 -1 1 -1 -1 1 1 1 1 1 1 -1 -1"

/* A job with that in one of its fields, counted from 1. */
static void put_job(char *to, size_t size, int field, const char *value)
{
	FILE *f = fmemopen(to, size, "w");

	for (int n = 1; n <= 18; n++)
		fprintf(f, "%s ", n == field ? value : "1");
	fputc('\n', f);
	fclose(f);
}

/* 30 000 years are, and no more; times before time 0, too, but for a submission. */
static void each_field_that_is_a_time_is_one(void **state)
{
	static const struct {
		int field;
		const char *name;
	} times[] = { { 2, "submit time" },
		      { 3, "wait time" },
		      { 4, "run time" },
		      { 9, "time wanted" },
		      { 18, "think time" } };
	static const char *const wrong[] = { "1000000000001", "-1000000000001",
					     "10000000000000",
					     "999999999999999999" };
	const struct swf_options how = { .follow = true };
	char text[500], why[100];

	(void)state;
	for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++) {
		struct swf_trace t;
		struct error err;

		put_job(text, sizeof(text), times[i].field, "1000000000000");
		if (swf_parse(text, strlen(text), "t", &how, &t, &err) < 0)
			fail_msg("%s", err.text);
		swf_clear(&t);
		for (size_t k = 0; k < sizeof(wrong) / sizeof(*wrong); k++) {
			put_job(text, sizeof(text), times[i].field, wrong[k]);
			snprintf(why, sizeof(why),
				 "t:1: field %d (%s) is out of range: %s",
				 times[i].field, times[i].name, wrong[k]);
			refused(text, why);
		}
	}
}

static void wrong_traces_are_told(void **state)
{
	(void)state;
	refused("1 2 3\n", "t:1: 3 fields instead of 18");
	refused("; x\n1 0" REST " 7\n", "t:2: more than 18 fields");
	refused("1 x" REST "\n",
		"t:1: field 2 (submit time) is no number: 'x'");
	refused("1 1234567890123456789" REST "\n", "too large");
	refused("1 -1" REST "\n", "the submit time is not known");
	refused("1 0 -1 10 1.5 -1 -1 -1 -1 -1 1 1 1 1 1 1 -1 -1\n",
		"is not a whole number");
	refused("; MaxProcs: many\n1 0" REST "\n", "no number in 'MaxProcs");
	refused("", "no job in it");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_trace_is_read_as_it_is_said),
		cmocka_unit_test(wrong_traces_are_told),
		cmocka_unit_test(each_field_that_is_a_time_is_one),
	};

	return cmocka_run_group_tests_name("swf", tests, NULL, NULL);
}
