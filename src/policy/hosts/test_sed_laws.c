/* test_sed_laws.c - what holds of SED's state on random hosts, whatever happens to jobs */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/random.h"
#include "policy/hosts/sed_state.h"

/* An idle machine offers every host, whatever its speed factors are, and a job
 * of one process for each is mapped; once each host has one, delays stay within
 * those of the slowest class. */
static void an_idle_machine_offers_every_host(void **state)
{
	struct random_stream r;
	double alpha[40];
	int avail[64];

	(void)state;
	random_init(&r, 11, "sed", 0);
	for (int round = 0; round < 2000; round++) {
		int n = 1 + (int)random_below(&r, 40), size = 0, class;
		double top = 0.1 * (double)(1 + random_below(&r, 500)), max = 1;
		struct sed sed;

		for (int i = 0; i < n; i++) {
			alpha[i] =
				1 + top * (double)random_below(&r, 1000) / 1000;
			max = alpha[i] > max ? alpha[i] : max;
		}
		sed_init(&sed, round % 2 ? SED1 : SED2, alpha, n);
		assert_true(sed.nr_classes < 64);
		sed_availability(&sed, avail);
		assert_true(avail[sed.nr_classes] >= n);
		class = sed_map(&sed, n, n, &size);
		assert_in_range(class, 1, sed.nr_classes);
		assert_int_equal(size, n);
		sed_start(&sed, 1, class, n);
		while ((class = sed_map(&sed, 1, 1, &size)))
			sed_start(&sed, sed.nr_jobs + 1, class, 1);
		for (int i = 0; i < n && round % 2 == 0; i++)
			assert_true(alpha[i] * sed.hosts[i].load <= max + 1e-6);
		sed_clear(&sed);
	}
}

/* What each host has of the jobs: their processes, and the least of their classes. */
static void check_state(const struct sed *sed)
{
	for (int i = 0; i < sed->nr_hosts; i++) {
		double least = sed->slowest;
		int load = 0;

		for (size_t j = 0; j < sed->nr_jobs; j++)
			for (int p = 0; p < sed->jobs[j].size; p++) {
				if (sed->jobs[j].hosts[p] != i)
					continue;
				load++;
				if (sed->jobs[j].class < least)
					least = sed->jobs[j].class;
			}
		assert_int_equal(sed->hosts[i].load, load);
		assert_true(sed->hosts[i].threshold == least);
	}
}

/* One of the changes that there are, to a job drawn at random; true if it was one. */
static bool change(struct sed *sed, struct random_stream *r, uint64_t id)
{
	size_t job = sed->nr_jobs ? random_below(r, sed->nr_jobs) : 0;
	int class, size = 0;

	if (!sed->nr_jobs || random_below(r, 3) == 0) {
		int most = 1 + (int)random_below(r, 6);

		class = sed_map(sed, 1 + (int)random_below(r, most), most,
				&size);
		if (class)
			sed_start(sed, id, class, size);
		return class;
	}
	switch (random_below(r, 4)) {
	case 0:
		sed_end(sed, sed->jobs[job].id);
		return true;
	case 1:
		class = sed_upgrade_class(sed, job);
		if (class)
			sed_upgrade(sed, job, class);
		return class;
	case 2:
		class = sed_better_class(sed, job);
		return class && sed_migrate(sed, job, class);
	default:
		sed_promise(sed, sed->jobs[job].id,
			    1 + (int)random_below(r, sed->nr_classes));
		return true;
	}
}

/* ... whatever has happened to jobs. */
static void hosts_are_as_their_jobs_say(void **state)
{
	struct random_stream r;
	double alpha[12];
	unsigned changes = 0;

	(void)state;
	random_init(&r, 3, "sed", 0);
	for (int round = 0; round < 400; round++) {
		struct sed sed;

		for (int i = 0; i < 12; i++)
			alpha[i] = 1 + (double)random_below(&r, 8) / 2;
		sed_init(&sed, round % 2 ? SED1 : SED2, alpha, 12);
		for (uint64_t i = 1; i <= 30; i++) {
			changes += change(&sed, &r, i);
			check_state(&sed);
		}
		sed_clear(&sed);
	}
	assert_true(changes > 6000);
}

/* Virtual nodes of class k that a host has, by the text's formula for SED2. */
static int nodes(const struct sed_host *h, int k)
{
	double most = fmin(k + 0.5, h->threshold);
	int n = (int)floor(most / h->alpha - h->load - h->external + 1e-9);

	return n > 0 ? n : 0;
}

static double delay_of_one_more(const struct sed_host *h)
{
	return h->alpha * (1 + h->load + h->external);
}

/* Whoever would delay the next process less than a host that the job got is full. */
static void check_filled(const struct sed *sed, const struct sed_host *before,
			 const struct sed_job *job)
{
	for (int p = 0; p < job->size; p++)
		for (int i = 0; i < sed->nr_hosts; i++) {
			const struct sed_host *a = &before[job->hosts[p]];
			int got = sed->hosts[i].load - before[i].load;

			if (delay_of_one_more(&before[i]) <
			    delay_of_one_more(a))
				assert_int_equal(got,
						 nodes(&before[i], job->class));
		}
}

static void hosts_that_delay_least_are_filled_first(void **state)
{
	struct random_stream r;
	unsigned starts = 0;

	(void)state;
	random_init(&r, 5, "sed", 0);
	for (int round = 0; round < 1000; round++) {
		double alpha[12];
		struct sed sed;

		for (int i = 0; i < 12; i++)
			alpha[i] = 1 + (double)random_below(&r, 8) / 2;
		sed_init(&sed, SED2, alpha, 12);
		for (int i = 0; i < 12; i++)
			sed.hosts[i].external = (double)random_below(&r, 3) / 2;
		for (uint64_t id = 1; id <= 10; id++) {
			struct sed_host before[12];
			int size = 0, class;

			memcpy(before, sed.hosts, sizeof(before));
			class = sed_map(&sed, 1, 1 + (int)random_below(&r, 12),
					&size);
			if (!class)
				break;
			check_filled(&sed, before,
				     sed_start(&sed, id, class, size));
			starts++;
		}
		sed_clear(&sed);
	}
	assert_true(starts > 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_idle_machine_offers_every_host),
		cmocka_unit_test(hosts_are_as_their_jobs_say),
		cmocka_unit_test(hosts_that_delay_least_are_filled_first),
	};

	return cmocka_run_group_tests_name("sed_laws", tests, NULL, NULL);
}
