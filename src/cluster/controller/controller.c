/*
 * controller.c - the controller's beginning and end, see controller.h
 */
#include "cluster/controller/controller.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cluster/conn/keys.h"
#include "cluster/conn/loop.h"
#include "cluster/controller/front/front.h"
#include "cluster/controller/hosts/hosts.h"
#include "cluster/controller/job/job.h"
#include "cluster/controller/keepers/keepers.h"
#include "cluster/controller/load.h"
#include "cluster/controller/plan/plan.h"
#include "cluster/controller/rank_move/rank_move.h"
#include "cluster/controller/sched/sched.h"
#include "cluster/controller/state/account.h"
#include "cluster/controller/state/audit.h"
#include "cluster/controller/state/find.h"
#include "cluster/controller/state/host.h"
#include "cluster/controller/state/job.h"
#include "cluster/controller/state/move.h"
#include "cluster/controller/state/state.h"
#include "cluster/host/process.h"
#include "core/log.h"
#include "core/xalloc.h"
#include "net/net.h"
#include "policy/policies.h"

enum {
	KEEP_MIN = 64 << 10,
	KEEP_MAX = 1 << 30,
	POOL_PREFIX_MIN = 8,
	POOL_PREFIX_MAX = 28,
};

/* how often room on the disk is looked for */
#define LOOK_EVERY  (2 * USEC_PER_SEC)
/* and accounts that are too old, or that were too many for one turn */
#define PRUNE_EVERY (60 * USEC_PER_SEC)
#define PRUNE_AGAIN (50 * USEC_PER_MSEC)

void controller_conf_init(struct controller_conf *conf)
{
	*conf = (struct controller_conf){
		.pool = xstrdup("10.99.0.0/16"),
		.policy = xstrdup("spread"),
		.lost_after = 60 * USEC_PER_SEC,
		.kill_grace = 5 * USEC_PER_SEC,
		.client_grace = 30 * USEC_PER_SEC,
		.min_uid = -1,
		.history = 1000,
		.accounts = 100000,
		.user_jobs = 1000,
		.user_ranks = 65536,
		.user_conns = 256,
		.record = 200000,
		.keep_output = 1 << 20,
		.started_waits = 10 * USEC_PER_MSEC,
	};
}

void controller_conf_clear(struct controller_conf *conf)
{
	for (size_t i = 0; i < conf->nr_listen; i++)
		free(conf->listen[i]);
	free(conf->listen);
	free(conf->state_dir);
	free(conf->pool);
	free(conf->policy);
	free(conf->calendar);
}

static int set_text(char **to, const char *value)
{
	free(*to);
	*to = xstrdup(value);
	return 0;
}

static int set_listen(struct controller_conf *conf, const char *value,
		      struct error *err)
{
	struct address a;
	int r = address_parse(value, &a, err);

	if (r < 0)
		return r;
	array_room(conf->listen, conf->nr_listen, &conf->cap_listen);
	conf->listen[conf->nr_listen++] = xstrdup(value);
	return 0;
}

static int set_state_dir(struct controller_conf *conf, const char *value,
			 struct error *err)
{
	if (!*value)
		return error_set(err, -EINVAL, "state-dir: the name is empty");
	return set_text(&conf->state_dir, value);
}

/*
 * The address range must be one that hosts can use: not multicast, loopback and the
 * like.
 */
static int set_pool(struct controller_conf *conf, const char *value,
		    struct error *err)
{
	char text[NET_TEXT];
	struct in_addr first;
	uint32_t a, mask;
	unsigned prefix;
	int r = net_parse_cidr(value, &first, &prefix, err);

	if (r < 0)
		return error_prefix(err, r, "pool");
	if (prefix < POOL_PREFIX_MIN || prefix > POOL_PREFIX_MAX)
		return error_set(err, -EINVAL,
				 "pool %s: the prefix must be %d to %d", value,
				 POOL_PREFIX_MIN, POOL_PREFIX_MAX);
	a = ntohl(first.s_addr);
	mask = ~0u << (32 - prefix);
	if (!(a >> 24) || a >> 24 == IN_LOOPBACKNET || a >= INADDR_UNSPEC_GROUP)
		return error_set(err, -EINVAL,
				 "pool %s: no host has such an address", value);
	first.s_addr = htonl(a & mask);
	if (a & ~mask)
		return error_set(err, -EINVAL,
				 "pool %s: it begins at %s: write %s/%u", value,
				 net_addr_text(first, text), text, prefix);
	return set_text(&conf->pool, value);
}

