/*
 * lst.c - largest size first with time slices (Schnor 1997 §2.1.4)
 *
 * A gang policy: in a slice a host runs one process.  At a slice's start all jobs
 * compete again, in the order of priority (size + age); of equal ones the job goes
 * first that has waited longest for a slice.  A job goes back to the hosts it had; its
 * processes whose hosts another job got first migrate.  Jobs placed for the first time
 * take hosts after all others ("delayed mapping"). Within a slice, hosts that fall idle
 * go to the next job that fits without moving ("alternate selection"); that does not
 * change priorities.
 *
 * Hosts that take no guests are first for jobs of their own users, as nobody else may
 * have them.
 *
 * A pass at a slice's start costs O(n log n + processes) for n jobs in the
 * system; one within a slice O(n log n).  While such hosts take no guests, all hosts are
 * looked at for each job.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/xalloc.h"
#include "policy/hosts/claims.h"
#include "policy/hosts/slices.h"

struct entry {
	struct job *job;
	int64_t prio;
	int64_t served;	 /* number of its last slice; -1: none yet */
	uint32_t *hosts; /* those of this slice, in the plan's memory;
			    NULL: it has none */
	uint32_t moved;	 /* processes that lost their hosts */
};

/* Of job i in a pass (claims.h). */
#define NUMBER(i) ((uint32_t)(i) + 1)

struct policy_lst {
	struct policy base;
	struct slices slices;
	int64_t nr_slices; /* slices begun so far */
	int64_t maxprio;
	bool migrate;
	struct entry *entry;
	size_t nr, cap;
	struct claims claims; /* of a pass */
};

REASON(why_slice, "priority {priority} gives it a place in this slice",
       priority);
REASON(why_move,
       "priority {priority} gives it a place in this slice; jobs before it "
       "got {moved} of its hosts",
       priority, moved);
REASON(why_alternate,
       "alternate selection: its {hosts} {hosts:host is|hosts are} idle "
       "until the slice ends",
       hosts);
REASON(why_out, "the slice is over and jobs of higher priority fill the hosts");
REASON(why_wait, "priority {priority} was too low for this slice", priority);

static const struct param params[] = {
	SLICES_PARAMS,
	{ .name = "maxprio",
	  .type = PARAM_INT,
	  .def = 0,
	  .min = 0,
	  .max = 1e9,
	  .summary =
		  "priority at which aging stops; 0: twice the number of hosts" },
	{ .name = "migrate",
	  .type = PARAM_BOOL,
	  .def = 1,
	  .summary = "migrate on conflicts (no: variant LST_NM)" },
	{ .name = NULL }
};

static int lst_create(const struct policy_setup *setup, struct policy **ret,
		      struct error *err)
{
	const struct view *view = setup->view;
	struct policy_lst *p = xcalloc(1, sizeof(*p));

	(void)err;
	slices_init(&p->slices, setup->params);
	p->maxprio = params_int(setup->params, "maxprio");
	if (!p->maxprio)
		p->maxprio = 2 * (int64_t)view->nr_hosts;
	p->migrate = params_bool(setup->params, "migrate");
	claims_init(&p->claims, view);
	*ret = &p->base;
	return 0;
}

static struct entry *find_entry(struct policy_lst *p, const struct job *job)
{
	for (size_t i = 0; i < p->nr; i++)
		if (p->entry[i].job == job)
			return &p->entry[i];
	return NULL;
}

static void lst_event(struct policy *policy, const struct view *view,
		      const struct event *event)
{
	struct policy_lst *p = (struct policy_lst *)policy;
	struct entry *e;

	(void)view;
	switch (event->type) {
	case EVENT_ARRIVE:
		array_room(p->entry, p->nr, &p->cap);
		p->entry[p->nr++] = (struct entry){
			.job = event->job,
			.prio = event->job->size < p->maxprio ? event->job->size
							      : p->maxprio,
			.served = -1,
		};
		break;
	case EVENT_END:
		e = find_entry(p, event->job);
		p->nr--;
		memmove(e, e + 1, (p->entry + p->nr - e) * sizeof(*e));
		break;
	default:
		break;
	}
}

static int by_priority(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->prio != y->prio)
		return x->prio > y->prio ? -1 : 1;
	if (x->served != y->served)
		return x->served < y->served ? -1 : 1;
	return job_before(x->job, y->job) ? -1 : 1;
}

/*
 * Choose as many jobs as fit, by priority; the priority of those left out grows by 1.
 */
static void select_jobs(struct policy_lst *p, const struct view *view,
			struct plan *plan)
{
	uint32_t room = claims_begin(&p->claims, view);

