/* test_profile.c - profiles, compared with a plain array */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/random.h"
#include "policy/kit/profile.h"

#define SPAN 400

/* One value for each instant; beyond SPAN all values are as at its end. */
static int64_t plain[SPAN + 1];

static usec_t plain_earliest(usec_t from, usec_t length, int64_t n)
{
	for (usec_t t = from; t <= SPAN; t++) {
		usec_t u = t;

		while (u <= SPAN && u - t < length && plain[u] >= n)
			u++;
		if (u > SPAN || u - t >= length)
			return t;
	}
	return USEC_MAX;
}

static usec_t plain_until(usec_t from, int64_t n)
{
	for (usec_t t = from; t <= SPAN; t++)
		if (plain[t] < n)
			return t;
	return USEC_MAX;
}

/* The runs that profile_runs() told of, and those that it should: there are few. */
struct told {
	uint32_t class;
	usec_t start, end;
};

static struct told told[3 * SPAN];
static size_t nr_told;

static void tell(void *arg, uint32_t class, usec_t start, usec_t end)
{
	(void)arg;
	assert_true(nr_told < sizeof(told) / sizeof(*told));
	told[nr_told++] = (struct told){ class, start, end };
}

static bool was_told(uint32_t class, usec_t start, usec_t end)
{
	for (size_t i = 0; i < nr_told; i++)
		if (told[i].class == class && told[i].start == start &&
		    told[i].end == end)
			return true;
	return false;
}

/* What is wanted: for jobs of these sizes, one a row; more of a class than are kept apart. */
#define CLASSES 6
#define WANTS	30

static struct {
	uint32_t size;
	usec_t length, before;
} wants[WANTS];

static bool is_wanted(uint32_t class, int64_t was, usec_t start, usec_t end)
{
	bool fits = false, any = false;

	for (size_t i = 0; i < WANTS; i++) {
		if (wants[i].size >> class != 1)
			continue;
		any |= wants[i].size > was;
		fits |= start < wants[i].before &&
			(end == USEC_MAX || end - start >= wants[i].length);
	}
	return any && fits;
}

/* The runs of a class that overlap [from, to), as far as they are wanted. */
static void check_class(usec_t now, usec_t from, usec_t to, uint32_t class,
			int64_t was)
{
	usec_t start = now;

	for (usec_t t = now; t <= SPAN; t++) {
		bool free = plain[t] >= INT64_C(1) << class;
		usec_t end = free ? USEC_MAX : t;

		if (free && t < SPAN)
			continue;
		if (end > start && start < to && end > from &&
		    is_wanted(class, was, start, end))
			assert_true(was_told(class, start, end));
		start = t + 1;
	}
}

/* What is told is so: nothing but runs. */
static void check_told(usec_t now, usec_t from, usec_t to)
{
	for (size_t i = 0; i < nr_told; i++) {
		int64_t n = INT64_C(1) << told[i].class;
		usec_t end = told[i].end == USEC_MAX ? SPAN + 1 : told[i].end;

		assert_true(told[i].start < to && told[i].end > from);
		for (usec_t t = told[i].start; t < end; t++)
			assert_true(plain[t] >= n);
		assert_true(end > SPAN || plain[end] < n);
		assert_true(told[i].start == now ||
			    plain[told[i].start - 1] < n);
	}
}

/* Or many of one class, the later the longer, so that none covers another one. */
static void want_many(struct profile_wanted *wanted, struct random_stream *r)
{
	uint32_t class = (uint32_t)random_below(r, 3);
	bool in_order = random_below(r, 2);

	for (size_t i = 0; i < WANTS; i++) {
		wants[i].size = UINT32_C(1) << class;
		wants[i].before = in_order ? (usec_t)(1 + i * SPAN / WANTS)
					   : (usec_t)random_below(r, SPAN);
		wants[i].length = 1 + wants[i].before / 8;
		profile_want(wanted, wants[i].size, wants[i].length,
			     wants[i].before);
	}
}

static void want_some(struct profile_wanted *wanted, struct random_stream *r)
{
	size_t some = (size_t)random_below(r, WANTS + 1);

	for (size_t i = 0; i < WANTS; i++) {
		uint32_t class = (uint32_t)random_below(r, CLASSES);

		wants[i].size = 0;
		if (i >= some)
			continue;
		wants[i].size = (UINT32_C(1) << class) +
				(uint32_t)random_below(r, UINT64_C(1) << class);
		wants[i].length = random_below(r, 9)
					  ? (usec_t)random_below(r, 50)
					  : USEC_MAX;
		wants[i].before = (usec_t)random_below(r, SPAN);
		profile_want(wanted, wants[i].size, wants[i].length,
			     wants[i].before);
	}
}

