/* lenders.c - which hosts lend themselves to whom, see lenders.h */
#include "policy/hosts/lenders.h"

#include <stdlib.h>

#include "core/xalloc.h"

void lenders_init(struct lenders *l, uint32_t nr_hosts)
{
	*l = (struct lenders){
		.lends = xcalloc(nr_hosts + 1, sizeof(*l->lends)),
		.keeps = xcalloc(nr_hosts + 1, sizeof(*l->keeps)),
		.stale = true,
	};
}

void lenders_clear(struct lenders *l)
{
	free(l->lends);
	free(l->keeps);
}

static bool lends(const struct host *h)
{
	return host_usable(h) && !h->owner_active;
}

static bool keeps(const struct host *h)
{
	return host_serves(h) && !host_wanted(h);
}

void lenders_look(struct lenders *l, const struct view *view)
{
	const struct host *h;

	if (!l->stale)
		return;
	l->stale = false;
	l->nr_open = l->nr_own = 0;
	for_each_host (h, view) {
		l->lends[h->ix] = lends(h);
		l->keeps[h->ix] = keeps(h);
		l->nr_open += l->lends[h->ix];
		l->nr_own += !l->lends[h->ix] && h->nr_owners;
	}
}

bool lends_to(const struct host *h, const struct job *job)
{
	return host_takes(h, job) && !host_recalls(h, job);
}

uint32_t lenders_of(const struct lenders *l, const struct view *view,
		    const struct job *job)
{
	uint32_t n = l->nr_open;
	const struct host *h;

	if (!l->nr_own)
		return n;
	for_each_host (h, view)
		n += !l->lends[h->ix] && lends_to(h, job);
	return n;
}
