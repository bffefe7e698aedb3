/*
 * test_dynamite.c - Dynamite's looks (Overeinder 2000 section 7.5.1) against a second
 * implementation, on random hosts
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/random.h"
#include "model/talk.h"
#include "policy/policies.h"

#include "policy/migrate/test_pass.h"

enum { JOBS = 5, RANKS = PASS_RANKS, ROUNDS = 6000 };

#define CPU	0.9
#define MEMORY	0.8
#define NETWORK 0.5
#define GAIN	1.25

static struct policy *policy;
static struct job *job[JOBS];

/* ---- random hosts and jobs ---- */

static void draw_host(struct random_stream *r, struct host *h)
{
	h->speed = 1 + (double)random_below(r, 3) / 2;
	h->cores = 1 + (uint32_t)random_below(r, 8);
	h->slots = 2 + (uint32_t)random_below(r, 5);
	h->load = (double)random_below(r, 4) / 2;
	h->memory = random_below(r, 2) ? 1000 : 0;
	h->memory_free = random_below(r, 1000);
	h->link = (double)random_below(r, 5) * 2.5e5;
}

static void draw_jobs(struct random_stream *r)
{
	for (int k = 0; k < JOBS; k++) {
		/* none on the last host */
		job[k] = pass_runs_anywhere(r, k + 1, RANKS, HOSTS - 1);
		job[k]->memory = random_below(r, 5) * 50;
		if (random_below(r, 2))
			pass_talks(r, job[k], 6e5, 0);
	}
	for (int i = 0; i < HOSTS; i++)
		if (host[i].slots < host[i].nr_ranks)
			host[i].slots = host[i].nr_ranks;
	host[HOSTS - 1].owner_active = random_below(r, 2);
}

/* ---- what a look should do ---- */

static double load[HOSTS], used[HOSTS], net[HOSTS];
static bool done[HOSTS];

/* Moves that have begun and are not over. */
static struct {
	int job;
	uint32_t rank, from, to;
} way[JOBS * RANKS];
static unsigned nr_way;

static double cpu_of(uint32_t h, double more)
{
	return (load[h] + more) * host[h].speed / host[h].cores;
}

static double memory_of(uint32_t h, double more)
{
	return host[h].memory ? (used[h] + more) / (double)host[h].memory : 0;
}

static double network_of(uint32_t h, double more)
{
	return host[h].link > 0 ? (net[h] + more) / host[h].link : 0;
}

/* Pairs on one host do not use its link. */
static double talk_of(const struct job *j, uint32_t rank, uint32_t h)
{
	return talk_bytes_all(j, rank) - 2 * talk_bytes(j, rank, h);
}

static double excess_of(uint32_t h)
{
	double a = cpu_of(h, 0) / CPU, b = memory_of(h, 0) / MEMORY;
	double c = network_of(h, 0) / NETWORK;

	a = a > b ? a : b;
	return a > c ? a : c;
}

static bool under_way(int k, uint32_t rank)
{
	for (unsigned i = 0; i < nr_way; i++)
		if (way[i].job == k && way[i].rank == rank)
			return true;
	return false;
}

static void begin_look(void)
{
	talk_hosts(&view, net);
	for (int h = 0; h < HOSTS; h++) {
		load[h] = host[h].load + host[h].nr_active;
		used[h] =
			host[h].memory > host[h].memory_free
				? (double)(host[h].memory - host[h].memory_free)
				: 0;
		done[h] = false;
	}
	for (unsigned i = 0; i < nr_way; i++) {
		load[way[i].from]--;
		load[way[i].to]++;
		used[way[i].to] += (double)job[way[i].job]->memory;
	}
}

/* The rank that takes most memory, or most of what the link carries, with it. */
static bool choose_rank(uint32_t from, bool loudest, int *ret, uint32_t *rank)
{
	bool any = false;
	double most = 0;

	for (int k = 0; k < JOBS; k++)
		for (uint32_t i = 0; i < job[k]->n; i++) {
			double v = loudest ? talk_of(job[k], i, from)
					   : (double)job[k]->memory;

			if (job[k]->hosts[i] != from || under_way(k, i) ||
			    (loudest && !job[k]->ranks->nr_talks) ||
			    (any && v <= most))
				continue;
			any = true;
			most = v;
			*ret = k;
			*rank = i;
		}
	return any;
}