	qsort(p->entry, p->nr, sizeof(*p->entry), by_priority);
	for (size_t i = 0; i < p->nr; i++) {
		struct entry *e = &p->entry[i];
		bool fixed = !p->migrate && e->job->hosts;
		uint32_t n = e->job->size -
			     claims_make(&p->claims, view, e->job, NUMBER(i));

		e->hosts = NULL;
		e->moved = 0;
		if (n <= room &&
		    (!fixed ||
		     claims_all_free(&p->claims, view, e->job, NUMBER(i)))) {
			room -= n;
			e->hosts = plan_hosts(plan, e->job->size);
			if (fixed)
				claims_take(&p->claims, view, e->job);
			continue;
		}
		claims_drop(&p->claims, view, NUMBER(i));
		e->prio += e->prio < p->maxprio;
	}
	claims_nobody(&p->claims, view);
}

/* Give jobs the hosts they had, those of higher priority first. */
static void keep_places(struct policy_lst *p, const struct view *view)
{
	for (size_t i = 0; i < p->nr; i++) {
		struct entry *e = &p->entry[i];

		if (e->hosts)
			e->moved = claims_keep(&p->claims, view, e->job,
					       NUMBER(i), e->hosts);
	}
}

/* Place the processes that lost their hosts, or (fresh) those of new jobs. */
static void give_places(struct policy_lst *p, const struct view *view,
			bool fresh)
{
	uint32_t next = 0;

	for (size_t i = 0; i < p->nr; i++) {
		struct entry *e = &p->entry[i];

		if (e->hosts && !e->job->hosts == fresh)
			claims_place(&p->claims, view, e->job, NUMBER(i), &next,
				     e->hosts);
	}
}

static void plan_slice(struct policy_lst *p, struct plan *plan)
{
	for (size_t i = 0; i < p->nr; i++) {
		const struct entry *e = &p->entry[i];

		if (e->job->state == JOB_RUNNING && (!e->hosts || e->moved))
			plan_suspend(plan, e->job, BECAUSE(why_out));
	}
	for (size_t i = 0; i < p->nr; i++) {
		struct entry *e = &p->entry[i];

		if (!e->hosts)
			continue;
		e->served = p->nr_slices;
		if (e->job->state == JOB_WAITING)
			plan_start_on(plan, e->job, e->job->size, e->hosts,
				      BECAUSE(why_slice, .priority = e->prio));
		else if (e->job->state == JOB_SUSPENDED || e->moved)
			plan_resume(plan, e->job, e->hosts,
				    e->moved ? BECAUSE(why_move,
						       .priority = e->prio,
						       .moved = e->moved)
					     : BECAUSE(why_slice,
						       .priority = e->prio));
	}
}

static void new_slice(struct policy_lst *p, const struct view *view,
		      struct plan *plan)
{
	select_jobs(p, view, plan);
	keep_places(p, view);
	give_places(p, view, false);
	give_places(p, view, true);
	plan_slice(p, plan);
	p->nr_slices++;
	slices_next(&p->slices, view, plan);
}

/* Idle hosts for job i, which never ran; false if too few. */
static bool place_fresh(struct policy_lst *p, const struct view *view, size_t i,
			uint32_t *room, struct plan *plan)
{
	struct entry *e = &p->entry[i];
	uint32_t n =
		e->job->size - claims_make(&p->claims, view, e->job, NUMBER(i));
	uint32_t next = 0;

	if (n > *room)
		return false;
	*room -= n;
	e->hosts = plan_hosts(plan, e->job->size);
	claims_keep(&p->claims, view, e->job, NUMBER(i), e->hosts);
	claims_place(&p->claims, view, e->job, NUMBER(i), &next, e->hosts);
	return true;
}

/* Are the hosts free that job i has had? */
static bool place_again(struct policy_lst *p, const struct view *view, size_t i,
			uint32_t *room)
{
	const struct job *job = p->entry[i].job;

	claims_make(&p->claims, view, job, NUMBER(i));
	if (!claims_all_free(&p->claims, view, job, NUMBER(i)))
		return false;
	*room -= claims_take(&p->claims, view, job);
	return true;
}

static void fill_gaps(struct policy_lst *p, const struct view *view,
		      struct plan *plan)
{
	uint32_t room = claims_begin(&p->claims, view);

