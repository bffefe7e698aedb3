/*
 * keeper.c - a keeper's life: set-up, the loop, the end
 */
#include "cluster/keeper/keeper.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cluster/conn/loop.h"
#include "cluster/keeper/priv.h"
#include "core/io.h"
#include "core/log.h"
#include "core/xalloc.h"

#define LONELY (600 * USEC_PER_SEC)

static int on_term(sd_event_source *src, const struct signalfd_siginfo *si,
		   void *ctx)
{
	log_info("ended by signal %u", si->ssi_signo);
	return sd_event_exit(sd_event_source_get_event(src), 0);
}

static int open_loop(struct keeper *k, struct error *err)
{
	sigset_t set;
	int r;

	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	r = loop_create(&k->event, err);
	return r < 0 ? r
		     : loop_signals(k->event, (int[]){ SIGTERM, 0 }, on_term,
				    NULL, err);
}

static int check_config(const struct keeper_config *conf, struct error *err)
{
	size_t n = strlen(conf->job);

	if (!n || n > 32 ||
	    strspn(conf->job, "abcdefghijklmnopqrstuvwxyz"
			      "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") != n)
		return error_set(err, -EINVAL,
				 "job '%.40s': up to 32 letters, digits, _ "
				 "and -",
				 conf->job);
	return 0;
}

static void init_rank(struct keeper_rank *rank, struct keeper *k,
		      const struct keeper_config *conf)
{
	rank->k = k;
	rank->id.run_dir = conf->run_dir;
	rank->id.job = conf->job;
	rank->id.rank = conf->rank;
	rank->fast.wanted = conf->fast_path;
	for (int ext = 0; ext < EXT_MAX; ext++)
		rank->end[ext].far = rank->end[ext].near = -1;
}

static struct keeper *create_keeper(const struct keeper_config *conf)
{
	struct keeper *k = xcalloc(1, sizeof(*k));

	k->first_epoch = conf->epoch;
	k->min_uid = conf->min_uid;
	k->min_gid = conf->min_gid;
	k->guests_of = conf->guests_of;
	k->owners = conf->owners;
	k->terms = conf->terms;
	k->agent.lonely_after = conf->lonely ? conf->lonely : LONELY;
	k->agent.listen_fd = k->agent.fd = -1;
	k->agent.queue = keeper_queue_create();
	k->move.sock = k->move.hold_fd = -1;
	init_rank(&k->rank, k, conf);
	return k;
}

static void destroy_keeper(struct keeper *k)
{
	keeper_engine_kill(k);
	keeper_engine_close(k);
	keeper_in_close(k);
	keeper_clear_rank(&k->rank);
	if (k->event)
		keeper_agent_close(k);
	sd_event_unref(k->event);
	keeper_queue_destroy(k->agent.queue);
	explicit_bzero(&k->move.key, sizeof(k->move.key));
	free(k->move.to);
	free(k);
}

/* Of a rank that began and ended here nothing is left. */
static bool may_rest(const struct keeper *k)
{
	return k->over && k->rank.state == KEEPER__STATE__EXITED &&
	       !k->first_epoch && !k->move.epoch && !k->move.last_epoch;
}

int keeper_run(const struct keeper_config *conf, struct error *err)
{
	struct keeper *k;
	bool rests = false;
	int r = check_config(conf, err);

	if (r < 0)
		return r;
	setsid(); /* already a leader when started by a shell: no matter */
	k = create_keeper(conf);
	r = open_loop(k, err);
	if (!r)
		r = keeper_agent_open(k, err);
	if (!r)
		r = keeper_agent_ready(k, conf->ready_fd, err);
	if (!r) {
		r = sd_event_loop(k->event);
		rests = may_rest(k);
	}
	destroy_keeper(k);
	return r < 0 ? r : rests;
}
