/*
 * start.c - send START, the largest message to keepers, in pieces as the agent's
 * connection has room
 *
 * A connection whose queue overflows is closed, and a host's agent has one connection
 * for the ranks of all users.  So messages of which one user can cause any number wait
 * until there is room.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "cluster/controller/state/state.h"

#include "cluster/controller/hear/hear.h"
#include "cluster/controller/job/job.h"
#include "cluster/controller/keepers/keepers.h"
#include "cluster/controller/state/find.h"
#include "cluster/controller/state/job.h"
#include "cluster/controller/state/say.h"
#include "cluster/controller/users/users.h"
#include "core/pattern.h"
#include "core/xalloc.h"

/*
 * Bytes of arguments in one START, unless it has a single argument (ARGUMENT_MAX). With
 * the rest of the message that is less than 192 KiB: agents and keepers drop longer
 * messages, and the rank would never start.
 */
enum { PIECE = 96 << 10 };

/* Count how many of list[*at...] fit into one packet that has `bytes` already. */
static size_t take_some(char **list, size_t n, size_t *at, size_t *bytes,
			char ***ret)
{
	size_t first = *at;

	*ret = list + first;
	for (; *at < n; ++*at) {
		size_t size = strlen(list[*at]) + 8;

		if (*bytes && *bytes + size > PIECE)
			break;
		*bytes += size;
	}
	return *at - first;
}

void klink_cannot_start(struct klink *k, int code, const char *why)
{
	struct ctl_rank *r = klink_rank(k);

	ctl_job_set_reason(r->job, ENDED(NOT_STARTED), k->host->name);
	ctl_job_fail(r->job, r->rank, code, "rank %u on %s: %s", r->rank,
		     k->host->name, why);
	ctl_rank_ended(r, code, 0);
	klink_kill(k);
}

/* ---- what goes with it ---- */

struct extras {
	Keeper__OutputFile file[2];
	Keeper__ResourceLimit *limits, **list;
};

/* The file that a stream goes to, if the user has named one. */
static int put_file(const struct klink *k, const char *pattern,
		    Keeper__OutputFile *file, Keeper__OutputFile **ret,
		    struct error *err)
{
	const Control__Submit *s = k->job->spec;
	struct pattern_values v = { .job = k->job_id,
				    .array = s->array,
				    .task = s->task,
				    .rank = k->rank,
				    .name = ctl_job_name(k->job),
				    .host = k->host->name };
	int r;

	keeper__output_file__init(file);
	if (!*pattern)
		return 0;
	r = pattern_expand(pattern, &v, &file->folder, &file->path, err);
	if (!r)
		*ret = file;
	return r;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static void put_limit(struct extras *x, Keeper__Start *start, uint32_t resource,
		      uint64_t soft, uint64_t hard)
{
	Keeper__ResourceLimit *l = &x->limits[start->n_limits];

	keeper__resource_limit__init(l);
	l->resource = resource;
	l->soft = soft;
	l->hard = hard;
	x->list[start->n_limits++] = l;
}

static void put_limits(const Control__Submit *s, struct extras *x,
		       Keeper__Start *start)
{
	uint64_t most = s->output_max ? s->output_max : UINT64_MAX;

	x->limits = xcalloc(s->n_limits + 1, sizeof(*x->limits));
	x->list = xcalloc(s->n_limits + 1, sizeof(*x->list));
	start->umask = s->umask;
	start->limits = x->list;
	if (s->output_max)
		put_limit(x, start, RLIMIT_FSIZE, most, most);
	for (size_t i = 0; i < s->n_limits; i++) {
		const Control__ResourceLimit *l = s->limits[i];
		bool file = l->resource == RLIMIT_FSIZE;

		put_limit(x, start, l->resource,
			  file ? least(l->soft, most) : l->soft,
			  file ? least(l->hard, most) : l->hard);
	}
}

static int put_extras(const struct klink *k, struct extras *x,
		      Keeper__Start *start, struct error *err)
{
	const Control__Submit *s = k->job->spec;
	int r = put_file(k, s->output, &x->file[0], &start->output, err);

	put_limits(s, x, start);
	return r ? r : put_file(k, s->error, &x->file[1], &start->error, err);
}

static void extras_clear(struct extras *x)
{
	for (int i = 0; i < 2; i++) {
		message_set_text(&x->file[i].folder, NULL);
		message_set_text(&x->file[i].path, NULL);
	}
	free(x->limits);
	free(x->list);
}

/* Arguments and environment may be larger than one message may be. */
static void send_in_parts(struct klink *k, const Control__Submit *s,
			  Keeper__Start *start)
{
	size_t argv = 0, env = 0;

	do {
		size_t bytes = 0;

		start->n_argv = take_some(s->argv, s->n_argv, &argv, &bytes,
					  &start->argv);
		start->n_env =
			take_some(s->env, s->n_env, &env, &bytes, &start->env);
		start->more = argv < s->n_argv || env < s->n_env;
		klink_request(k, KEEPER__REQUEST__BODY_START, start);
	} while (start->more);
}

void klink_send_start(struct klink *k)
{
	struct ctl_rank *r = klink_rank(k);
	Control__Submit *s = r->job->spec;
	Keeper__Capsule capsule;
	Keeper__Pmi pmi = KEEPER__PMI__INIT;
	Keeper__Start start = KEEPER__START__INIT;
	struct extras extras;
	char kvsname[40];
	struct error err;
	int code;

	k->start_late = !klink_has_room(k);
	if (k->start_late)
		return;
	code = ctl_user_starts(r->job, &err) < 0	  ? 126
	       : put_extras(k, &extras, &start, &err) < 0 ? 1
							  : 0;
	if (code) {
		klink_cannot_start(k, code, err.text);
		return;
	}
	klink_capsule(r, k->host, &capsule);
	snprintf(kvsname, sizeof(kvsname), "stint_%" PRIu64, r->job->id);
	pmi.size = r->job->nr;
	pmi.kvsname = kvsname;
	start.cwd = s->cwd;
	start.uid = s->uid;
	start.gid = s->gid;
	start.groups = s->groups;
	start.n_groups = s->n_groups;
	start.capsule = &capsule;
	start.pmi = &pmi;
	start.stdin_open = s->stdin_open && !r->rank;
	send_in_parts(k, s, &start);
	k->start_sent = true;
	klink_capsule_clear(&capsule);
	extras_clear(&extras);
}
