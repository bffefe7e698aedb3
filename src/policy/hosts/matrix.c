/*
 * matrix.c - Ousterhout's matrix algorithm, as Schnor 1997 §2.1.4 has it
 *
 * Rows are time slots, columns are hosts.  An arriving job takes the lowest empty
 * columns of the first row that has enough of them, else of a new row, and stays there.
 * Rows take turns.  Columns that are idle in the current row are lent to jobs of other
 * rows all of whose columns are idle (alternate selection). A pass costs O(rows x hosts
 * + jobs).
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/xalloc.h"
#include "policy/hosts/slices.h"

struct entry {
	struct job *job;
	uint32_t *cols; /* its columns, job->size of them */
	bool chosen;	/* during a pass: it runs after it */
};

struct row {
	struct entry *entry;
	size_t nr, cap;
	bool *used; /* by column: has a job of this row got it? */
};

struct policy_matrix {
	struct policy base;
	struct slices slices;
	uint32_t nr_cols;
	struct row *row;
	size_t nr_rows, cap_rows;
	/* the row whose slot it is; -1: that row is gone, and row 0 is next */
	int64_t turn;
	bool *busy; /* by column, during a pass */
};

REASON(why_row, "it is the turn of its row {row} of {rows}", row, rows);
REASON(why_alternate,
       "alternate selection: its {hosts} {hosts:host is|hosts are} idle in "
       "this slice",
       hosts);
REASON(why_out, "the time slot of its row is over");
REASON(why_wait, "its row, {row} of {rows}, has its turn later", row, rows);

static const struct param params[] = { SLICES_PARAMS, { NULL } };

static int matrix_create(const struct policy_setup *setup, struct policy **ret,
			 struct error *err)
{
	struct policy_matrix *p = xcalloc(1, sizeof(*p));

	(void)err;
	slices_init(&p->slices, setup->params);
	p->turn = -1;
	p->nr_cols = setup->view->nr_hosts;
	p->busy = xcalloc(p->nr_cols, sizeof(*p->busy));
	*ret = &p->base;
	return 0;
}

static uint32_t room_in(const struct policy_matrix *p, const struct row *row)
{
	uint32_t n = 0;

	for (uint32_t c = 0; c < p->nr_cols; c++)
		n += !row->used[c];
	return n;
}

static struct row *add_row(struct policy_matrix *p)
{
	struct row *row;

	array_room(p->row, p->nr_rows, &p->cap_rows);
	row = &p->row[p->nr_rows++];
	*row = (struct row){ .used = xcalloc(p->nr_cols, sizeof(bool)) };
	return row;
}

/*
 * Are the job's columns empty in that row, or if it has none yet, are there enough
 * empty ones?
 */
static bool takes(const struct policy_matrix *p, const struct row *row,
		  const struct job *job)
{
	if (!job->hosts)
		return room_in(p, row) >= job->size;
	for (uint32_t r = 0; r < job->size; r++)
		if (row->used[job->hosts[r]])
			return false;
	return true;
}

/*
 * Put a job into a row.  One that has hosts already ran before this policy was made,
 * and keeps them.
 */
static void put_job(struct policy_matrix *p, struct job *job)
{
	struct row *row = p->row, *end = row ? row + p->nr_rows : row;
	struct entry *e;
	uint32_t c = 0;

	while (row < end && !takes(p, row, job))
		row++;
	if (row == end)
		row = add_row(p);
	array_room(row->entry, row->nr, &row->cap);
	e = &row->entry[row->nr++];
	*e = (struct entry){ .job = job,
			     .cols = xcalloc(job->size, sizeof(uint32_t)) };
	for (uint32_t r = 0; r < job->size; r++) {
		while (!job->hosts && row->used[c])
			c++;
		e->cols[r] = job->hosts ? job->hosts[r] : c;
		row->used[e->cols[r]] = true;
	}
}

static void drop_row(struct policy_matrix *p, size_t i)
{
	free(p->row[i].entry);
	free(p->row[i].used);
	p->nr_rows--;
	memmove(&p->row[i], &p->row[i + 1], (p->nr_rows - i) * sizeof(*p->row));
	/*
	 * The following rows move up, so the row behind this one still has the
	 * next turn.
	 */
	if ((int64_t)i <= p->turn)
		p->turn--;
}

static void drop_entry(struct row *row, struct entry *e)
{
	for (uint32_t r = 0; r < e->job->size; r++)
		row->used[e->cols[r]] = false;
	free(e->cols);
	row->nr--;
	memmove(e, e + 1, (row->entry + row->nr - e) * sizeof(*e));
}

static struct entry *find_entry(struct policy_matrix *p, const struct job *job,
				size_t *ret_row)
{
	for (size_t i = 0; i < p->nr_rows; i++)
		for (size_t k = 0; k < p->row[i].nr; k++)
			if (p->row[i].entry[k].job == job) {
				*ret_row = i;
				return &p->row[i].entry[k];
			}
	return NULL;
}

