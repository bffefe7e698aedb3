/* test_record.c - what is written reads back */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model/record.h"

static const struct host hosts[] = {
	{ .name = "h 1%", .speed = 1, .cores = 2, .slots = 8, .up = true },
	{ .name = "h2",
	  .speed = 1. / 3 + 1,
	  .cores = 1,
	  .slots = 16,
	  .memory = UINT64_MAX,
	  .memory_free = 7,
	  .load = 0.1,
	  .users = 3,
	  .owner_active = true,
	  .idle_since = -5,
	  .drain = true,
	  .closed = CLOSED_DISTURBED,
	  .leave_by = 99,
	  .freeze_until = 100,
	  .freeze_most = 101,
	  .faults = 0.3 },
};

static char *text;
static size_t length;

static FILE *begin(void)
{
	return open_memstream(&text, &length);
}

/* Read the one line that was written into *l, which points into it. */
static void end(FILE *f, struct record_line *l)
{
	fclose(f);
	assert_int_equal(text[length - 1], '\n');
	text[length - 1] = '\0';
	assert_int_equal(record_line_parse(text, l, NULL), 0);
}

static void all_of_a_host(void **state)
{
	struct record_line l = { .kind = RECORD_NONE };
	struct host h = { .name = NULL };
	struct view v;
	char *rest, *line;
	FILE *f = begin();

	(void)state;
	view_init_hosts(&v, hosts, 2);
	v.now = 123456789;
	record_begin(&v, 42, "easy:fill=sjf, x", f);
	fclose(f);
	rest = text;
	assert_int_equal(record_line_parse(strsep(&rest, "\n"), &l, NULL), 0);
	assert_int_equal(l.kind, RECORD_BEGIN);
	assert_true(l.at == v.now && l.seed == 42 && l.n == 2);
	assert_string_equal(l.text, "easy:fill=sjf, x");
	for (uint32_t i = 0; i < 2; i++) {
		line = strsep(&rest, "\n");
		assert_int_equal(record_line_parse(line, &l, NULL), 0);
		assert_int_equal(l.kind, RECORD_DEFINE);
		assert_int_equal(l.host, i);
		assert_string_equal(l.text, hosts[i].name);
		record_host(&l, &h);
	}
	assert_true(h.speed == hosts[1].speed && h.load == hosts[1].load);
	assert_true(h.memory == UINT64_MAX && h.memory_free == 7);
	assert_true(h.owner_active && h.drain && !h.up && h.users == 3);
	assert_true(h.idle_since == -5);
	assert_true(h.closed == CLOSED_DISTURBED && h.leave_by == 99);
	assert_true(h.freeze_until == 100 && h.freeze_most == 101);
	assert_true(h.faults == hosts[1].faults);
	free(text);
	record_line_clear(&l);
	view_clear(&v);
}

static void events(void **state)
{
	struct record_line l = { .kind = RECORD_NONE };
	const uint32_t on[] = { 1, 0, 1 };
	struct host fresh = hosts[1];
	struct event e = { .type = EVENT_ARRIVE, .at = 5 };
	struct view v;
	const struct job_talk talk[] = { { 0, 2, 1.5e9, 0.1 }, { 1, 2, 0, 3 } };
	FILE *f = begin();

	(void)state;
	view_init_hosts(&v, hosts, 2);
	e.job = view_job_create(&v);
	e.job->id = 7;
	e.job->size = 3;
	e.job->min_size = 2;
	e.job->submit = 4;
	e.job->requeue = true;
	record_event(&v, &e, true, f);
	end(f, &l);
	assert_true(l.type == EVENT_ARRIVE && l.told && l.job == 7);
	assert_true(l.asked.size == 3 && l.asked.min_size == 2 && l.at == 5);
	assert_true(l.asked.submit == 4 && l.asked.user == -1);
	assert_true(l.asked.requeue);
	free(text);
	e.type = EVENT_START;
	e.n = 3;
	e.hosts = on;
	f = begin();
	record_event(&v, &e, false, f);
	end(f, &l);
	assert_true(l.type == EVENT_START && !l.told && l.n == 3);
	assert_memory_equal(l.on, on, sizeof(on));
	free(text);
	e = (struct event){
		.type = EVENT_THAW, .at = 6, .job = e.job, .rank = 2
	};
	f = begin();
	record_event(&v, &e, false, f);
	end(f, &l);
	assert_true(l.type == EVENT_THAW && !l.told && l.rank == 2);
	free(text);
	e = (struct event){
		.type = EVENT_DEMAND, .at = 6, .job = e.job, .bytes = UINT64_MAX
	};
	f = begin();
	record_event(&v, &e, true, f);
	end(f, &l);
	assert_true(l.type == EVENT_DEMAND && l.told && l.job == 7);
	assert_true(l.bytes == UINT64_MAX);
	free(text);
	e = (struct event){
		.type = EVENT_TALK, .at = 6, .job = e.job, .n = 2, .talk = talk
	};
	f = begin();
	record_event(&v, &e, true, f);
	end(f, &l);
	assert_true(l.type == EVENT_TALK && l.told && l.job == 7 && l.n == 2);
	for (int i = 0; i < 2; i++)
		assert_true(l.talk[i].a == talk[i].a &&
			    l.talk[i].b == talk[i].b &&
			    l.talk[i].bytes == talk[i].bytes &&
			    l.talk[i].segments == talk[i].segments);
	free(text);
	e.n = 0;
	f = begin();
	record_event(&v, &e, true, f);
	end(f, &l);
	assert_true(l.type == EVENT_TALK && !l.n);
	free(text);
	fresh.load = 2;
	e = (struct event){
		.type = EVENT_HOST, .at = 6, .host = 1, .fresh = &fresh
	};
	f = begin();
	record_event(&v, &e, true, f);
	end(f, &l);
	assert_true(l.given == RECORD_LOAD && l.host == 1 && l.fresh.load == 2);
	free(text);
	record_line_clear(&l);
	view_clear(&v);
}

