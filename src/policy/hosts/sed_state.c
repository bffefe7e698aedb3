/*
 * sed_state.c - availability, mapping, upgrading and migration of SED
 */
#include "policy/hosts/sed_state.h"

#include <assert.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/xalloc.h"

/*
 * A host's delay to a process if it is the n-th that is put there from now on (1 = the
 * next).
 */
static double delay_of(const struct sed_host *h, int n)
{
	return h->alpha * (n + h->load + h->external);
}

/* That of a host which takes nothing is beyond any number (external_load()). */
int sed_class(double delay)
{
	return (int)fmin(fmax(floor(delay + 0.5), 1), INT_MAX);
}

void sed_init(struct sed *sed, enum sed_kind kind, const double *alpha,
	      int nr_hosts)
{
	double max = 1;

	memset(sed, 0, sizeof(*sed));
	sed->kind = kind;
	sed->nr_hosts = nr_hosts;
	sed->hosts = xcalloc(nr_hosts, sizeof(*sed->hosts));
	for (int i = 0; i < nr_hosts; i++) {
		sed->hosts[i].alpha = alpha[i];
		max = fmax(max, alpha[i]);
	}
	sed->slowest = max;
	sed->nr_classes = sed_class(max);
	for (int i = 0; i < nr_hosts; i++)
		sed->hosts[i].threshold = max;
}

void sed_copy(struct sed *to, const struct sed *from)
{
	*to = *from;
	to->hosts = xcalloc(from->nr_hosts, sizeof(*to->hosts));
	memcpy(to->hosts, from->hosts, from->nr_hosts * sizeof(*to->hosts));
	to->cap_jobs = from->nr_jobs;
	to->jobs = xcalloc(from->nr_jobs, sizeof(*to->jobs));
	for (size_t i = 0; i < from->nr_jobs; i++) {
		to->jobs[i] = from->jobs[i];
		to->jobs[i].hosts = xcalloc(from->jobs[i].size, sizeof(int));
		memcpy(to->jobs[i].hosts, from->jobs[i].hosts,
		       from->jobs[i].size * sizeof(int));
	}
}

void sed_clear(struct sed *sed)
{
	for (size_t i = 0; i < sed->nr_jobs; i++)
		free(sed->jobs[i].hosts);
	free(sed->jobs);
	free(sed->hosts);
	memset(sed, 0, sizeof(*sed));
}

/*
 * A quotient that is a whole number may be computed as slightly less: 3.3 / 1.1 is
 * 2.9999999999999996.
 */
static const double rounding = 1e-9;

/* How many virtual nodes of class k is this host? */
static int nodes_of(const struct sed *sed, const struct sed_host *h, int k)
{
	double d = delay_of(h, 1), limit = fmin(k + 0.5, h->threshold);
	int class, n;

	if (sed->kind == SED1) {
		class = sed_class(d);
		return class <= k && fmin(d, class) <= h->threshold;
	}
	n = (int)floor(limit / h->alpha - h->load - h->external + rounding);
	return n < 0 ? 0 : n;
}

static bool alike(const struct sed_host *a, const struct sed_host *b)
{
	return a->alpha == b->alpha && a->load == b->load &&
	       a->external == b->external && a->threshold == b->threshold;
}

/* Hosts side by side are mostly alike: so many are counted by the first of them. */
void sed_availability(const struct sed *sed, int *avail)
{
	const struct sed_host *h = sed->hosts, *end = h + sed->nr_hosts, *next;

	memset(avail, 0, (size_t)(sed->nr_classes + 1) * sizeof(*avail));
	for (; h < end; h = next) {
		next = h + 1;
		while (next < end && alike(next, h))
			next++;
		for (int k = 1; k <= sed->nr_classes; k++)
			avail[k] += (int)(next - h) * nodes_of(sed, h, k);
	}
}

int sed_map(const struct sed *sed, int minsize, int maxsize, int *ret_size)
{
	int *avail = xcalloc(sed->nr_classes + 1, sizeof(int));
	int best = 0, best_size = 0;

	sed_availability(sed, avail);
	for (int k = 1; k <= sed->nr_classes; k++) {
		int size = avail[k] < maxsize ? avail[k] : maxsize;

		if (size < minsize || size < 1)
			continue;
		/* k / size < best / best_size, without rounding */
		if (!best || (int64_t)k * best_size < (int64_t)best * size) {
			best = k;
			best_size = size;
		}
	}
	free(avail);
	if (best)
		*ret_size = best_size;
	return best;
}

