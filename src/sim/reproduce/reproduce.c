/* reproduce.c - published results, computed again, see reproduce.h */
#include "sim/reproduce/reproduce.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/xalloc.h"

extern const struct reproduce_paper reproduce_chen;
extern const struct reproduce_paper reproduce_dynamite;
extern const struct reproduce_paper reproduce_ismail;
extern const struct reproduce_paper reproduce_now;
extern const struct reproduce_paper reproduce_schnor;

static const struct reproduce_paper *const reproduce_papers[] = {
	&reproduce_ismail, &reproduce_schnor,	&reproduce_chen,
	&reproduce_now,	   &reproduce_dynamite,
};

const struct reproduce_paper *reproduce_nth(size_t n)
{
	return n < sizeof(reproduce_papers) / sizeof(*reproduce_papers)
		       ? reproduce_papers[n]
		       : NULL;
}

static int run_entry(struct reproduce *r, const struct reproduce_entry *e,
		     struct error *err)
{
	int rc;

	if (r->progress)
		r->progress(r->arg, e->id);
	r->id = e->id;
	rc = e->run(r, err);
	return rc < 0 ? error_prefix(err, rc, "%s", e->id) : 0;
}

/* Which paper's result is called so; NULL: none. */
static const char *paper_of(const char *id)
{
	const struct reproduce_paper *p;

	for (size_t i = 0; (p = reproduce_nth(i)); i++)
		for (const struct reproduce_entry *e = p->entry; e->id; e++)
			if (!strcmp(e->id, id))
				return p->name;
	return NULL;
}

static int no_paper(const char *which, struct error *err)
{
	const char *paper = paper_of(which);
	char *text = xstrdup("all");
	int rc;

	if (paper) {
		free(text);
		return error_set(err, -EINVAL,
				 "an id needs its paper before it: %s:%s",
				 paper, which);
	}
	for (size_t i = 0; reproduce_nth(i); i++) {
		char *longer =
			xasprintf("%s, %s", text, reproduce_nth(i)->name);

		free(text);
		text = longer;
	}
	rc = error_set(err, -EINVAL, "no paper '%s'; there are: %s", which,
		       text);
	free(text);
	return rc;
}

static int no_entry(const struct reproduce_paper *p, const char *id,
		    struct error *err)
{
	return error_set(err, -EINVAL,
			 "%s has no '%s'; its ids go from %s on: `stint "
			 "reproduce --list`",
			 p->name, id, p->entry->id);
}

int reproduce_each(const char *which, reproduce_visit visit, void *arg,
		   struct error *err)
{
	const char *colon = strchr(which, ':');
	size_t n = colon ? (size_t)(colon - which) : strlen(which);
	bool all = !strcmp(which, "all"), any = false;
	const struct reproduce_paper *found = NULL, *p;
	int rc = 0;

	for (size_t i = 0; (p = reproduce_nth(i)); i++) {
		if (!all &&
		    (strlen(p->name) != n || strncmp(p->name, which, n)))
			continue;
		found = p;
		for (const struct reproduce_entry *e = p->entry; e->id && !rc;
		     e++)
			if (!colon || !strcmp(e->id, colon + 1)) {
				any = true;
				rc = visit(arg, p, e, err);
			}
	}
	if (!found)
		return no_paper(which, err);
	return any ? rc : no_entry(found, colon + 1, err);
}

static int visit_run(void *arg, const struct reproduce_paper *p,
		     const struct reproduce_entry *e, struct error *err)
{
	struct reproduce *r = arg;

	if (!p->measured || r->measured)
		return run_entry(r, e, err);
	if (strcmp(r->which, "all") != 0)
		return error_set(
			err, -EINVAL,
			"the results of '%s' are measured, not "
			"simulated: give the file that `make bench-%s` "
			"has written, --measured=FILE",
			p->name, p->name);
	r->left_out = p->name;
	return 0;
}

int reproduce_run(struct reproduce *r, const char *which, struct error *err)
{
	r->which = which;
	return reproduce_each(which, visit_run, r, err);
}

void reproduce_clear(struct reproduce *r)
{
	for (size_t i = 0; i < r->nr; i++) {
		free(r->row[i].what);
		free(r->row[i].published);
		free(r->row[i].ours);
		free(r->row[i].note);
	}
	for (size_t i = 0; i < r->nr_figures; i++)
		free(r->figure[i].file);
	free(r->row);
	free(r->figure);
	r->row = NULL;
	r->figure = NULL;
	r->nr = r->cap = r->nr_figures = r->cap_figures = 0;
}
