/* test_sampler.c - who looks now and then, against a list of what there was at each second */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/random.h"
#include "model/view.h"
#include "sim/reproduce/sampler.h"

enum { HOSTS = 3, SECONDS = 600, ROUNDS = 50 };

struct seen {
	double idle, skew;
};

static struct seen look(const struct view *view)
{
	double sum = 0, squares = 0, n = 0, mean;
	struct seen s = { 0 };
	const struct host *h;

	for_each_host (h, view) {
		s.idle += (double)h->memory_free;
		n += !h->reserved;
		sum += h->reserved ? 0 : h->nr_active;
	}
	mean = n > 0 ? sum / n : 0;
	for_each_host (h, view)
		squares += h->reserved ? 0 : pow(h->nr_active - mean, 2);
	s.skew = n > 0 ? sqrt(squares / n) : 0;
	return s;
}

/* What is there changes at once at any time; an instant's last word counts after it. */
static void happen(struct random_stream *r, struct view *view)
{
	struct host *h = &view->hosts[random_below(r, HOSTS)];

	h->memory_free = random_below(r, 1000);
	h->nr_active = (uint32_t)random_below(r, 5);
	h->reserved = !random_below(r, 4);
}

static void near(double a, double b)
{
	if (fabs(a - b) > 1e-6)
		fail_msg("%.9f is not %.9f", a, b);
}

static void check_means(const struct sampler *s, const struct seen *at, int end)
{
	for (int i = 0; i < SAMPLER_RATES; i++) {
		double idle = 0, skew = 0, n = 0;

		for (int t = sampler_seconds[i]; t <= end;
		     t += sampler_seconds[i]) {
			idle += at[t].idle;
			skew += at[t].skew;
			n++;
		}
		near(sampler_idle(s, i), n > 0 ? idle / n : 0);
		near(sampler_skew(s, i), n > 0 ? skew / n : 0);
	}
}

/* Half of the changes are just at a look, which sees what has been until then. */
static void looks_are_those_of_each_second(void **state)
{
	struct host hosts[HOSTS] = { { .slots = 9, .cores = 1 } };
	struct random_stream r;

	(void)state;
	random_init(&r, 1, "sampler", 0);
	for (int round = 0; round < ROUNDS; round++) {
		struct sampler s = { .begun = false };
		struct seen at[SECONDS + 1] = { { 0 } }, is;
		usec_t begin = (usec_t)random_below(&r, 5000000);
		struct event e = { .type = EVENT_TIMER, .at = begin };
		struct view view;
		int t = 0;

		view_init_hosts(&view, hosts, HOSTS);
		sampler_event(&s, &view, &e);
		is = look(&view);
		while (e.at < begin + (SECONDS - 20) * USEC_PER_SEC) {
			e.at += (usec_t)random_below(&r, 20) * USEC_PER_SEC / 2;
			for (; begin + (t + 1) * USEC_PER_SEC <= e.at; t++)
				at[t + 1] = is;
			happen(&r, &view);
			sampler_event(&s, &view, &e);
			is = look(&view);
		}
		check_means(&s, at, t);
		view_clear(&view);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(looks_are_those_of_each_second),
	};

	return cmocka_run_group_tests_name("sampler", tests, NULL, NULL);
}
