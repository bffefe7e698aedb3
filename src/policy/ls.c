/*
 * ls.c - largest size first (Schnor 1997 §2.1.1)
 *
 * LS: a job's priority starts at its size; at each activation of the scheduler
 * every job that cannot start gains 1; those at maxprio are served first come,
 * first served and the first of them that does not fit blocks everybody.
 *
 * Since all that wait gain together, priority = min(maxprio, size + A - a),
 * where A counts activations and a is A at the arrival: below maxprio the order
 * is that of size - a, which never changes.  So there are two lists: `aged`
 * by arrival, and `young` by size - a.  A pass costs O(waiting).
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/xalloc.h"
#include "policy/policy.h"

struct entry {
	struct job *job;
	int64_t key; /* size - a */
};

struct list {
	struct entry *entry;
	size_t nr, cap;
};

struct policy_ls {
	struct policy base;
	int64_t activations; /* A */
	int64_t maxprio;
	struct list aged, young;
};

static const struct reason why_fits = {
	"%n processors are free, the largest first"
};
static const struct reason why_wait = {
	"needs %n processors; its priority is %n of %n"
};

static const struct param params[] = {
	{ .name = "maxprio",
	  .type = PARAM_INT,
	  .def = 0,
	  .min = 0,
	  .max = 1e9,
	  .summary = "priority at which a job is served first come, first "
		     "served; 0: twice the number of processors" },
	{ .name = NULL }
};

static int create(const struct policy_setup *setup, struct policy **ret,
		  struct error *err)
{
	struct policy_ls *p = xcalloc(1, sizeof(*p));

	(void)err;
	p->maxprio = params_int(setup->params, "maxprio");
	if (!p->maxprio)
		p->maxprio = 2 * setup->view->nr_procs;
	*ret = &p->base;
	return 0;
}

/* Put it behind all that go before it: larger keys, or earlier arrivals. */
static void insert(struct list *l, struct entry e, bool by_arrival)
{
	size_t i;

	array_room(l->entry, l->nr, &l->cap);
	for (i = l->nr++; i > 0; i--) {
		const struct entry *o = &l->entry[i - 1];

		if (!by_arrival && o->key != e.key ? o->key > e.key
						   : job_before(o->job, e.job))
			break;
		l->entry[i] = *o;
	}
	l->entry[i] = e;
}

static bool delete (struct list *l, const struct job *job)
{
	for (size_t i = 0; i < l->nr; i++)
		if (l->entry[i].job == job) {
			l->nr--;
			memmove(&l->entry[i], &l->entry[i + 1],
				(l->nr - i) * sizeof(*l->entry));
			return true;
		}
	return false;
}

static void ls_event(struct policy *policy, const struct view *view,
		     const struct event *event)
{
	struct policy_ls *p = (struct policy_ls *)policy;

	(void)view;
	switch (event->type) {
	case EVENT_ARRIVE:
	case EVENT_REQUEUE:
		insert(&p->young,
		       (struct entry){ event->job,
				       event->job->size - p->activations },
		       false);
		break;
	case EVENT_START: /* told when a running cluster is adopted */
	case EVENT_END:
		if (!delete (&p->young, event->job))
			delete (&p->aged, event->job);
		break;
	default:
		break;
	}
}

/* Those that have come to maxprio change lists; they are young's head. */
static void promote(struct policy_ls *p)
{
	size_t n = 0;

	while (n < p->young.nr &&
	       p->young.entry[n].key + p->activations >= p->maxprio)
		insert(&p->aged, p->young.entry[n++], true);
	p->young.nr -= n;
	memmove(p->young.entry, p->young.entry + n,
		p->young.nr * sizeof(*p->young.entry));
}

/*
 * Start what fits, in order, and close the gaps.  Returns false at the first
 * that does not fit if that one blocks.
 */
static bool start_from(struct list *l, bool blocks, struct plan *plan)
{
	size_t kept = 0, i;
	bool blocked = false;

	for (i = 0; i < l->nr; i++) {
		struct job *job = l->entry[i].job;
		int64_t left = plan_free(plan);

		if (!blocked && job->size <= left &&
		    plan_start(plan, job, job->size, &why_fits, left, 0, 0))
			continue;
		blocked = blocks;
		l->entry[kept++] = l->entry[i];
	}
	l->nr = kept;
	return !blocked;
}

static void decide(struct policy *policy, const struct view *view,
		   struct plan *plan)
{
	struct policy_ls *p = (struct policy_ls *)policy;

	(void)view;
	promote(p);
	if (start_from(&p->aged, true, plan))
		start_from(&p->young, false, plan);
	p->activations++;
}

static void explain(const struct policy *policy, const struct view *view,
		    const struct job *job, struct plan *plan)
{
	const struct policy_ls *p = (const struct policy_ls *)policy;
	int64_t prio = p->maxprio;

	(void)view;
	for (size_t i = 0; i < p->young.nr; i++)
		if (p->young.entry[i].job == job)
			prio = p->young.entry[i].key + p->activations;
	plan_defer(plan, job, &why_wait, job->size, prio, p->maxprio);
}

static void save_list(const struct policy_ls *p, const struct list *l, FILE *to)
{
	for (size_t i = 0; i < l->nr; i++)
		fprintf(to, "%" PRId64 " %" PRId64 "\n", l->entry[i].job->id,
			l->entry[i].key + p->activations);
}

/* A line a job: its id and what its priority would be without maxprio. */
static void save(const struct policy *policy, const struct view *view, FILE *to)
{
	const struct policy_ls *p = (const struct policy_ls *)policy;

	(void)view;
	save_list(p, &p->aged, to);
	save_list(p, &p->young, to);
}

static int load(struct policy *policy, const struct view *view,
		const char *text, struct error *err)
{
	struct policy_ls *p = (struct policy_ls *)policy;
	int64_t id, prio;
	int n;

	for (; *text; text += n) {
		struct job *job;

		if (sscanf(text, "%" SCNd64 " %" SCNd64 "\n%n", &id, &prio,
			   &n) != 2)
			return error_set(err, -EINVAL,
					 "ls: its saved state is damaged at "
					 "'%.20s'",
					 text);
		job = view_find_job(view, id);
		if (!job ||
		    (!delete (&p->young, job) && !delete (&p->aged, job)))
			continue; /* gone meanwhile */
		insert(&p->young, (struct entry){ job, prio - p->activations },
		       false);
	}
	return 0;
}

static void destroy(struct policy *policy)
{
	struct policy_ls *p = (struct policy_ls *)policy;

	free(p->aged.entry);
	free(p->young.entry);
	free(p);
}

const struct policy_ops policy_ls = {
	.name = "ls",
	.summary = "largest size first, with aging",
	.source = "Schnor 1997 section 2.1.1",
	.details =
		"The queue is scanned by priority, and every job that fits is "
		"started. Priority starts at the size; a job that cannot start "
		"gains 1 at each activation (arrivals and ends at one instant "
		"are one activation); jobs at maxprio go first come, first "
		"served before all others, and the first that does not fit "
		"blocks the rest. Ties go to the earlier arrival. The paper "
		"gives no maxprio: the default is twice the number of "
		"processors (doc/reproduction.md shows what less does). A "
		"pass costs O(waiting).",
	.params = params,
	.create = create,
	.event = ls_event,
	.decide = decide,
	.explain = explain,
	.save = save,
	.load = load,
	.destroy = destroy,
};
