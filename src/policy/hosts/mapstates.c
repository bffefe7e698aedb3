/*
 * mapstates.c - breadth-first walk over SED's placements, see mapstates.h
 */
#include "policy/hosts/mapstates.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <uthash.h>

#include "core/xalloc.h"

/*
 * A placement when it is met for the first time; the list of them is the queue of the
 * walk.
 */
struct placement {
	char *key;
	struct sed sed;
	size_t node;
	struct placement *next;
	UT_hash_handle hh;
};

struct walk {
	const struct mapstates_conf *conf;
	struct mapstates ms;
	struct placement *seen, *first, *last;
	size_t nr, max;
	uint64_t next_id;
};

static int descending(const void *a, const void *b)
{
	return *(const int *)b - *(const int *)a;
}

/* "(10+10,0,0,10)", malloc'd. */
static char *label_of(const struct sed *sed)
{
	int *sizes = xcalloc(sed->nr_jobs, sizeof(int));
	char *text;
	size_t n;
	FILE *f = xmemstream(&text, &n);

	for (int k = 1; k <= sed->nr_classes; k++) {
		size_t m = 0;

		for (size_t j = 0; j < sed->nr_jobs; j++)
			if (sed->jobs[j].class == k)
				sizes[m++] = sed->jobs[j].size;
		qsort(sizes, m, sizeof(int), descending);
		fputc(k == 1 ? '(' : ',', f);
		for (size_t j = 0; j < m; j++)
			fprintf(f, "%s%d", j ? "+" : "", sizes[j]);
		if (!m)
			fputc('0', f);
	}
	fputc(')', f);
	fclose(f);
	free(sizes);
	return text;
}

/*
 * What a host holds: for each job, in order, its class and how many of its processes
 * are here.
 */
struct content {
	double alpha;
	const int *cells;
	size_t n;
};

static int by_content(const void *a, const void *b)
{
	const struct content *x = a, *y = b;

	if (x->alpha != y->alpha)
		return x->alpha < y->alpha ? -1 : 1;
	for (size_t i = 0; i < x->n; i++)
		if (x->cells[i] != y->cells[i])
			return y->cells[i] - x->cells[i];
	return 0;
}

/*
 * A text that is equal for placements that differ only in which of equal hosts is
 * which.
 */
static char *key_of(const struct sed *sed)
{
	size_t nj = sed->nr_jobs;
	int *cells = xcalloc(sed->nr_hosts * (nj + 1), sizeof(int));
	struct content *hosts = xcalloc(sed->nr_hosts, sizeof(*hosts));
	char *text;
	size_t n;
	FILE *f = xmemstream(&text, &n);

	for (size_t j = 0; j < nj; j++) {
		fprintf(f, "%d/%d ", sed->jobs[j].class, sed->jobs[j].size);
		for (int p = 0; p < sed->jobs[j].size; p++)
			cells[sed->jobs[j].hosts[p] * nj + j]++;
	}
	for (int i = 0; i < sed->nr_hosts; i++)
		hosts[i] = (struct content){ sed->hosts[i].alpha,
					     &cells[i * nj], nj };
	qsort(hosts, sed->nr_hosts, sizeof(*hosts), by_content);
	for (int i = 0; i < sed->nr_hosts; i++) {
		fputc('|', f);
		for (size_t j = 0; j < nj; j++)
			fprintf(f, "%d,", hosts[i].cells[j]);
	}
	fclose(f);
	free(hosts);
	free(cells);
	return text;
}

long mapstates_find(const struct mapstates *ms, const char *label)
{
	for (size_t i = 0; i < ms->nr_nodes; i++)
		if (!strcmp(ms->nodes[i], label))
			return (long)i;
	return -1;
}

static size_t node_of(struct mapstates *ms, const struct sed *sed)
{
	char *label = label_of(sed);
	long at = mapstates_find(ms, label);

	if (at >= 0) {
		free(label);
		return (size_t)at;
	}
	array_room(ms->nodes, ms->nr_nodes, &ms->cap_nodes);
	ms->nodes[ms->nr_nodes] = label;
	return ms->nr_nodes++;
}

/* Take over *sed: it is queued if new, else cleared.  Returns its node. */
static size_t visit(struct walk *w, struct sed *sed)
{
	char *key = key_of(sed);
	struct placement *p;

	HASH_FIND_STR(w->seen, key, p);
	if (p) {
		free(key);
		sed_clear(sed);
		return p->node;
	}
	p = xcalloc(1, sizeof(*p));
	p->key = key;
	p->sed = *sed;
	p->node = node_of(&w->ms, sed);
	HASH_ADD_KEYPTR(hh, w->seen, p->key, strlen(p->key), p);
	if (w->last)
		w->last->next = p;
	else
		w->first = p;
	w->last = p;
	w->nr++;
	return p->node;
}

static void add_edge(struct mapstates *ms, size_t from, size_t to,
		     unsigned kind)
{
	for (size_t i = 0; i < ms->nr_edges; i++)
		if (ms->edges[i].from == from && ms->edges[i].to == to &&
		    ms->edges[i].kind == kind)
			return;
	array_room(ms->edges, ms->nr_edges, &ms->cap_edges);
	ms->edges[ms->nr_edges++] = (struct mapstates_edge){ from, to, kind };
}

