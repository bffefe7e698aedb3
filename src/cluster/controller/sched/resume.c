/*
 * resume.c - restore what the policy remembered when the controller ended
 *
 * A policy's own state is not stored.  It follows from the events and questions in the
 * record (record.c): a new policy is played the last segment, and what it then saves is
 * loaded into the policy that takes over.  A policy that remembers nothing, or has no
 * record, begins with what the view shows.
 */
#include <stdlib.h>
#include <string.h>

#include "cluster/controller/sched/priv.h"
#include "cluster/controller/state/state.h"
#include "core/log.h"
#include "core/xalloc.h"
#include "model/playback.h"

struct resume {
	/* name and parameters of the policy that takes over */
	const char *spec;
	struct policy *policy;
	struct plan plan;
	char *state;
};

static int on_begin(void *ctx, const struct view *view, const char *policy,
		    uint64_t seed, struct error *err)
{
	struct resume *r = ctx;

	/* What another policy remembered is of no use. */
	if (strcmp(policy, r->spec))
		return 1;
	return policy_create(policy, seed, view, &r->policy, err);
}

static int on_event(void *ctx, const struct view *view, const struct event *e,
		    bool told, struct error *err)
{
	struct resume *r = ctx;

	if (told)
		policy_event(r->policy, view, e);
	return 0;
}

static int on_state(void *ctx, const struct view *view, const char *text,
		    struct error *err)
{
	return policy_load(((struct resume *)ctx)->policy, view, text, err);
}

static int on_pass(void *ctx, const struct view *view, char *const *live,
		   uint32_t nr, struct error *err)
{
	struct resume *r = ctx;

	plan_reset(&r->plan, view);
	policy_decide(r->policy, view, &r->plan);
	return 0;
}

static int on_end(void *ctx, const struct view *view, struct error *err)
{
	struct resume *r = ctx;

	r->state = policy_save(r->policy, view);
	return 0;
}

static bool find_begin(void *arg, const struct store_line *row)
{
	if (row->begin)
		*(uint64_t *)arg = row->seq;
	return true;
}

static bool add_line(void *arg, const struct store_line *row)
{
	fprintf(arg, "%s\n", row->line);
	return true;
}

/* The lines of the last segment; NULL if there are none. */
static char *last_segment(struct store *store, size_t *ret_size)
{
	uint64_t first = 0, last, begin = 0;
	char *text = NULL;
	FILE *f;

	store_lines(store, &first, &last);
	if (first)
		store_each_line(store, first, 0, find_begin, &begin);
	if (!begin)
		return NULL;
	f = xmemstream(&text, ret_size);
	fputs(RECORD_HEADER "\n", f);
	store_each_line(store, begin, 0, add_line, f);
	fclose(f);
	return text;
}

char *ctl_resume(struct ctl *ctl)
{
	static const struct playback_ops ops = {
		.begin = on_begin,
		.event = on_event,
		.state = on_state,
		.pass = on_pass,
		.end = on_end,
	};
	struct resume r = { .spec = ctl->conf->policy };
	struct playback play = { .ops = &ops, .ctx = &r, .name = "record" };
	struct error err;
	size_t size;
	char *text;

	if (!policy_remembers(r.spec))
		return NULL;
	text = last_segment(ctl->store, &size);
	if (text && playback_run(&play, text, size, &err) < 0)
		log_warnx("policy=%s remembers=nothing why=\"%s\"", r.spec,
			  err.text);
	free(text);
	policy_destroy(r.policy);
	plan_clear(&r.plan);
	return r.state;
}