static void check_runs(struct profile *p, struct random_stream *r, usec_t now,
		       usec_t from, usec_t to)
{
	struct profile_wanted wanted = { 0 };
	struct profile_freed freed = { .from = from, .to = to };
	int64_t was = (int64_t)random_below(r, 6) - 1;

	if (random_below(r, 3))
		want_some(&wanted, r);
	else
		want_many(&wanted, r);
	profile_mark_pins(p, &freed, NULL); /* none, as n is 0 */
	freed.n = freed.least - was;
	nr_told = 0;
	profile_runs(p, &freed, &wanted, tell, NULL);
	for (uint32_t i = 0; i < CLASSES; i++)
		check_class(now, from, to, i, was);
	check_told(now, from, to);
}

static usec_t plain_since(usec_t now, usec_t to, int64_t n)
{
	while (to > now && plain[to - 1] >= n)
		to--;
	return to;
}

/* The longest run of n that begins in [from, to); each of them ends. */
static usec_t plain_longest(usec_t from, usec_t to, int64_t n)
{
	usec_t longest = 0, end;

	for (usec_t t = from; t < to && t <= SPAN; t = end + 1) {
		for (end = t; end <= SPAN && plain[end] >= n; end++)
			;
		longest = end - t > longest ? end - t : longest;
	}
	return longest;
}

static void check_earliest(const struct profile *p, usec_t from, usec_t length,
			   int64_t n)
{
	usec_t longest, t = plain_earliest(from, length, n);

	assert_true(profile_earliest(p, from, length, n, &longest) == t);
	assert_true(longest == plain_longest(from, t, n));
}

static void check(struct profile *p, struct random_stream *r, usec_t now)
{
	struct profile_place near = { random_below(r, p->nr + 1),
				      (uint32_t)random_below(r, 64) };
	usec_t from = now + (usec_t)random_below(r, (uint64_t)(SPAN - now));
	usec_t to = from + 1 + (usec_t)random_below(r, 100), t;
	usec_t length = 1 + (usec_t)random_below(r, 60);
	int64_t n = (int64_t)random_below(r, 24) - 4, min, max;

	if (to > SPAN)
		to = SPAN;
	min = max = plain[from];
	for (t = from; t < to; t++) {
		min = plain[t] < min ? plain[t] : min;
		max = plain[t] > max ? plain[t] : max;
	}
	assert_true(profile_min(p, from, to) == min);
	assert_true(profile_max(p, from, to) == max);
	check_earliest(p, from, length, n);
	assert_true(profile_until(p, from, n) == plain_until(from, n));
	check_runs(p, r, now, from, to);
	assert_true(profile_since(p, to, n, near) == plain_since(now, to, n));
}

static void a_profile_is_its_values(void **state)
{
	struct profile p = { 0 };
	struct random_stream r;

	(void)state;
	random_init(&r, 5, "profile", 0);
	for (int round = 0; round < 20; round++) {
		usec_t now = 0;

		profile_init(&p, 0, 10);
		for (int t = 0; t <= SPAN; t++)
			plain[t] = 10;
		for (int step = 0; step < 1500; step++) {
			usec_t from = (usec_t)random_below(&r, SPAN);
			usec_t to = from + (usec_t)random_below(&r, 80);
			int64_t d = (int64_t)random_below(&r, 9) - 4;

			if (from < now)
				from = now;
			if (to >= SPAN)
				to = USEC_MAX;
			profile_add(&p, from, to, d);
			for (usec_t t = from; t <= SPAN && t < to; t++)
				plain[t] += d;
			if (step % 50 == 49 && now < SPAN - 50)
				profile_trim(&p, ++now);
			check(&p, &r, now);
		}
	}
	profile_clear(&p);
}

static void add_both(struct profile *p, usec_t from, usec_t to, int64_t d)
{
	profile_add(p, from, to, d);
	for (usec_t t = from; t < to; t++)
		plain[t] += d;
}

/* Slots that begin where others end slide ahead, and back: steps only move. */
static void slots_slide(void **state)
{
	enum { SLOTS = 30, LENGTH = 40 };
	struct profile p = { 0 };
	struct random_stream r;
	usec_t at[SLOTS];

	(void)state;
	random_init(&r, 5, "slides", 0);
	profile_init(&p, 0, SLOTS);
	for (int t = 0; t <= SPAN; t++)
		plain[t] = SLOTS;
	for (int i = 0; i < SLOTS; i++) {
		at[i] = LENGTH * (1 + i % 8);
		add_both(&p, at[i], at[i] + LENGTH, -1 - i % 3);
	}
	for (int step = 0; step < 20000; step++) {
		size_t i = (size_t)random_below(&r, SLOTS);
		usec_t by = 1 + (usec_t)random_below(&r, 4);
		int64_t n = 1 + (int64_t)i % 3;

		if (random_below(&r, 2) && at[i] > 4) {
			add_both(&p, at[i] - by, at[i], -n);
			add_both(&p, at[i] + LENGTH - by, at[i] + LENGTH, n);
			at[i] -= by;
		} else if (at[i] + LENGTH + 4 < SPAN) {
			add_both(&p, at[i] + LENGTH, at[i] + LENGTH + by, -n);
			add_both(&p, at[i], at[i] + by, n);
			at[i] += by;
		}
		check(&p, &r, 0);
	}
	profile_clear(&p);
}

