/*
 * memshare_move.c - processes leave hosts with too many page faults, and hosts are held
 * back for them; see memshare.c
 */
#include "policy/hosts/memshare.h"

#include "core/xalloc.h"

REASON(relieve,
       "{faults} page faults a second on host {from:host}, and the {bytes} "
       "bytes that the process needs are idle on the new host",
       faults, from, bytes);
REASON(hold_back,
       "{faults} page faults a second on host {from:host}, whose processes "
       "fit on no other host, though all idle memory together is {idle} bytes",
       faults, from, idle);
REASON(reserved_for,
       "{faults} page faults a second on host {from:host}; the new host was "
       "held back for the largest process there, of {bytes} bytes",
       faults, from, bytes);
REASON(done, "the processes for which it was held back have ended");
REASON(resolved, "no process needs it any more");
REASON(impatient, "it was not ready {waited:time} after it was held back",
       waited);

/* ---- what hosts have ---- */

bool memshare_overloaded(const struct memshare *s, const struct host *h)
{
	return h->faults > s->faults;
}

int64_t memshare_slots(const struct memshare *s, const struct host *h)
{
	int64_t most = s->slots * host_cores(h);

	return (most < h->slots ? most : h->slots) - h->nr_ranks;
}

/* Can the host take a process of so many bytes? */
bool memshare_takes(const struct memshare *s, const struct host *h,
		    uint64_t bytes)
{
	const struct spare *spare = &s->spare[h->ix];

	return !h->reserved && spare->slots > 0 && spare->memory &&
	       spare->memory >= bytes && !memshare_overloaded(s, h);
}

/* Note that a process of so many bytes goes there. */
void memshare_give(struct memshare *s, uint32_t host, uint64_t bytes)
{
	struct spare *spare = &s->spare[host];

	spare->slots--;
	if (spare->memory != UINT64_MAX)
		spare->memory -= bytes < spare->memory ? bytes : spare->memory;
}

/* Is a a better place than b: more slots left, then more memory? */
static bool is_better(const struct memshare *s, const struct host *a,
		      const struct host *b)
{
	const struct spare *x = &s->spare[a->ix], *y = &s->spare[b->ix];

	return x->slots != y->slots ? x->slots > y->slots
				    : x->memory > y->memory;
}

const struct host *memshare_place(const struct memshare *s,
				  const struct view *view, uint64_t bytes)
{
	const struct host *h, *best = NULL;

	for_each_host (h, view)
		if (memshare_takes(s, h, bytes) &&
		    (!best || is_better(s, h, best)))
			best = h;
	return best;
}

/* ---- processes that move ---- */

static void add_process(struct processes *on, const struct job *job,
			uint32_t rank)
{
	uint32_t host = job->hosts[rank], n = (uint32_t)on->nr;

	array_room(on->all, on->nr, &on->cap);
	on->all[on->nr++] = (struct process){ job, rank, UINT32_MAX };
	if (on->first[host] == UINT32_MAX)
		on->first[host] = n;
	else
		on->all[on->last[host]].next = n;
	on->last[host] = n;
}

static void list_processes(struct memshare *s, const struct view *view)
{
	const struct job *j;

	s->on.nr = 0;
	for (uint32_t i = 0; i < s->nr_hosts; i++)
		s->on.first[i] = UINT32_MAX;
	for_each_running(j, view) for (uint32_t i = 0; i < j->n && j->demand;
				       i++) if (j->state == JOB_RUNNING)
		add_process(&s->on, j, i);
}

/*
 * The process on h that needs the most memory of those with less than `below` bytes
 * that may move now; NULL: none.  *wake: made earlier if one that may not move yet may
 * by then.
 */
static const struct process *largest(const struct memshare *s,
				     const struct view *view,
				     const struct host *h, uint64_t below,
				     usec_t *wake)
{
	const struct process *v = NULL;

	for (uint32_t i = s->on.first[h->ix]; i != UINT32_MAX;
	     i = s->on.all[i].next) {
		const struct process *p = &s->on.all[i];
		usec_t settled = p->job->since + s->settle;

		if (p->job->demand >= below)
			continue;
		if (settled > view->now)
			*wake = settled < *wake ? settled : *wake;
		else if (!v || p->job->demand > v->job->demand)
			v = p;
	}
	return v;
}

static void move(struct memshare *s, struct plan *plan, const struct process *p,
		 const struct host *to, struct because why)
{
	plan_migrate(plan, p->job, p->rank, to->ix, why);
	memshare_give(s, to->ix, p->job->demand);
}

/* The most bytes that a process may need to find a place. */
static uint64_t most_idle(const struct memshare *s, const struct view *view)
{
	const struct host *h;
	uint64_t most = 0;

	for_each_host (h, view)
		if (s->spare[h->ix].memory > most && memshare_takes(s, h, 0))
			most = s->spare[h->ix].memory;
	return most;
}