	for (size_t i = 0; i < p->nr; i++)
		if (slices_keeps(view, p->entry[i].job))
			room -= claims_take(&p->claims, view, p->entry[i].job);
	qsort(p->entry, p->nr, sizeof(*p->entry), by_priority);
	for (size_t i = 0; i < p->nr && (room || p->claims.nr_own); i++) {
		const struct entry *e = &p->entry[i];
		struct because why =
			BECAUSE(why_alternate, .hosts = e->job->size);

		if (e->job->state == JOB_SUSPENDED &&
		    place_again(p, view, i, &room))
			plan_resume(plan, e->job, NULL, why);
		else if (e->job->state == JOB_WAITING &&
			 place_fresh(p, view, i, &room, plan))
			plan_start_on(plan, e->job, e->job->size, e->hosts,
				      why);
		else
			claims_drop(&p->claims, view, NUMBER(i));
	}
}

static void lst_decide(struct policy *policy, const struct view *view,
		       struct plan *plan)
{
	struct policy_lst *p = (struct policy_lst *)policy;

	if (!p->nr) {
		slices_stop(&p->slices, view);
		return;
	}
	slices_cut(&p->slices, view, plan);
	if (slices_over(&p->slices, view)) {
		new_slice(p, view, plan);
		return;
	}
	slices_give_way(view, plan);
	if (slices_lend(&p->slices, view))
		fill_gaps(p, view, plan);
}

static void lst_explain(const struct policy *policy, const struct view *view,
			const struct job *job, struct plan *plan)
{
	const struct policy_lst *p = (const struct policy_lst *)policy;

	(void)view;
	for (size_t i = 0; i < p->nr; i++)
		if (p->entry[i].job == job)
			plan_defer(plan, job,
				   BECAUSE(why_wait,
					   .priority = p->entry[i].prio));
}

/* Saved: the slices, then one line per job: id, priority, last slice. */
static void lst_save(const struct policy *policy, const struct view *view,
		     FILE *to)
{
	const struct policy_lst *p = (const struct policy_lst *)policy;

	(void)view;
	fprintf(to, "%" PRId64 " %" PRId64 "\n", p->slices.end, p->nr_slices);
	for (size_t i = 0; i < p->nr; i++)
		fprintf(to, "%" PRId64 " %" PRId64 " %" PRId64 "\n",
			p->entry[i].job->id, p->entry[i].prio,
			p->entry[i].served);
}

static int lst_load(struct policy *policy, const struct view *view,
		    const char *text, struct error *err)
{
	struct policy_lst *p = (struct policy_lst *)policy;
	int64_t id, prio, served, end, nr;
	int n;

	if (sscanf(text, "%" SCNd64 " %" SCNd64 "\n%n", &end, &nr, &n) != 2)
		return policy_damaged(policy, text, err);
	for (const char *c = text + n; *c; c += n) {
		struct job *job;
		struct entry *e;

		if (sscanf(c, "%" SCNd64 " %" SCNd64 " %" SCNd64 "\n%n", &id,
			   &prio, &served, &n) != 3)
			return policy_damaged(policy, c, err);
		job = view_find_job(view, id);
		e = job ? find_entry(p, job) : NULL;
		if (e) {
			e->prio = prio;
			e->served = served;
		}
	}
	slices_resume(&p->slices, end);
	p->nr_slices = nr;
	return 0;
}

static void lst_destroy(struct policy *policy)
{
	struct policy_lst *p = (struct policy_lst *)policy;

	free(p->entry);
	claims_clear(&p->claims);
	free(p);
}

const struct policy_ops policy_lst = {
	.name = "lst",
	.summary = "largest size first with time slices and migration",
	.source = "Schnor 1997 section 2.1.4",
	.details =
		"At a slice's start jobs are placed by priority (size + age), "
		"equal ones round-robin, as many as fit; those left out gain 1 "
		"up to maxprio. A job keeps its hosts where it can, else the "
		"processes in conflict migrate, and its slice is shorter by "
		"what that costs. New jobs take hosts after all others. Choices "
		"where the text is silent: conflicting processes take the "
		"lowest idle hosts; an alternate selection (also of a job that "
		"arrives within a slice) never migrates; a job with a process "
		"on a host that its owner wants back stands still at once; on "
		"hosts of its own user it is no guest: it stays there, and has them "
		"first while nobody else may; a slice starts at once "
		"when a job comes to an empty system; maxprio is twice the number "
		"of hosts. LST_O is this with migration for nothing "
		"(--migrate-cost 0). A pass costs O(n log n + processes).",
	.params = params,
	.flags = POLICY_HOSTS | POLICY_SLICES,
	.create = lst_create,
	.event = lst_event,
	.decide = lst_decide,
	.explain = lst_explain,
	.most = slices_most,
	.save = lst_save,
	.load = lst_load,
	.destroy = lst_destroy,
};
