/* placed.c - see placed.h */
#include "policy/kit/placed.h"

#include "model/place.h"

REASON(placed_there,
       "its {ranks} {ranks:rank goes|ranks go} where the delay (load and "
       "speed) is least",
       ranks);
REASON(no_room,
       "it needs room for {ranks} {ranks:rank|ranks}, and the usable hosts "
       "have {room}",
       ranks, room);
REASON(no_room_closing,
       "it needs room for {ranks} {ranks:rank|ranks}, and the usable hosts have "
       "{room}; {hosts} {hosts:more closes|more close} before it would end",
       ranks, room, hosts);
REASON(behind, "job {job} is before it in the queue and has to start first",
       job);

struct placed placed_of(const struct params *params)
{
	return (struct placed){
		.owners = params_bool(params, "owners"),
		.oversubscribe = params_bool(params, "oversubscribe"),
		.home = params_bool(params, "home"),
	};
}

/*
 * Free cores of the job's user's own hosts, which only their owner's jobs may use now.
 */
static int64_t free_at_home(const struct placed *p, const struct view *view,
			    const struct plan *plan, const struct job *job)
{
	const struct host *h;
	int64_t n = 0;

	for_each_host (h, view)
		if (p->home && !host_usable(h) && host_takes(h, job) &&
		    h->cores > plan_active(plan, h))
			n += h->cores - plan_active(plan, h);
	return n;
}

static bool find_hosts(const struct placed *p, const struct view *view,
		       const struct plan *plan, const struct job *job,
		       uint32_t *ret)
{
	int64_t n = job->size;

	if (!p->oversubscribe && n > plan_free(plan) &&
	    n > plan_free(plan) + free_at_home(p, view, plan, job))
		return false;
	return place_least_delay_of(view, plan, job, p->home, job->size,
				    p->owners, ret);
}

void placed_start(const struct placed *p, const struct view *view,
		  struct plan *plan)
{
	const struct job *j;

	for_each_waiting(j, view)
	{
		uint32_t *hosts = plan_hosts(plan, j->size);

		if (!find_hosts(p, view, plan, j, hosts))
			break;
		plan_start_on(plan, j, j->size, hosts,
			      BECAUSE(placed_there, .ranks = j->size));
	}
}

void placed_explain(const struct placed *p, const struct view *view,
		    const struct job *job, struct plan *plan)
{
	const struct job *head = TAILQ_FIRST(&view->waiting);
	const struct host *h;
	int64_t room = 0, closing = 0, free;

	for_each_host (h, view)
		if (!host_outlasts(h, job, view->now))
			closing += host_takes(h, job);
		else if (p->owners ||
			 !(p->home ? host_recalls(h, job) : h->owner_active))
			room += p->home ? plan_room_of(plan, h, job)
					: plan_room(plan, h);
	free = view->nr_free + free_at_home(p, view, plan, job);
	if (!p->oversubscribe && room > free)
		room = free;
	if (head == job && closing)
		plan_defer(plan, job,
			   BECAUSE(no_room_closing, .ranks = job->size,
				   .room = room, .hosts = closing));
	else if (head == job)
		plan_defer(plan, job,
			   BECAUSE(no_room, .ranks = job->size, .room = room));
	else
		plan_defer(plan, job, BECAUSE(behind, .job = head->id));
}

int64_t placed_most(const struct placed *p, const struct view *view)
{
	const struct host *h;
	int64_t slots = 0, cores = 0;

	for_each_host (h, view) {
		slots += h->slots;
		cores += h->cores;
	}
	return p->oversubscribe || slots < cores ? slots : cores;
}