/* How many jobs wait in the state that the walk is in. */
struct waiting {
	struct walk *walk;
	struct sed *sed;
	int nr;
};

static bool start_waiting(void *arg)
{
	struct waiting *w = arg;
	int size, class;

	for (; w->nr > 0; w->nr--) {
		class = sed_map(w->sed, w->walk->conf->minsize,
				w->walk->conf->maxsize, &size);
		if (!class)
			return false;
		sed_start(w->sed, ++w->walk->next_id, class, size);
	}
	return true;
}

/*
 * Make the pass after that job has left (NULL: none has), with so many jobs waiting;
 * false if one of these still waits after it.
 */
static bool walk_pass(struct walk *w, const struct placement *p,
		      const struct sed_job *left, int nr_waiting)
{
	unsigned kind = left ? MAPSTATES_DEPARTURE : MAPSTATES_ARRIVAL;
	struct sed to;
	struct waiting waiting = { w, &to, nr_waiting };
	unsigned done;

	sed_copy(&to, &p->sed);
	if (left)
		sed_end(&to, left->id);
	done = sed_pass(&to, &w->conf->rules, left, start_waiting, NULL,
			&waiting);
	if (done & SED_UPGRADED)
		kind |= MAPSTATES_UPGRADE;
	if (done & SED_MIGRATED)
		kind |= MAPSTATES_MIGRATION;
	add_edge(&w->ms, p->node, visit(w, &to), kind);
	return !waiting.nr;
}

static void expand(struct walk *w, const struct placement *p)
{
	bool room;
	int size;

	room = sed_map(&p->sed, w->conf->minsize, w->conf->maxsize, &size);
	if (room)
		walk_pass(w, p, NULL, 1);
	for (size_t j = 0; j < p->sed.nr_jobs; j++) {
		int waiting = 0;

		while (walk_pass(w, p, &p->sed.jobs[j], waiting) && !room)
			waiting++;
	}
}

static int by_ends(const void *a, const void *b)
{
	const struct mapstates_edge *x = a, *y = b;

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	if (x->to != y->to)
		return x->to < y->to ? -1 : 1;
	return (int)x->kind - (int)y->kind;
}

static void free_placements(struct placement **seen)
{
	struct placement *p, *tmp;

	HASH_ITER (hh, *seen, p, tmp) {
		HASH_DEL(*seen, p);
		sed_clear(&p->sed);
		free(p->key);
		free(p);
	}
}

int mapstates_enumerate(const struct mapstates_conf *conf,
			size_t max_placements, struct mapstates *ret,
			struct error *err)
{
	struct walk w = { .conf = conf, .max = max_placements };
	struct sed idle;

	sed_init(&idle, conf->kind, conf->alpha, conf->nr_hosts);
	visit(&w, &idle);
	for (struct placement *p = w.first; p && w.nr <= w.max; p = p->next)
		expand(&w, p);
	free_placements(&w.seen);
	if (w.nr > w.max) {
		mapstates_clear(&w.ms);
		return error_set(err, -E2BIG,
				 "more than %zu placements: take fewer hosts, "
				 "a larger minsize, or raise the limit",
				 w.max);
	}
	qsort(w.ms.edges, w.ms.nr_edges, sizeof(*w.ms.edges), by_ends);
	*ret = w.ms;
	return 0;
}

void mapstates_clear(struct mapstates *ms)
{
	for (size_t i = 0; i < ms->nr_nodes; i++)
		free(ms->nodes[i]);
	free(ms->nodes);
	free(ms->edges);
	memset(ms, 0, sizeof(*ms));
}

void mapstates_dot(const struct mapstates *ms, const char *title, FILE *to)
{
	fprintf(to,
		"digraph mapstates {\n\tlabel=\"%s\\larrivals black, departures "
		"grey\\l\";\n\tlabelloc=t;\n\tfontname=\"sans-serif\";\n"
		"\tnode [shape=box, fontname=\"sans-serif\"];\n"
		"\tedge [fontname=\"sans-serif\", fontsize=11];\n",
		title);
	for (size_t i = 0; i < ms->nr_nodes; i++)
		fprintf(to, "\ts%zu [label=\"%s\"];\n", i, ms->nodes[i]);
	for (size_t i = 0; i < ms->nr_edges; i++) {
		const struct mapstates_edge *e = &ms->edges[i];
		const char *style = "";

		if (e->kind & MAPSTATES_MIGRATION)
			style = " [style=bold, label=\"migration\"]";
		else if (e->kind & MAPSTATES_UPGRADE)
			style = " [style=dashed, label=\"upgrade\"]";
		else if (e->kind & MAPSTATES_DEPARTURE)
			style = " [color=gray50]";
		fprintf(to, "\ts%zu -> s%zu%s;\n", e->from, e->to, style);
	}
	fprintf(to, "}\n");
}
