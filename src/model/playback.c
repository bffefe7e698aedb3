/* playback.c - a record, line by line, see playback.h */
#include "model/playback.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/io.h"
#include "core/xalloc.h"

struct reader {
	struct playback *p;
	struct record_line l;
	bool begun;
	struct host *define; /* of a begin */
	uint32_t nr, defined;
	char *policy;
	uint64_t seed;
	usec_t at;
	char **name; /* of all hosts there were, for the views */
	size_t nr_names, cap_names;
	char **plan; /* of a pass */
	uint32_t wanted, nr_plan;
	size_t cap_plan, pass_line;
	char *last; /* copy of the last event's line */
};

#define TELL(r, what, ...)                                                    \
	((r)->p->ops->what                                                    \
		 ? (r)->p->ops->what((r)->p->ctx, &(r)->p->view, __VA_ARGS__) \
		 : 0)

/* ---- a begin and its hosts ---- */

static int begin_done(struct reader *r, struct error *err)
{
	view_init_hosts(&r->p->view, r->define, r->nr);
	r->p->view.now = r->at;
	r->begun = true;
	free(r->define);
	r->define = NULL;
	return TELL(r, begin, r->policy, r->seed, err);
}

static int on_begin(struct reader *r, struct error *err)
{
	if (r->begun)
		view_clear(&r->p->view);
	r->begun = false;
	r->nr = r->l.n;
	r->defined = 0;
	r->at = r->l.at;
	r->seed = r->l.seed;
	free(r->policy);
	r->policy = xstrdup(r->l.text);
	free(r->define);
	r->define = xcalloc(r->nr + 1, sizeof(*r->define));
	return r->nr ? 0 : begin_done(r, err);
}

static int on_define(struct reader *r, struct error *err)
{
	struct host *h;

	if (!r->define || r->l.host != r->defined)
		return error_set(err, -EINVAL,
				 "host %" PRIu32 " is out of order", r->l.host);
	h = &r->define[r->defined++];
	record_host(&r->l, h);
	array_room(r->name, r->nr_names, &r->cap_names);
	h->name = r->name[r->nr_names++] = xstrdup(r->l.text);
	return r->defined == r->nr ? begin_done(r, err) : 0;
}

/* ---- events ---- */

static struct job *make_job(struct view *view, const struct record_line *l)
{
	struct job *job = view_job_create(view);

	job->id = l->job;
	job->size = l->asked.size;
	job->min_size = l->asked.min_size;
	job->kind = job->min_size < job->size ? JOB_MOLDABLE : JOB_RIGID;
	job->submit = l->asked.submit;
	job->estimate = l->asked.estimate;
	job->user = l->asked.user;
	job->requeue = l->asked.requeue;
	return job;
}

static int check_pairs(const struct record_line *l, const struct job *job,
		       struct error *err)
{
	for (uint32_t i = 0; i < l->n; i++)
		if (l->talk[i].b >= job->size)
			return error_set(err, -EINVAL,
					 "job %" PRId64 " has no rank %" PRIu32,
					 l->job, l->talk[i].b);
	return 0;
}

static int check_job(const struct record_line *l, const struct job *job,
		     const struct view *view, struct error *err)
{
	if (l->type == EVENT_ARRIVE) {
		if (job)
			return error_set(err, -EINVAL,
					 "job %" PRId64 " is there already",
					 l->job);
		return 0;
	}
	if (!job)
		return error_set(err, -EINVAL, "there is no job %" PRId64,
				 l->job);
	if (l->type == EVENT_START &&
	    (job->state != JOB_WAITING || l->n < job->min_size ||
	     l->n > job->size))
		return error_set(err, -EINVAL,
				 "job %" PRId64 " cannot start on %" PRIu32
				 " processors now",
				 l->job, l->n);
	if (l->type == EVENT_MIGRATE &&
	    (job->state == JOB_WAITING || l->rank >= job->n ||
	     l->host >= view->nr_hosts))
		return error_set(err, -EINVAL,
				 "job %" PRId64
				 " has no such rank, or there is "
				 "no such host",
				 l->job);
	if ((l->type == EVENT_FREEZE || l->type == EVENT_THAW) &&
	    (job->state == JOB_WAITING || l->rank >= job->n ||
	     job_rank_frozen(job, l->rank) != (l->type == EVENT_THAW)))
		return error_set(err, -EINVAL,
				 "job %" PRId64
				 " has no such rank to freeze or thaw",
				 l->job);
	if (l->type == EVENT_TALK)
		return check_pairs(l, job, err);
	for (uint32_t i = 0; i < l->n; i++)
		if (l->on[i] >= view->nr_hosts)
			return error_set(err, -EINVAL, "no host %" PRIu32,
					 l->on[i]);
	return 0;
}

static int check_host(const struct record_line *l, const struct view *view,
		      struct error *err)
{
	if (l->host >= view->nr_hosts)
		return error_set(err, -EINVAL, "no host %" PRIu32, l->host);
	if (l->type == EVENT_RELEASE && !view->hosts[l->host].reserved)
		return error_set(err, -EINVAL, "host %" PRIu32 " is not held",
				 l->host);
	return 0;
}

static int play(struct reader *r, const struct event *e, struct error *err)
{
	struct view *view = &r->p->view;
	int k = TELL(r, before, e, r->l.told, err);

	if (k)
		return k;
	model_apply(view, e);
	k = TELL(r, event, e, r->l.told, err);
	if (e->type == EVENT_END)
		view_job_destroy(view, e->job);
	return k;
}

