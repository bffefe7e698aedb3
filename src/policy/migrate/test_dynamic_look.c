/*
 * test_dynamic_look.c - Dynamic-SED's selection and location rules (Schnor 1997 section
 * 5.3) against a second implementation, on random hosts
 *
 * Promises and counters of the jobs are loaded, as after a restart; moves of one look are
 * under way in the next ones, until they are over or have failed.
 */
#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/random.h"
#include "policy/policies.h"

#include "policy/migrate/test_pass.h"

enum { JOBS = 4, RANKS = 4, ROUNDS = 6000, LOOKS = 10, EVERY = 2 };
enum { C1 = 3, C2 = 2, USERS = 1 };

#define SPEC                                                               \
	"dynamic-sed:every=2,c1=3,c2=2,users=1,mem-min=100,mem-reserv=50," \
	"load-reserv=0.5,d-max=6"
#define KB	 UINT64_C(1024)
#define LEAST	 (100 * KB)
#define RESERVED (50 * KB)
#define CLOSED	 1e9

static struct policy *policy;
static struct job *job[JOBS];

/* ---- what a look should do ---- */

static int class[JOBS]; /* that was promised */
static uint32_t count[JOBS][RANKS];
static uint32_t place[JOBS][RANKS]; /* where each rank is, or will be */
static uint64_t given[HOSTS];
static usec_t shunned[HOSTS]; /* until then, as a move there has failed */
static FILE *out;

static uint64_t memory_of(uint32_t h)
{
	return host[h].memory ? host[h].memory_free : UINT64_MAX;
}

static uint64_t free_on(uint32_t h)
{
	return memory_of(h) > given[h] ? memory_of(h) - given[h] : 0;
}

static uint32_t ranks_on(uint32_t h)
{
	uint32_t n = 0;

	for (int k = 0; k < JOBS; k++)
		for (uint32_t i = 0; i < job[k]->n; i++)
			n += place[k][i] == h;
	return n;
}

/* Whoever is there or comes has a slot, and who has not left yet. */
static bool has_room(uint32_t h)
{
	uint32_t n = host[h].nr_ranks;

	for (int k = 0; k < JOBS; k++)
		for (uint32_t i = 0; i < job[k]->n; i++)
			n += place[k][i] == h && job[k]->hosts[i] != h;
	return host_usable(&host[h]) && n < host[h].slots;
}

/* Memory of those who are under way to it. */
static uint64_t promised_to(uint32_t h)
{
	uint64_t sum = 0;

	for (int k = 0; k < JOBS; k++)
		for (uint32_t i = 0; i < job[k]->n; i++)
			if (place[k][i] == h && job[k]->hosts[i] != h)
				sum += job[k]->memory;
	return sum;
}

static double external[HOSTS]; /* as the look begins */

static void begin_look(void)
{
	for (uint32_t h = 0; h < HOSTS; h++) {
		uint64_t least = LEAST + (host[h].users ? RESERVED : 0);
		bool closed = !has_room(h) || host[h].owner_active ||
			      host[h].users > USERS || memory_of(h) <= least;

		given[h] = promised_to(h);
		external[h] = closed ? CLOSED
				     : host[h].load + (host[h].users ? 0.5 : 0);
	}
}

static double slowest(void)
{
	double max = 1;

	for (int h = 0; h < HOSTS; h++)
		max = fmax(max, host[h].speed);
	return max;
}

/* The least class that was promised to anybody there. */
static double threshold(uint32_t h)
{
	double least = slowest();

	for (int k = 0; k < JOBS; k++)
		for (uint32_t i = 0; i < job[k]->n; i++)
			if (place[k][i] == h)
				least = fmin(least, class[k]);
	return least;
}

static double delay_on(uint32_t h)
{
	return host[h].speed * (1 + host[h].load + ranks_on(h));
}

enum rule { IN_CLASS, WITH_MEMORY, ANY_MEMORY, MUCH_FASTER };

static bool allows(enum rule rule, int k, uint32_t from, uint32_t h)
{
	bool free = external[h] < CLOSED && !host[h].users;
	bool fits = job[k]->memory <= free_on(h);
	double here = delay_on(from) - host[from].speed;

	switch (rule) {
	case IN_CLASS:
		return host[h].speed * (1 + ranks_on(h) + external[h]) <=
			       fmin(class[k] + 0.5, threshold(h)) &&
		       free_on(h) > LEAST + job[k]->memory;
	case WITH_MEMORY:
		return free && fits && delay_on(h) < 6;
	case ANY_MEMORY:
		return free && delay_on(h) < 6;
	case MUCH_FASTER:
		return free && fits && here - delay_on(h) > host[from].speed;
	}
	return false;
}

static int find(enum rule rule, int k, uint32_t from)
{
	int best = -1;

	for (uint32_t h = 0; h < HOSTS; h++)
		if (h != from && has_room(h) && !host[h].owner_active &&
		    shunned[h] <= view.now && allows(rule, k, from, h) &&
		    (best < 0 || delay_on(h) < delay_on((uint32_t)best)))
			best = (int)h;
	return best;
}

