/* owners.c - owners come and go, and bear what guests do; see owners.h */
#include "sim/engine/owners_touched.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/names.h"
#include "core/xalloc.h"
#include "model/activity.h"
#include "model/contract.h"
#include "sim/engine/engine.h"

static bool is_here(const struct owner *w)
{
	return w->state.value[ACTIVITY_OWNER] > 0 ||
	       w->state.value[ACTIVITY_KEYBOARD] > 0;
}

/* ---- which host is whose ---- */

struct host_names {
	struct names names;
	uint32_t *ix; /* by the number of a name: the first host that has it */
};

static void add_host_names(struct host_names *h, const struct view *view)
{
	h->ix = xcalloc(view->nr_hosts + 1, sizeof(*h->ix));
	for (uint32_t i = 0; i < view->nr_hosts; i++) {
		const char *name = view->hosts[i].name;
		uint32_t n = names_count(&h->names);

		if (name && names_add(&h->names, name) == n)
			h->ix[n] = i;
	}
}

static uint32_t find_host(const struct host_names *h, const char *name)
{
	uint32_t n = names_find(&h->names, name);

	return n == UINT32_MAX ? n : h->ix[n];
}

static int no_such_host(const struct view *view, const char *name,
			struct error *err)
{
	return error_set(
		err, -EINVAL,
		"the activity script has a host '%s', and the machine, of %" PRIu32
		" hosts, has none for it",
		name, view->nr_hosts);
}

/* Hosts that have no names get the script's. */
static int match_hosts(struct engine *g, struct owners *o, struct error *err)
{
	struct view *view = &g->view;
	const struct activity *a = o->activity;
	bool named = view->hosts[0].name && *view->hosts[0].name;
	struct host_names names = { .ix = NULL };
	int r = 0;

	if (named)
		add_host_names(&names, view);
	for (uint32_t i = 0; i < a->nr_hosts; i++) {
		o->host_of[i] = named ? find_host(&names, a->host[i].name)
				: i < view->nr_hosts ? i
						     : UINT32_MAX;
		if (o->host_of[i] == UINT32_MAX) {
			r = no_such_host(view, a->host[i].name, err);
			break;
		}
		view->hosts[o->host_of[i]].name = a->host[i].name;
	}
	names_clear(&names.names);
	free(names.ix);
	return r;
}

/* ---- what owners bear ---- */

/* Ranks on the host that are guests, all and those that do not stand still. */
static struct scene guests_on(const struct engine *g, const struct host *h)
{
	struct scene s = { .guests = h->nr_ranks, .running = h->nr_active };
	const struct job *j;

	if (!h->nr_owners && !g->view.nr_frozen)
		return s;
	for_each_running(j, &g->view)
	{
		bool home = job_is_home(j, h);

		for (uint32_t i = 0; (home || j->ranks->nr_frozen) && i < j->n;
		     i++) {
			if (j->hosts[i] != h->ix)
				continue;
			s.guests -= home;
			s.running -= j->state == JOB_RUNNING &&
				     (home || job_rank_frozen(j, i));
		}
	}
	return s;
}

/* ---- a host, fed ---- */

static struct scene scene_of(const struct engine *g, uint32_t ix)
{
	const struct owner *w = &g->owners->owner[ix];
	const struct host *h = &g->view.hosts[ix];
	struct scene s = guests_on(g, h);

	s.here = is_here(w);
	s.touched = w->state.keyboard > w->away ? w->state.keyboard : w->away;
	s.load = w->state.value[ACTIVITY_LOAD] / h->cores;
	/* Live a capsule is there as soon as a rank is to come. */
	s.guests += moves_coming(g->moves, ix);
	return s;
}

static void feed_scene(struct engine *g, uint32_t ix, const struct moment *m,
		       const struct scene *scene)
{
	struct owners *o = g->owners;
	struct owner *w = &o->owner[ix];
	struct contract *c = &w->contract;
	bool was_here = c->scene.here;
	usec_t now = m->steady;

	owners_bear(w, &g->view.hosts[ix], now);
	contract_feed(c, o->terms, m, scene);
	if (!was_here && scene->here)
		owners_came_back(o, w, now);
	if (!scene->here)
		owners_note_memory(g, w, &g->view.hosts[ix]);
	if (w->waits >= 0 && (!scene->here || !scene->running))
		owners_given_back(w, now);
	heap_set(&o->due, ix, contract_next(c, o->terms, m));
}

static void feed(struct engine *g, uint32_t ix, usec_t now)
{
	struct moment m = moment_plain(now);
	struct scene scene = scene_of(g, ix);

	feed_scene(g, ix, &m, &scene);
}

