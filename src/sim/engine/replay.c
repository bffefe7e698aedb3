/* replay.c - live plans and replayed ones, see replay.h */
#include "sim/engine/replay.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/xalloc.h"
#include "model/playback.h"
#include "policy/policies.h"

struct replay {
	struct playback play;
	struct policy *policy;
	struct plan plan;
	int64_t *planned; /* jobs whose start the last plan has, not yet done */
	size_t nr_planned, cap_planned;
	struct replay_result result;
};

/* What was planned must have been done, or undone, before anything else. */
static int check_done(const struct replay *r, struct error *err)
{
	if (!r->nr_planned)
		return 0;
	return error_set(err, -EINVAL,
			 "job %" PRId64
			 " was planned to start, and before this "
			 "it neither started nor was requeued",
			 r->planned[0]);
}

static int on_begin(void *ctx, const struct view *view, const char *policy,
		    uint64_t seed, struct error *err)
{
	struct replay *r = ctx;
	int k = policy_check_live(policy, err);

	if (k < 0)
		return k;
	/* The controller may have been killed while it carried a plan out. */
	r->nr_planned = 0;
	policy_destroy(r->policy);
	r->policy = NULL;
	plan_clear(&r->plan);
	r->result.begins++;
	return policy_create(policy, seed, view, &r->policy, err);
}

/* Take job off those whose start is planned; false if it is not there. */
static bool take_planned(struct replay *r, int64_t id)
{
	for (size_t i = 0; i < r->nr_planned; i++)
		if (r->planned[i] == id) {
			r->nr_planned--;
			memmove(&r->planned[i], &r->planned[i + 1],
				(r->nr_planned - i) * sizeof(*r->planned));
			return true;
		}
	return false;
}

static int replay_before(void *ctx, const struct view *view,
			 const struct event *e, bool told, struct error *err)
{
	struct replay *r = ctx;
	bool planned = e->job && e->job->state == JOB_WAITING &&
		       (e->type == EVENT_START || e->type == EVENT_REQUEUE) &&
		       take_planned(r, e->job->id);

	(void)view;
	/*
	 * A start that the policy planned is recorded as not told to it, and
	 * any other as told.
	 */
	if (e->type == EVENT_START && planned == told)
		return error_set(err, -EINVAL,
				 "the start of job %" PRId64
				 " is %sin the plan "
				 "and said to be %s",
				 e->job->id, planned ? "" : "not ",
				 told ? "unplanned" : "planned");
	if (e->type == EVENT_REQUEUE && !planned &&
	    e->job->state == JOB_WAITING)
		return error_set(err, -EINVAL,
				 "job %" PRId64 " waits, and no plan starts it",
				 e->job->id);
	for (size_t i = 0; e->type == EVENT_END && i < r->nr_planned; i++)
		if (r->planned[i] == e->job->id)
			return check_done(r, err);
	return 0;
}

static int on_event(void *ctx, const struct view *view, const struct event *e,
		    bool told, struct error *err)
{
	struct replay *r = ctx;

	(void)err;
	r->result.events++;
	if (told)
		policy_event(r->policy, view, e);
	return 0;
}

static int on_state(void *ctx, const struct view *view, const char *text,
		    struct error *err)
{
	struct replay *r = ctx;

	return policy_load(r->policy, view, text, err);
}

static void print_plan(FILE *f, const char *whose, char *const *line, size_t nr)
{
	fprintf(f, "  %s%s\n", whose, nr ? "" : " nothing");
	for (size_t i = 0; i < nr; i++)
		fprintf(f, "    %s\n", line[i]);
}

static char *describe_difference(const struct replay *r,
				 const struct view *view, char *const *live,
				 uint32_t nr_live, char *const *ours, size_t nr)
{
	char *text;
	size_t size;
	FILE *f = xmemstream(&text, &size);

	fprintf(f,
		"%s:%zu: the plans differ at %" PRId64 ".%06" PRId64
		", %" PRIu64 " plans being equal before; the last event was\n"
		"    %s\n",
		r->play.name, r->play.line, view->now / USEC_PER_SEC,
		view->now % USEC_PER_SEC, r->result.plans, r->play.last);
	print_plan(f, "live:", live, nr_live);
	print_plan(f, "replayed:", ours, nr);
	fclose(f);
	return text;
}

/* The plan in words, a line each. */
static char **plan_lines(const struct replay *r, const struct view *view)
{
	char **line = xcalloc(r->plan.nr + 1, sizeof(*line));

	for (size_t i = 0; i < r->plan.nr; i++) {
		size_t size;
		FILE *f = xmemstream(&line[i], &size);

		record_planned(view, &r->plan.entry[i], f);
		fclose(f);
	}
	return line;
}

static bool equal(char *const *live, char *const *ours, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (!record_same_plan(live[i], ours[i]))
			return false;
	return true;
}

static void note_starts(struct replay *r)
{
	for (size_t i = 0; i < r->plan.nr; i++) {
		if (r->plan.entry[i].type != PLAN_START)
			continue;
		array_room(r->planned, r->nr_planned, &r->cap_planned);
		r->planned[r->nr_planned++] = r->plan.entry[i].job->id;
	}
}

static int on_pass(void *ctx, const struct view *view, char *const *live,
		   uint32_t nr, struct error *err)
{
	struct replay *r = ctx;
	char **ours;
	bool same;
	int k = check_done(r, err);

	if (k < 0)
		return k;
	plan_reset(&r->plan, view);
	policy_decide(r->policy, view, &r->plan);
	ours = plan_lines(r, view);
	same = nr == r->plan.nr && equal(live, ours, nr);
	if (!same)
		r->result.differs = describe_difference(r, view, live, nr, ours,
							r->plan.nr);
	for (size_t i = 0; i < r->plan.nr; i++)
		free(ours[i]);
	free(ours);
	if (!same)
		return 1;
	note_starts(r);
	r->result.plans++;
	r->result.entries += nr;
	return 0;
}

static int on_end(void *ctx, const struct view *view, struct error *err)
{
	(void)view;
	return check_done(ctx, err);
}

int replay_run(char *text, size_t size, const char *name,
	       struct replay_result *ret, struct error *err)
{
	static const struct playback_ops ops = {
		.begin = on_begin,
		.before = replay_before,
		.event = on_event,
		.state = on_state,
		.pass = on_pass,
		.end = on_end,
	};
	struct replay r = { .play = { .ops = &ops, .name = name } };
	int k;

	r.play.ctx = &r;
	k = playback_run(&r.play, text, size, err);
	policy_destroy(r.policy);
	plan_clear(&r.plan);
	free(r.planned);
	if (k < 0)
		return k;
	*ret = r.result;
	return 0;
}