/* Blocks that have become small are one, whatever was added to all of either. */
static void blocks_are_joined(void **state)
{
	struct profile p = { 0 };
	struct random_stream r;

	(void)state;
	random_init(&r, 7, "joined", 0);
	profile_init(&p, 0, 1);
	for (int t = 0; t <= SPAN; t++)
		plain[t] = 1;
	for (usec_t t = 0; t < SPAN; t += 2)
		add_both(&p, t, t + 1, 1);
	add_both(&p, 0, SPAN / 2, 3);
	for (usec_t t = 0; t < SPAN; t += 2) {
		usec_t at = t % 4 ? t : SPAN - 4 - t;

		add_both(&p, at, at + 1, -1);
		check(&p, &r, 0);
	}
	assert_int_equal(p.nr, 1);
	profile_clear(&p);
}

enum { PINS = 40 };

/* Pins by number: where each is, and whether it is marked.  Its size is 1 + number % 5. */
static struct {
	usec_t at; /* -1: nowhere */
	bool marked;
} pinned[PINS];

static uint32_t marks[PINS];

static void move_pin(struct profile *p, uint32_t i, usec_t to)
{
	if (pinned[i].at >= 0)
		profile_unpin(p, pinned[i].at, i);
	pinned[i].at = to;
	pinned[i].marked = false;
	if (to >= 0)
		profile_pin(p, to, i, 1 + i % 5);
}

/* n came free in [from, to): pins that have room for that reason are marked. */
static void free_both(struct profile *p, usec_t now, usec_t from, usec_t to,
		      int64_t n)
{
	struct profile_freed freed = { .from = from, .to = to, .n = n };
	int64_t least = INT64_MAX, most = INT64_MIN;

	add_both(p, from, to, n);
	for (usec_t t = from; t < to; t++) {
		least = plain[t] < least ? plain[t] : least;
		most = plain[t] > most ? plain[t] : most;
	}
	profile_mark_pins(p, &freed, marks);
	assert_true(freed.least == least && freed.most == most);
	for (uint32_t i = 0; i < PINS; i++) {
		usec_t at = pinned[i].at > now ? pinned[i].at : now;
		int64_t size = 1 + i % 5;

		if (pinned[i].at >= 0 && at > from && at <= to &&
		    plain[at - 1] >= size && plain[at - 1] - n < size)
			pinned[i].marked = true;
	}
}

static void take_marks(struct profile *p, uint32_t i)
{
	struct profile_place near;
	usec_t at = -1;

	usec_t begin = p->block[0].start;
	bool room = pinned[i].marked &&
		    plain[pinned[i].at > begin ? pinned[i].at - 1 : begin] >=
			    1 + i % 5;

	assert_true(profile_next_mark(p, &marks[i], &at, &near) == room);
	if (room)
		assert_true(at == pinned[i].at);
	assert_false(profile_next_mark(p, &marks[i], &at, &near));
	pinned[i].marked = false;
}

/* Pins stay where they are while the profile changes and its beginning goes by. */
static void pins_are_marked(void **state)
{
	struct profile p = { 0 };
	struct random_stream r;
	usec_t now = 0;
	size_t marked = 0;

	(void)state;
	random_init(&r, 6, "pins", 0);
	profile_init(&p, 0, 3);
	for (int t = 0; t <= SPAN; t++)
		plain[t] = 3;
	for (int i = 0; i < PINS; i++)
		pinned[i].at = -1;
	for (int step = 0; step < 60000; step++) {
		uint32_t i = (uint32_t)random_below(&r, PINS);
		usec_t from = now + (usec_t)random_below(
					    &r, (uint64_t)(SPAN - 40 - now));
		usec_t to = from + 1 + (usec_t)random_below(&r, 39);
		int64_t n = 1 + (int64_t)random_below(&r, 4);

		if (random_below(&r, 3) == 0)
			move_pin(&p, i, random_below(&r, 5) ? from : -1);
		else if (plain[from] + plain[to - 1] < 6)
			free_both(&p, now, from, to, n);
		else
			add_both(&p, from, to, -n);
		marked += pinned[i].marked;
		if (random_below(&r, 4) == 0)
			take_marks(&p, i);
		if (step % 400 == 399 && now < SPAN - 150)
			profile_trim(&p, ++now);
		check(&p, &r, now);
	}
	assert_true(marked > 1000);
	profile_clear(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_profile_is_its_values),
		cmocka_unit_test(slots_slide),
		cmocka_unit_test(blocks_are_joined),
		cmocka_unit_test(pins_are_marked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