/* Move the largest process of h that finds idle memory elsewhere; false if none does. */
static bool leave(struct memshare *s, const struct view *view,
		  const struct host *h, usec_t *wake, struct plan *plan)
{
	const struct process *p = largest(s, view, h, UINT64_MAX, wake);
	uint64_t most = most_idle(s, view);

	if (p && p->job->demand > most)
		p = largest(s, view, h, most + 1, wake);
	if (!p)
		return false;
	move(s, plan, p, memshare_place(s, view, p->job->demand),
	     BECAUSE(relieve, .faults = (int64_t)h->faults, .from = h->ix,
		     .bytes = (int64_t)p->job->demand));
	return true;
}

/* ---- hosts that are held back ---- */

static void let_go(struct memshare *s, struct plan *plan, uint32_t host,
		   struct because why)
{
	s->held[host] = (struct held){ 0 };
	plan_release(plan, host, why);
}

/* Is no process there or on its way to it? */
static bool is_empty(const struct memshare *s, const struct host *h)
{
	return !h->nr_ranks && s->spare[h->ix].slots == memshare_slots(s, h);
}

/* A host is not held back any more if its work is done, or if it is not needed. */
void memshare_let_go(struct memshare *s, const struct view *view, bool blocked,
		     usec_t *wake, struct plan *plan)
{
	const struct host *h;

	for_each_host (h, view) {
		const struct held *held = &s->held[h->ix];
		usec_t waited = view->now - held->since;

		if (!held->since)
			continue;
		if (held->used && is_empty(s, h))
			let_go(s, plan, h->ix, BECAUSE(done));
		else if (!held->used && (!blocked || !host_usable(h)))
			let_go(s, plan, h->ix, BECAUSE(resolved));
		else if (!held->used && waited >= s->patience && h->nr_ranks)
			let_go(s, plan, h->ix,
			       BECAUSE(impatient, .waited = waited));
		else if (!held->used && held->since + s->patience < *wake &&
			 h->nr_ranks)
			*wake = held->since + s->patience;
	}
}

/* Is a host that is held back ready for a process of so many bytes? */
static bool is_ready(const struct memshare *s, const struct host *h,
		     uint64_t bytes)
{
	const struct spare *spare = &s->spare[h->ix];
	const struct held *held = &s->held[h->ix];

	if (!held->since || spare->slots <= 0) /* unusable ones have none */
		return false;
	/*
	 * An empty host gives the process all of its memory: no place is
	 * better, even if that is too little.
	 */
	if (is_empty(s, h))
		return true;
	return spare->memory >= bytes && (held->used || s->until == UNTIL_FITS);
}

static uint64_t idle_memory(const struct memshare *s, const struct view *view,
			    double *ret_mean)
{
	const struct host *h;
	uint64_t idle = 0;
	double all = 0, n = 0;

	for_each_host (h, view)
		if (host_usable(h)) {
			all += (double)h->memory;
			idle += h->memory ? s->spare[h->ix].memory : 0;
			n++;
		}
	*ret_mean = n > 0 ? all / n : 0;
	return idle;
}

/* Is a host held back that is not in use yet? */
static bool is_reserving(const struct memshare *s)
{
	for (uint32_t i = 0; i < s->nr_hosts; i++)
		if (s->held[i].since && !s->held[i].used)
			return true;
	return false;
}

static void hold_a_host(struct memshare *s, const struct view *view,
			const struct host *from, struct plan *plan)
{
	const struct host *h, *best = NULL;
	double mean;
	uint64_t idle = idle_memory(s, view, &mean);

	if ((double)idle <= mean || is_reserving(s))
		return;
	for_each_host (h, view)
		if (host_usable(h) && !h->reserved &&
		    !memshare_overloaded(s, h) &&
		    (!best || is_better(s, h, best)))
			best = h;
	if (!best)
		return;
	/* Time 0 means that it is not held back. */
	s->held[best->ix] = (struct held){ view->now ? view->now : 1, false };
	s->spare[best->ix].slots = 0;
	plan_reserve(plan, best->ix,
		     BECAUSE(hold_back, .faults = (int64_t)from->faults,
			     .from = from->ix, .idle = (int64_t)idle));
}

/* Move the largest process of a blocked host to a host that is held back for it. */
static void reconfigure(struct memshare *s, const struct view *view,
			const struct host *from, usec_t *wake,
			struct plan *plan)
{
	const struct process *p = largest(s, view, from, UINT64_MAX, wake);
	const struct host *h;

	if (!p)
		return;
	for_each_host (h, view)
		if (is_ready(s, h, p->job->demand)) {
			move(s, plan, p, h,
			     BECAUSE(reserved_for,
				     .faults = (int64_t)from->faults,
				     .from = from->ix,
				     .bytes = (int64_t)p->job->demand));
			s->held[h->ix].used = true;
			return;
		}
	hold_a_host(s, view, from, plan);
}

/*
 * All hosts with too many page faults; true if one of them has no process that could
 * move.
 */
bool memshare_relieve(struct memshare *s, const struct view *view, usec_t *wake,
		      struct plan *plan)
{
	const struct host *h;
	bool blocked = false;

	list_processes(s, view);
	for_each_host (h, view) {
		if (!memshare_overloaded(s, h) || s->held[h->ix].since ||
		    leave(s, view, h, wake, plan))
			continue;
		blocked = true;
		if (s->reconfigures)
			reconfigure(s, view, h, wake, plan);
	}
	return blocked;
}