static void matrix_event(struct policy *policy, const struct view *view,
			 const struct event *event)
{
	struct policy_matrix *p = (struct policy_matrix *)policy;
	struct entry *e;
	size_t row;

	(void)view;
	switch (event->type) {
	case EVENT_ARRIVE:
		put_job(p, event->job);
		break;
	case EVENT_END:
		e = find_entry(p, event->job, &row);
		drop_entry(&p->row[row], e);
		if (!p->row[row].nr)
			drop_row(p, row);
		break;
	default:
		break;
	}
}

static bool fits(const struct policy_matrix *p, const struct view *view,
		 const struct entry *e)
{
	for (uint32_t r = 0; r < e->job->size; r++)
		if (p->busy[e->cols[r]] ||
		    !host_takes(&view->hosts[e->cols[r]], e->job))
			return false;
	return true;
}

static void occupy(struct policy_matrix *p, const struct entry *e)
{
	for (uint32_t r = 0; r < e->job->size; r++)
		p->busy[e->cols[r]] = true;
}

static void choose_row(struct policy_matrix *p, struct entry *e)
{
	e->chosen = true;
	occupy(p, e);
}

/*
 * Choose the jobs that run until the slot ends: those that keep running, those of the
 * current row, and then those of the rows after it in turn, so that no row is always
 * favoured.
 */
static void choose_jobs(struct policy_matrix *p, const struct view *view,
			bool new_slot)
{
	size_t n = p->nr_rows, lent = p->slices.alternate ? n : 1;

	memset(p->busy, 0, p->nr_cols * sizeof(*p->busy));
	for (size_t k = 0; k < n; k++)
		for (size_t i = 0; i < p->row[k].nr; i++) {
			struct entry *e = &p->row[k].entry[i];

			e->chosen = false;
			if (!new_slot && slices_keeps(view, e->job))
				choose_row(p, e);
		}
	for (size_t k = 0; k < lent; k++) {
		struct row *row = &p->row[(p->turn + (int64_t)(n + k)) % n];

		for (size_t i = 0; i < row->nr; i++)
			if (!row->entry[i].chosen &&
			    fits(p, view, &row->entry[i]))
				choose_row(p, &row->entry[i]);
	}
}

static void go(struct policy_matrix *p, struct entry *e, int64_t row,
	       struct plan *plan)
{
	struct because why =
		row == p->turn ? BECAUSE(why_row, .row = row + 1,
					 .rows = (int64_t)p->nr_rows)
			       : BECAUSE(why_alternate, .hosts = e->job->size);
	uint32_t *hosts;

	if (e->job->state == JOB_SUSPENDED) {
		plan_resume(plan, e->job, NULL, why);
	} else if (e->job->state == JOB_WAITING) {
		hosts = plan_hosts(plan, e->job->size);
		memcpy(hosts, e->cols, e->job->size * sizeof(*hosts));
		plan_start_on(plan, e->job, e->job->size, hosts, why);
	}
}

static void plan_slot(struct policy_matrix *p, const struct view *view,
		      struct plan *plan)
{
	for (size_t k = 0; k < p->nr_rows; k++)
		for (size_t i = 0; i < p->row[k].nr; i++) {
			const struct entry *e = &p->row[k].entry[i];

			if (!e->chosen && slices_keeps(view, e->job))
				plan_suspend(plan, e->job, BECAUSE(why_out));
		}
	for (size_t k = 0; k < p->nr_rows; k++)
		for (size_t i = 0; i < p->row[k].nr; i++)
			if (p->row[k].entry[i].chosen)
				go(p, &p->row[k].entry[i], (int64_t)k, plan);
}

static void matrix_decide(struct policy *policy, const struct view *view,
			  struct plan *plan)
{
	struct policy_matrix *p = (struct policy_matrix *)policy;
	bool new_slot;

	if (!p->nr_rows) {
		p->turn = -1;
		slices_stop(&p->slices, view);
		return;
	}
	slices_cut(&p->slices, view, plan);
	slices_give_way(view, plan);
	new_slot = slices_over(&p->slices, view);
	if (!new_slot && !slices_lend(&p->slices, view))
		return;
	if (new_slot) {
		p->turn = (p->turn + 1) % (int64_t)p->nr_rows;
		slices_next(&p->slices, view, plan);
	}
	choose_jobs(p, view, new_slot);
	plan_slot(p, view, plan);
}

static void matrix_explain(const struct policy *policy, const struct view *view,
			   const struct job *job, struct plan *plan)
{
	struct policy_matrix *p = (struct policy_matrix *)policy;
	size_t row = 0;

	(void)view;
	find_entry(p, job, &row);
	plan_defer(plan, job,
		   BECAUSE(why_wait, .row = (int64_t)row + 1,
			   .rows = (int64_t)p->nr_rows));
}

/* Saved: whose turn it is and until when, then one line per job: row, id, columns. */
static void matrix_save(const struct policy *policy, const struct view *view,
			FILE *to)
{
	const struct policy_matrix *p = (const struct policy_matrix *)policy;

	fprintf(to, "%" PRId64 " %" PRId64 "\n", p->turn, p->slices.end);
	for (size_t k = 0; k < p->nr_rows; k++)
		for (size_t i = 0; i < p->row[k].nr; i++) {
			const struct entry *e = &p->row[k].entry[i];

			fprintf(to, "%zu %" PRId64, k, e->job->id);
			for (uint32_t r = 0; r < e->job->size; r++)
				fprintf(to, " %" PRIu32, e->cols[r]);
			fputc('\n', to);
		}
}

