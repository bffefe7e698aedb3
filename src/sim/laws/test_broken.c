/*
 * test_broken.c - laws notice what is broken: random states and whole runs that keep them, of
 * which then one thing is not as it should be
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/random.h"
#include "policy/policies.h"
#include "sim/engine/testing.h"
#include "sim/laws/priv.h"

enum { HOSTS = 5, ROUNDS = 300 };

static struct view view;
static struct random_stream rnd;

static uint32_t below(uint32_t n)
{
	return (uint32_t)random_below(&rnd, n);
}

/* ---- states ---- */

/* What the recount says of the view as it is; "" is nothing. */
static const char *found(unsigned flags)
{
	static struct law_watch w;

	w = (struct law_watch){ .flags = flags };
	law_recount(&w, &view, NULL);
	assert_int_equal(w.checks, 1);
	return w.wrong.text;
}

static void must_find(unsigned flags, const char *what)
{
	if (!strstr(found(flags), what))
		fail_msg("'%s' does not say '%s'", found(flags), what);
}

static void must_find_nothing(unsigned flags)
{
	assert_string_equal(found(flags), "");
}

static void apply(enum event_type type, struct job *j, uint32_t n,
		  const uint32_t *hosts)
{
	model_apply(&view, &(struct event){ .type = type,
					    .at = view.now,
					    .job = j,
					    .n = n,
					    .hosts = hosts });
}

/* One of min_size to size ranks, with room for a number below and above. */
static struct job *arrive(int64_t id)
{
	struct job *j = view_job_create(&view);

	j->id = id;
	j->min_size = 2 + below(2);
	j->size = j->min_size + below(3);
	apply(EVENT_ARRIVE, j, 0, NULL);
	return j;
}

/* The first n free cores; false: there are not as many. */
static bool find_cores(uint32_t n, uint32_t *hosts)
{
	uint32_t nr = 0;

	for (uint32_t h = 0; h < HOSTS; h++)
		for (uint32_t k = view.hosts[h].nr_active;
		     nr < n && k < view.hosts[h].cores; k++)
			hosts[nr++] = h;
	return nr == n;
}

/* Jobs that run, wait and are suspended, a core for each rank that runs. */
static void fill_view(void)
{
	uint32_t hosts[8], jobs = 1 + below(8);

	for (uint32_t id = 1; id <= jobs; id++) {
		struct job *j = arrive(id);
		uint32_t n = j->min_size + below(j->size - j->min_size + 1);

		if (view.nr_hosts ? !find_cores(n, hosts) : view.nr_free < n)
			continue;
		apply(EVENT_START, j, n, view.nr_hosts ? hosts : NULL);
		if (!below(5))
			apply(EVENT_SUSPEND, j, 0, NULL);
	}
}

static void begin_hosts(void)
{
	struct host hosts[HOSTS] = { { .name = NULL } };

	for (int i = 0; i < HOSTS; i++)
		hosts[i] = (struct host){ .speed = 1,
					  .cores = 1 + below(4),
					  .slots = 1000,
					  .up = true };
	view_init_hosts(&view, hosts, HOSTS);
}

static struct job *any_running(void)
{
	struct job *j = TAILQ_FIRST(&view.running);

	for (uint32_t i = below(view.nr_running + 1); j && i; i--)
		j = TAILQ_NEXT(j, link) ? TAILQ_NEXT(j, link) : j;
	return j;
}

/* ---- one thing is wrong ---- */

static void demand_is_wrong(void)
{
	int64_t right = view.demand;

	view.demand += below(2) ? 1 : -1;
	must_find(POLICY_SHARES, "the demand is miscounted");
	view.demand = right;
}

static void a_job_has_too_many(void)
{
	struct job *j = any_running();
	uint32_t size, least;

	if (!j)
		return;
	size = j->size;
	least = j->min_size;
	j->min_size = j->n; /* its bounds are all right */
	must_find_nothing(POLICY_SHARES);
	j->min_size = j->n + 1;
	must_find(POLICY_SHARES, "processors has");
	j->min_size = least;
	j->size = j->n - 1;
	view.demand -= size - j->size;
	must_find(POLICY_SHARES, "processors has");
	view.demand += size - j->size;
	j->size = size;
}

static void ranks_are_wrong(void)
{
	struct host *h = &view.hosts[below(HOSTS)];
	uint32_t right = h->nr_ranks;

	h->nr_ranks += below(2) || !right ? 1 : UINT32_MAX;
	must_find(POLICY_SHARES, "are miscounted");
	h->nr_ranks = right;
}

/* As many active ranks as cores are all right, one more is where cores are shared. */
static void a_core_is_shared(void)
{
	struct host *h = &view.hosts[below(HOSTS)];
	uint32_t right = h->nr_active;

	h->nr_active = h->cores;
	must_find_nothing(0);
	h->nr_active = h->cores + 1 + below(3);
	must_find(0, "cores runs");
	must_find_nothing(POLICY_SHARES);
	h->drain = true; /* whose ranks came before that */
	must_find_nothing(0);
	h->drain = false;
	h->nr_active = right;
}

