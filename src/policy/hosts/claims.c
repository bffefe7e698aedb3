/* claims.c - see claims.h */
#include "policy/hosts/claims.h"

#include <stdlib.h>
#include <string.h>

#include "core/xalloc.h"

void claims_init(struct claims *c, const struct view *view)
{
	*c = (struct claims){ .nr_own = 0 };
	c->taken = xcalloc(view->nr_hosts, sizeof(*c->taken));
	c->home = xcalloc(view->nr_hosts, sizeof(*c->home));
}

void claims_clear(struct claims *c)
{
	free(c->taken);
	free(c->home);
}

void claims_nobody(struct claims *c, const struct view *view)
{
	memset(c->taken, 0, view->nr_hosts * sizeof(*c->taken));
}

uint32_t claims_begin(struct claims *c, const struct view *view)
{
	const struct host *h;
	uint32_t n = 0;

	claims_nobody(c, view);
	memset(c->home, 0, view->nr_hosts * sizeof(*c->home));
	c->nr_own = 0;
	for_each_host (h, view) {
		n += host_usable(h);
		c->nr_own += h->closed && h->nr_owners;
	}
	return n;
}

/* ---- hosts for jobs of their own users alone ---- */

static bool claim(struct claims *c, const struct view *view,
		  const struct job *job, uint32_t who, uint32_t h)
{
	const struct host *host = &view->hosts[h];

	if (c->taken[h] || c->home[h] || host_usable(host) ||
	    !host_takes(host, job))
		return false;
	c->home[h] = who;
	return true;
}

uint32_t claims_make(struct claims *c, const struct view *view,
		     const struct job *job, uint32_t who)
{
	uint32_t lost = job->hosts ? 0 : job->size, n = 0;

	for (uint32_t r = 0; job->hosts && r < job->size && c->nr_own; r++) {
		if (claim(c, view, job, who, job->hosts[r]))
			n++;
		else
			lost += !host_usable(&view->hosts[job->hosts[r]]);
	}
	for (uint32_t h = 0; h < view->nr_hosts && lost && c->nr_own; h++)
		if (claim(c, view, job, who, h)) {
			lost--;
			n++;
		}
	return n;
}

void claims_drop(struct claims *c, const struct view *view, uint32_t who)
{
	for (uint32_t h = 0; h < view->nr_hosts && c->nr_own; h++)
		if (c->home[h] == who)
			c->home[h] = 0;
}

/* ---- who has which ---- */

static bool may_have(const struct claims *c, const struct view *view,
		     uint32_t who, uint32_t h)
{
	return !c->taken[h] &&
	       (host_usable(&view->hosts[h]) || c->home[h] == who);
}

bool claims_all_free(const struct claims *c, const struct view *view,
		     const struct job *job, uint32_t who)
{
	for (uint32_t r = 0; r < job->size; r++)
		if (!may_have(c, view, who, job->hosts[r]))
			return false;
	return true;
}

uint32_t claims_take(struct claims *c, const struct view *view,
		     const struct job *job)
{
	uint32_t n = 0;

	for (uint32_t r = 0; r < job->size; r++) {
		uint32_t h = job->hosts[r];

		n += !c->taken[h] && host_usable(&view->hosts[h]);
		c->taken[h] = true;
	}
	return n;
}

uint32_t claims_keep(struct claims *c, const struct view *view,
		     const struct job *job, uint32_t who, uint32_t *hosts)
{
	uint32_t lost = 0;

	for (uint32_t r = 0; r < job->size; r++) {
		hosts[r] = CLAIMS_NOWHERE;
		if (!job->hosts)
			continue;
		if (may_have(c, view, who, job->hosts[r])) {
			hosts[r] = job->hosts[r];
			c->taken[hosts[r]] = true;
		} else {
			lost++;
		}
	}
	return lost;
}

/* A host that was claimed and is not taken yet, from `from` on. */
static uint32_t next_claimed(const struct claims *c, const struct view *view,
			     uint32_t who, uint32_t from)
{
	while (from < view->nr_hosts &&
	       (c->taken[from] || c->home[from] != who))
		from++;
	return from;
}

void claims_place(struct claims *c, const struct view *view,
		  const struct job *job, uint32_t who, uint32_t *next,
		  uint32_t *hosts)
{
	uint32_t own = c->nr_own ? 0 : view->nr_hosts;

	for (uint32_t r = 0; r < job->size; r++) {
		if (hosts[r] != CLAIMS_NOWHERE)
			continue;
		own = next_claimed(c, view, who, own);
		while (own == view->nr_hosts &&
		       (c->taken[*next] || !host_usable(&view->hosts[*next])))
			++*next;
		hosts[r] = own < view->nr_hosts ? own : *next;
		c->taken[hosts[r]] = true;
	}
}