/* A host in a pass that hands processes out to hosts one by one. */
struct node {
	double delay; /* to the next process that goes there */
	int host;
	int stays; /* processes of the job that are there already */
};

static int by_delay(const void *a, const void *b)
{
	const struct node *x = a, *y = b;

	if (x->delay != y->delay)
		return x->delay < y->delay ? -1 : 1;
	if (x->stays != y->stays)
		return y->stays - x->stays;
	return x->host - y->host;
}

/*
 * The virtual nodes of class k are filled host by host, the fastest hosts
 * first and each to the full, as Schnor 1997 §4.2.2 describes it.
 */
static void fill_class(const struct sed *sed, int k, int size, const int *had,
		       int nr_had, int *ret)
{
	struct node *nodes = xcalloc(sed->nr_hosts, sizeof(*nodes));
	int n = 0;

	for (int i = 0; i < sed->nr_hosts; i++)
		nodes[i] = (struct node){ delay_of(&sed->hosts[i], 1), i, 0 };
	for (int i = 0; i < nr_had; i++)
		nodes[had[i]].stays = 1;
	qsort(nodes, sed->nr_hosts, sizeof(*nodes), by_delay);
	for (int i = 0; i < sed->nr_hosts && n < size; i++) {
		int m = nodes_of(sed, &sed->hosts[nodes[i].host], k);

		while (m-- > 0 && n < size)
			ret[n++] = nodes[i].host;
	}
	assert(n == size);
	free(nodes);
}

/*
 * Compute thresholds, without regard to the job of that index (SIZE_MAX: with regard to
 * all).
 */
static void update_thresholds(struct sed *sed, size_t without)
{
	for (int i = 0; i < sed->nr_hosts; i++)
		sed->hosts[i].threshold = sed->slowest;
	for (size_t j = 0; j < sed->nr_jobs; j++) {
		const struct sed_job *job = &sed->jobs[j];

		for (int p = 0; j != without && p < job->size; p++) {
			struct sed_host *h = &sed->hosts[job->hosts[p]];

			if (job->class < h->threshold)
				h->threshold = job->class;
		}
	}
}

static void count_job(struct sed *sed, const struct sed_job *job, int by)
{
	for (int p = 0; p < job->size; p++)
		sed->hosts[job->hosts[p]].load += by;
}

const struct sed_job *sed_start(struct sed *sed, uint64_t id, int class,
				int size)
{
	struct sed_job *job;

	array_room(sed->jobs, sed->nr_jobs, &sed->cap_jobs);
	job = &sed->jobs[sed->nr_jobs];
	*job = (struct sed_job){ .id = id, .class = class, .size = size };
	job->hosts = xcalloc(size, sizeof(int));
	fill_class(sed, class, size, NULL, 0, job->hosts);
	sed->nr_jobs++;
	count_job(sed, job, 1);
	update_thresholds(sed, SIZE_MAX);
	return job;
}

void sed_adopt(struct sed *sed, uint64_t id, const int *hosts, int size)
{
	struct sed_job *job;

	array_room(sed->jobs, sed->nr_jobs, &sed->cap_jobs);
	job = &sed->jobs[sed->nr_jobs];
	*job = (struct sed_job){ .id = id,
				 .class = sed->nr_classes,
				 .size = size };
	job->hosts = xcalloc(size, sizeof(int));
	memcpy(job->hosts, hosts, size * sizeof(int));
	sed->nr_jobs++;
	count_job(sed, job, 1);
	update_thresholds(sed, SIZE_MAX);
}

void sed_promise(struct sed *sed, uint64_t id, int class)
{
	struct sed_job job;
	size_t i = 0;

	while (i < sed->nr_jobs && sed->jobs[i].id != id)
		i++;
	if (i == sed->nr_jobs)
		return;
	job = sed->jobs[i];
	if (class >= 1 && class <= sed->nr_classes)
		job.class = class;
	memmove(&sed->jobs[i], &sed->jobs[i + 1],
		(sed->nr_jobs - 1 - i) * sizeof(*sed->jobs));
	sed->jobs[sed->nr_jobs - 1] = job;
	update_thresholds(sed, SIZE_MAX);
}

void sed_end(struct sed *sed, uint64_t id)
{
	size_t i = 0;

	while (i < sed->nr_jobs && sed->jobs[i].id != id)
		i++;
	if (i == sed->nr_jobs)
		return;
	count_job(sed, &sed->jobs[i], -1);
	free(sed->jobs[i].hosts);
	sed->nr_jobs--;
	memmove(&sed->jobs[i], &sed->jobs[i + 1],
		(sed->nr_jobs - i) * sizeof(*sed->jobs));
	update_thresholds(sed, SIZE_MAX);
}