static void find_place(int k, uint32_t rank, uint32_t from)
{
	int to = find(IN_CLASS, k, from);

	if (to < 0 && host[from].users)
		to = find(WITH_MEMORY, k, from);
	if (to < 0 && host[from].users)
		to = find(ANY_MEMORY, k, from);
	if (to < 0 && !host[from].users)
		to = find(MUCH_FASTER, k, from);
	if (to < 0)
		return;
	fprintf(out, "migrate job %d rank %u to %d;", k + 1, rank, to);
	count[k][rank] = 0;
	place[k][rank] = (uint32_t)to;
	given[to] += job[k]->memory;
}

static void look_at_rank(int k, uint32_t rank)
{
	uint32_t h = job[k]->hosts[rank], most = host[h].users ? C2 : C1;
	bool candidate = delay_on(h) - host[h].speed > class[k] + 0.5 ||
			 memory_of(h) < LEAST || host[h].users > USERS;

	if (!candidate)
		count[k][rank] -= count[k][rank] > 0;
	else if (count[k][rank] < most)
		count[k][rank]++;
	if (candidate && count[k][rank] >= most)
		find_place(k, rank, h);
}

/* Is a rank of it on a host that is down? */
static bool is_cut_off(int k)
{
	for (uint32_t i = 0; i < job[k]->n; i++)
		if (!host[job[k]->hosts[i]].up)
			return true;
	return false;
}

/* The owners of those that stand still are gone. */
static void expect_thaws(void)
{
	for (int k = 0; k < JOBS; k++)
		for (uint32_t i = 0; i < job[k]->n; i++)
			if (job_rank_frozen(job[k], i))
				fprintf(out, "thaw job %d rank %u;", k + 1, i);
}

static void expect_look(void)
{
	bool moves[JOBS][RANKS];

	for (int k = 0; k < JOBS; k++)
		for (uint32_t i = 0; i < job[k]->n; i++)
			moves[k][i] = place[k][i] != job[k]->hosts[i];
	begin_look();
	for (int k = 0; k < JOBS; k++)
		for (uint32_t i = 0; i < job[k]->n; i++)
			if (!moves[k][i] && !job[k]->ranks->nr_frozen &&
			    !is_cut_off(k))
				look_at_rank(k, i);
}

/* ---- random hosts and jobs ---- */

static void draw_host(struct random_stream *r, struct host *h)
{
	h->load = (double)random_below(r, 8) / 2;
	h->users = (uint32_t)random_below(r, 6) / 3;
	h->users += h->users && !random_below(r, 3);
	h->memory = random_below(r, 4) ? 1000 * KB : 0;
	h->memory_free = random_below(r, 9) * RESERVED;
	h->up = random_below(r, 12);
}

static void draw_jobs(struct random_stream *r)
{
	for (int k = 0; k < JOBS; k++) {
		/* none on the last host */
		job[k] = pass_runs_anywhere(r, k + 1, RANKS, HOSTS - 1);
		job[k]->memory = random_below(r, 4) * RESERVED;
		memcpy(place[k], job[k]->hosts, job[k]->n * sizeof(*place[k]));
	}
	for (int h = 0; h < HOSTS; h++) {
		host[h].slots = 2 + (uint32_t)random_below(r, 4);
		if (host[h].slots < host[h].nr_ranks)
			host[h].slots = host[h].nr_ranks;
	}
	host[HOSTS - 1].owner_active = random_below(r, 2);
	if (!random_below(r, 4))
		pass_stands_still(job[0], 0);
}

/* What was promised, and at how many looks ranks were candidates. */
static void load_minds(struct random_stream *r)
{
	int classes = (int)floor(slowest() + 0.5);
	char *text;
	size_t size;
	FILE *f = open_memstream(&text, &size);
	struct error err;

	fprintf(f, "0 0.3 0.05\n0 %" PRId64 "\n", view.now);
	for (int k = 0; k < JOBS; k++) {
		class[k] = 1 + (int)random_below(r, (uint64_t)classes);
		fprintf(f, "%d %d %u", k + 1, class[k], job[k] -> n);
		for (uint32_t i = 0; i < job[k]->n; i++) {
			count[k][i] = (uint32_t)random_below(r, C2 + 1);
			fprintf(f, " %u", count[k][i]);
		}
		fputc('\n', f);
	}
	fclose(f);
	if (policy_load(policy, &view, text, &err) < 0)
		fail_msg("%s", err.text);
	free(text);
}

