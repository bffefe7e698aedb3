/*
 * agent.h - the daemon on each host
 *
 * Starts keepers when the controller wants one, relays messages between them
 * and the controller without reading them, and reports how busy its host is.
 * It can be killed and started again at any time: keepers outlive it and are
 * found by RUN_DIR/keepers.  Nothing that a job sends is parsed here.
 */
#ifndef CLUSTER_AGENT_AGENT_H
#define CLUSTER_AGENT_AGENT_H

#include <stdbool.h>
#include <stdint.h>

#include "cluster/host/limit.h"
#include "cluster/owner/owner.h"
#include "core/error.h"
#include "core/units.h"
#include "model/terms.h"

struct agent_conf {
	const char *name; /* what its key must say; NULL: anything */
	char *controller; /* address */
	char *key;	  /* its key file, "host/NAME" */
	char *run_dir;
	char *cgroup;  /* cgroup_set_home(); NULL: the agent's own */
	char *address; /* of this host, for migration; NULL: the uplink's */
	char *uplink;  /* link towards other hosts; NULL or "": none */
	/*
	 * "routed", "bridge" (the uplink is one, on the other hosts' LAN, of
	 * which the controller's pool is a part), "none" or NULL: routed if
	 * possible.  A rank moves only between hosts of one kind.
	 */
	char *net;
	bool no_fast_path;   /* capsule_fast_path() */
	uint32_t cores;	     /* 0: those there are */
	double score;	     /* 0: measure, and remember in RUN_DIR/score */
	usec_t report_every; /* looks; what has not changed is told less often */
	usec_t load_average; /* the load's (model/average.h); 0: as it is */
	/*
	 * Ranks here may not have a uid below the first, nor a gid below the
	 * second unless this host's own user database puts the user in that
	 * group.  -1: identity_first().  Without root, ranks run as the agent's
	 * own user.
	 */
	int64_t min_uid, min_gid;
	struct limit_terms terms; /* what a rank may take */
	struct owner_conf owner;  /* who that is, when it begins */
	struct owner_terms owner_terms;
	char *prolog, *epilog; /* programs: a job comes, and has left; NULL */
	usec_t prolog_limit;   /* how long one of them may take */
	char *state_dir;       /* what survives a boot; NULL: run_dir */
	const char *config;    /* the file with [owner], read again at SIGHUP */
	const char *
		keeper; /* the program of keepers; NULL: that which is with us */
};

void agent_conf_init(struct agent_conf *conf);
void agent_conf_clear(struct agent_conf *conf);
/* Like controller_conf_set(), for [agent]. */
int agent_conf_set(struct agent_conf *conf, const char *name, const char *value,
		   struct error *err) must_check;

/* And for [owner]. */
int agent_owner_set(struct agent_conf *conf, const char *name,
		    const char *value, struct error *err) must_check;

/* All of [owner] in that file, and nothing else, with the defaults before. */
int agent_owner_read(const char *path, struct agent_conf *ret,
		     struct error *err) must_check;

/*
 * Serve until SIGTERM or SIGINT; 0 then.  ready_fd, if not negative, gets a
 * newline at the first connection with the controller.
 */
int agent_run(const struct agent_conf *conf, int ready_fd,
	      struct error *err) must_check;

/*
 * Instead, for a host that leaves the cluster, or whose agent will not be
 * started again: end every keeper of conf->run_dir with its rank, remove what
 * they left on this host, and the directory.  Only records of moves that may
 * still be asked for are kept.  -EBUSY while an agent works in it.
 */
int agent_clean_up(const struct agent_conf *conf, struct error *err) must_check;

#endif