static bool has_room(uint32_t h)
{
	uint32_t n = host[h].nr_ranks;

	for (unsigned i = 0; i < nr_way; i++)
		n += way[i].to == h;
	return n < host[h].slots && !host[h].owner_active;
}

/* first: what a rank more makes of hosts' CPU as the look began. */
static int choose_place(uint32_t from, int k, uint32_t rank, double most,
			const double *first)
{
	const struct job *j = job[k];
	int best = -1;

	for (uint32_t h = 0; h < HOSTS; h++)
		if (h != from && !done[h] && has_room(h) && first[h] <= most &&
		    memory_of(h, (double)j->memory) < MEMORY &&
		    network_of(h, talk_of(j, rank, h)) < NETWORK &&
		    (best < 0 || first[h] < first[best]))
			best = (int)h;
	return best;
}

static void relieve(uint32_t from, const double *first, FILE *to)
{
	bool link = cpu_of(from, 0) <= CPU && memory_of(from, 0) <= MEMORY;
	double most = link ? CPU : cpu_of(from, 0) / GAIN;
	uint32_t rank = 0;
	int k = 0, h;

	done[from] = true;
	if (!choose_rank(from, link, &k, &rank))
		return;
	if (link && network_of(from, -talk_of(job[k], rank, from)) * GAIN >
			    network_of(from, 0))
		return;
	h = choose_place(from, k, rank, most, first);
	if (h < 0)
		return;
	fprintf(to, "migrate job %d rank %u to %d;", k + 1, rank, h);
	done[h] = true;
}

static void expect_look(FILE *to)
{
	double first[HOSTS], excess[HOSTS];
	bool seen[HOSTS] = { false };

	begin_look();
	for (uint32_t h = 0; h < HOSTS; h++) {
		first[h] = cpu_of(h, 1);
		excess[h] = host[h].nr_ranks ? excess_of(h) : 0;
	}
	for (int i = 0; i < HOSTS; i++) {
		int worst = -1;

		for (int h = 0; h < HOSTS; h++)
			if (!seen[h] && excess[h] > 1 &&
			    (worst < 0 || excess[h] > excess[worst]))
				worst = h;
		if (worst < 0)
			break;
		seen[worst] = true;
		if (!done[worst])
			relieve((uint32_t)worst, first, to);
	}
}

/* ---- both ---- */

static void pass_at(int second)
{
	view.now = second * SEC;
	plan_reset(&plan, &view);
	policy_decide(policy, &view, &plan);
}

/* Look at that second; how many moves there are, which are under way then. */
static unsigned look_at(int second)
{
	unsigned before = nr_way;
	char *wanted;
	size_t size;
	FILE *f = open_memstream(&wanted, &size);

	view.now = second * SEC;
	expect_look(f);
	fprintf(f, "wake %d;", second + 5);
	fclose(f);
	pass_at(second);
	pass_check_plan(wanted);
	free(wanted);
	for (size_t i = 0; i < plan.nr; i++) {
		const struct plan_entry *e = &plan.entry[i];

		if (e->type != PLAN_MIGRATE)
			continue;
		way[nr_way].job = (int)e->job->id - 1;
		way[nr_way].rank = e->ranks[0];
		way[nr_way].from = e->job->hosts[e->ranks[0]];
		way[nr_way++].to = e->hosts[0];
	}
	return nr_way - before;
}

static void looks_are_as_the_text_says(void **state)
{
	unsigned moves = 0, later = 0;
	struct random_stream r;

	random_init(&r, 9, "dynamite", 0);
	for (int i = 0; i < ROUNDS; i++) {
		pass_end(state);
		pass_begin(state);
		nr_way = 0;
		for (int h = 0; h < HOSTS; h++)
			draw_host(&r, &host[h]);
		draw_jobs(&r);
		assert_int_equal(
			policy_create("dynamite:every=5,cpu=0.9,memory=0.8,"
				      "network=0.5,gain=0.25",
				      1, &view, &policy, NULL),
			0);
		pass_at(50);
		moves += look_at(55);
		later += look_at(60);
		policy_destroy(policy);
	}
	/* Or nothing was tried. */
	if (moves < ROUNDS || later < ROUNDS / 10)
		fail_msg("only %u moves, and %u later", moves, later);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PASS_TEST(looks_are_as_the_text_says),
	};

	return cmocka_run_group_tests_name("dynamite", tests, NULL, NULL);
}