/* Of moves under way some are over and some have failed. */
static void end_moves(struct random_stream *r)
{
	for (int k = 0; k < JOBS; k++)
		for (uint32_t i = 0; i < job[k]->n; i++) {
			struct event e = { .type = EVENT_MIGRATE,
					   .at = view.now,
					   .job = job[k],
					   .rank = i,
					   .host = place[k][i] };

			if (place[k][i] == job[k]->hosts[i] ||
			    random_below(r, 2))
				continue;
			if (random_below(r, 2)) {
				e.host = job[k]->hosts[i];
				shunned[place[k][i]] = view.now + 11 * SEC;
				place[k][i] = e.host;
			}
			model_apply(&view, &e);
			policy_event(policy, &view, &e);
		}
}

/* ---- both ---- */

/* A look, or a pass before it is time for one; how many ranks move. */
static unsigned pass(int next)
{
	unsigned moves = 0;
	char *wanted;
	size_t size;

	out = open_memstream(&wanted, &size);
	expect_thaws();
	if (next == EVERY)
		expect_look();
	fprintf(out, "wake %d;", (int)(view.now / SEC) + next);
	fclose(out);
	plan_reset(&plan, &view);
	policy_decide(policy, &view, &plan);
	pass_check_plan(wanted);
	free(wanted);
	for (size_t i = 0; i < plan.nr; i++)
		moves += plan.entry[i].type == PLAN_MIGRATE;
	return moves;
}

static unsigned one_round(struct random_stream *r)
{
	unsigned moves = 0;

	for (int h = 0; h < HOSTS; h++) {
		host[h].speed = 1 + (double)random_below(r, 5) / 2;
		draw_host(r, &host[h]);
	}
	draw_jobs(r);
	memset(shunned, 0, sizeof(shunned));
	assert_int_equal(policy_create(SPEC, 1, &view, &policy, NULL), 0);
	policy_adopt(policy, &view);
	load_minds(r);
	for (int i = 0; i < LOOKS; i++) {
		moves += pass(EVERY);
		view.now += SEC;
		pass(EVERY - 1);
		view.now += (EVERY - 1) * SEC;
		end_moves(r);
		for (int h = 0; h < HOSTS; h++)
			if (!random_below(r, 3))
				draw_host(r, &host[h]);
	}
	policy_destroy(policy);
	return moves;
}

static void looks_are_as_the_text_says(void **state)
{
	struct random_stream r;
	unsigned moves = 0;

	random_init(&r, 8, "look", 0);
	for (int i = 0; i < ROUNDS; i++) {
		pass_end(state);
		pass_begin(state);
		moves += one_round(&r);
	}
	if (moves < ROUNDS) /* or nothing was tried */
		fail_msg("only %u moves", moves);
}

/* ---- made anew between an event and the pass ---- */

/* What it saves after a pass; for the caller to free. */
static char *saved_after_pass(struct policy *one)
{
	char *text;

	plan_reset(&plan, &view);
	policy_decide(one, &view, &plan);
	text = policy_save(one, &view);
	assert_non_null(text);
	return text;
}

/* A job has ended; who is left may be promised more.  True if that is so. */
static bool end_one(struct random_stream *r)
{
	struct policy *twin;
	struct error err;
	char *before, *one, *other;
	bool better;

	for (int h = 0; h < HOSTS; h++) {
		host[h].speed = 1 + (double)random_below(r, 5) / 2;
		draw_host(r, &host[h]);
	}
	draw_jobs(r);
	assert_int_equal(policy_create(SPEC, 1, &view, &policy, NULL), 0);
	policy_adopt(policy, &view);
	load_minds(r);
	free(saved_after_pass(policy));
	for (int k = 0; k < 2; k++) {
		struct event e = { .type = EVENT_END,
				   .at = view.now,
				   .job = job[k] };

		model_apply(&view, &e);
		policy_event(policy, &view, &e);
	}
	before = policy_save(policy, &view);
	assert_int_equal(policy_create(SPEC, 1, &view, &twin, NULL), 0);
	policy_adopt(twin, &view);
	if (policy_load(twin, &view, before, &err) < 0)
		fail_msg("%s", err.text);
	one = saved_after_pass(policy);
	other = saved_after_pass(twin);
	assert_string_equal(one, other);
	/* Classes stand in the lines of jobs, which are the last two. */
	better = strcmp(strstr(before, "\n3 "), strstr(one, "\n3 ")) != 0;
	free(before);
	free(one);
	free(other);
	policy_destroy(twin);
	policy_destroy(policy);
	return better;
}

static void ends_are_remembered(void **state)
{
	struct random_stream r;
	unsigned better = 0;

	random_init(&r, 9, "look", 0);
	for (int i = 0; i < ROUNDS / 4; i++) {
		pass_end(state);
		pass_begin(state);
		better += end_one(&r);
	}
	if (better < ROUNDS / 40)
		fail_msg("only %u were promised more", better);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PASS_TEST(looks_are_as_the_text_says),
		PASS_TEST(ends_are_remembered),
	};

	return cmocka_run_group_tests_name("dynamic_look", tests, NULL, NULL);
}
