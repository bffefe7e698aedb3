/*
 * controller_full.c - START, the largest of what keepers are told, and agents
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

enum {
	PIECE = 96 << 10,     /* of arguments in one START */
	AGENT_FULL = 4 << 20, /* with a union (PMI_UNION_MAX) or a START on
				  top it is below CONN_QUEUE_MAX */
};

bool klink_has_room(const struct klink *k)
{
	const struct ctl_peer *agent = k->host->agent;

	return !agent || conn_queued(agent->conn) < AGENT_FULL;
}

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

/* What had to wait goes out, as far as it does. */
static void send_late(struct klink *k)
{
	struct ctl_job *job = k->job;

	if (!job || !k->heard || klink_is_doomed(k))
		return;
	if (k->start_late && klink_is_current(k))
		klink_send_start(k);
	if (k->release_late)
		ctl_pmi_late(k);
	if (job->stdin_late && !k->rank && klink_is_current(k))
		klink_stdin_room(job);
}

void klinks_drained(struct ctl_host *h)
{
	struct klink *k, *next;

	for (k = TAILQ_FIRST(&h->ctl->klinks); k && h->agent; k = next) {
		next = TAILQ_NEXT(k, link);
		if (k->host == h)
			send_late(k);
	}
}