static int set_policy(struct controller_conf *conf, const char *value,
		      struct error *err)
{
	int r = policy_check_live(value, err);

	return r < 0 ? r : set_text(&conf->policy, value);
}

/* Set *to by one of two words. */
static int set_choice(bool *to, const char *name, const char *value,
		      const char *no, const char *yes, struct error *err)
{
	if (strcmp(value, no) && strcmp(value, yes))
		return error_set(err, -EINVAL, "%s: '%s' is neither %s nor %s",
				 name, value, no, yes);
	*to = !strcmp(value, yes);
	return 0;
}

static int set_time(usec_t *to, const char *name, const char *value,
		    struct error *err)
{
	int r = parse_usec(value, to, err);

	return r < 0 ? error_prefix(err, r, "%s", name) : 0;
}

/* 0 is refused: all ranks of a host would be lost whenever its agent is restarted. */
static int set_lost_after(struct controller_conf *conf, const char *value,
			  struct error *err)
{
	usec_t t;
	int r = set_time(&t, "lost-after", value, err);

	if (!r && !t)
		return error_set(err, -EINVAL,
				 "lost-after: %s leaves no time for an agent "
				 "to be started again: give more than 0",
				 value);
	if (!r)
		conf->lost_after = t;
	return r;
}

static int set_bytes(int64_t *to, const char *name, const char *value,
		     struct error *err)
{
	uint64_t bytes;
	int r = parse_size(value, &bytes, err);

	if (!r && (bytes < KEEP_MIN || bytes > KEEP_MAX))
		r = error_set(err, -ERANGE, "'%s' is not from 64k to 1G",
			      value);
	if (r < 0)
		return error_prefix(err, r, "%s", name);
	*to = (int64_t)bytes;
	return 0;
}

/* Set one of the settings that are whole numbers; -ENOENT: it is not one of these. */
static int set_number(struct controller_conf *conf, const char *name,
		      const char *value, struct error *err)
{
	const struct {
		const char *name;
		int64_t *to, min, max;
	} numbers[] = {
		{ "history", &conf->history, 0, 10000000 },
		{ "accounts", &conf->accounts, 1, 100000000 },
		{ "record", &conf->record, 0, 1000000000 },
		{ "min-uid", &conf->min_uid, 0, UINT32_MAX },
		{ "user-jobs", &conf->user_jobs, 1, 1000000 },
		{ "user-ranks", &conf->user_ranks, 1, 1000000000 },
		{ "user-connections", &conf->user_conns, 1, CTL_CONNS_MAX },
	};

	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		if (!strcmp(name, numbers[i].name))
			return parse_int(value, numbers[i].min, numbers[i].max,
					 name, numbers[i].to, err);
	return -ENOENT;
}

int controller_conf_set(struct controller_conf *conf, const char *name,
			const char *value, struct error *err)
{
	int r = set_number(conf, name, value, err);

	if (r != -ENOENT)
		return r;
	if (!strcmp(name, "state-dir"))
		return set_state_dir(conf, value, err);
	if (!strcmp(name, "listen"))
		return set_listen(conf, value, err);
	if (!strcmp(name, "pool"))
		return set_pool(conf, value, err);
	if (!strcmp(name, "policy"))
		return set_policy(conf, value, err);
	if (!strcmp(name, "calendar"))
		return set_text(&conf->calendar, value);
	if (!strcmp(name, "lost-after"))
		return set_lost_after(conf, value, err);
	if (!strcmp(name, "kill-grace"))
		return set_time(&conf->kill_grace, name, value, err);
	if (!strcmp(name, "client-grace"))
		return set_time(&conf->client_grace, name, value, err);
	if (!strcmp(name, "accounts-for"))
		return set_time(&conf->accounts_for, name, value, err);
	if (!strcmp(name, "keep-output"))
		return set_bytes(&conf->keep_output, name, value, err);
	if (!strcmp(name, "admin-submits"))
		return set_choice(&conf->submit_as_others, name, value, "own",
				  "others", err);
	if (!strcmp(name, "show-arguments"))
		return set_choice(&conf->show_arguments, name, value, "own",
				  "all", err);
	return error_set(
		err, -EINVAL,
		"unknown setting '%s'; there are state-dir, listen, "
		"pool, policy, calendar, lost-after, kill-grace, client-grace, "
		"history, accounts, accounts-for, keep-output, record, min-uid, admin-submits, user-jobs, "
		"user-ranks, user-connections, show-arguments",
		name);
}