/* False if nothing has changed of it that anybody could notice. */
static bool feed_touched(struct engine *g, uint32_t ix)
{
	struct owner *w = &g->owners->owner[ix];
	struct moment m = moment_plain(g->view.now);
	struct scene scene = scene_of(g, ix);
	bool changed =
		w->changed || g->memory ||
		!contract_is_still(&w->contract, g->owners->terms, &scene);

	w->touched = w->changed = false;
	if (changed)
		feed_scene(g, ix, &m, &scene);
	return changed;
}

/* Memory that the owner's programs and the ranks there leave. */
static uint64_t free_memory(const struct engine *g, const struct owner *w,
			    const struct host *h)
{
	double left = (double)h->memory - w->state.value[ACTIVITY_MEMORY];
	const struct job *j;

	for_each_running(j, &g->view) for (uint32_t i = 0;
					   j->memory && i < j->n;
					   i++) if (j->hosts[i] == h->ix)
		left -= (double)j->memory;
	return left > 0 ? (uint64_t)left : 0;
}

/* What becomes of guests, by the terms. */
static void describe_leaving(const struct lending *l, struct host *ret)
{
	ret->closed = l->closed;
	ret->owner_active = l->leave;
	ret->leave_by = l->leave_by;
	ret->freeze_until = l->freeze_until;
	ret->freeze_most = l->leave ? l->freeze_most : 0;
}

/* The first of both counts, as live. */
static void describe_drain(const struct engine *g, struct host *h)
{
	usec_t by = h->drain && g->drain_by ? g->drain_by[h->ix] : 0;

	if (by && (!h->leave_by || by < h->leave_by))
		h->leave_by = by;
}

static void describe_own(const struct owner *w, struct host *ret)
{
	int32_t user = (int32_t)(w->state.value[ACTIVITY_OWN] - 1);

	host_set_owners(ret, &user, user >= 0);
}

static void describe(const struct engine *g, uint32_t ix, struct host *ret)
{
	const struct owners *o = g->owners;
	const struct owner *w = &o->owner[ix];
	struct moment m = moment_plain(g->view.now);
	struct lending l;

	*ret = g->view.hosts[ix];
	ret->load = w->state.value[ACTIVITY_LOAD];
	ret->users = (uint32_t)w->state.value[ACTIVITY_USERS];
	if (ret->memory)
		ret->memory_free = free_memory(g, w, ret);
	describe_own(w, ret);
	ret->idle_since = is_here(w) ? USEC_MAX : w->contract.scene.touched;
	if (g->config->no_terms) {
		ret->owner_active = is_here(w);
		return;
	}
	l = contract_lending(&w->contract, o->terms, &m, false);
	describe_leaving(&l, ret);
	describe_drain(g, ret);
}

/* False if nothing has changed of it. */
static bool tell_policy(struct engine *g, uint32_t ix, bool told)
{
	const struct host *h = &g->view.hosts[ix];
	struct host fresh;
	struct event e = { .type = EVENT_HOST,
			   .at = g->view.now,
			   .host = ix,
			   .fresh = &fresh };

	describe(g, ix, &fresh);
	if (h->load == fresh.load && h->users == fresh.users &&
	    h->memory_free == fresh.memory_free &&
	    h->idle_since == fresh.idle_since &&
	    h->owner_active == fresh.owner_active &&
	    h->closed == fresh.closed && h->leave_by == fresh.leave_by &&
	    h->freeze_until == fresh.freeze_until &&
	    host_same_owners(h, &fresh))
		return false;
	g->owners->telling = true;
	if (told)
		engine_event(g, &e, true);
	else
		model_apply(&g->view, &e);
	g->owners->telling = false;
	return true;
}

static void apply_change(struct owner *w, const struct activity_change *c)
{
	bool was_here = is_here(w);

	activity_apply(c, &w->state);
	if (was_here && !is_here(w))
		w->away = c->at;
}

/*
 * Whoever is there when all begins has not come back: nobody can have been disturbed, and
 * that is no return.
 */
static void find_there(struct owners *o)
{
	const struct activity *a = o->activity;

	for (; o->next < a->nr && a->change[o->next].at <= 0; o->next++) {
		const struct activity_change *c = &a->change[o->next];

		apply_change(&o->owner[o->host_of[c->host]], c);
	}
	for (uint32_t i = 0; i < o->nr; i++)
		o->owner[i].contract.scene.here = is_here(&o->owner[i]);
}