/* The line that is written from what was read equals the one that was read. */
static void assert_same_line(const struct view *v, struct event *e,
			     const struct host *was)
{
	FILE *f = begin();
	char *read;

	record_event(v, e, true, f);
	fclose(f);
	read = text;
	e->fresh = was;
	f = begin();
	record_event(v, e, true, f);
	fclose(f);
	assert_string_equal(read, text);
	free(read);
	free(text);
}

/* A host's line has what differs from the default, and nothing else. */
static void only_what_differs(void **state)
{
	struct record_line l = { .kind = RECORD_NONE };
	struct host got;
	struct view v;

	(void)state;
	view_init_hosts(&v, hosts, 2);
	for (unsigned bit = RECORD_NAME << 1; bit < RECORD_ALL; bit <<= 1) {
		struct host fresh = hosts[1];
		struct event e = {
			.type = EVENT_HOST, .at = 6, .host = 1, .fresh = &fresh
		};
		FILE *f = begin();

		fresh.speed += bit == RECORD_SPEED;
		fresh.cores += bit == RECORD_CORES;
		fresh.slots -= bit == RECORD_SLOTS ? fresh.slots : 0;
		fresh.memory -= bit == RECORD_MEMORY;
		fresh.memory_free += bit == RECORD_FREE;
		fresh.load += bit == RECORD_LOAD;
		fresh.users += bit == RECORD_USERS;
		fresh.owner_active ^= bit == RECORD_OWNER;
		fresh.idle_since += bit == RECORD_IDLE;
		fresh.up ^= bit == RECORD_UP;
		fresh.drain ^= bit == RECORD_DRAIN;
		fresh.closed ^= bit == RECORD_CLOSED;
		fresh.leave_by += bit == RECORD_LEAVE;
		fresh.freeze_until += bit == RECORD_UNTIL;
		fresh.freeze_most += bit == RECORD_FREEZE;
		fresh.faults += bit == RECORD_FAULTS;
		if (bit == RECORD_OWNERS)
			host_set_owners(&fresh, (int32_t[]){ 7, 0 }, 2);
		fresh.link += bit == RECORD_LINK;
		fresh.open_until += bit == RECORD_OPEN;
		record_event(&v, &e, true, f);
		end(f, &l);
		assert_int_equal(l.given, bit);
		got = hosts[1];
		record_host(&l, &got);
		free(text);
		e.fresh = &got;
		assert_same_line(&v, &e, &fresh);
	}
	record_line_clear(&l);
	view_clear(&v);
}

/* A saved state is one line, whatever is in it. */
static void text_is_escaped(void **state)
{
	struct record_line l = { .kind = RECORD_NONE };
	const char all[] = "1 2\n%\t\x7f\x1b\xff end";
	FILE *f = begin();

	(void)state;
	record_state(all, f);
	fflush(f);
	assert_null(strchr(text, '\x7f'));
	assert_null(strchr(text, '\x1b'));
	end(f, &l);
	assert_int_equal(l.kind, RECORD_STATE);
	assert_string_equal(l.text, all);
	free(text);
	record_line_clear(&l);
}

static void bad_lines(void **state)
{
	static const char *const bad[] = {
		"arrive",
		"arrive x job=1 size=1 min=1",
		"arrive 1 size=1 min=1",
		"arrive 1 job=1 size=1 min=2",
		"arrive 1 job=1 size=1 min=1 size",
		"arrive 1 job=1 size=99999999 min=1",
		"arrive 1 job=1 size=1 min=1 planned",
		"start 1 job=1",
		"start 1 job=1 on=",
		"start 1 job=1 on=1,x",
		"start -1 job=1 on=1",
		"end 1 job=1 outcome=well",
		"host 1 x load=1",
		"host 1 0 load=nan",
		"host 1 0 closed=maybe",
		"host 1 0 faults=-1",
		"host 1 0 own=-1",
		"talk 1 job=1 pairs=1-1:5:5",
		"talk 1 job=1 pairs=2-1:5:5",
		"talk 1 job=1 pairs=0-1:5",
		"talk 1 job=1 pairs=0-1:5:5:5",
		"talk 1 job=1 pairs=0-1:-5:5",
		"talk 1 pairs=0-1:5:5",
		"host 1 0 own=1,",
		"host 1 0 own=1,2,3,4,5,6,7,8,9",
		"demand 1 job=1 bytes=-1",
		"demand 1 bytes=1",
		"demand 1 job=1 bytes=1 planned",
		"host 1 0 by=-1",
		"freeze 1 rank=1",
		"requeue 1 job=1 planned",
		"arrive 1 job=1 size=1 min=1 requeue=2",
		"host 1 0 name=h1",
		"define 0 name=h1",
		"begin 1 1 1",
		"begin 1 99999999 1 fcfs",
		"resize 1 job=1 on=1",
		"pass 1",
		"state %4",
		"state %00",
		"what 1",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct record_line l = { .kind = RECORD_NONE };
		struct error err = ERROR_INIT;
		char line[100];

		snprintf(line, sizeof(line), "%s", bad[i]);
		assert_true(record_line_parse(line, &l, &err) < 0);
		assert_true(*err.text);
		record_line_clear(&l);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_of_a_host),
		cmocka_unit_test(events),
		cmocka_unit_test(only_what_differs),
		cmocka_unit_test(text_is_escaped),
		cmocka_unit_test(bad_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