static int on_signal(sd_event_source *src, const struct signalfd_siginfo *si,
		     void *arg)
{
	return sd_event_exit(sd_event_source_get_event(src), 0);
}

/* Its policy and its calendar are what somebody has chosen. */
static void audit_start(struct ctl *ctl)
{
	const struct controller_conf *conf = ctl->conf;
	char *detail = xasprintf("policy %s%s%s", conf->policy,
				 conf->calendar ? ", calendar " : "",
				 conf->calendar ? conf->calendar : "");
	char who[40];

	snprintf(who, sizeof(who), "uid %u", getuid());
	ctl_audit_of(ctl, who,
		     &(struct ctl_audited){ .what = "start",
					    .target = "controller",
					    .detail = detail });
	free(detail);
}

/* Everything that is done before the first connection. */
static int controller_init(struct ctl *ctl, struct error *err)
{
	const struct controller_conf *conf = ctl->conf;
	char *path;
	int r;

	if (!conf->state_dir)
		return error_set(err, -EINVAL,
				 "no state directory: give --state-dir=DIR");
	if (!conf->nr_listen)
		return error_set(err, -EINVAL,
				 "nowhere to listen: give --listen=HOST:PORT "
				 "or --listen=unix:PATH");
	r = ctl_pool_create(ctl, err);
	if (r < 0)
		return r;
	if (mkdir(conf->state_dir, 0700) < 0 && errno != EEXIST)
		return error_sys(err, -errno, "%s", conf->state_dir);
	ctl->min_uid = conf->min_uid < 0 ? identity_first("UID_MIN")
					 : (uint32_t)conf->min_uid;
	ctl->keys_path = xasprintf("%s/keys", conf->state_dir);
	r = keys_check(ctl->keys_path, err);
	if (r < 0)
		return r;
	path = xasprintf("%s/state.db", conf->state_dir);
	r = store_open(path, &ctl->store, err);
	free(path);
	if (r < 0)
		return r;
	ctl_hosts_load(ctl);
	ctl_jobs_load(ctl);
	r = ctl_sched_create(ctl, err);
	if (r < 0)
		return r;
	ctl_moves_load(ctl);
	ctl_jobs_settle(ctl);
	ctl_afters_settle(ctl);
	audit_start(ctl);
	return ctl_closings_begin(ctl, err);
}

/* The room on the disk as it was last reported. */
struct room_watch {
	struct ctl *ctl;
	enum store_room last;
};

static int on_room(sd_event_source *src, uint64_t usec, void *arg)
{
	struct room_watch *w = arg;
	struct ctl *ctl = w->ctl;
	const char *text = ctl_room_text(ctl);
	enum store_room now = store_room(ctl->store);

	if (now != w->last && *text)
		log_warnx("state=%s %s", ctl->conf->state_dir, text);
	else if (now != w->last)
		log_info("state=%s has room again", ctl->conf->state_dir);
	w->last = now;
	loop_after(ctl->event, NULL, LOOK_EVERY, on_room, w);
	return 0;
}

/*
 * Some accounts a turn, so that nobody waits for it: of age, or after a restart with a
 * lower number.
 */
static int on_prune(sd_event_source *src, uint64_t usec, void *arg)
{
	struct ctl *ctl = arg;
	bool more = ctl_accounts_prune(ctl);

	store_commit(ctl->store);
	if (more || ctl->conf->accounts_for)
		loop_after(ctl->event, NULL, more ? PRUNE_AGAIN : PRUNE_EVERY,
			   on_prune, ctl);
	return 0;
}

