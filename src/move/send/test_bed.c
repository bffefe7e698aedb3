/* test_bed.c - see test_bed.h */
#include "move/send/test_bed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "move/send/ahead.h"
#include "move/send/precopy.h"
#include "move/send/throttle.h"

struct throttle throttle;

#define WRAP(name) __wrap_##name
struct throttle *WRAP(throttle_create)(struct tracee *t, usec_t budget);
void WRAP(throttle_tick)(struct throttle *th);
void WRAP(throttle_destroy)(struct throttle *th);
void WRAP(page_sender_on_flush)(struct page_sender *p, void (*fn)(void *ctx),
				void *ctx);

struct throttle *WRAP(throttle_create)(struct tracee *t, usec_t budget)
{
	throttle.begun++;
	throttle.budget = budget;
	return &throttle;
}

void WRAP(throttle_tick)(struct throttle *th)
{
	throttle.ticks += th != NULL;
}

void WRAP(throttle_destroy)(struct throttle *th)
{
	throttle.ended += th != NULL;
}

void WRAP(page_sender_on_flush)(struct page_sender *p, void (*fn)(void *ctx),
				void *ctx)
{
	world.look = fn;
	world.look_arg = ctx;
}

void bed_init(struct bed *b, usec_t budget, const unsigned *written, size_t n)
{
	*b = (struct bed){ .report = { .tracked = true },
			   .src = { .budget = budget } };
	b->s = (struct sending){ .src = &b->src,
				 .report = &b->report,
				 .process = { .tracee = &b->tracee },
				 .ch = channel_from_fd(-1), /* no rate */
				 .ahead = ahead_create(),
				 .precopy = precopy_create() };
	throttle = (struct throttle){ 0 };
	world = (struct world){ .threads = 1 };
	assert_true(n <= ROUNDS);
	memcpy(world.written, written, n * sizeof(*written));
}

void bed_clear(struct bed *b)
{
	ahead_destroy(b->s.ahead);
	precopy_destroy(b->s.precopy);
	channel_close(b->s.ch);
}