static void each_error_on_hosts_is_found(void **state)
{
	(void)state;
	random_init(&rnd, 1, "broken", 0);
	for (int i = 0; i < ROUNDS; i++) {
		begin_hosts();
		fill_view();
		must_find_nothing(0);
		demand_is_wrong();
		a_job_has_too_many();
		ranks_are_wrong();
		a_core_is_shared();
		must_find_nothing(0);
		view_clear(&view);
	}
}

static void each_error_in_counts_is_found(void **state)
{
	(void)state;
	random_init(&rnd, 2, "broken", 0);
	for (int i = 0; i < ROUNDS; i++) {
		int64_t free;

		view_init(&view, 4 + below(20));
		fill_view();
		must_find_nothing(0);
		demand_is_wrong();
		a_job_has_too_many();
		free = view.nr_free;
		view.nr_free += below(2) ? 1 : -1;
		must_find(POLICY_SHARES, "processors are lost");
		view.nr_procs -= free + 1; /* all that are in use, but one */
		view.nr_free = -1;
		must_find(0, "1 processors too many");
		must_find_nothing(POLICY_SHARES);
		view_clear(&view);
	}
}

/* ---- reservations ---- */

static struct law_booking booking = { .told = 10, .from = 20, .to = 30 };

/* Is something wrong with the view as it is at that time? */
static bool wrong_at(usec_t at, unsigned flags)
{
	struct law_booked w = { .booking = &booking, .nr = 1, .flags = flags };

	view.now = at;
	law_check_instant(&w, &view);
	return w.wrong[0];
}

/* LAW_PROCS cores of hosts, of which those of the last ones are booked; all others are used
 * by a job that came then. */
static void book(usec_t start)
{
	struct host hosts[HOSTS] = { { .name = NULL } };
	uint32_t on[LAW_PROCS], n = LAW_PROCS - (uint32_t)booking.procs;
	struct job *j;

	for (int i = 0; i < 4; i++)
		hosts[i] = (struct host){
			.speed = 1, .cores = 4, .slots = 1000, .up = true
		};
	view_init_hosts(&view, hosts, 4);
	view.now = start;
	for (uint32_t i = 0; i < LAW_PROCS; i++)
		on[i] = i / 4;
	j = view_job_create(&view);
	j->id = 1;
	j->size = j->min_size = n;
	apply(EVENT_ARRIVE, j, 0, NULL);
	apply(EVENT_START, j, n, on);
	for (uint32_t i = n; i < LAW_PROCS; i++)
		view.hosts[i / 4].booked++;
}

/*
 * While it lasts all its cores are booked, and who has come since it was told has none of
 * them; before and behind it none is.
 */
static void who_runs_on_what_is_reserved_is_found(void **state)
{
	(void)state;
	random_init(&rnd, 4, "broken", 0);
	for (int i = 0; i < ROUNDS; i++) {
		bool early = i % 2;

		booking.procs = 1 + below(LAW_PROCS / 2);
		book(early ? 5 : 12);
		assert_false(wrong_at(20, 0));
		assert_false(wrong_at(29, 0));
		assert_true(wrong_at(19, 0)); /* nothing is booked yet */
		assert_true(wrong_at(30, 0)); /* or any more */
		view.hosts[3].booked--;
		assert_true(wrong_at(25, 0));
		view.hosts[3].booked++;
		TAILQ_FIRST(&view.running)->n++; /* one too many */
		assert_int_equal(wrong_at(25, 0), !early);
		TAILQ_FIRST(&view.running)->n--;
		view_clear(&view);
	}
}

/* Where all is known from the beginning no booked core runs anything. */
static void a_booked_core_that_runs_is_found(void **state)
{
	(void)state;
	random_init(&rnd, 5, "broken", 0);
	booking.told = 0;
	for (int i = 0; i < ROUNDS; i++) {
		struct host *h;

		booking.procs = 1 + below(LAW_PROCS / 2);
		book(0);
		h = &view.hosts[below(4)];
		assert_false(wrong_at(25, 0));
		h->nr_active = h->cores - h->booked + 1;
		assert_true(wrong_at(25, 0));
		assert_false(wrong_at(25, POLICY_SLICES));
		view_clear(&view);
	}
	booking.told = 10;
}

/* Hosts that are shared are booked whole, from when that is told. */
static void a_shared_host_that_is_reserved_is_found(void **state)
{
	(void)state;
	random_init(&rnd, 6, "broken", 0);
	for (int i = 0; i < ROUNDS; i++) {
		bool early = i % 2;

		booking.procs = 1 + below(LAW_PROCS / 2);
		book(early ? 5 : 12);
		for (int h = 0; h < 4; h++)
			view.hosts[h].booked = view.hosts[h].nr_ranks ? 0 : 4;
		booking.procs = 0;
		for (int h = 0; h < 4; h++)
			booking.procs += view.hosts[h].booked;
		assert_false(wrong_at(15, POLICY_SHARES));
		booking.procs++;
		assert_true(wrong_at(15, POLICY_SHARES));
		assert_false(wrong_at(9, POLICY_SHARES));
		assert_false(wrong_at(30, POLICY_SHARES));
		booking.procs--;
		view.hosts[0].booked = 4;
		assert_int_equal(wrong_at(15, POLICY_SHARES), !early);
		view_clear(&view);
	}
}