static int on_event(struct reader *r, struct error *err)
{
	const struct record_line *l = &r->l;
	struct view *view = &r->p->view;
	struct job *job = l->job ? view_find_job(view, l->job) : NULL;
	struct host fresh;
	struct event e = { .type = l->type,
			   .at = l->at,
			   .n = l->n,
			   .hosts =
				   l->n && l->type != EVENT_TALK ? l->on : NULL,
			   .talk = l->talk,
			   .rank = l->rank,
			   .host = l->host,
			   .cost = l->cost,
			   .refused = l->refused,
			   .untried = l->untried,
			   .seen = l->seen,
			   .bytes = l->bytes,
			   .outcome = l->outcome };
	int k = 0;

	if (l->at < view->now)
		return error_set(err, -EINVAL, "time goes backwards");
	if (l->job)
		k = check_job(l, job, view, err);
	else if (l->type != EVENT_TIMER)
		k = check_host(l, view, err);
	if (k)
		return k;
	e.job = l->type == EVENT_ARRIVE ? make_job(view, l) : job;
	if (l->type == EVENT_HOST) {
		fresh = view->hosts[l->host];
		record_host(l, &fresh);
		e.fresh = &fresh;
	}
	return play(r, &e, err);
}

/* ---- passes ---- */

static int pass_done(struct reader *r, struct error *err)
{
	size_t line = r->p->line;
	int k;

	r->wanted = UINT32_MAX;
	r->p->line = r->pass_line;
	k = TELL(r, pass, r->plan, r->nr_plan, err);
	if (k >= 0)
		r->p->line = k ? r->pass_line : line;
	return k;
}

static int on_pass(struct reader *r, struct error *err)
{
	if (r->l.at < r->p->view.now)
		return error_set(err, -EINVAL, "time goes backwards");
	r->p->view.now = r->l.at;
	r->wanted = r->l.n;
	r->nr_plan = 0;
	r->pass_line = r->p->line;
	return r->wanted ? 0 : pass_done(r, err);
}

static int on_plan(struct reader *r, struct error *err)
{
	if (r->wanted == UINT32_MAX)
		return error_set(err, -EINVAL,
				 "a line of a plan that no pass counts");
	array_room(r->plan, r->nr_plan, &r->cap_plan);
	r->plan[r->nr_plan++] = r->l.text;
	return r->nr_plan == r->wanted ? pass_done(r, err) : 0;
}

/* ---- lines ---- */

static int dispatch(struct reader *r, struct error *err)
{
	enum record_kind kind = r->l.kind;

	if (kind == RECORD_NONE)
		return 0;
	if (r->wanted != UINT32_MAX && kind != RECORD_PLAN)
		return error_set(err, -EINVAL,
				 "lines of the plan are missing before it");
	if (kind == RECORD_BEGIN)
		return on_begin(r, err);
	if (kind == RECORD_DEFINE)
		return on_define(r, err);
	if (!r->begun)
		return error_set(err, -EINVAL,
				 "no begin, or not all its "
				 "hosts, come before it");
	if (kind == RECORD_EVENT)
		return on_event(r, err);
	if (kind == RECORD_STATE)
		return TELL(r, state, r->l.text, err);
	return kind == RECORD_PASS ? on_pass(r, err) : on_plan(r, err);
}

static int on_line(struct reader *r, char *line, struct error *err)
{
	char *copy = xstrdup(line);
	int k = record_line_parse(line, &r->l, err);

	if (!k)
		k = dispatch(r, err);
	if (!k && r->l.kind == RECORD_EVENT) {
		free(r->last);
		r->p->last = r->last = copy;
	} else {
		free(copy);
	}
	return k < 0 ? error_prefix(err, k, "%s:%zu", r->p->name, r->p->line)
		     : k;
}

static int on_end(struct reader *r, struct error *err)
{
	int k;

	if (!r->begun)
		return error_set(err, -EINVAL, "%s: nothing is recorded in it",
				 r->p->name);
	if (r->wanted != UINT32_MAX)
		return error_set(err, -EINVAL,
				 "%s: it is cut off within a plan", r->p->name);
	k = r->p->ops->end ? r->p->ops->end(r->p->ctx, &r->p->view, err) : 0;
	return k < 0 ? error_prefix(err, k, "%s:%zu", r->p->name, r->p->line)
		     : k;
}

static void reader_clear(struct reader *r)
{
	if (r->begun)
		view_clear(&r->p->view);
	for (size_t i = 0; i < r->nr_names; i++)
		free(r->name[i]);
	free(r->name);
	free(r->define);
	free(r->policy);
	free(r->plan);
	record_line_clear(&r->l);
}

static bool is_header(const char *line)
{
	static const char *const all[] = { RECORD_HEADER,   RECORD_HEADER_5,
					   RECORD_HEADER_4, RECORD_HEADER_3,
					   RECORD_HEADER_2, RECORD_HEADER_1 };

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (!strcmp(line, all[i]))
			return true;
	return false;
}

int playback_run(struct playback *p, char *text, size_t size, struct error *err)
{
	struct reader r = { .p = p, .wanted = UINT32_MAX };
	char *rest = text, *line;
	int k = io_check_text(text, size, p->name, err);

	p->last = "";
	if (k < 0)
		return k;
	line = strsep(&rest, "\n");
	p->line = 1;
	if (!is_header(line))
		return error_set(
			err, -EINVAL,
			"%s:1: this is not a record of this version: it "
			"should begin with '" RECORD_HEADER
			"', as `stint record` writes it",
			p->name);
	while (!k && (line = strsep(&rest, "\n"))) {
		p->line++;
		k = on_line(&r, line, err);
	}
	if (!k)
		k = on_end(&r, err);
	reader_clear(&r);
	free(r.last);
	p->last = "";
	return k;
}
