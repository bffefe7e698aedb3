/*
 * states.c - what Schnor 1997 published: sections 4.1 and 4.2,
 * availability vectors and mapping states of shortest expected delay
 */
#include <stdlib.h>
#include <string.h>

#include "policy/hosts/mapstates.h"
#include "sim/reproduce/schnor.h"

#define NR(array) (sizeof(array) / sizeof(*(array)))

/* Table 4.2: hosts of alpha 1, 4 and 10. */
struct system {
	const char *name;
	int count[3];
};

static const struct system system1 = { "system 1", { 5, 25, 0 } };
static const struct system system2 = { "system 2", { 20, 10, 0 } };

static int alphas(const struct system *s, double *alpha)
{
	static const double values[] = { 1, 4, 10 };
	int n = 0;

	for (int i = 0; i < 3; i++)
		for (int j = 0; j < s->count[i]; j++)
			alpha[n++] = values[i];
	return n;
}

/* ---- S-4a ---- */

static void idle_vector(struct reproduce *r, const struct system *s,
			enum sed_kind kind, const char *published)
{
	double alpha[64];
	int n = alphas(s, alpha), a[8];
	struct sed sed;
	char *ours;

	sed_init(&sed, kind, alpha, n);
	sed_availability(&sed, a);
	sed_clear(&sed);
	ours = reproduce_text("(%d,%d,%d,%d)", a[1], a[2], a[3], a[4]);
	reproduce_fact(r, reproduce_text("%s, SED%d", s->name, kind), published,
		       ours, !strcmp(ours, published), NULL);
}

int schnor_s4a(struct reproduce *r, struct error *err)
{
	(void)err;
	idle_vector(r, &system1, SED1, "(5,5,5,30)");
	idle_vector(r, &system1, SED2, "(5,10,15,45)");
	idle_vector(r, &system2, SED2, "(20,40,60,90)");
	return 0;
}

/* ---- S-4b, S-4c ---- */

static int diagram(const struct system *s, enum sed_kind kind,
		   struct mapstates *ret, struct error *err)
{
	double alpha[64];
	const struct mapstates_conf conf = { .kind = kind,
					     .alpha = alpha,
					     .nr_hosts = alphas(s, alpha),
					     .minsize = 1,
					     .maxsize = 30,
					     .rules = { .upgrade = true,
							.migrate = true } };

	return mapstates_enumerate(&conf, 100000, ret, err);
}

/* Jobs in a label: its numbers that are not 0. */
static int jobs_in(const char *label)
{
	int n = 0;

	for (const char *c = label + 1; *c; c++)
		n += strchr("(,+", c[-1]) && *c != '0';
	return n;
}

static void tell_diagram(struct reproduce *r, const char *name,
			 const struct mapstates *ms, const char *published,
			 int most, unsigned kinds, const char *const *states)
{
	unsigned seen = 0;
	int jobs = 0;
	bool met = true;

	for (size_t i = 0; i < ms->nr_nodes; i++)
		if (jobs_in(ms->nodes[i]) > jobs)
			jobs = jobs_in(ms->nodes[i]);
	for (size_t i = 0; i < ms->nr_edges; i++)
		seen |= ms->edges[i].kind;
	seen &= MAPSTATES_UPGRADE | MAPSTATES_MIGRATION;
	for (; *states; states++)
		met &= mapstates_find(ms, *states) >= 0;
	reproduce_fact(r, reproduce_text("%s", name), published,
		       reproduce_text("%zu states, at most %d jobs, %s, %s; %s",
				      ms->nr_nodes, jobs,
				      seen & MAPSTATES_UPGRADE ? "upgrades"
							       : "no upgrades",
				      seen & MAPSTATES_MIGRATION
					      ? "migrations"
					      : "no migrations",
				      met ? "these states are reached"
					  : "not all of these states"),
		       met && jobs == most && seen == kinds, NULL);
}

int schnor_s4b(struct reproduce *r, struct error *err)
{
	static const char *const one[] = { "(5,0,0,25)", "(0,5,0,30)", NULL };
	static const char *const two[] = { "(0,0,0,30+15)", NULL };
	struct mapstates ms;
	int rc = diagram(&system1, SED1, &ms, err);

	if (rc < 0)
		return rc;
	tell_diagram(r, "SED1", &ms,
		     "at most 2 jobs, upgrades, no migrations; (5,0,0,25), "
		     "(0,5,0,30)",
		     2, MAPSTATES_UPGRADE, one);
	mapstates_clear(&ms);
	rc = diagram(&system1, SED2, &ms, err);
	if (rc < 0)
		return rc;
	tell_diagram(r, "SED2", &ms,
		     "at most 2 jobs, migrations, no upgrades; (0,0,0,30+15)",
		     2, MAPSTATES_MIGRATION, two);
	mapstates_clear(&ms);
	return 0;
}

static bool same(const struct mapstates *a, const struct mapstates *b)
{
	bool equal = a->nr_nodes == b->nr_nodes && a->nr_edges == b->nr_edges;

	for (size_t i = 0; equal && i < a->nr_nodes; i++)
		equal = !strcmp(a->nodes[i], b->nodes[i]);
	for (size_t i = 0; equal && i < a->nr_edges; i++)
		equal = a->edges[i].from == b->edges[i].from &&
			a->edges[i].to == b->edges[i].to &&
			a->edges[i].kind == b->edges[i].kind;
	return equal;
}

int schnor_s4c(struct reproduce *r, struct error *err)
{
	static const char *const states[] = { "(10+10,0,0,10)", "(20,0,0,10)",
					      NULL };
	struct mapstates one, two;
	int rc = diagram(&system2, SED1, &one, err);

	if (rc < 0)
		return rc;
	rc = diagram(&system2, SED2, &two, err);
	if (!rc) {
		tell_diagram(r, "SED2", &two,
			     "at most 3 jobs, migrations, no upgrades; "
			     "(10+10,0,0,10), (20,0,0,10)",
			     3, MAPSTATES_MIGRATION, states);
		reproduce_fact(
			r, reproduce_text("SED1 and SED2"), "the same diagram",
			reproduce_text("%s", same(&one, &two) ? "the same"
							      : "different"),
			same(&one, &two), NULL);
		mapstates_clear(&two);
	}
	mapstates_clear(&one);
	return rc;
}