/* ---- whole runs ---- */

static struct sim_result result;

static int run_one(void **state)
{
	struct sim_config c = { .policy = "fcfs" };
	struct error err;

	(void)state;
	random_init(&rnd, 3, "broken", 0);
	if (law_workload("poisson", 0.8, "linear", &c.workload, &err) < 0)
		fail_msg("%s", err.text);
	simulate(&c, &result);
	workload_destroy(c.workload);
	return 0;
}

static int end_run(void **state)
{
	(void)state;
	sim_result_clear(&result);
	return 0;
}

static struct sim_record *any_record(void)
{
	return &result.record[below((uint32_t)result.nr)];
}

static void who_does_not_end_is_found(void **state)
{
	struct error err;

	(void)state;
	assert_int_equal(law_check_ended(&result, &err), 0);
	for (int i = 0; i < ROUNDS; i++) {
		struct sim_record *j = any_record(), right = *j;

		switch (i % 4) {
		case 0:
			j->start = j->submit - 1;
			break;
		case 1:
			j->end = j->start - 1;
			break;
		case 2:
			j->outcome = END_FAILED;
			break;
		case 3:
			j->start = j->end = -1;
		}
		assert_true(law_check_ended(&result, &err) < 0);
		j->end = j->submit;
		assert_int_equal(law_check_times(&result, &err), 0);
		j->end--;
		assert_true(law_check_times(&result, &err) < 0);
		*j = right;
	}
	assert_int_equal(law_check_ended(&result, &err), 0);
	result.nr--;
	assert_true(law_check_ended(&result, &err) < 0);
	result.nr++;
}

/* Too much of it is no error where cores are shared. */
static void lost_work_is_found(void **state)
{
	struct error err;

	(void)state;
	assert_int_equal(law_check_work(&result, false, &err), 0);
	assert_int_equal(law_check_work(&result, true, &err), 0);
	for (int i = 0; i < ROUNDS; i++) {
		struct sim_record *j = any_record();
		float right = j->proc_secs;
		bool more = i % 2;

		j->proc_secs = right * (more ? 1.01F : 0.99F) +
			       (more ? 0.01F : -0.01F);
		assert_true(law_check_work(&result, false, &err) < 0);
		assert_int_equal(law_check_work(&result, true, &err) < 0,
				 !more);
		j->proc_secs = right;
	}
}

static void wrong_averages_are_found(void **state)
{
	struct error err;
	double right = result.averages.jobs;

	(void)state;
	assert_int_equal(law_check_little(&result, &err), 0);
	result.averages.jobs = right * 1.0001;
	assert_true(law_check_little(&result, &err) < 0);
	result.averages.jobs = right * 0.9999;
	assert_true(law_check_little(&result, &err) < 0);
	result.averages.jobs = right;
	for (int i = 0; i < ROUNDS; i++) {
		struct sim_record *j = &result.record[below(200)];

		j->end += 2 * USEC_PER_SEC; /* well before the last arrival */
		assert_true(law_check_little(&result, &err) < 0 ||
			    j->end > result.record[result.nr - 1].submit);
		j->end -= 2 * USEC_PER_SEC;
	}
}

static void runs_that_differ_are_found(void **state)
{
	struct sim_record record[LAW_JOBS];
	struct sim_result other = result;
	struct error err;

	(void)state;
	assert_int_equal(result.nr, LAW_JOBS);
	memcpy(record, result.record, sizeof(record));
	other.record = record;
	assert_int_equal(law_compare(&result, &other, "", &err), 0);
	for (int i = 0; i < ROUNDS; i++) {
		struct sim_record *j = &record[below(LAW_JOBS)], right = *j;

		j->start += i % 5 == 0;
		j->end += i % 5 == 1;
		j->procs += i % 5 == 2;
		j->resizes += i % 5 == 3;
		j->moves += i % 5 == 4;
		assert_true(law_compare(&result, &other, "", &err) < 0);
		*j = right;
	}
	other.nr--;
	assert_true(law_compare(&result, &other, "", &err) < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_error_on_hosts_is_found),
		cmocka_unit_test(each_error_in_counts_is_found),
		cmocka_unit_test(who_runs_on_what_is_reserved_is_found),
		cmocka_unit_test(a_booked_core_that_runs_is_found),
		cmocka_unit_test(a_shared_host_that_is_reserved_is_found),
		cmocka_unit_test_setup_teardown(who_does_not_end_is_found,
						run_one, end_run),
		cmocka_unit_test_setup_teardown(lost_work_is_found, run_one,
						end_run),
		cmocka_unit_test_setup_teardown(wrong_averages_are_found,
						run_one, end_run),
		cmocka_unit_test_setup_teardown(runs_that_differ_are_found,
						run_one, end_run),
	};

	return cmocka_run_group_tests_name("broken", tests, NULL, NULL);
}