static void free_rows(struct row *row, size_t nr)
{
	for (size_t k = 0; k < nr; k++) {
		for (size_t i = 0; i < row[k].nr; i++)
			free(row[k].entry[i].cols);
		free(row[k].entry);
		free(row[k].used);
	}
	free(row);
}

/* Read job->size columns from *text on; NULL unless all are empty in the row. */
static uint32_t *load_columns(const struct policy_matrix *p,
			      const struct row *row, const struct job *job,
			      const char *text)
{
	uint32_t *cols = xcalloc(job->size, sizeof(*cols));
	bool *used = xcalloc(p->nr_cols, sizeof(*used));
	bool good = true;
	int n = 0;

	for (uint32_t r = 0; r < job->size && good; r++, text += n) {
		good = sscanf(text, " %" SCNu32 "%n", &cols[r], &n) == 1 &&
		       cols[r] < p->nr_cols && !row->used[cols[r]] &&
		       !used[cols[r]];
		if (good)
			used[cols[r]] = true;
	}
	free(used);
	if (good)
		return cols;
	free(cols);
	return NULL;
}

/* Read one line; the place of a job that has gone meanwhile stays empty. */
static bool load_entry(struct policy_matrix *p, const struct view *view,
		       const char *line)
{
	uint32_t *cols;
	struct job *job;
	struct row *row;
	size_t k;
	int64_t id;
	int n;

	if (sscanf(line, "%zu %" SCNd64 "%n", &k, &id, &n) != 2 ||
	    k > p->nr_rows)
		return false;
	if (k == p->nr_rows)
		add_row(p);
	job = view_find_job(view, id);
	if (!job)
		return true;
	if (find_entry(p, job, &(size_t){ 0 }))
		return false;
	row = &p->row[k];
	cols = load_columns(p, row, job, line + n);
	if (!cols)
		return false;
	array_room(row->entry, row->nr, &row->cap);
	row->entry[row->nr++] = (struct entry){ .job = job, .cols = cols };
	for (uint32_t r = 0; r < job->size; r++)
		row->used[cols[r]] = true;
	return true;
}

/* Put jobs that had no line where there is room, and drop empty rows. */
static void complete(struct policy_matrix *p, const struct view *view)
{
	struct job *job;
	size_t row;

	for_each_running(job, view) if (!find_entry(p, job, &row))
		put_job(p, job);
	for_each_waiting(job, view) if (!find_entry(p, job, &row))
		put_job(p, job);
	for (size_t k = p->nr_rows; k-- > 0;)
		if (!p->row[k].nr)
			drop_row(p, k);
}

static int matrix_load(struct policy *policy, const struct view *view,
		       const char *text, struct error *err)
{
	struct policy_matrix *p = (struct policy_matrix *)policy;
	struct policy_matrix was = *p;
	usec_t end;
	int n;

	if (sscanf(text, "%" SCNd64 " %" SCNd64 "\n%n", &p->turn, &end, &n) !=
	    2)
		return policy_damaged(policy, text, err);
	p->row = NULL;
	p->nr_rows = p->cap_rows = 0;
	for (text += n; *text; text += strcspn(text, "\n") + 1)
		if (!load_entry(p, view, text)) {
			free_rows(p->row, p->nr_rows);
			*p = was;
			return policy_damaged(policy, text, err);
		}
	free_rows(was.row, was.nr_rows);
	complete(p, view);
	if (p->turn < -1 || p->turn >= (int64_t)p->nr_rows)
		p->turn = -1;
	slices_resume(&p->slices, end);
	return 0;
}

static void matrix_destroy(struct policy *policy)
{
	struct policy_matrix *p = (struct policy_matrix *)policy;

	free_rows(p->row, p->nr_rows);
	free(p->busy);
	free(p);
}

const struct policy_ops policy_matrix = {
	.name = "matrix",
	.summary = "Ousterhout's matrix: fixed places, rows in turn",
	.source = "Schnor 1997 section 2.1.4 (Ousterhout 1982)",
	.details =
		"An arriving job takes the lowest empty columns of the first "
		"row that has enough, else of a new row, and keeps them. Rows "
		"take turns of one slice; columns idle in the present row are "
		"lent to jobs of the following rows that fit in their own. A job "
		"on a host that its owner wants back stands still at once; on "
		"hosts of its own user it is no guest. A "
		"pass costs O(rows x hosts + jobs).",
	.params = params,
	.flags = POLICY_HOSTS | POLICY_SLICES,
	.create = matrix_create,
	.event = matrix_event,
	.decide = matrix_decide,
	.explain = matrix_explain,
	.most = slices_most,
	.save = matrix_save,
	.load = matrix_load,
	.destroy = matrix_destroy,
};