/* Jobs that are over, also where nothing happens any more. */
static int on_forget(sd_event_source *src, uint64_t usec, void *arg)
{
	struct ctl *ctl = arg;
	bool more = ctl_jobs_prune(ctl);

	store_commit(ctl->store);
	if (!more)
		ctl_jobs_give_back(ctl);
	loop_after(ctl->event, NULL, more ? PRUNE_AGAIN : LOOK_EVERY, on_forget,
		   ctl);
	return 0;
}

static int controller_serve(struct ctl *ctl, int ready_fd, struct error *err)
{
	const struct controller_conf *conf = ctl->conf;
	struct room_watch watch = { .ctl = ctl };
	int r = ctl_front_open(ctl, err);

	if (r < 0)
		return r;
	r = loop_signals(ctl->event, (int[]){ SIGTERM, SIGINT, 0 }, on_signal,
			 NULL, err);
	if (r < 0)
		return r;
	store_commit(ctl->store);
	on_room(NULL, 0, &watch);
	on_prune(NULL, 0, ctl);
	on_forget(NULL, 0, ctl);
	log_info("serving state=%s hosts=%zu policy=%s", conf->state_dir,
		 ctl->hosts.nr, conf->policy);
	if (ready_fd >= 0 && write(ready_fd, "\n", 1) != 1)
		log_warnx(
			"the client that waited for the start has disconnected");
	r = sd_event_loop(ctl->event);
	return r < 0 ? error_sys(err, r, "event loop") : 0;
}

static void controller_clear(struct ctl *ctl)
{
	ctl_closings_end(ctl);
	ctl_front_close(ctl);
	while (!TAILQ_EMPTY(&ctl->moves))
		ctl_move_destroy(TAILQ_FIRST(&ctl->moves));
	/* Keepers outlive the controller. */
	for (size_t i = 0; i < ctl->hosts.nr; i++)
		while (!TAILQ_EMPTY(&ctl->hosts.at[i]->klinks))
			klink_free(TAILQ_FIRST(&ctl->hosts.at[i]->klinks));
	while (!TAILQ_EMPTY(&ctl->jobs.list))
		ctl_job_destroy(TAILQ_FIRST(&ctl->jobs.list));
	sd_event_source_disable_unref(ctl->jobs.follow_pause);
	ctl_sched_destroy(ctl);
	for (size_t i = 0; i < ctl->hosts.nr; i++)
		ctl_host_destroy(ctl->hosts.at[i]);
	free(ctl->hosts.at);
	ctl_front_destroy(ctl); /* after the jobs, which point to peers */
	ctl_pool_destroy(ctl);
	store_close(ctl->store);
	sd_event_unref(ctl->event);
	free(ctl->keys_path);
}

static void rank_lost(struct ctl_rank *r, const char *how)
{
	if (r->move)
		ctl_move_failed(r->move, how);
}

/* All calls from a lower sub-room to an upper one. */
static const struct ctl_happenings happenings = {
	.pass_due = ctl_plan_pass,
	.job_unheard = ctl_job_detach_later,
	.rank_lost = rank_lost,
};

int controller_run(const struct controller_conf *conf, int ready_fd,
		   struct error *err)
{
	struct ctl ctl = { .happen = &happenings, .conf = conf };
	sigset_t block;
	int r;

	TAILQ_INIT(&ctl.jobs.list);
	TAILQ_INIT(&ctl.jobs.ended);
	TAILQ_INIT(&ctl.jobs.due);
	TAILQ_INIT(&ctl.jobs.telling);
	TAILQ_INIT(&ctl.moves);
	process_spare();
	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&block);
	sigaddset(&block, SIGTERM);
	sigaddset(&block, SIGINT);
	sigprocmask(SIG_BLOCK, &block, NULL);
	r = loop_create(&ctl.event, err);
	if (r < 0)
		return r;
	r = controller_init(&ctl, err);
	if (!r)
		r = controller_serve(&ctl, ready_fd, err);
	controller_clear(&ctl);
	return r;
}
