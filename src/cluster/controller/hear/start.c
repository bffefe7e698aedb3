/*
 * start.c - START, the largest of what keepers are told, and agents
 * whose connection is full
 *
 * A connection whose queue overflows ends, and a host's agent has one for the
 * ranks of all users.  So what one user can make us say without end waits until
 * there is room.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cluster/controller/state/state.h"

#include "cluster/controller/hear/hear.h"
#include "cluster/controller/job/job.h"
#include "cluster/controller/keepers/keepers.h"
#include "cluster/controller/state/find.h"
#include "cluster/controller/state/say.h"
#include "cluster/controller/users/users.h"

/* of arguments in one START */
enum { PIECE = 96 << 10 };

/* As many of list[*at...] as fit beside `bytes` into one packet. */
static size_t take_some(char **list, size_t n, size_t *at, size_t *bytes,
			char ***ret)
{
	size_t first = *at;

	*ret = list + first;
	while (*at < n && *bytes < PIECE)
		*bytes += strlen(list[(*at)++]) + 8;
	return *at - first;
}

void klink_cannot_start(struct klink *k, int code, const char *why)
{
	struct ctl_rank *r = klink_rank(k);

	ctl_job_fail(r->job, r->rank, code, "rank %u on %s: %s", r->rank,
		     k->host->name, why);
	ctl_rank_ended(r, code, 0);
	klink_kill(k);
}

void klink_send_start(struct klink *k)
{
	struct ctl_rank *r = klink_rank(k);
	Control__Submit *s = r->job->spec;
	Keeper__Capsule capsule;
	size_t argv = 0, env = 0, bytes;
	Keeper__Pmi pmi = KEEPER__PMI__INIT;
	Keeper__Start start = KEEPER__START__INIT;
	char kvsname[40];
	struct error err;

	k->start_late = !klink_has_room(k);
	if (k->start_late)
		return;
	if (ctl_user_starts(r->job, &err) < 0) {
		klink_cannot_start(k, 126, err.text);
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
	do {
		bytes = 0;
		start.n_argv = take_some(s->argv, s->n_argv, &argv, &bytes,
					 &start.argv);
		start.n_env =
			take_some(s->env, s->n_env, &env, &bytes, &start.env);
		start.more = argv < s->n_argv || env < s->n_env;
		klink_request(k, KEEPER__REQUEST__BODY_START, &start);
	} while (start.more);
	k->start_sent = true;
	klink_capsule_clear(&capsule);
}