int sed_upgrade_class(const struct sed *sed, size_t job)
{
	const struct sed_job *j = &sed->jobs[job];
	double worst = 0;
	int k;

	/* The job's own processes are in load, so the next one is number 0. */
	for (int p = 0; p < j->size; p++)
		worst = fmax(worst, delay_of(&sed->hosts[j->hosts[p]], 0));
	k = sed_class(worst);
	return k < j->class ? k : 0;
}

void sed_upgrade(struct sed *sed, size_t job, int class)
{
	sed->jobs[job].class = class;
	update_thresholds(sed, SIZE_MAX);
}

/* Take the job out of loads and thresholds; put_back() undoes that. */
static void set_aside(struct sed *sed, size_t job)
{
	count_job(sed, &sed->jobs[job], -1);
	update_thresholds(sed, job);
}

static void put_back(struct sed *sed, size_t job)
{
	count_job(sed, &sed->jobs[job], 1);
	update_thresholds(sed, SIZE_MAX);
}

int sed_better_class(struct sed *sed, size_t job)
{
	int *avail = xcalloc(sed->nr_classes + 1, sizeof(int));
	int found = 0;

	set_aside(sed, job);
	sed_availability(sed, avail);
	put_back(sed, job);
	for (int k = 1; k < sed->jobs[job].class && !found; k++)
		if (avail[k] >= sed->jobs[job].size)
			found = k;
	free(avail);
	return found;
}

/*
 * Put the chosen hosts into the order of the ranks, so that a rank whose host is among
 * them stays there.  Returns how many ranks do not stay.  A host may occur several
 * times in both lists.
 */
static int align(const int *had, const int *chosen, int n, int *ret)
{
	bool *used = xcalloc(n, sizeof(bool));
	int moved = 0, next = 0;

	for (int r = 0; r < n; r++) {
		ret[r] = -1;
		for (int c = 0; c < n && ret[r] < 0; c++)
			if (!used[c] && chosen[c] == had[r]) {
				used[c] = true;
				ret[r] = had[r];
			}
	}
	for (int r = 0; r < n; r++) {
		if (ret[r] >= 0)
			continue;
		while (used[next])
			next++;
		ret[r] = chosen[next++];
		moved++;
	}
	free(used);
	return moved;
}

int sed_migrate(struct sed *sed, size_t job, int class)
{
	struct sed_job *j = &sed->jobs[job];
	int *chosen = xcalloc(j->size, sizeof(int));
	int *to = xcalloc(j->size, sizeof(int));
	int moved;

	set_aside(sed, job);
	fill_class(sed, class, j->size, j->hosts, j->size, chosen);
	moved = align(j->hosts, chosen, j->size, to);
	free(chosen);
	if (moved) {
		free(j->hosts);
		j->hosts = to;
		j->class = class;
	} else {
		free(to);
	}
	put_back(sed, job);
	return moved;
}

static unsigned upgrade_all(struct sed *sed)
{
	unsigned done = 0;
	int class;

	for (size_t i = 0; i < sed->nr_jobs; i++)
		if ((class = sed_upgrade_class(sed, i))) {
			sed_upgrade(sed, i, class);
			done = SED_UPGRADED;
		}
	return done;
}

unsigned sed_pass(struct sed *sed, const struct sed_rules *rules, bool ended,
		  bool (*start)(void *arg),
		  void (*migrated)(void *arg, size_t job, int from), void *arg)
{
	unsigned done = 0;
	int class, from;

	if (ended && rules->upgrade && rules->eager)
		done |= upgrade_all(sed);
	if (!start(arg) || !ended)
		return done;
	if (rules->upgrade)
		done |= upgrade_all(sed);
	for (size_t i = 0; rules->migrate && i < sed->nr_jobs; i++) {
		from = sed->jobs[i].class;
		class = sed_better_class(sed, i);
		if (!class || !sed_migrate(sed, i, class))
			continue;
		done |= SED_MIGRATED;
		if (migrated)
			migrated(arg, i, from);
	}
	return done;
}

double sed_rate(const struct sed *sed, size_t job)
{
	const struct sed_job *j = &sed->jobs[job];
	double worst = 0;

	for (int p = 0; p < j->size; p++)
		worst = fmax(worst, delay_of(&sed->hosts[j->hosts[p]], 0));
	return 1 / worst;
}
