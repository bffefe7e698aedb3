/*
 * test_sacct.c - jobs as Slurm tells them, made a trace: random ones, and what the trace's
 * reader then finds
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
#include <time.h>

#include <cmocka.h>

#include "core/random.h"
#include "sim/workload/sacct.h"
#include "sim/workload/swf.h"

enum { JOBS = 30, ROUNDS = 300, NAMES = 4 };

struct told {
	int64_t id, submit, start, end; /* -1: none */
	int procs, wanted, limit;	/* -1: not told; seconds */
	int user, group, status;
	bool step;
};

static const char *const states[] = { "COMPLETED", "CANCELLED by 7", "FAILED",
				      "" };
static const int status_of[] = { 1, 5, 0, 1 };

static void write_time(FILE *f, struct random_stream *r, int64_t t)
{
	char text[40];
	time_t at = (time_t)t;
	struct tm tm;

	if (t < 0) {
		fputs(random_below(r, 2) ? "Unknown|" : "None|", f);
		return;
	}
	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", gmtime_r(&at, &tm));
	if (random_below(r, 2))
		fprintf(f, "%s|", text);
	else
		fprintf(f, "%" PRId64 "|", t);
}

/* As TimelimitRaw has it, and as Timelimit does: either alone is enough. */
static void write_limits(FILE *f, struct random_stream *r, int limit)
{
	bool raw = random_below(r, 2);
	int m = limit / 60;

	if (limit < 0)
		fputs("|UNLIMITED|", f);
	else if (raw && limit % 60 == 0)
		fprintf(f, "%d|%s|", m, random_below(r, 2) ? "9-9:9:9" : "");
	else if (limit >= 86400)
		fprintf(f, "Partition_Limit|%d-%02d:%02d:%02d|", limit / 86400,
			limit / 3600 % 24, m % 60, limit % 60);
	else
		fprintf(f, "|%02d:%02d:%02d|", limit / 3600, m % 60,
			limit % 60);
}

static struct told draw_job(struct random_stream *r, int64_t id)
{
	struct told j = {
		.id = id,
		.submit = 1700000000 + (int64_t)random_below(r, 200),
		.procs = 1 + (int)random_below(r, 64),
		.wanted =
			random_below(r, 3) ? 1 + (int)random_below(r, 64) : -1,
		.limit = -1,
		.user = (int)random_below(r, NAMES),
		.group = (int)random_below(r, NAMES),
		.status = (int)random_below(r, 4),
		.step = !random_below(r, 8),
	};

	if (random_below(r, 4))
		j.limit = random_below(r, 2) ? (int)random_below(r, 400000)
					     : 60 * (int)random_below(r, 100);
	j.start = random_below(r, 8) ? j.submit + (int64_t)random_below(r, 5000)
				     : -1;
	j.end = j.start >= 0 && random_below(r, 8)
			? j.start + 1 + (int64_t)random_below(r, 90000)
			: -1;
	return j;
}

static void write_job(FILE *f, struct random_stream *r, const struct told *j)
{
	fprintf(f, "%s|", states[j->status]);
	fprintf(f, "%" PRId64 "%s|", j->id, j->step ? ".batch" : "");
	write_time(f, r, j->submit);
	fprintf(f, "u%d|", j->user);
	write_time(f, r, j->start);
	write_time(f, r, j->end);
	fprintf(f, "%d|", j->procs);
	if (j->wanted >= 0)
		fprintf(f, "%d", j->wanted);
	fputc('|', f);
	write_limits(f, r, j->limit);
	if (j->group)
		fprintf(f, "g%d", j->group);
	fputc('\n', f);
}

/* By submit; of those of one instant the first line is first. */
static void sort_jobs(struct told *j, int nr)
{
	for (int i = 1; i < nr; i++)
		for (int k = i; k > 0 && j[k].submit < j[k - 1].submit; k--) {
			struct told t = j[k];

			j[k] = j[k - 1];
			j[k - 1] = t;
		}
}

/* Names are numbered as they come in the text, of lines that count. */
static void number_names(const struct told *j, int nr, int user[NAMES],
			 int group[NAMES])
{
	int users = 0, groups = 0;

	memset(user, 0, NAMES * sizeof(*user));
	memset(group, 0, NAMES * sizeof(*group));
	group[0] = -1; /* has no name */
	for (int i = 0; i < nr; i++) {
		if (!user[j[i].user])
			user[j[i].user] = ++users;
		if (!group[j[i].group])
			group[j[i].group] = ++groups;
	}
}

