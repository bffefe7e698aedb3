/*
 * reason.h - why something is planned: a sentence and its numbers, by name
 *
 * Kept apart until somebody asks, so that a reason costs a simulation next to
 * nothing:
 *
 *	REASON(head_waits,
 *	       "it needs {size} {size:processor|processors} of which {free} "
 *	       "{free:is|are} free, and can start at {at:time}",
 *	       size, free, at);
 *	...
 *	plan_defer(plan, job, BECAUSE(head_waits, .size = job->size,
 *				      .free = view->nr_free, .at = s.at));
 *
 * In the sentence stands for the number called NAME
 *	{NAME}			a count, a job's id, ...
 *	{NAME:time}		an instant or a duration, in usec
 *	{NAME:host}		a host, by its index in the view
 *	{NAME:thousandths}	what is not whole
 *	{NAME:one|many}		a word: one if it is 1, many if not
 *
 * A call that leaves a number out, or gives one that the reason does not have,
 * is not compiled.  A sentence that names none of them is found by
 * policy/test_reasons.c, which reads all there are (reason_check()).
 */
#ifndef MODEL_REASON_H
#define MODEL_REASON_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "core/error.h"
#include "model/view.h"

#define REASON_NUMBERS 3

struct reason {
	const char *text;
	const char *names; /* of its numbers, "size, free, at" */
};

/* A reason with its numbers. */
struct because {
	const struct reason *reason;
	int64_t number[REASON_NUMBERS]; /* in the order of its names */
};

/* A reason of this name, at the top of a file or in a function. */
#define REASON(name, text_, ...)                                     \
	struct name##_numbers {                                      \
		__VA_OPT__(int64_t __VA_ARGS__;)                     \
	};                                                           \
	_Static_assert(sizeof(struct name##_numbers) <=              \
			       REASON_NUMBERS * sizeof(int64_t),     \
		       "a reason has too many numbers");             \
	static const struct reason name = { .text = (text_),         \
					    .names = #__VA_ARGS__ }; \
	static const struct reason *const name##_listed              \
		__attribute__((used, section("stint_reasons"))) = &(name)

/* It with its numbers: all of them, each by its name. */
#define BECAUSE(name, ...)                                               \
	because_of(&(name), &(struct name##_numbers){ __VA_ARGS__ },     \
		   sizeof(struct name##_numbers) +                       \
			   REASON_WHOLE(sizeof(struct name##_numbers) == \
					REASON_COUNT(__VA_ARGS__) *      \
						sizeof(int64_t)))

#define REASON_WHOLE(is)                                                  \
	(0 * sizeof(struct {                                              \
		 _Static_assert((is), "give the reason all its numbers"); \
		 char unused;                                             \
	 }))
#define REASON_COUNT(...)	       REASON_FOURTH(__VA_ARGS__ __VA_OPT__(, ) 3, 2, 1, 0, )
#define REASON_FOURTH(a, b, c, n, ...) n

static inline struct because because_of(const struct reason *reason,
					const void *numbers, size_t size)
{
	struct because why = { .reason = reason };

	memcpy(why.number, numbers, size);
	return why;
}

/* The sentence.  Hosts are called as in view; NULL: by their indices. */
void because_write(const struct view *view, const struct because *why,
		   FILE *to);

/* The same, cut to size. */
void because_print(const struct view *view, const struct because *why,
		   char *buf, size_t size);

/*
 * The numbers by their names, a JSON object: times as NAME_us, hosts by their
 * names, what is only there for a word as any number.
 */
void because_write_numbers(const struct view *view, const struct because *why,
			   FILE *to);

/* A time and a host, as they stand in sentences. */
void reason_write_usec(FILE *to, usec_t t);
void reason_write_host(FILE *to, const struct view *view, int64_t ix);

/* Is the sentence good: are its braces, and does it name its numbers, all of
 * them and no other?  -EINVAL, if not. */
int reason_check(const struct reason *reason, struct error *err) must_check;

#endif
