/*
 * user.c - as which user a job runs, and who may see what of it
 *
 * A client never says who it is: its key tells the user, and the user database of this
 * machine the ids and groups, which are looked up again at each start and landing.  What
 * it said at the user's last submit or start counts for 50 ms: to ask it is eighteen
 * system calls, and many come at once.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cluster/conn/keys.h"
#include "cluster/controller/state/job.h"
#include "cluster/controller/state/state.h"
#include "cluster/controller/users/users.h"
#include "core/clock.h"
#include "core/units.h"
#include "core/xalloc.h"

enum { KNOWN_FOR = 50 * USEC_PER_MSEC };

/* Who was checked last; id.name NULL: nobody. */
static struct {
	struct identity id;
	gid_t gid;
	usec_t at; /* CLOCK_MONOTONIC */
} known;

/* Takes the identity. */
static void know(const struct identity *id, gid_t gid)
{
	identity_clear(&known.id);
	known.id = *id;
	known.gid = gid;
	known.at = clock_usec(CLOCK_MONOTONIC);
}

static bool is_known(const Control__Submit *s)
{
	return known.id.name && !strcmp(known.id.name, s->user) &&
	       known.id.uid == s->uid && known.gid == s->gid &&
	       clock_usec(CLOCK_MONOTONIC) - known.at < KNOWN_FOR;
}

bool ctl_may(const struct ctl_peer *p, const struct ctl_job *job)
{
	return p->role == ROLE_ADMIN ||
	       (p->role == ROLE_USER && !strcmp(p->name, job->spec->user));
}

bool ctl_sees(const struct ctl_peer *p, const struct ctl_job *job)
{
	return p->ctl->conf->show_arguments || ctl_may(p, job);
}

const char *ctl_job_outside(const struct ctl_job *job)
{
	return !job->exit || !*job->why ? "" : "failed";
}

const char *ctl_log_text(const struct ctl *ctl, const char *text)
{
	return !*text || ctl->conf->show_arguments
		       ? text
		       : "hidden: show-arguments = own";
}

/* Find the user to whom the job would belong. */
static int find_user(const struct ctl_peer *p, uint32_t uid,
		     struct identity *ret, struct error *err)
{
	bool any = p->role == ROLE_ADMIN && p->ctl->conf->submit_as_others;
	int r = any ? identity_by_uid(uid, ret, err)
		    : identity_by_name(p->name, ret, err);

	if (r == -ENOENT && p->role == ROLE_ADMIN && !any)
		return error_set(
			err, -EPERM,
			"your key is admin/%s's, and there is no user "
			"%s: with admin-submits = others in [controller] it could submit jobs as any user",
			p->name, p->name);
	if (r < 0)
		return r;
	if (ret->uid == uid)
		return 0;
	identity_clear(ret);
	return error_set(err, -EPERM,
			 "your key is %s's, and uid %u is not that user",
			 p->name, uid);
}

static int check_user(const struct ctl *ctl, const struct identity *id,
		      gid_t gid, struct error *err)
{
	int r = identity_check_uid(id->uid, ctl->min_uid, "[controller]", err);

	if (r < 0)
		return r;
	if (id->nr_groups > CTL_GROUPS_MOST)
		return error_set(err, -E2BIG,
				 "%s is in %zu groups, and a rank can be told "
				 "of %d at most: take that user out of some",
				 id->name, id->nr_groups, CTL_GROUPS_MOST);
	if (gid != id->gid && !identity_has_group(id, gid))
		return error_set(err, -EPERM,
				 "%s is not in group %u on the controller's "
				 "machine",
				 id->name, gid);
	return 0;
}

static void set_groups(Control__Submit *s, const struct identity *id)
{
	free(s->groups);
	s->n_groups = id->nr_groups;
	s->groups = xcalloc(id->nr_groups + 1, sizeof(*s->groups));
	for (size_t i = 0; i < id->nr_groups; i++)
		s->groups[i] = id->groups[i];
}

int ctl_user_submits(const struct ctl_peer *p, Control__Submit *s,
		     struct error *err)
{
	struct identity id;
	int r = find_user(p, s->uid, &id, err);

	if (r < 0)
		return r;
	r = check_user(p->ctl, &id, s->gid, err);
	if (r < 0) {
		identity_clear(&id);
		return r;
	}
	message_set_text(&s->user, xstrdup(id.name));
	set_groups(s, &id);
	know(&id, s->gid);
	return 0;
}

static int look_up(const struct ctl_job *job, struct identity *ret,
		   struct error *err)
{
	const Control__Submit *s = job->spec;
	int r = identity_by_name(s->user, ret, err);

	if (r < 0)
		return r;
	r = ret->uid == s->uid
		    ? check_user(job->ctl, ret, s->gid, err)
		    : error_set(err, -EPERM,
				"%s has uid %u now, and had %u when this was "
				"submitted",
				s->user, ret->uid, s->uid);
	if (r < 0)
		identity_clear(ret);
	return r;
}

static bool same_groups(const Control__Submit *s, const struct identity *id)
{
	return s->n_groups == id->nr_groups &&
	       !memcmp(s->groups, id->groups,
		       id->nr_groups * sizeof(*id->groups));
}

int ctl_user_starts(struct ctl_job *job, struct error *err)
{
	struct identity id;
	int r;

	if (!is_known(job->spec)) {
		r = look_up(job, &id, err);
		if (r < 0)
			return r;
		know(&id, job->spec->gid);
	}
	if (!same_groups(job->spec, &known.id)) {
		set_groups(job->spec, &known.id);
		ctl_job_store(job);
	}
	return 0;
}

int ctl_user_moves(const struct ctl_job *job, struct error *err)
{
	const Control__Submit *s = job->spec;
	struct identity id;
	int r = look_up(job, &id, err);

	if (r < 0)
		return r;
	/*
	 * A rank lands with the ids that it has.  If its user may not have
	 * these any more, it does not move.
	 */
	for (size_t i = 0; i < s->n_groups && !r; i++)
		if (!identity_has_group(&id, s->groups[i]))
			r = error_set(
				err, -EPERM,
				"it runs with group %u, in which %s is no longer",
				s->groups[i], s->user);
	identity_clear(&id);
	return r;
}
