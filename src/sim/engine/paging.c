/* paging.c - shares of processors and disk, see paging.h */
#include "sim/engine/paging.h"

#include <math.h>

#include "core/xalloc.h"

const struct param paging_params[] = {
	{ "fault", PARAM_TIME, 0.01, 0, 10, NULL,
	  "disk time of a page fault (Chen 2002 section 3.3)" },
	{ "sweep", PARAM_TIME, 50, 1e-3, 1e6, NULL,
	  "processor time in which a process touches all its pages once" },
	{ "quantum", PARAM_TIME, 0.01, 1e-6, 1e3, NULL, "of round robin" },
	{ "switch", PARAM_TIME, 0.0001, 0, 1, NULL, "a context switch" },
	{ "page", PARAM_INT, 4096, 1, 1e9, NULL, "bytes" },
	{ "system", PARAM_INT, 16, 0, 1e6, NULL,
	  "MiB of a host that no process can have" },
	{ "overlap", PARAM_BOOL, 1, 0, 1, NULL,
	  "others compute while one waits for the disk" },
	{ "link", PARAM_REAL, 10, 0, 1e6, NULL,
	  "Mbit/s of a migration; 0: no time" },
	{ "remote", PARAM_TIME, 0.1, 0, 1e6, NULL,
	  "what a start away from home takes, and each migration" },
	{ .name = NULL }
};

int paging_parse(const char *text, struct paging *ret, struct error *err)
{
	struct params v;
	int r = params_parse(paging_params, text, "paging", &v, err);

	if (r < 0)
		return r;
	*ret = (struct paging){
		.fault = params_real(&v, "fault"),
		.sweep = params_real(&v, "sweep"),
		.quantum = params_real(&v, "quantum"),
		.swap = params_real(&v, "switch"),
		.page = (uint64_t)params_int(&v, "page"),
		.system = (uint64_t)params_int(&v, "system") << 20,
		.overlap = params_bool(&v, "overlap"),
		.link = params_real(&v, "link") * 1e6,
		.remote = params_usec(&v, "remote"),
	};
	params_clear(&v);
	return 0;
}

uint64_t paging_room(const struct paging *p, const struct host *h)
{
	return h->memory > p->system ? h->memory - p->system : 0;
}

usec_t paging_transfer(const struct paging *p, uint64_t bytes)
{
	double seconds = p->link > 0 ? (double)bytes * 8 / p->link : 0;

	return p->remote + llround(seconds * (double)USEC_PER_SEC);
}

/* The share of what is needed that is not there. */
static double missing(const struct paging *p, const struct host *h,
		      const struct paging_share *share, uint32_t n)
{
	double room = (double)paging_room(p, h), demand = 0;

	for (uint32_t i = 0; i < n; i++)
		demand += (double)share[i].demand;
	return demand > room ? (demand - room) / demand : 0;
}

/* Processors for everybody, less what switching takes. */
static double processors(const struct paging *p, const struct host *h,
			 double runnable)
{
	double useful = p->quantum / (p->quantum + p->swap);

	return h->cores * (runnable > h->cores ? useful : 1);
}

/* What is being shared out. */
struct pot {
	double cpu, disk;   /* left of them */
	double level;	    /* what each that still grows has */
	double users, rate; /* of those: how many, and disk they use per cpu */
};

/* The most that a process can compute if all its time is its own. */
static double cap_of(double p)
{
	return 1 / (1 + p);
}

/* Disk seconds per processor second, kept in share->page until the end. */
static void set_costs(const struct paging *p, double missing,
		      struct paging_share *share, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		share[i].cpu = -1;
		share[i].page = missing * (double)share[i].demand /
				(double)p->page / p->sweep * p->fault;
		if (share[i].still)
			share[i].cpu = share[i].page = 0;
	}
}

/* How much further can all grow before the first thing is used up? */
static double room_to_grow(const struct pot *pot,
			   const struct paging_share *share, uint32_t n)
{
	double step = pot->cpu / pot->users;

	if (pot->rate > 0)
		step = fmin(step, pot->disk / pot->rate);
	for (uint32_t i = 0; i < n; i++)
		if (share[i].cpu < 0)
			step = fmin(step, cap_of(share[i].page) - pot->level);
	return step > 0 ? step : 0;
}

/* Who cannot grow any further has what the level is. */
static bool settle(struct pot *pot, struct paging_share *share, uint32_t n)
{
	const double hair = 1e-12;
	bool any = false;

	for (uint32_t i = 0; i < n; i++) {
		if (share[i].cpu >= 0)
			continue;
		if (pot->cpu > hair &&
		    !(share[i].page > 0 && pot->disk <= hair) &&
		    cap_of(share[i].page) > pot->level + hair) {
			any = true;
			continue;
		}
		share[i].cpu = pot->level;
		pot->users--;
		pot->rate -= share[i].page;
	}
	return any;
}

/* One after the other, faults and all: nobody computes while one pages. */
static void share_in_turn(double turns, struct paging_share *share, uint32_t n)
{
	double round = turns;

	for (uint32_t i = 0; i < n; i++)
		if (share[i].cpu < 0)
			round += share[i].page;
	for (uint32_t i = 0; i < n; i++)
		if (share[i].cpu < 0)
			share[i].cpu = fmin(1 / round, cap_of(share[i].page));
}

void paging_shares(const struct paging *p, const struct host *h,
		   struct paging_share *share, uint32_t n)
{
	struct pot pot = { .disk = 1, .users = h->load };

	set_costs(p, missing(p, h, share, n), share, n);
	for (uint32_t i = 0; i < n; i++)
		if (share[i].cpu < 0) {
			pot.users++;
			pot.rate += share[i].page;
		}
	pot.cpu = processors(p, h, pot.users);
	if (!p->overlap && pot.users > 0)
		share_in_turn(pot.users / pot.cpu, share, n);
	for (uint32_t i = 0; i <= n && settle(&pot, share, n); i++) {
		double step = room_to_grow(&pot, share, n);

		pot.level += step;
		pot.cpu -= step * pot.users;
		pot.disk -= step * pot.rate;
	}
	for (uint32_t i = 0; i < n; i++) {
		if (share[i].cpu < 0) /* a hair was too thin */
			share[i].cpu = pot.level;
		share[i].page *= share[i].cpu;
	}
}