/* Changes of the script that are due, each at its own time. */
static void play(struct engine *g)
{
	struct owners *o = g->owners;
	const struct activity *a = o->activity;

	for (; o->next < a->nr && a->change[o->next].at <= g->view.now;
	     o->next++) {
		const struct activity_change *c = &a->change[o->next];
		uint32_t ix = o->host_of[c->host];
		struct owner *w = &o->owner[ix];

		owners_bear(w, &g->view.hosts[ix], c->at); /* by the old load */
		apply_change(w, c);
		feed(g, ix, c->at);
		owners_touch(o, ix);
		o->last = g->view.now;
	}
}

static bool refresh(struct engine *g, bool told)
{
	struct owners *o = g->owners;
	bool any = false;

	while (heap_first_key(&o->due) <= g->view.now)
		owners_touch(o, heap_pop(&o->due));
	while (o->nr_dirty) {
		uint32_t ix = o->dirty[--o->nr_dirty];

		any |= feed_touched(g, ix) && tell_policy(g, ix, told);
	}
	return any;
}

static bool owners_happen(struct engine *g)
{
	play(g);
	return refresh(g, true);
}

/*
 * After the script's end terms repeat themselves week by week, once each of their times
 * is over.  Where no job ends, comes or starts in so long none ever will.
 */
static bool is_over(const struct engine *g, usec_t at)
{
	const struct owners *o = g->owners;
	const struct owner_terms *t = o->terms;
	double most = 8. * USEC_PER_DAY;

	if (o->next < o->activity->nr || g->arrival != USEC_MAX ||
	    heap_first_key(&g->ends) != USEC_MAX)
		return false;
	if (t)
		most += (double)t->quiet + (double)t->load_quiet +
			(double)t->give_back + (double)t->freeze_most;
	return (double)(at - o->last) > most;
}

static usec_t owners_next(const struct engine *g, bool jobs)
{
	const struct owners *o = g->owners;
	usec_t t = USEC_MAX;

	if (!jobs)
		return t;
	/* What the pass has just done: a rank that it froze is out of the way. */
	if (o->nr_dirty)
		return g->view.now;
	if (o->next < o->activity->nr)
		t = o->activity->change[o->next].at;
	if (heap_first_key(&o->due) < t)
		t = heap_first_key(&o->due);
	if (t == USEC_MAX || is_over(g, t))
		return USEC_MAX;
	return t > g->view.now ? t : g->view.now;
}

static void note_event(struct engine *g, const struct event *e)
{
	if (!g->owners->telling && e->type != EVENT_TIMER)
		g->owners->last = g->view.now;
	owners_note(g->owners, e);
}

const struct engine_part engine_part_owners = {
	.next = owners_next,
	.happen = owners_happen,
	.note = note_event,
};

/* ---- begin and end ---- */

static struct owners *make(const struct engine *g)
{
	struct owners *o = xcalloc(1, sizeof(*o));
	uint32_t n = g->view.nr_hosts;

	o->activity = g->config->activity;
	o->terms = g->config->terms;
	o->refill = owners_refill_rate(g);
	o->nr = n;
	o->host_of = xcalloc(o->activity->nr_hosts + 1, sizeof(*o->host_of));
	o->owner = xcalloc(n, sizeof(*o->owner));
	o->dirty = xcalloc(n, sizeof(*o->dirty));
	for (uint32_t i = 0; i < n; i++) {
		struct moment m = moment_plain(0);

		contract_begin(&o->owner[i].contract, &m);
		activity_host_init(&o->owner[i].state);
		o->owner[i].away = ACTIVITY_AGES_AGO;
		o->owner[i].waits = -1;
		owners_touch(o, i);
	}
	return o;
}

int owners_create(struct engine *g, struct owners **ret, struct error *err)
{
	struct owners *o;
	int r;

	*ret = NULL;
	if (!g->config->activity)
		return 0;
	o = make(g);
	r = match_hosts(g, o, err);
	if (r < 0) {
		owners_destroy(o);
		return r;
	}
	*ret = g->owners = o;
	find_there(o);
	refresh(g, false);
	return 0;
}

void owners_destroy(struct owners *o)
{
	if (!o)
		return;
	heap_clear(&o->due);
	free(o->host_of);
	free(o->owner);
	free(o->dirty);
	free(o);
}

void owners_sum(struct engine *g, struct sim_result *ret)
{
	struct owners *o = g->owners;

	ret->owner = xcalloc(o->nr, sizeof(*ret->owner));
	ret->nr_owners = o->nr;
	for (uint32_t i = 0; i < o->nr; i++) {
		const char *name = g->view.hosts[i].name;

		feed(g, i, g->view.now);
		ret->owner[i] = (struct sim_owner){
			.name = xstrdup(name ? name : ""),
			.bore = o->owner[i].bore,
		};
		owners_add(&ret->owners, &o->owner[i].bore);
	}
	owners_worst(o, &ret->owners);
}