static void check_line(const char *line, const struct told *j, int64_t first,
		       const int *user, const int *group)
{
	char wanted[300];

	snprintf(wanted, sizeof(wanted),
		 "%" PRId64 " %" PRId64 " %" PRId64 " %" PRId64
		 " %d -1 -1 %d %d -1 %d %d %d -1 -1 -1 -1 -1",
		 j->id, j->submit - first, j->start - j->submit,
		 j->end - j->start, j->procs, j->wanted, j->limit,
		 status_of[j->status], user[j->user], group[j->group]);
	assert_string_equal(line, wanted);
}

static void check_trace(char *trace, const struct told *j, int nr,
			const int *user, const int *group)
{
	struct swf_options how = { .keep_low = true, .keep_unknown = true };
	struct swf_trace t;
	struct error err;
	char *line, *copy = strdup(trace), *rest = copy;
	int at = 0;

	while ((line = strsep(&rest, "\n")))
		if (*line && *line != ';')
			check_line(line, &j[at], j[0].submit, user, group),
				at++;
	assert_int_equal(at, nr);
	free(copy);
	if (swf_parse(trace, strlen(trace), "t", &how, &t, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(t.unix_start, j[0].submit);
	swf_clear(&t);
}

static void a_trace_has_what_was_told(void **state)
{
	const char *head = "State|JobIDRaw|Submit|user|Start|End|NCPUS|"
			   "ReqCPUS|TimelimitRaw|Timelimit|Account\n";
	struct random_stream r;

	(void)state;
	random_init(&r, 1, "sacct", 0);
	for (int round = 0; round < ROUNDS; round++) {
		struct sacct_counts counts, is = { 0 };
		int nr = 1 + (int)random_below(&r, JOBS), kept = 0;
		int user[NAMES], group[NAMES];
		struct told told[JOBS];
		char *text, *trace;
		size_t size, length;
		struct error err;
		FILE *f = open_memstream(&text, &size);

		fputs(head, f);
		for (int i = 0; i < nr; i++) {
			struct told j = draw_job(&r, 1000 - i);

			write_job(f, &r, &j);
			is.steps += j.step;
			is.never_ran += !j.step && j.start < 0;
			is.still_ran += !j.step && j.start >= 0 && j.end < 0;
			if (!j.step && j.end >= 0)
				told[kept++] = j;
		}
		fclose(f);
		number_names(told, kept, user, group);
		sort_jobs(told, kept);
		f = open_memstream(&trace, &length);
		if (!kept) {
			assert_int_equal(sacct_convert(text, size, "x", 0, f,
						       &counts, &err),
					 -EINVAL);
			assert_non_null(strstr(err.text, "no job in it"));
		} else if (sacct_convert(text, size, "x", 100, f, &counts,
					 &err) < 0) {
			fail_msg("%s", err.text);
		}
		fclose(f);
		if (kept) {
			assert_int_equal(counts.jobs, kept);
			assert_int_equal(counts.steps, is.steps);
			assert_int_equal(counts.never_ran, is.never_ran);
			assert_int_equal(counts.still_ran, is.still_ran);
			assert_non_null(strstr(trace, "; MaxProcs: 100\n"));
			check_trace(trace, told, kept, user, group);
		}
		free(text);
		free(trace);
	}
}

static void refused(const char *lines, const char *why)
{
	static const char head[] =
		"JobID|Submit|Start|End|AllocCPUS|Timelimit\n";
	struct sacct_counts counts;
	char text[300];
	struct error err;
	int n = snprintf(text, sizeof(text), "%s%s", head, lines);

	assert_int_equal(
		sacct_convert(text, (size_t)n, "s", 0, NULL, &counts, &err),
		-EINVAL);
	if (!strstr(err.text, why))
		fail_msg("'%s' does not say '%s'", err.text, why);
}

static void what_is_wrong_is_told(void **state)
{
	(void)state;
	refused("1_2|1|2|3|1|\n", "s:2: the job's number is '1_2'");
	refused("1|Unknown|2|3|1|\n", "s:2");
	refused("1|5|4|6|1|\n", "s:2");
	refused("1|1|4|3|1|\n", "s:2");
	refused("1|1|2|3|-1|\n", "s:2");
	refused("1|1|2|3|1|1:2\n", "s:2");
	refused("1|1|2|3|1|1:2:3x\n", "s:2");
	refused("1|1|2|2020-01-01|1|\n", "s:2");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_trace_has_what_was_told),
		cmocka_unit_test(what_is_wrong_is_told),
	};

	return cmocka_run_group_tests_name("sacct", tests, NULL, NULL);
}
